# SPDX-License-Identifier: GPL-2.0-only
# make check           unit tests and tests of the command
# make check-live      those that need huge pages or root
# make check-all       both, under one closing line
# make check-sanitize  unit tests under ASan and UBSan, in $(B)/asan
# make lint            cppcheck, clang-tidy, shellcheck
# T=word runs the files that have the word in their path: make check T=test_core
.PHONY: check check-live check-all check-unit check-sanitize lint

include core/test/sources.mk

# The core's tests stand on core alone, the tools' on all of them but main();
# the others link the library.
CPG_TEST_O := $(addprefix $(B)/core/,$(CPG_TEST_OBJS))
CORE_TESTS := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_core*.c)))
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

T ?=
chosen = $(if $(T),$(foreach t,$(1),$(if $(findstring $(T),$(t)),$(t))),$(1))
UNIT := $(call chosen,$(filter $(B)/tests/unit/%,$(CORE_TESTS) $(LIB_TESTS) $(TOOL_TESTS)) \
	$(sort $(wildcard tests/unit/*.sh)))
CLI := $(call chosen,$(sort $(wildcard tests/cli/*.bats)))
LIVE := $(call chosen,$(filter $(B)/tests/live/%,$(LIB_TESTS)) \
	$(sort $(wildcard tests/live/*.bats tests/live/*.sh)))

# What has to be built for a list of tests: the programs among them, core's
# objects for arrows.sh, and all of it for those that run the command.
needs = $(filter $(B)/%,$(1)) $(if $(filter %.sh,$(1)),$(CORE_O) $(CPG_TEST_O)) \
	$(if $(filter %.bats tests/live/%,$(1)),all)
run = CLEARPAGES='$(abspath $(B)/clearpages)' BUILD='$(abspath $(B))' CC='$(CC)' \
	sh tests/run.sh $(1)

check: $(call needs,$(UNIT) $(CLI))
	$(call run,$(UNIT) $(CLI))

check-unit: $(call needs,$(UNIT))
	$(call run,$(UNIT))

check-live: $(call needs,$(LIVE))
	$(call run,$(LIVE))

check-all: $(call needs,$(UNIT) $(CLI) $(LIVE))
	$(call run,$(UNIT) $(CLI) $(LIVE))

check-sanitize:
	$(MAKE) B=$(B)/asan SANITIZE=address,undefined check-unit

# ---- lint ----------------------------------------------------------------------

LINT_C := $(sort $(wildcard core/*.c core/x86/*.c core/test/*.c lib/*.c tools/*.c \
	tests/unit/*.c tests/live/*.c tests/qemu/guest/*.c tests/qemu/insns/*.c))
LINT_SH := $(sort $(wildcard tests/*.sh tests/*/*.sh tests/*/*.bats tests/*/*.bash \
	bench/*.sh contrib/*.sh .ci/run))
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

lint-shell:
	shellcheck $(LINT_SH)
