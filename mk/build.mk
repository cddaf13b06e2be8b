# SPDX-License-Identifier: GPL-2.0-only
# Objects of every kind go below $(B), so that a build of another kind
# (make B=build/asan SANITIZE=address) never mixes with this one.
CC ?= cc
AR ?= ar
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
WERROR ?= -Werror
WARN := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wundef -Wpointer-arith -Wcast-align
SANITIZE ?=
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -DCLEARPAGES_SANITIZED=1)
ALL_CFLAGS = -std=gnu11 $(WARN) -D_GNU_SOURCE -DCLEARPAGES_VERSION='"$(VERSION)"' \
	-pthread $(CFLAGS) $(SANFLAGS) -MMD -MP
ALL_LDFLAGS = -pthread $(LDFLAGS) $(SANFLAGS)

ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
ifneq ($(ARCH),x86_64)
$(error clearpages has no variants for '$(ARCH)' yet: expected x86_64)
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all clean help

LIB_SRCS := $(sort $(wildcard lib/*.c))
TOOL_SRCS := $(sort $(wildcard tools/*.c))

CORE_O := $(addprefix $(B)/core/,$(CPG_OBJS) $(CPG_VECTOR_OBJS))
LIB_O := $(LIB_SRCS:%.c=$(B)/%.o)
TOOL_O := $(TOOL_SRCS:%.c=$(B)/%.o)

# core sees nothing but itself; lib sees core and the public header; tools see
# lib and the public header. tests/unit/arrows.sh holds the includes to it.
LIB_LIBS := -lnuma
TOOL_PKGS := smartcols jansson
TOOL_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(TOOL_PKGS))
TOOL_LIBS = $(shell $(PKG_CONFIG) --libs $(TOOL_PKGS)) $(LIB_LIBS) -lm

all: $(B)/clearpages $(B)/libclearpages.so $(B)/libclearpages.a $(B)/libclearpages.pc

# A module could not use a compiler's call of memset or of a vector helper:
# core is built freestanding here too, so that the day it can't be is noticed.
$(B)/core/%.o: core/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -ffreestanding -fvisibility=hidden -fPIC -c -o $@ $<

$(B)/core/%.o: core/%.S
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -c -o $@ $<

$(B)/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude -fvisibility=hidden -fPIC -c -o $@ $<

$(B)/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude $(TOOL_CFLAGS) -c -o $@ $<

$(B)/libclearpages.a: $(CORE_O) $(LIB_O)
	rm -f $@
	$(AR) rcs $@ $^

# nodelete: a signal handler of the pager can outlive dlclose() in another's chain.
SONAME := libclearpages.so.0
$(B)/libclearpages.so: $(CORE_O) $(LIB_O) lib/libclearpages.map
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,--version-script=lib/libclearpages.map -o $@ $(CORE_O) $(LIB_O) $(LIB_LIBS)
	ln -sf libclearpages.so $(B)/$(SONAME)

$(B)/libclearpages.pc: lib/libclearpages.pc.in VERSION
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|;s|@LIBDIR@|$(LIBDIR)|;s|@VERSION@|$(VERSION)|' $< >$@

# The command carries its own copy of the library: it uses lib's insides.
$(B)/clearpages: $(TOOL_O) $(B)/libclearpages.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TOOL_LIBS)

# Small programs for those who read; linked with the library as it is here.
EXAMPLES := $(patsubst %.c,$(B)/%,$(sort $(wildcard examples/*.c)))

$(B)/examples/%: examples/%.c $(B)/libclearpages.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -Iinclude -o $@ $^ $(LIB_LIBS)

clean:
	rm -rf $(B)

-include $(shell find $(addprefix $(B)/,core lib tools tests) -name '*.d' -type f 2>/dev/null)
