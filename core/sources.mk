# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The one list of core objects, read by make and by Kbuild.
CPG_OBJS := cpg_variants.o cpg_size.o cpg_auto.o cpg_policy.o cpg_clear.o x86/integer.o
# Vector registers: user space only, a kernel would have to save them first.
CPG_VECTOR_OBJS := x86/avx2.o x86/avx512.o
