# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The one list of core's test cases, read by make and by Kbuild.
CPG_TEST_OBJS := test/cpg_test_cases.o test/cpg_test_util.o test/cpg_test_record.o \
	test/cpg_test_model.o test/cpg_test_check.o test/cpg_test_variants.o \
	test/cpg_test_order.o test/cpg_test_engine.o test/cpg_test_text.o \
	test/cpg_test_facts.o test/cpg_test_planted.o
