# SPDX-License-Identifier: GPL-2.0-only
# make            the command and the library, in build/
# make check      the tests
# make install    DESTDIR= PREFIX= as usual
# make bench-peers   beside memset and PMDK
VERSION := $(shell cat VERSION)
B := build

include core/sources.mk
include mk/build.mk
include mk/test.mk
include mk/bench.mk
include mk/install.mk
