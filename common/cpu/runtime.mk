# runtime.mk: builds what programs of this backend are linked with, and the rewriter. The lists of sources here are the
# only ones.
#
# cudacc calls this, from a folder where common/cpu is this one and build is the one that everything goes to: no name
# here has a blank, wherever the tree lies, and what is built knows nothing of the tree's place. It passes on
#   CC HOST     the C compilers for programs, and for this machine;  native: yes, where the two are one
#   hide        what makes the hidden names of an object local
#   portable    -DCPU_PORTABLE, or nothing;  blas_include: the flags that find cblas.h
# An object is compiled anew if a file that it was made from has changed, this one among them, or build/parts/flags,
# which holds the compiler's version. GNU make 3.81, as macOS has it, can read this.

# --- Sources -------------------------------------------------------------------------------------
# What is the same for all programs: CPU_SHARED hides from these files what depends on the instrument.
shared := base/error base/fiber base/types base/formats \
    device/warp device/capability $(addprefix device/units/,boxes async_copies product) \
    $(addprefix ptx/language/,table words operands forms parse) \
    $(addprefix ptx/handlers/,integer compare convert lanes) api/tensor_map libraries/random/skip
# Files that report events to an instrument, or differ between instruments: compiled for each.
each := $(addprefix device/,worker redirect fault watchdog scheduler operations shared_memory units/mbarriers units/bulk_copies units/units) \
    $(addprefix ptx/,handlers/address handlers/moves handlers/arithmetic handlers/memory handlers/cp_async handlers/mbarrier handlers/bulk \
    tensor_cores/descriptor tensor_cores/wgmma tensor_cores/matrix run) \
    $(addprefix api/,children graph stream event allocation copies os_threads launch device) \
    $(addprefix libraries/,array texture graph_nodes managed memory_pools random/curand) instruments/instrument
# The instruments.
both := $(addprefix instruments/front/,symbols calls atomics heap)
count := $(addprefix instruments/count/,request tally print count notes)
check := $(addprefix instruments/check/,$(addprefix state/,findings shadow order release streams ranges named clocks events) \
    async/proxy async/copies async/mbarriers async/registers handles shuffles locals check second faults stops unread unwritten beside)
# cuBLAS, and the rewriter, a program of its own. Both have some of the runtime's files as well.
blas := $(addprefix libraries/blas/,handle lt matrices products vectors)
blas_shared := base/types base/formats
rewriter := $(addprefix compiler/rewriter/,tokens edits refusals kernels launches shared asm instruments sides \
    arch main)
rewriter_shared := base/types $(addprefix ptx/language/,table words operands forms parse)

# --- Objects -------------------------------------------------------------------------------------
parts := build/parts
objects_runtime.o := $(shared:%=$(parts)/shared/%.o) $(each:%=$(parts)/plain/%.o)
objects_count.o := $(shared:%=$(parts)/shared/%.o) $(patsubst %,$(parts)/count/%.o,$(each) $(both) $(count))
objects_check.o := $(shared:%=$(parts)/shared/%.o) $(patsubst %,$(parts)/check/%.o,$(each) $(both) $(check))
objects_blas.o := $(blas:%=$(parts)/blas/%.o) $(blas_shared:%=$(parts)/shared/%.o)
objects_rewriter := $(rewriter:%=$(parts)/rewriter/%.o) \
    $(rewriter_shared:%=$(parts)/$(if $(native),shared,rewriter)/%.o)

# Of what is asked for, and of nothing else, it is read what the objects were made from.
goals := $(filter rewriter runtime.o count.o check.o blas.o,$(MAKECMDGOALS:build/%=%))

# Functions of CUDA's API, handlers of instructions and of signals, hooks and callbacks have given parameters. They may
# leave some unused; other functions may not.
given := api/% libraries/% ptx/handlers/% ptx/tensor_cores/% instruments/% device/fault device/redirect device/watchdog
warnings := -std=c11 -Wall -Wextra -Werror -Icommon/cpu -Icommon/cpu/include
# Fortified longjmp refuses to jump between stacks, which is all that fibers do. -O3 makes no program faster, and
# products of tensor cores slower; the instruments gain by it.
flags := $(warnings) -O2 -fsigned-char -ffp-contract=off -U_FORTIFY_SOURCE -pthread -fvisibility=hidden $(portable)

.SUFFIXES:

# $(call compile,COMPILER AND FLAGS): nothing that is being written stands under its final name.
define compile
@mkdir -p $(@D)
@$1 $(if $(filter $(given),$*),-Wno-unused-parameter) -MMD -MF $@.$$$$.d -MT $@ -c $< -o $@.$$$$ && mv -f $@.$$$$.d $(@:.o=.d) && mv -f $@.$$$$ $@ || \
    { rm -f $@.$$$$ $@.$$$$.d; exit 1; }
endef

$(parts)/shared/%.o: common/cpu/%.c common/cpu/runtime.mk $(parts)/flags
	$(call compile,$(CC) $(flags) -DCPU_SHARED -Wundef)
$(parts)/plain/%.o: common/cpu/%.c common/cpu/runtime.mk $(parts)/flags
	$(call compile,$(CC) $(flags))
$(parts)/count/%.o: common/cpu/%.c common/cpu/runtime.mk $(parts)/flags
	$(call compile,$(CC) $(flags) -O3 -DCPU_TRACE=1)
$(parts)/check/%.o: common/cpu/%.c common/cpu/runtime.mk $(parts)/flags
	$(call compile,$(CC) $(flags) -O3 -DCPU_TRACE=2)
$(parts)/blas/%.o: common/cpu/%.c common/cpu/runtime.mk $(parts)/flags $(parts)/blas-flags
	$(call compile,$(CC) $(flags) $(blas_include))
$(parts)/rewriter/%.o: common/cpu/%.c common/cpu/runtime.mk $(parts)/flags
	$(call compile,$(HOST) $(warnings) -O2)

# Beside each goal stands, in build/parts/GOAL.files, which files it was made from.
files = { echo common/cpu/runtime.mk; cat $(objects_$(@F):.o=.d); } | tr ' ' '\n' | \
    sed -n 's,^common/cpu/,,p' | sort -u >$@.$$$$.files && \
    mv -f $@.$$$$.files $(parts)/$(@F).files

# One object, in which every name that the headers do not declare is local: a user's globals may be called what they
# like. As it is one, all of it comes along, and the host may ask for any of it.
define join
@$(CC) -r -nostdlib -o $@.$$$$ $(objects_$(@F)) && $(hide) $@.$$$$ && $(files) && mv -f $@.$$$$ $@ || \
    { rm -f $@.$$$$ $@.$$$$.files; exit 1; }
endef
build/runtime.o: $(objects_runtime.o)
	$(join)
build/count.o: $(objects_count.o)
	$(join)
build/check.o: $(objects_check.o)
	$(join)
build/blas.o: $(objects_blas.o)
	$(join)
build/rewriter: $(objects_rewriter)
	@$(HOST) -o $@.$$$$ $^ && $(files) && mv -f $@.$$$$ $@ || { rm -f $@.$$$$ $@.$$$$.files; exit 1; }

# A header that is gone and that no source includes any more is no error.
%.h: ;
-include $(foreach g,$(goals),$(objects_$g:.o=.d))
