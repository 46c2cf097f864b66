/* The rules of --check, one entry each:
 *
 *   RULE(identifier, name, counts, meaning, .other = text, .end = text, .alone = text)
 *
 * name      what a line begins with
 * counts    ALWAYS   it is a finding: the exit code is 1
 *           LEAKS    only with CUDACPU_LEAKS=1, or where the host prints the findings itself
 *           SUMS     it is only looked for with CUDACPU_SUMS=1, or where cpu_sums_in_order asks
 *           NEVER    it is a warning, which is only reported
 * meaning   one sentence: what the program does
 * .other    the first access is one of another launch: of which
 * .end      how the line of an access ends, after a comma
 * .alone    a finding of one access, which names no memory: what is wrong with it
 *
 * The last three may be left out. A new rule needs its entry here, the code that finds it, and
 * faults in tests/check. Tests read this file: a name or a meaning is a string in quotes. */

RULE(BOUNDS, "out of bounds", ALWAYS,
     "An access lies outside every allocation and variable, or an index outside its array.")
RULE(MISALIGNED, "misaligned", ALWAYS,
     "The address of an access is not a multiple of the size of the access.")
RULE(FREED, "freed memory", ALWAYS, "An access touches memory that has been freed.",
     .end = "which is freed")
RULE(UNINITIALISED, "uninitialised read", ALWAYS,
     "A kernel or a library reads memory that nothing has written.", .end = "never written")
RULE(SHARED_RACE, "shared race", ALWAYS,
     "Two threads of a block access the same shared memory, one of them writes, and no barrier "
     "orders the two accesses.")
RULE(GLOBAL_RACE, "global race", ALWAYS,
     "Two threads of a launch access the same global memory, one of them writes, and nothing "
     "orders the two accesses.")
RULE(STALE_LOAD, "stale load", ALWAYS,
     "A load through the read-only cache reads memory that its own launch writes.",
     .end = "and ld.global.nc, __ldg or a texture may find what was there before")
RULE(SAME_VALUE, "same value written", NEVER,
     "Two threads that nothing orders write the same value to the same place.")
RULE(UNDECLARED_ALIGNMENT, "undeclared alignment", NEVER,
     "A kernel relies on dynamic shared memory that is more aligned than it declares.",
     .end = "where dynamic shared memory is no more aligned than it is declared: need "
            "extern __shared__ __align__(1024)")
RULE(UNREAD, "never read", NEVER,
     "Shared memory is written, and no block of the launch reads it afterwards.",
     .end = "and no block of this launch reads it")
RULE(PENDING_COPY, "pending copy", ALWAYS,
     "An access touches memory that an asynchronous copy still reads or writes.",
     .end = "before the wait for the copy")
RULE(PROXY_FENCE, "proxy fence", ALWAYS,
     "A bulk copy or wgmma uses memory that ordinary stores wrote, without a fence.proxy.async "
     "between.",
     .end = "without a fence.proxy.async between")
RULE(MBARRIER, "mbarrier", ALWAYS,
     "An mbarrier is used before it is known to be initialised, with wrong arrivals, bytes or "
     "parity, or over a grid.sync; or all threads wait for it.")
RULE(PENDING_WGMMA, "pending wgmma", ALWAYS,
     "An access touches sums, a part of A or a tile that a wgmma still uses.",
     .end = "before the wait for the wgmma",
     .alone = "the thread never waits for it: wgmma.commit_group, then wgmma.wait_group")
RULE(WGMMA_FENCE, "wgmma fence", ALWAYS,
     "A wgmma uses registers that the thread has accessed since the warp's last wgmma.fence.",
     .end = "and no wgmma.fence between them", .alone = "the warp has made no wgmma.fence before")
RULE(DESCRIPTOR, "descriptor", ALWAYS,
     "A matrix descriptor of wgmma names a layout that cannot be meant, or memory outside the "
     "block's; or a tensor map has more or fewer dimensions than the instruction.")
RULE(SETMAXNREG, "setmaxnreg", ALWAYS,
     "The warps of a block ask for more registers than there are, or for a number that cannot be.")
RULE(GRID_DEPENDENCY, "grid dependency", ALWAYS,
     "A kernel that began early touches what the kernel in front of it uses, before "
     "griddepcontrol.wait.",
     .other = "the kernel in front", .end = "before griddepcontrol.wait")
RULE(STREAM_RACE, "stream race", ALWAYS,
     "Launches, copies, memsets or frees of two streams use the same memory, one of them changes "
     "it, and neither waits for the other.")
RULE(HOST_RACE, "host race", ALWAYS,
     "The host reads, writes or frees memory that a launch or a copy may still use, as the host "
     "has not waited for it.")
RULE(CHILD_RACE, "child race", ALWAYS,
     "A kernel and one that it has launched access the same memory, one of them writes, and "
     "nothing orders the two accesses.",
     .other = "a kernel that had launched this one before,",
     .end = "and neither comes first: a kernel does not wait for those it launches")
RULE(SUM_ORDER, "unordered sum", SUMS,
     "Two atomic additions of floating point meet in one place, and nothing orders them: the bits "
     "of the sum may change from run to run.",
     .end = "and nothing says which comes first: the bits of the sum may change")
RULE(DIVERGENCE, "barrier divergence", ALWAYS,
     "Threads that have to meet at a barrier or an instruction of the warp do not all come to it.")
RULE(NAMED_BARRIER, "named barrier", ALWAYS,
     "A named barrier is used by a group of threads that does not know whether the arrivals of "
     "others there are over, so that either group may open it for the other.")
RULE(VAIN, "waits in vain", ALWAYS,
     "All threads that could run wait for a value that nobody will write.")
RULE(HOST_ACCESS, "host access", ALWAYS,
     "The host reads or writes memory that only kernels and copies reach.")
RULE(HOST_VARIABLE, "host variable", ALWAYS, "A kernel reads or writes a variable of the host.",
     .end = "which nvcc refuses: need a parameter, __device__ or __constant__")
RULE(FAILED_WORK, "failed work", ALWAYS,
     "A launch, a copy or a memset has returned an error, so its work was not done.")
RULE(STOPPED, "stopped kernel", ALWAYS,
     "A kernel is stopped before its end, for a reason that no other rule has.")
RULE(FEWER_THREADS, "fewer threads", NEVER,
     "Some threads of a block have ended before a barrier that the others come to.")
RULE(UNDEFINED_SHUFFLE, "undefined shuffle", NEVER,
     "A shuffle reads a lane that does not take part in it, so its value is undefined.")
RULE(TWO_BARRIERS, "two barriers", NEVER,
     "Whole warps of a block meet at barriers in different places of the code.")
RULE(FAILED_CALL, "failed call", NEVER, "A call of the CUDA API has returned an error.")
RULE(LEAK, "leak", LEAKS,
     "Memory is never freed, or a stream, an event, a graph or a texture is never destroyed.")
