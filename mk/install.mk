# SPDX-License-Identifier: GPL-2.0-only
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
INSTALL ?= install
MANPAGES := $(wildcard man/*.[137])

.PHONY: install uninstall

# What goes where: both targets read it.
INSTALLED = $(BINDIR)/clearpages $(LIBDIR)/libclearpages.so.$(VERSION) $(LIBDIR)/$(SONAME) \
	$(LIBDIR)/libclearpages.so $(LIBDIR)/libclearpages.a $(LIBDIR)/pkgconfig/libclearpages.pc \
	$(INCLUDEDIR)/clearpages.h $(COMPLETIONDIR)/clearpages \
	$(foreach page,$(MANPAGES),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))

install: all
	$(INSTALL) -Dm755 $(B)/clearpages $(DESTDIR)$(BINDIR)/clearpages
	$(INSTALL) -Dm644 $(B)/libclearpages.so $(DESTDIR)$(LIBDIR)/libclearpages.so.$(VERSION)
	ln -sf libclearpages.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libclearpages.so
	$(INSTALL) -Dm644 $(B)/libclearpages.a $(DESTDIR)$(LIBDIR)/libclearpages.a
	sed -e 's|@PREFIX@|$(PREFIX)|;s|@LIBDIR@|$(LIBDIR)|;s|@VERSION@|$(VERSION)|' \
		lib/libclearpages.pc.in >$(B)/libclearpages.pc
	$(INSTALL) -Dm644 $(B)/libclearpages.pc $(DESTDIR)$(LIBDIR)/pkgconfig/libclearpages.pc
	$(INSTALL) -Dm644 include/clearpages.h $(DESTDIR)$(INCLUDEDIR)/clearpages.h
	$(INSTALL) -Dm644 contrib/clearpages.bash $(DESTDIR)$(COMPLETIONDIR)/clearpages
	for page in $(MANPAGES); do \
		$(INSTALL) -Dm644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; \
	done
	test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true
