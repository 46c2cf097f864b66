# build.mk: how programs are built and run, for the CPU backend and for nvcc.
#
# Programs go to build/cpu/COMPILER/ or build/cuda/. Programs that count or check go to
# build/cpu/COMPILER-count/ and build/cpu/COMPILER-check/, both linked from one object in
# build/cpu/COMPILER-traced/. Each object depends on its source, on every header that it includes, on the
# files of cudacc (the .d files), and on a file `flags` that changes when the compiler or its flags do; each
# program on its objects and on the runtime, which cudacc builds: common/cpu/runtime.mk.

named := $(patsubst step-%,%,$(filter step-%,$(MAKECMDGOALS)))
ifneq ($(if $(named),,$(filter $(LEADING),$(MAKECMDGOALS))),)
next := $(shell sh common/make/reader/next.sh --step)
endif
selected := $(or $(named),$(next),$(NUMBERS))
actions := $(filter $(STEP_COMMANDS),$(MAKECMDGOALS))
# compiles: is anything compiled? chooses: does anything run on the backend that is chosen?
compiles := $(filter-out help setup clean next list rule hint skip watch new-step messages diff exercise lint $(if $(actions),step-%), \
    $(MAKECMDGOALS))
chooses := $(filter run count check try predict data profile programs verify,$(MAKECMDGOALS)) \
    $(if $(actions),,$(filter step-%,$(MAKECMDGOALS)))

silent := $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
quiet := $(if $(V),,@)
# $(call say,TOOL,FILE): one line for what is being made, unless the command itself is shown.
say = $(if $(silent)$(V),,@printf '%-7s %s\n' $1 '$2')
# $(call stamp,FILE,TEXT): FILE holds TEXT, and is rewritten only when TEXT is another.
stamp = $(shell mkdir -p $(dir $1); printf '%s\n' '$2' | cmp -s - $1 || \
    { printf '%s\n' '$2' >$1.$$$$ && mv $1.$$$$ $1; })
comma := ,

