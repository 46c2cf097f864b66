# Makefile: the only entry point. `make` alone prints help.
#
# Some goals name steps (step-03), others say what to do with them (run, count, check, diff, exercise,
# try, hint, predict, cuda, data). The second kind acts on the steps named, or on all of them. A step named without any of
# these is built. How programs are built is in common/make/build/build.mk; common/make/ holds what is
# called here.

ifeq ($(filter output-sync,$(.FEATURES)),)
$(error This needs GNU make 4 or newer, and $(MAKE) is version $(MAKE_VERSION). \
On macOS: brew install make, then type gmake)
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh
# Sorting, character classes and dates come out the same for everyone.
export LC_ALL := C

# --- What can be asked for -----------------------------------------------------------------------
SOURCES := $(sort $(wildcard steps/[0-9][0-9]-*/*.cu))
number = $(firstword $(subst -, ,$(word 2,$(subst /, ,$1))))
NUMBERS := $(foreach s,$(SOURCES),$(call number,$s))
# The source of step 03; its exercise.
source = $(filter steps/$1-%,$(SOURCES))
exercise = work/$1-$(notdir $(call source,$1))

# Without a step these are about the exercise that is next.
LEADING := hint predict skip solution watch
STEP_COMMANDS := run count check diff exercise try $(LEADING) cuda data profile
COMMANDS := help setup clean next list rule verify new-step messages test test-all lint bench scores programs coverage mutation exactness \
    $(STEP_COMMANDS) \
    $(if $(wildcard book/book.mk),book book-pdf book-lint charts)
SETTINGS := FILE FROM AS ARGS BACKEND ARCH CXX CC NVCC CFLAGS CXXFLAGS NVCCFLAGS PORTABLE FORCE TESTS SEED \
    SEEDS SAMPLE SUITE MINUTES SHARD V KF_COMMIT LC_ALL MAKEFLAGS SHELL

# The goal or setting that a word may stand for, or nothing.
quoted = '$(subst ','\'',$1)'
meant = $(shell sh common/make/reader/meant.sh $(call quoted,$1) $2)
unknowns := $(filter-out $(NUMBERS:%=step-%) $(COMMANDS) build/%,$(MAKECMDGOALS))
unknown := $(firstword $(unknowns))
# Options of a step's program that take a value: they are written in ARGS, and with quotes, as they have a blank.
OPTIONS := case variant seed reps clock
on_programs := $(filter run count check try verify,$(MAKECMDGOALS))
# $(call write,WORDS): ARGS as it should be given.
write = write ARGS="$(strip $(ARGS) $1)"
ifneq ($(unknown),)
ifneq ($(filter $(OPTIONS:%=--%),$(lastword $(ARGS))),)
$(error ARGS needs quotes: $(call write,$(unknown)))
else ifneq ($(and $(on_programs),$(filter $(OPTIONS),$(unknown))),)
$(error There is no command `$(unknown)`: it is an option of the program, \
$(call write,--$(unknown) $(or $(word 2,$(unknowns)),VALUE)))
endif
ifneq ($(findstring ”,$(unknown) $(ARGS))$(findstring “,$(unknown) $(ARGS)),)
$(error The shell does not know the quotes “ and ”: write ARGS="--case D64" with plain ones)
endif
digits := $(filter 0% 1% 2% 3% 4% 5% 6% 7% 8% 9%,$(unknown))
ifneq ($(and $(digits),$(filter predict,$(MAKECMDGOALS))),)
$(error predict takes no answer on its line: write the command alone, it asks)
else ifneq ($(and $(digits),$(filter next,$(MAKECMDGOALS))),)
$(error There is no command `$(unknown)`: write next FROM=$(unknown))
else ifneq ($(and $(digits),$(filter rule,$(MAKECMDGOALS))),)
$(error There is no command `$(unknown)`: write ARGS="NAME=VALUE ...", as the example in `make rule` has it)
endif
# "step 03": the number is a word of its own.
near := $(if $(filter step steps,$(unknown)),$(call meant,$(or $(word 2,$(unknowns)),03),$(NUMBERS:%=step-%)))
near := $(or $(near),$(call meant,$(unknown),$(NUMBERS:%=step-%) $(COMMANDS) $(SETTINGS:%=%=)))
ifneq ($(filter step-%,$(unknown) $(near)),)
$(error There is no $(unknown): $(if $(near),write $(near); )the steps are step-$(firstword $(NUMBERS)) \
to step-$(lastword $(NUMBERS)), see `make help`)
else ifneq ($(filter %=,$(near)),)
$(error There is no command `$(unknown)`: it is a setting, write $(near)VALUE, see `make help`)
else ifeq ($(near)$(if $(on_programs),,none),)
$(error There is no command `$(unknown)`: if it is a case, $(call write,--case $(unknown)); \
the commands are in `make help`)
endif
$(error There is no command `$(unknown)`: $(if $(near),write $(near); )the commands are $(strip $(COMMANDS)))
endif

given := $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$v))
unknowns := $(sort $(filter-out $(SETTINGS) BOOK_% -%,$(given)))
unknown := $(firstword $(unknowns))
ifneq ($(unknown),)
near := $(call meant,$(unknown),$(SETTINGS:%=%=))
ifneq ($(and $(filter rule,$(MAKECMDGOALS)),$(if $(filter ARGS=,$(near)),,other)),)
$(error There is no setting $(unknown): what the rule takes stands in ARGS, \
$(call write,$(foreach v,$(unknowns),$v=$(value $v))))
else ifneq ($(if $(filter test test-all mutation,$(MAKECMDGOALS)),,$(filter $(OPTIONS),$(unknown))),)
$(error There is no setting $(unknown): it is an option of the program, $(call write,--$(unknown) $(value $(unknown))))
endif
$(error There is no setting $(unknown): $(if $(near),write $(near)VALUE; )the settings are \
ARGS, BACKEND, ARCH and those in `make help`)
endif

ifneq ($(and $(filter next,$(MAKECMDGOALS)),$(filter step-%,$(MAKECMDGOALS))),)
$(error next takes no step: write next FROM=$(patsubst step-%,%,$(filter step-%,$(MAKECMDGOALS))), \
or $(filter step-%,$(MAKECMDGOALS)) exercise)
endif

# Settings that only some commands read. A make that another one calls may get them without need.
READ_BY_SEED := test test-all mutation
READ_BY_SEEDS := exactness
READ_BY_SAMPLE := mutation
READ_BY_TESTS := test test-all
READ_BY_MINUTES := test test-all
READ_BY_SHARD := test test-all
READ_BY_FILE := verify check
READ_BY_FROM := next new-step
READ_BY_AS := new-step
READ_BY_ARGS := run count check diff try verify watch hint list rule
ifeq ($(MAKELEVEL),0)
unread := $(firstword $(foreach v,$(given),$(if $(READ_BY_$v),$(if $(filter $(READ_BY_$v),$(MAKECMDGOALS)),,$v))))
ifneq ($(unread),)
$(error $(unread) is read only by: $(READ_BY_$(unread))$(if $(filter SEED,$(unread)),$(if $(on_programs),; \
$(call write,--seed $(SEED)))))
endif
endif

BACKEND := $(or $(BACKEND),auto)
ifeq ($(filter auto cpu cuda,$(BACKEND)),)
$(error There is no backend `$(BACKEND)`: write BACKEND=cpu or BACKEND=cuda, or leave it out)
endif

# The value that the user gave; make's own defaults for CC and CXX do not count.
asked = $(if $(filter-out default undefined,$(origin $1)),$($1))

# --- Help ----------------------------------------------------------------------------------------
define HELP
The Kernel Fusion Workbook: each step is one CUDA program that shows one thing.

  make step-03 run         build and run a step, on the GPU if there is a usable one, else the CPU
  make step-03 count       what its kernels did: loads, sectors, bank conflicts, barriers and so on
  make step-03 check       search them for races, bad accesses, unwritten memory, leaks
  make step-03 predict     asks what you expect of it, and keeps your answers for `run` and `count`
  make step-03 diff        what it changed of the step that it grows from or follows
  make step-03             only build it
  make step-03 step-04 run several steps;  make run: all steps;  so with count, check and diff

  make next                the next exercise: what it asks, its file and page;  FROM=21 starts there
  make list                every exercise, and which are right;  ARGS=--json for whoever teaches
  make step-03 exercise    write work/03-...cu, the step with its solutions taken out
  make step-03 try         verify, check and count your work/03-...cu
  make step-03 watch       try, and again at every save
  make step-03 hint        the next hint;  make step-03 skip: leave it out
  make step-03 solution    once it is right: yours beside the step's own lines, and what each costs

  make rule ARGS="..."     does it pay to fuse? The rule of chapter 24;  make rule: what it takes
  make verify FILE=mine.cu   verify a kernel of your own, as in common/examples/own_kernel.cu
  make check FILE=mine.cu    and look for races and wrong accesses in it
  make new-step FROM=13 AS=46-name   a step of your own that begins as a copy of step 13
  make setup               install what is missing (apt-get, or Homebrew on macOS)
  make book                the book in build/book/;  make book-pdf: a PDF;  make charts: its charts
  make test                every step, a sample of what takes long, and what depends on your changes
  make test-all            everything, as CI does;  SHARD=1/4: the first fourth of it
  make lint                only the checks that read the sources
  make coverage            the lines of kernels that no verified case runs
  make mutation            how many of 300 small changes of kernels and harness are noticed
  make exactness           record how exact each variant is, the most of 100 seeds
  make cuda                compile every step for the GPU, whether there is one or not
  make data                record every step on the GPU, at full size
  make step-05 profile     what ncu says of its kernels on the GPU;  make profile: of all steps
  make messages            every message, rule and exit code there is, with what is right
  make bench               how fast the CPU backend itself is
  make scores SUITE=DIR    how many faults of a public suite check finds: tests/scores/
  make programs            build every step, and print where the programs are
  make clean               remove build/ (your work/ stays)

Settings
  ARGS="--case D=64 --seed 7"   for the program; ARGS=--help lists what it takes
  ARGS=--by-line (count)        also by source line, the most traffic first
  BACKEND=cpu|cuda              choose instead of looking for a GPU
  ARCH=90a                      compile for this GPU architecture only (nvcc's sm_90a)
  CXX=clang++ CC= NVCC=         the compilers;  CFLAGS= CXXFLAGS= NVCCFLAGS= add to their flags
  FORCE=1 (exercise) starts over, (solution) shows it before yours is right, (predict) asks again,
                                (test) runs again what passed before
  TESTS=tests/make.t (test) runs only that;  MINUTES=10 (test) takes a sample of 10 minutes, not 4
  SEED=7 (test, mutation) draws the sample of seed 7, as an earlier run printed;  V=1 shows commands
  SAMPLE=50 (mutation)          so many changes;  SEEDS=200 (exactness) so many seeds
  PORTABLE=1 (CPU) builds the fibers without assembly;  -s: no output but the program's

A step that cannot run here says why and is passed over. Steps:
endef

.PHONY: $(COMMANDS)
help:
	$(info $(HELP))
	@awk 'FNR == 1 { n = split(FILENAME, p, "/"); slug = p[n - 1]; title = $$0; \
	    sub("^/\\* *" slug ": *", "", title); sub(" *\\*/ *$$", "", title); \
	    printf "  step-%s  %-20s  %s\n", substr(slug, 1, 2), substr(slug, 4), title }' \
	    $(or $(SOURCES),/dev/null)

# --- First things first --------------------------------------------------------------------------
# clean and setup come before all other goals, which start in a make of their own: it sees the
# compiler that setup has brought.
first := $(filter clean,$(MAKECMDGOALS)) $(filter setup,$(MAKECMDGOALS))
later := $(filter-out clean setup,$(MAKECMDGOALS))

ifneq ($(and $(strip $(first)),$(later)),)

.PHONY: in-turn $(MAKECMDGOALS)
$(MAKECMDGOALS): in-turn
	@:
in-turn:
	@for goal in $(first); do $(MAKE) --no-print-directory $$goal || exit; done
	@$(MAKE) --no-print-directory $(later)

else

clean:
	rm -rf build

setup: $(filter clean,$(MAKECMDGOALS))
	@CXX='$(call asked,CXX)' CC='$(call asked,CC)' NVCC='$(NVCC)' sh common/make/build/setup.sh

include common/make/build/build.mk
BOOK_BIN := $(CPU)/step-
BOOK_NAMES := build/names.txt
-include book/book.mk

names := common/cpu/include/cpu/trace.h common/make/gpu/metrics.txt common/make/gpu/profile.txt
$(BOOK_NAMES): Makefile book/names.awk common/make/build/messages.pl $(names) \
    $(wildcard common/cpu/instruments/check/*.c common/cpu/instruments/check/*/*.c)
	@mkdir -p $(@D)
	@{ $(MAKE) -s --no-print-directory help; $(MAKE) -s --no-print-directory messages; } | \
	    awk -f book/names.awk - $(names) >$@.tmp && mv $@.tmp $@

endif
