# SPDX-License-Identifier: GPL-2.0-only
# make check-qemu		the module in every kernel of tests/qemu/kernels.tsv, as root
# make check-qemu-short		what CI runs: 6.1 and the newest kernel, one signature each
# K="6.12 7.3" some kernels; JOBS=2 kernels at a time; STRESS= seconds of each stress, which goes
# on until each event has happened; RELOADS= times of loading;
# SEED= of all random numbers, as a run before has printed it ("guest: seed N" in the consoles);
# SELFTEST=1 all of core's cases in the module as well, which takes minutes a kernel.
# make check-qemu-debug		the stress on a kernel with KASAN, lockdep and kmemleak
.PHONY: check-qemu check-qemu-short check-qemu-debug

QEMU_GUEST_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wundef -Wpointer-arith -Wcast-align -D_GNU_SOURCE
CC ?= cc
QEMU_ENV = STRESS='$(STRESS)' RELOADS='$(RELOADS)' JOBS='$(or $(JOBS),1)' SELFTEST='$(SELFTEST)' \
	SEED='$(SEED)'

$(B)/qemu/guest: $(sort $(wildcard tests/qemu/guest/*.c tests/qemu/guest/*.h))
	@mkdir -p $(@D)
	$(CC) $(QEMU_GUEST_CFLAGS) -static -o $@ $(filter %.c,$^)

$(B)/qemu/insns.so: tests/qemu/insns/insns.c
	@mkdir -p $(@D)
	$(CC) $(QEMU_GUEST_CFLAGS) -fPIC -shared -fvisibility=hidden -o $@ $<

# What runs in a guest with two nodes of memory.
QEMU_PROGRAMS := $(patsubst tests/live/%.c,$(B)/qemu/%,$(wildcard tests/live/test_live_nodes.c))
$(QEMU_PROGRAMS): $(B)/qemu/%: tests/live/%.c $(B)/libclearpages.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude -static -o $@ $< $(B)/libclearpages.a $(LIB_LIBS) -lpthread

check-qemu: STRESS ?= 15
check-qemu: RELOADS ?= 100
check-qemu: $(B)/qemu/guest $(B)/qemu/insns.so $(QEMU_PROGRAMS)
	$(QEMU_ENV) sh tests/qemu/check.sh full $(K)

check-qemu-short: STRESS ?= 5
check-qemu-short: RELOADS ?= 16
check-qemu-short: $(B)/qemu/guest $(B)/qemu/insns.so $(QEMU_PROGRAMS)
	$(QEMU_ENV) sh tests/qemu/check.sh short $(K)

# A kernel of its own with KASAN, lockdep and kmemleak, built once for each content.
check-qemu-debug: $(B)/qemu/guest
	STRESS='$(STRESS)' RELOADS='$(RELOADS)' sh tests/qemu/debug.sh
