# SPDX-License-Identifier: GPL-2.0-only
# make            the library, in build/
VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
B := build

include core/sources.mk
include mk/build.mk
