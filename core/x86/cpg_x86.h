/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The x86-64 variants, for the table only. */
#ifndef CPG_X86_H
#define CPG_X86_H

#include "../cpg_port.h"

void cpg_x86_stosb(void *addr, size_t len);
void cpg_x86_stosq(void *addr, size_t len);
void cpg_x86_mov(void *addr, size_t len);
void cpg_x86_movnti(void *addr, size_t len);
void cpg_x86_clzero(void *addr, size_t len);
void cpg_x86_sfence(void);

#ifdef CPG_HAVE_VECTOR
void cpg_x86_avx2(void *addr, size_t len);
void cpg_x86_ntavx2(void *addr, size_t len);
void cpg_x86_avx512(void *addr, size_t len);
void cpg_x86_ntavx512(void *addr, size_t len);
#endif

#endif