# A source of the harness with a main of its own is a program; the others go into every program.
HARNESS_MAINS := $(shell grep -ls '^int main' common/harness/*/*.cu /dev/null)
HARNESS_SOURCES := $(filter-out $(HARNESS_MAINS),\
    $(wildcard common/harness/*/*.c common/harness/*/*.cu common/problems/*.c common/neox/*.c))
HARNESS_OBJECTS := $(patsubst common/%,%.o,$(basename $(HARNESS_SOURCES)))
HARNESS_PROGRAMS := $(basename $(notdir $(HARNESS_MAINS)))

# --- Compilers -----------------------------------------------------------------------------------
ifneq ($(compiles),)
toolchain := $(shell sh common/make/build/toolchain.sh '$(call asked,CXX)' '$(call asked,CC)')
ifeq ($(firstword $(toolchain)),-)
$(error $(wordlist 2,99,$(toolchain)))
endif
CXX := $(word 1,$(toolchain))
CC := $(word 2,$(toolchain))
export CXX CC

nvcc := $(shell sh common/make/gpu/gpu.sh nvcc '$(NVCC)')
# The reason why there is no nvcc, or nothing if there is one.
no_nvcc := $(if $(filter -,$(firstword $(nvcc))),$(wordlist 2,99,$(nvcc)))
NVCC := $(firstword $(nvcc))

ifneq ($(ARCH),)
wrong_arch := $(shell sh common/make/gpu/gpu.sh arch '$(NVCC)' '$(ARCH)')
$(if $(wrong_arch),$(error $(wrong_arch)))
endif
endif

# --- The CPU backend -----------------------------------------------------------------------------
CPU := build/cpu/$(notdir $(CXX))$(if $(PORTABLE),-portable)
CPU_INCLUDE := -Icommon/cpu/include -Icommon
CPU_CFLAGS := -std=c11 -O2 -g -Wall -Wextra -Werror $(CPU_INCLUDE) $(CFLAGS)
# -g1: lines and functions, which instruments name; all of -g would be a third of the time of g++.
CPU_CXXFLAGS := -O2 -g1 -Wall -Wextra -Icommon $(CXXFLAGS)
# Of a reader's file: three errors at most, and the one warning of what is seldom meant: "a + b ^ c".
READER_CXXFLAGS := $(filter-out -Wall -Wextra,$(CPU_CXXFLAGS)) -fmax-errors=3
CPU_HARNESS := $(HARNESS_OBJECTS:%=$(CPU)/%)
CUDACC := common/cpu/cudacc$(if $(PORTABLE), --portable)

$(CPU)/%.o: common/%.c $(CPU)/flags
	$(call say,cc,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(CPU_CFLAGS) -MMD -MF $(@:.o=.d) -MT $@ -c $< -o $@.tmp
	@mv $@.tmp $@

# In .d files cudacc names its own files by their full path. Here they get the path from this folder, so that
# a tree can be moved, and its path may have blanks.
own_deps = { [ ! -e $1 ] || { sed -E 's,(\\ |[^ ])*/common/cpu/,common/cpu/,g' $1 >$1.tmp && mv $1.tmp $1; }; }

$(CPU)/%.o: common/%.cu $(CPU)/flags | $(CPU)/runtime
	$(call cpu_object)

# $(call cpu_object,--check): the object of a .cu file, plain or for either instrument. The runtime comes
# first, with the tools that cudacc compiles with: several cudacc that start together would wait for them.
define cpu_object
	$(call say,cudacc,$(if $1,traced )$<)
	@mkdir -p $(@D)
	$(quiet)$(if $(reader),sh common/make/reader/compile.sh) $(CUDACC) $1 \
	    $(if $(reader),$(READER_CXXFLAGS) $(if $1,-w,-Wparentheses),$(CPU_CXXFLAGS) -Werror) $(beside) -MMD -MF $(@:.o=.d) -MT $@ -c $< -o $@ $(or_remember)
	@$(call own_deps,$(@:.o=.d))
endef

# $(call cpu_link,--count): a program of such an object
define cpu_link
	@mkdir -p $(@D)
	$(quiet)$(CUDACC) $1 $(CPU_CXXFLAGS) $< $(CPU_HARNESS) -o $@
endef

# The runtime that programs are linked with, and that of an instrument. cudacc builds those of its files that
# have changed, and lists their sources. The files here are stamps, as CUDACPU_BUILD may put the runtime
# elsewhere.
define cpu_runtime
	$(call say,cudacc,$2)
	@mkdir -p $(@D)
	$(quiet)$(CUDACC) -MD -MF $@.d -MT $@ $1 --runtime-only
	@$(call own_deps,$@.d) && touch $@
endef

$(CPU)/runtime: $(CPU)/flags common/cpu/runtime.mk
	$(call cpu_runtime,,the runtime)
$(CPU)-count/runtime: $(CPU)/flags common/cpu/runtime.mk | $(CPU)/runtime
	$(call cpu_runtime,--count,the runtime that counts)
$(CPU)-check/runtime: $(CPU)/flags common/cpu/runtime.mk | $(CPU)/runtime
	$(call cpu_runtime,--check,the runtime that checks)

# --- nvcc ----------------------------------------------------------------------------------------
# sm_75, sm_80 and sm_90a are what the steps are written for. The PTX lets newer devices run them too.
gencode = -gencode arch=compute_$1$(comma)code=sm_$1
gencode_80 := $(call gencode,80) -gencode arch=compute_80$(comma)code=compute_80 $(call gencode,90a)
GENCODE := $(if $(ARCH),$(call gencode,$(ARCH)),$(call gencode,75) $(gencode_80))
CUDA := build/cuda
CUDA_CFLAGS := -O2 -g -Xcompiler -std=c11,-Wall,-Wextra,-Werror -Icommon
CUDA_CXXFLAGS := -std=c++17 -O3 -lineinfo -Xcompiler -Wall,-Wextra -Icommon
CUDA_HARNESS := $(HARNESS_OBJECTS:%=$(CUDA)/%)
nvcc_command = $(quiet)$2$(NVCC) -ccbin $(CXX) $1 $(NVCCFLAGS) -MMD -MP -MT $@

$(CUDA)/%.o: common/%.c $(CUDA)/flags
	$(call say,nvcc,$<)
	@mkdir -p $(@D)
	$(call nvcc_command,$(CUDA_CFLAGS)) -MF $(@:.o=.d) -c $< -o $@.tmp
	@mv $@.tmp $@

$(CUDA)/%.o: common/%.cu $(CUDA)/flags
	$(call say,nvcc,$<)
	@mkdir -p $(@D)
	$(call nvcc_command,$(CUDA_CXXFLAGS) $(GENCODE) -Werror all-warnings) -MF $(@:.o=.d) -c $< -o $@.tmp
	@mv $@.tmp $@

# A step's header names the libraries that it is linked with on a GPU: " * Libraries: cublasLt".
libraries = $(addprefix -l,$(shell sed -n 's,^ \* Libraries: *,,p' $1))

# It also names the oldest architecture that has its instructions: " * Architecture: 80". The step is compiled
# for that one and for newer ones of those above, or for ARCH if that is as new. An architecture that ends in
# an a has no PTX for newer devices.
architecture = $(or $(shell sed -n 's|^ \* Architecture: *\([0-9a]*\).*|\1|p' $1),75)
older_than_75 := 5% 6% 70 72
older_than_80 := 5% 6% 7%
older_than_90 := 5% 6% 7% 8%
new_enough = $(if $(filter %a,$1),$(filter $1,$(ARCH)),$(filter-out $(older_than_$1),$(ARCH)))
gencode_from_75 = $(GENCODE)
gencode_from_80 = $(gencode_80)
gencode_from_90 = $(call gencode,90) -gencode arch=compute_90$(comma)code=compute_90
gencode_from_90a = $(call gencode,90a)
gencode_for = $(if $(call new_enough,$1),$(GENCODE),$(if $(ARCH),$(call gencode,$1),$(gencode_from_$1)))

# ptxas may compile instructions that only one architecture has to slow code, and gives only a warning.
watched = $(if $(reader),,$(filter %a,$(call architecture,$<)))

define cuda_program
	$(call say,nvcc,$<)
	$(call nvcc_command,$(CUDA_CXXFLAGS) $(call gencode_for,$(call architecture,$<)) \
	    $(if $(reader),-w,-Werror all-warnings) $(watched:%=-Xptxas --warn-on-spills) \
	    $(beside),$(watched:%=sh common/make/build/ptxas.sh $< )) -MF $@.d $< \
	    $(CUDA_HARNESS) $(call libraries,$<) -o $@.tmp $(or_remember)
	@mv $@.tmp $@
endef

# --- Programs ------------------------------------------------------------------------------------
# A reader's own program may have warnings, and so may an exercise where code is left out: they are not shown.
reader = $(filter try-% own-%,$(@F))
# A file that does not compile is wrong, and `make list` says so.
or_remember = $(if $(filter try-%,$(@F)),|| sh common/make/reader/try.sh --uncompiled $(tried))
# A program in work/ also finds files that lie beside the step; the exercise's own copies of them come first.
tried = $(basename $(@F:try-%=%))
beside = $(if $(filter try-%,$(@F)),-I$(basename $(call exercise,$(tried))) \
    -I$(patsubst %/,%,$(dir $(call source,$(tried)))))

# $(call program,NAME,SOURCE)
define program
$(CPU)/$1.o: $2 $(CPU)/flags | $(CPU)/runtime
	$$(call cpu_object)
$(CPU)/$1: $(CPU)/$1.o $(CPU)/runtime $(CPU_HARNESS)
	$$(call cpu_link)
$(CPU)-traced/$1.o: $2 $(CPU)/flags | $(CPU)/runtime
	$$(call cpu_object,--check)
$(CPU)-count/$1: $(CPU)-traced/$1.o $(CPU)-count/runtime $(CPU_HARNESS)
	$$(call cpu_link,--count)
$(CPU)-check/$1: $(CPU)-traced/$1.o $(CPU)-check/runtime $(CPU_HARNESS)
	$$(call cpu_link,--check)
$(CUDA)/$1: $2 $(CUDA_HARNESS) $(CUDA)/flags
	$$(cuda_program)
endef
$(foreach n,$(NUMBERS),$(eval $(call program,step-$n,$(call source,$n))))
$(foreach n,$(NUMBERS),$(eval $(call program,try-$n,$(call exercise,$n))))
$(foreach m,$(HARNESS_MAINS) $(wildcard tests/harness/cheats.cu),$(eval $(call program,$(basename $(notdir $m)),$m)))
# A reader's own file, which `make verify` and `make check FILE=` run.
own_file := $(call asked,FILE)
own := own-$(basename $(notdir $(own_file)))
own_goal := $(firstword $(filter verify $(if $(own_file),check),$(MAKECMDGOALS)))
ifneq ($(own_goal),)
ifneq ($(words $(own_file)) $(words $(wildcard $(own_file))),1 1)
$(error $(own_goal) needs a file: write FILE=common/examples/own_kernel.cu$(if $(own_file),; there is no `$(own_file)`))
endif
$(eval $(call program,$(own),$(own_file)))
endif

# It is no error if a file that a .d file names is gone: the object that included it is made again.
%.h %.cuh %.hpp: ;
common/cpu/%: ;
common/harness/%: ;
-include $(wildcard $(CPU)/*.d $(CPU)-traced/*.d $(CPU)-count/*.d $(CPU)-check/*.d $(CPU)/*/*.d $(CPU)/*/*/*.d \
    $(CUDA)/*.d $(CUDA)/*/*.d $(CUDA)/*/*/*.d)

ifneq ($(compiles),)
$(call stamp,$(CPU)/flags,$(toolchain) $(CPU_CFLAGS) $(CPU_CXXFLAGS))
endif

# If no step is named, try takes all exercises that exist.
begun = $(strip $(foreach n,$1,$(if $(wildcard $(call exercise,$n)),$n)))
ifneq ($(filter try,$(actions)),)
ifneq ($(filter exercise,$(actions)),)
$(foreach n,$(selected),$(eval $(call exercise,$n): | exercise-$n ;))
tries := $(selected)
else ifneq ($(filter step-%,$(MAKECMDGOALS)),)
tries := $(selected)
not_begun := $(firstword $(filter-out $(call begun,$(selected)),$(selected)))
$(if $(not_begun),$(error There is no $(call exercise,$(not_begun)) \
    to try: make step-$(not_begun) exercise writes it))
else
tries := $(call begun,$(selected))
$(if $(tries),,$(error There is no exercise in work/ to try: make step-NN exercise writes one))
endif
endif

# --- Which backend -------------------------------------------------------------------------------
# "cpu REASON", or "cuda SLUG REASON".
choice := cpu
ifneq ($(strip $(chooses)),)
ifeq ($(BACKEND),cpu)
choice := cpu asked for
else ifneq ($(no_nvcc),)
choice := cpu $(no_nvcc)
else ifeq ($(BACKEND)$(filter data,$(actions)),cuda)
choice := cuda - asked for
else
choice := $(shell sh common/make/gpu/gpu.sh device $(NVCC) $(CUDA) -ccbin $(CXX) $(GENCODE))
endif
ifeq ($(BACKEND)$(no_nvcc),cuda$(or $(no_nvcc),-))
$(error BACKEND=cuda needs the CUDA toolkit, 12.0 or newer: $(no_nvcc))
endif
endif

# Written only if something is compiled for a GPU: a make at the same time, with other flags, leaves it alone.
ifneq ($(filter cuda data build/cuda/%,$(MAKECMDGOALS))$(filter cuda,$(firstword $(choice))),)
$(call stamp,$(CUDA)/flags,$(nvcc) $(toolchain) $(CUDA_CFLAGS) $(CUDA_CXXFLAGS) $(GENCODE) $(NVCCFLAGS))
endif

ifeq ($(firstword $(choice)),cuda)
PROGRAMS := $(CUDA)
backend := CUDA ($(wordlist 3,99,$(choice)))
else
PROGRAMS := $(CPU)
backend := CPU ($(wordlist 2,99,$(choice)))
endif
# make restarts when it has remade a file that it includes: the line is printed once.
$(if $(and $(strip $(chooses)),$(if $(silent)$(MAKE_RESTARTS),,yes)),$(info backend: $(backend)))

# --- Commands on steps ---------------------------------------------------------------------------
# The outputs of steps that run in parallel are not mixed. A single step prints as it runs.
ifneq ($(word 2,$(selected)),)
MAKEFLAGS += --output-sync=target
endif

.PHONY: $(NUMBERS:%=step-%) $(foreach c,$(STEP_COMMANDS),$(NUMBERS:%=$c-%))
ifeq ($(actions),)
$(NUMBERS:%=step-%): step-%: $(PROGRAMS)/step-%
else
$(NUMBERS:%=step-%): ; @:
endif

# Exit code 77: the program cannot run here, and has printed why. Other steps go on.
unless_77 = code=$$?; [ $$code -ne 77 ] || \
    { echo 'step-$*: passed over, it cannot run here'; exit 0; }; exit $$code
# Where the reader has predicted, what was seen is set beside it.
predicted = $(if $(filter --%,$(filter-out --case --variant --seed --reps --verbose,$(ARGS))),,$(shell \
    grep -s -m 1 -o '^$*	' work/predictions.tsv))
own_rows = build/predictions/step-$*.tsv
compare = $(if $(predicted),[ $$code -ne 0 ] || sh common/make/reader/predict.sh show $* $< $1;) (exit $$code);
# Behind a step that ran: where to read of it, and what to type next. With these options it prints something else.
go_on = $(if $(silent)$(filter --help --list --questions --json,$(ARGS)),,[ $$code -ne 0 ] || \
    sh common/make/reader/read.sh $* $<; (exit $$code);)
$(NUMBERS:%=run-%): run-%: $(PROGRAMS)/step-%
	@$(if $(predicted),mkdir -p build/predictions && rm -f $(own_rows);) \
	    $< $(ARGS) $(if $(predicted),--out $(own_rows)); code=$$?; $(call compare,$(own_rows)) $(go_on) $(unless_77)
run: $(selected:%=run-%)

verify: $(PROGRAMS)/$(own)
	@sh common/make/reader/verify.sh $(own_file) $< $(ARGS)

# On the GPU the counts of the CPU backend stand beside the hardware's.
$(NUMBERS:%=count-%): count-%: $(CPU)-count/step-% $(filter $(CUDA)/%,$(PROGRAMS)/step-%)
	@KF_COMMIT='$(KF_COMMIT)' sh common/make/reader/count.sh $^ -- $(ARGS); code=$$?; \
	    $(call compare,build/data/cpu/step-$*-counts.tsv) $(unless_77)
count: $(selected:%=count-%)

# The metrics that a step's header requests of ncu.
ifeq ($(firstword $(choice)),cuda)
$(NUMBERS:%=profile-%): profile-%: $(CUDA)/step-%
	@KF_COMMIT='$(KF_COMMIT)' sh common/make/gpu/profile.sh $< $(call source,$*); $(unless_77)
profile: $(selected:%=profile-%)
else
profile:
	@echo 'profile: nothing recorded, it needs a GPU: $(wordlist 2,99,$(choice))'
endif

# The command that checks PROGRAM: a program built for that, or compute-sanitizer.
checks = $(if $(filter $(CUDA)/%,$1),sh common/make/reader/check.sh $1,$1)
CHECKS := $(if $(filter $(CUDA),$(PROGRAMS)),$(CUDA),$(CPU)-check)
$(NUMBERS:%=check-%): check-%: $(CHECKS)/step-%
	@$(call checks,$<) $(ARGS); $(unless_77)
check-own: $(CHECKS)/$(own)
	@$(call checks,$<) $(ARGS)
check: $(if $(own_file),check-own,$(selected:%=check-%))

# For scripts: builds every step, and prints the folder of the programs.
programs: $(NUMBERS:%=$(PROGRAMS)/step-%)
	@echo $(PROGRAMS)

$(NUMBERS:%=diff-%): diff-%:
	@sh common/make/reader/diff.sh $(call source,$*) build/diff/$* $(ARGS)
diff: $(selected:%=diff-%)

$(NUMBERS:%=exercise-%): exercise-%:
	@sh common/make/reader/exercise.sh $(call source,$*) $(call exercise,$*) '$(FORCE)'
exercise: $(selected:%=exercise-%)

# Verified first, then checked, then counted.
$(NUMBERS:%=try-%): try-%: $(PROGRAMS)/try-% $(CHECKS)/try-% $(CPU)-count/try-%
	@MAKE_OWN='$(MAKE) -s $(CHECKS)/step-$*' OWN_CHECK='$(call checks,$(CHECKS)/step-$*)' \
	    sh common/make/reader/try.sh step-$* '$<' \
	    '$(call checks,$(CHECKS)/try-$*)' '$(CPU)-count/try-$*' $(ARGS)
try: $(tries:%=try-%)

# --- Leading a reader -----------------------------------------------------------------------------
# FROM and FORCE are settings of several commands.
next:
	@sh common/make/reader/next.sh $(call quoted,$(call asked,FROM))
list:
	@sh common/make/reader/list.sh $(ARGS)

# Words may have ( and *.
rule:
	@awk -f common/make/reader/rule.awk -- $(foreach word,$(ARGS),$(call quoted,$(word)))

ifneq ($(filter $(LEADING),$(actions))$(named),)
ifeq ($(next)$(named),)
$(filter $(LEADING),$(actions)): next
else
$(foreach c,$(filter $(LEADING),$(actions)),$(eval $c: $(selected:%=$c-%)))
endif
endif

$(NUMBERS:%=hint-%): hint-%:
	@sh common/make/reader/hint.sh $* $(ARGS)
$(NUMBERS:%=skip-%): skip-%:
	@[ "$$(sh common/make/reader/states.sh $* | cut -f 9)" != right ] || \
	    { echo 'step-$*: your exercise is right, so there is nothing to skip; make next goes on' >&2; exit 1; }
	@sh common/make/reader/record.sh $* skipped && echo 'step-$* is skipped, until you try it'
$(NUMBERS:%=watch-%): watch-%:
	+@sh common/make/reader/watch.sh '$(MAKE)' $(if $(named),$*)
$(NUMBERS:%=predict-%): predict-%: $(PROGRAMS)/step-%
	@sh common/make/reader/predict.sh ask $* $< '$(FORCE)'
$(NUMBERS:%=solution-%): solution-%:
	+@sh common/make/reader/solution.sh $* '$(MAKE)' '$(CPU)-count/try-$*' '$(FORCE)'
# Asked for together, a prediction comes before what it predicts.
ifneq ($(filter predict,$(actions)),)
$(foreach n,$(selected),$(eval run-$n count-$n: | predict-$n))
endif

# make sets AS itself, hence `asked`. A quote in a name is refused by new-step.sh like any other character.
new-step:
	@sh common/make/build/new-step.sh $(call quoted,$(call asked,FROM)) $(call quoted,$(call asked,AS))

messages:
	@perl common/make/build/messages.pl

# --- The GPU -------------------------------------------------------------------------------------
cuda_programs := $(selected:%=$(CUDA)/step-%) $(HARNESS_PROGRAMS:%=$(CUDA)/%)

ifneq ($(no_nvcc),)
cuda:
	@echo 'cuda: nothing compiled: $(no_nvcc)'
else
cuda: $(cuda_programs)
	@echo 'cuda: compiled for $(if $(ARCH),sm_$(ARCH),sm_75$(comma) sm_80 and sm_90a): $(words $(selected)) steps'
endif

ifeq ($(firstword $(choice)),cuda)
data: $(cuda_programs)
	@KF_COMMIT='$(KF_COMMIT)' sh common/make/gpu/data.sh $(CUDA) $(word 2,$(choice)) \
	    "$(filter step-%,$(MAKECMDGOALS))" \
	    $(foreach n,$(selected),$(call source,$n))
else
data:
	@echo 'data: nothing recorded, it needs a GPU: $(wordlist 2,99,$(choice))'
endif

# --- Tests ---------------------------------------------------------------------------------------
# tests/lib/suite.pl knows which tests run, and in which order.
test test-all:
	@command -v prove >/dev/null || \
	    { echo 'test: there is no prove: make setup installs it' >&2; exit 1; }
	+@SEED='$(SEED)' MINUTES='$(MINUTES)' SHARD='$(SHARD)' FORCE='$(FORCE)' PROGRAMS='$(CPU)' MAKE='$(MAKE)' \
	    perl tests/lib/suite.pl $@ $(TESTS)

# These show how much the tests notice: tests/README.md.
coverage:
	@perl common/make/verify/coverage.pl $(patsubst step-%,%,$(filter step-%,$(MAKECMDGOALS)))
mutation:
	@perl common/make/verify/mutation.pl $(or $(SAMPLE),300) $(SEED)
exactness: $(selected:%=$(CPU)/step-%)
	@sh common/make/verify/exactness.sh $(CPU) plots/data/cpu 1 $(or $(SEEDS),100) $(selected)

# Each program in tests/bench/ measures something of our own; none of them is a test.
bench: $(CPU)/runtime
	@for bench in $(filter-out %.cu,$(wildcard tests/bench/*)); do $$bench || exit; done
	@perl tests/lib/suite.pl --pace

# A public suite of faults, held against check: tests/scores/README.md.
scores:
	@perl tests/scores/scores.pl '$(SUITE)'

lint:
	@sh common/make/build/lint.sh $(CPU_INCLUDE) -Icommon/cpu
