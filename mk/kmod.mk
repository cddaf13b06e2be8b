# SPDX-License-Identifier: GPL-2.0-only
# make kmod		clearpages.ko for the running kernel, in build/kmod/RELEASE
# make kmod KDIR=DIR	for the kernel whose build folder that is
# make kmod-install	what was built, below /lib/modules/RELEASE/updates
# make kmod-dkms	its sources and dkms.conf to /usr/src, for dkms; DESTDIR= as usual
# make kmod-check	for each kernel of tests/qemu/kernels.tsv, no warning allowed; K=6.12: for some
# CLEARPAGES_PLANT=	a planted bug, for tests only: see kmod/plant.c
#
# Kbuild puts objects beside sources, and would take one that user space has
# left there: so it gets a folder of links, of its own for each release.
.PHONY: kmod kmod-install kmod-dkms kmod-check

KDIR ?= /lib/modules/$(shell uname -r)/build
# As uname -r says it. include/config/kernel.release is not that on Debian's 6.1.
KRELEASE ?= $(shell sed -n 's/^\#define UTS_RELEASE "\(.*\)"/\1/p' \
	'$(KDIR)/include/generated/utsrelease.h' 2>/dev/null)
CLEARPAGES_PLANT ?=
KSTAGE = $(abspath $(B))/kmod/$(KRELEASE)$(if $(CLEARPAGES_PLANT),-plant-$(CLEARPAGES_PLANT))
K ?=

kmod:
	@test -n '$(KRELEASE)' || { echo "make kmod: no headers of a kernel in '$(KDIR)':" \
		"install those of $$(uname -r), or name another folder with KDIR=" >&2; exit 1; }
	@mkdir -p '$(KSTAGE)'
	@find '$(KSTAGE)' -type l -delete
	@cp -rs '$(abspath Kbuild)' '$(abspath VERSION)' '$(abspath core)' '$(abspath kmod)' \
		'$(KSTAGE)/'
	+$(MAKE) -C '$(KDIR)' M='$(KSTAGE)' CLEARPAGES_PLANT='$(CLEARPAGES_PLANT)' modules

kmod-install: kmod
	+$(MAKE) -C '$(KDIR)' M='$(KSTAGE)' modules_install

# No more than the goal kmod reads; tests/unit/dkms.sh builds there as dkms does.
DKMSDIR = $(DESTDIR)/usr/src/clearpages-$(VERSION)
kmod-dkms:
	rm -rf '$(DKMSDIR)'
	mkdir -p '$(DKMSDIR)/mk'
	cp -r Kbuild LICENSES Makefile VERSION core kmod '$(DKMSDIR)/'
	cp mk/kmod.mk '$(DKMSDIR)/mk/'
	sed 's|@VERSION@|$(VERSION)|' dkms.conf.in >'$(DKMSDIR)/dkms.conf'

kmod-check:
	sh tests/qemu/kmod-check.sh $(K)
