/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The variants that use general registers only, so that a kernel can call them
 * without saving anything. Addresses and lengths are multiples of the align of
 * their record in cpg_variants.c.
 */
#include "cpg_x86.h"

void cpg_x86_stosb(void *addr, size_t len)
{
	__asm__ volatile("rep stosb"
			 : "+D"(addr), "+c"(len)
			 : "a"(0)
			 : "memory");
}

void cpg_x86_stosq(void *addr, size_t len)
{
	len /= 8;
	__asm__ volatile("rep stosq"
			 : "+D"(addr), "+c"(len)
			 : "a"(0L)
			 : "memory");
}

/* A line of 64 bytes a turn, by whatever stores 8. */
#define STORE_LINES(store)				\
	__asm__ volatile("1:\n\t"			\
			 store "	%2, (%0)\n\t"	\
			 store "	%2, 8(%0)\n\t"	\
			 store "	%2, 16(%0)\n\t"	\
			 store "	%2, 24(%0)\n\t"	\
			 store "	%2, 32(%0)\n\t"	\
			 store "	%2, 40(%0)\n\t"	\
			 store "	%2, 48(%0)\n\t"	\
			 store "	%2, 56(%0)\n\t"	\
			 "addq	$64, %0\n\t"		\
			 "subq	$64, %1\n\t"		\
			 "jnz	1b"			\
			 : "+r"(addr), "+r"(len)	\
			 : "r"(0L)			\
			 : "memory", "cc")

void cpg_x86_mov(void *addr, size_t len)
{
	STORE_LINES("movq");
}

void cpg_x86_movnti(void *addr, size_t len)
{
	STORE_LINES("movnti");
}

/*
 * CLZERO zeroes the 64-byte line that rax points into (every processor that
 * has it has 64-byte lines). Spelt as bytes: assemblers before binutils 2.27
 * do not know it. Four lines a turn: measured 44.2 GiB/s at 2 MB on Milan.
 */
#define CLZERO ".byte 0x0f, 0x01, 0xfc\n\t"

void cpg_x86_clzero(void *addr, size_t len)
{
	size_t single = len & 255, quads = len - single;

	if (quads)
		__asm__ volatile("1:\n\t"
				 CLZERO
				 "addq	$64, %0\n\t"
				 CLZERO
				 "addq	$64, %0\n\t"
				 CLZERO
				 "addq	$64, %0\n\t"
				 CLZERO
				 "addq	$64, %0\n\t"
				 "subq	$256, %1\n\t"
				 "jnz	1b"
				 : "+a"(addr), "+r"(quads)
				 :
				 : "memory", "cc");
	if (single)
		__asm__ volatile("1:\n\t"
				 CLZERO
				 "addq	$64, %0\n\t"
				 "subq	$64, %1\n\t"
				 "jnz	1b"
				 : "+a"(addr), "+r"(single)
				 :
				 : "memory", "cc");
}

/*
 * sfence and nothing weaker: on x86 the kernel's smp_wmb() is a compiler
 * barrier, which leaves streaming stores unordered.
 */
void cpg_x86_sfence(void)
{
	__asm__ volatile("sfence" : : : "memory");
}
