# SPDX-License-Identifier: GPL-2.0-only
# make            the command and the library, in build/
# make check      the tests
# make kmod       the kernel module; make kmod-check: for every kernel of the matrix
# make check-qemu that module under load in every one of them, in QEMU
# make install    DESTDIR= PREFIX= as usual
# make bench-peers   beside memset and PMDK
VERSION := $(shell cat VERSION)
B := build

include mk/kmod.mk
# dkms is given no more than these goals read: see kmod-dkms.
ifneq ($(filter-out kmod kmod-install kmod-dkms,$(or $(MAKECMDGOALS),all)),)
include mk/qemu.mk
endif
# The module alone asks for nothing that a machine without a program's compiler
# and libraries has not: dkms, the build root.
ifneq ($(filter-out kmod kmod-%,$(or $(MAKECMDGOALS),all)),)
include core/sources.mk
include mk/build.mk
include mk/test.mk
include mk/bench.mk
include mk/install.mk
endif
