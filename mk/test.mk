# SPDX-License-Identifier: GPL-2.0-only
# make check           unit tests and tests of the command
# make check-live      those that need huge pages or root
# make check-all       both, under one closing line
# make check-sanitize  unit tests under ASan and UBSan, in $(B)/asan
# make check-sanitize-live  the library on real huge pages, in the same way; root
# make check-valgrind  the library's unit tests under valgrind
# make check-tsan      pools and their pagers under ThreadSanitizer, in $(B)/tsan
# make lint            cppcheck, clang-tidy, shellcheck
# T=word runs the files that have the word in their path: make check T=test_core
.PHONY: check check-live check-all check-unit check-sanitize check-sanitize-live check-valgrind check-tsan lint

include core/test/sources.mk

# The core's tests stand on core alone, and so do those of what a module has beside
# it that is no kernel; the tools' on all of them but main(); the others link the
# library.
CPG_TEST_O := $(addprefix $(B)/core/,$(CPG_TEST_OBJS))
CORE_TESTS := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_core*.c tests/unit/test_kmod*.c)))
TOOL_TESTS := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_tool*.c)))
LIB_TESTS := $(filter-out $(CORE_TESTS) $(TOOL_TESTS),$(patsubst %.c,$(B)/%,$(sort \
	$(wildcard tests/unit/test_*.c tests/live/test_*.c))))

$(B)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude $(TOOL_CFLAGS) -c -o $@ $<

$(CORE_TESTS): $(B)/%: $(B)/%.o $(CPG_TEST_O) $(CORE_O)
	$(CC) $(ALL_LDFLAGS) -o $@ $^

$(LIB_TESTS): $(B)/%: $(B)/%.o $(B)/libclearpages.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIB_LIBS)

$(TOOL_TESTS): $(B)/%: $(B)/%.o $(filter-out %/clearpages.o,$(TOOL_O)) $(B)/libclearpages.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TOOL_LIBS)

comma := ,
T ?=
chosen = $(if $(T),$(foreach t,$(1),$(if $(findstring $(T),$(t)),$(t))),$(1))
UNIT := $(call chosen,$(filter $(B)/tests/unit/%,$(CORE_TESTS) $(LIB_TESTS) $(TOOL_TESTS)) \
	$(sort $(wildcard tests/unit/*.sh)))
CLI := $(call chosen,$(sort $(wildcard tests/cli/*.bats)))
LIVE := $(call chosen,$(filter $(B)/tests/live/%,$(LIB_TESTS)) \
	$(sort $(wildcard tests/live/*.bats tests/live/*.sh)))

# What has to be built for a list of tests: the programs among them, core's
# objects for arrows.sh, the shared library for test_lib_symbols, and all of it
# for those that run the command.
needs = $(filter $(B)/%,$(1)) $(if $(filter %.sh,$(1)),$(CORE_O) $(CPG_TEST_O)) \
	$(if $(filter %/docs.sh,$(1)),all) \
	$(if $(findstring /test_lib,$(1)),$(B)/libclearpages.so) \
	$(if $(filter %.bats tests/live/%,$(1)),all) \
	$(if $(filter %/examples.sh,$(1)),$(EXAMPLES))
run = CLEARPAGES='$(abspath $(B)/clearpages)' BUILD='$(abspath $(B))' CC='$(CC)' \
	sh tests/run.sh $(1)

check: $(call needs,$(UNIT) $(CLI))
	@$(call run,$(UNIT) $(CLI))

check-unit: $(call needs,$(UNIT))
	@$(call run,$(UNIT))

check-live: $(call needs,$(LIVE))
	@$(call run,$(LIVE))

check-all: $(call needs,$(UNIT) $(CLI) $(LIVE))
	@$(call run,$(UNIT) $(CLI) $(LIVE))

# Warnings stay warnings here: in instrumented code gcc suspects uninitialized
# reads where there are none. The plain build has them as errors.
check-sanitize:
	$(MAKE) --no-print-directory B=$(B)/asan SANITIZE=address,undefined check-unit

check-sanitize-live:
	$(MAKE) --no-print-directory B=$(B)/asan SANITIZE=address,undefined check-live T=live/test_live

# Children die on purpose, and say nothing. One thread runs at a time: in turn, or
# one that spins keeps the others from it (3.5 s instead of 55 for a test).
VALGRIND = valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
	--child-silent-after-fork=yes --fair-sched=yes
check-valgrind: $(filter $(LIB_TESTS),$(UNIT))
	@UNDER='$(VALGRIND)' $(call run,$(filter $(LIB_TESTS),$(UNIT)))

check-tsan:
	$(MAKE) B=$(B)/tsan SANITIZE=thread check-unit T=unit/test_pool
	for t in race pager pool signals; do \
		$(MAKE) B=$(B)/tsan SANITIZE=thread check-live T=live/test_live_$$t || exit 1; \
	done

# ---- lint ----------------------------------------------------------------------

LINT_C := $(sort $(wildcard core/*.c core/x86/*.c core/test/*.c lib/*.c tools/*.c \
	tests/unit/*.c tests/live/*.c examples/*.c tests/qemu/guest/*.c \
	tests/qemu/insns/*.c))
LINT_SH := $(sort $(wildcard tests/*.sh tests/*/*.sh bench/*.sh contrib/*.sh \
	.ci/run))
LINT_COMPLETE := $(sort $(wildcard contrib/*.bash))
LINT_BATS := $(sort $(wildcard tests/*/*.bats tests/*/*.bash))
LINT_FLAGS = -std=gnu11 -D_GNU_SOURCE -DCLEARPAGES_VERSION='"$(VERSION)"' -Iinclude

lint: lint-cppcheck lint-tidy lint-shell
.PHONY: lint-cppcheck lint-tidy lint-shell

# Left out: headers of the system, which cppcheck does not find, and the scope of
# variables, which kernel style declares where the block begins.
lint-cppcheck:
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr \
		--enable=warning,style,performance,portability \
		--suppress=missingIncludeSystem --suppress=variableScope \
		-D_GNU_SOURCE -D__x86_64__ -Iinclude core lib tools tests/qemu/guest tests/qemu/insns

# Each file by itself, as many at a time as there are cpus.
lint-tidy:
	printf '%s\n' $(LINT_C) | xargs -P "$$(nproc)" -I FILE clang-tidy --quiet \
		--warnings-as-errors='*' FILE -- $(LINT_FLAGS) $(TOOL_CFLAGS)

# Completions split what compgen prints (SC2207); bats sets more variables than
# shellcheck knows (SC2154), and `bash -c` is given what it is to expand (SC2016).
lint-shell:
	shellcheck $(LINT_SH)
	$(if $(LINT_COMPLETE),shellcheck -e SC2207 $(LINT_COMPLETE))
	$(if $(LINT_BATS),shellcheck -e SC2154$(comma)SC2016 $(LINT_BATS))
