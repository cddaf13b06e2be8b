/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * void cpg_x86_avx512(void *addr, size_t len), void cpg_x86_ntavx512(...)
 *
 * addr and len are multiples of 64. zmm16 needs no vzeroupper and leaves the
 * lower registers alone.
 */

.macro CPG_AVX512 name, store
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 5
\name:
	.cfi_startproc
	endbr64
	vpxorq	%zmm16, %zmm16, %zmm16
	movq	%rsi, %rcx
	andq	$-256, %rcx
	jz	2f
	andl	$255, %esi
	.p2align 4
1:	\store	%zmm16, (%rdi)
	\store	%zmm16, 64(%rdi)
	\store	%zmm16, 128(%rdi)
	\store	%zmm16, 192(%rdi)
	addq	$256, %rdi
	subq	$256, %rcx
	jnz	1b
2:	testq	%rsi, %rsi
	jz	4f
3:	\store	%zmm16, (%rdi)
	addq	$64, %rdi
	subq	$64, %rsi
	jnz	3b
4:	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	.text
	CPG_AVX512 cpg_x86_avx512, vmovdqa64
	CPG_AVX512 cpg_x86_ntavx512, vmovntdq

	.section .note.GNU-stack, "", @progbits
