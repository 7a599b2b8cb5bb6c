/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust as people wrote them; names that mean harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/code/service/demangle.h"

static void assert_demangled(const char *name, const char *wanted)
{
	char text[DEMANGLED_MAX];

	assert_int_equal(demangle(name, text), strlen(wanted));
	assert_string_equal(text, wanted);
}

static void functions_of_cplusplus_have_namespaces_and_parameters(void **state)
{
	(void)state;
	assert_demangled("_ZN6shapes6squareIlE4areaEl", "shapes::square<long>::area(long)");
	assert_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
			 "std::vector<int, std::allocator<int> >::push_back(int const&)");
}

static void both_manglings_of_rust_lose_their_hash(void **state)
{
	(void)state;
	assert_demangled("_ZN4core3fmt9Formatter3pad17h8a0bd0b8b1f7a9efE",
			 "core::fmt::Formatter::pad");
	assert_demangled("_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt"
			 "17h0123456789abcdefE",
			 "<alloc::string::String as core::fmt::Debug>::fmt");
	assert_demangled("_RNvC6_123foo3bar", "123foo::bar");
	assert_demangled("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

static void other_names_stay_as_they_are(void **state)
{
	(void)state;
	assert_demangled("main", "main");
	assert_demangled("_start", "_start");
	assert_demangled("", "");
	assert_demangled("_Z", "_Z");
	assert_demangled("_R", "_R");
	assert_demangled("_ZN999999999999999999999x", "_ZN999999999999999999999x");
	assert_demangled("_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault");
}

static void a_long_name_is_cut(void **state)
{
	char name[20000], text[DEMANGLED_MAX];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(demangle(name, text), DEMANGLED_MAX - 1);
	assert_int_equal(strlen(text), DEMANGLED_MAX - 1);
	memcpy(name, "_ZN", 3);
	assert_int_equal(demangle(name, text), DEMANGLED_MAX - 1);
	snprintf(name, sizeof(name), "_ZN5000%05000dE1fEv", 0);
	assert_true(demangle(name, text) < DEMANGLED_MAX);
}

/* Each pair refers to the one before it twice, so the text would double 60 times. */
static void a_name_that_describes_an_endless_text_is_cut(void **state)
{
	char name[4096] = "_Z1fSt4pairI1aS_E", text[DEMANGLED_MAX];
	size_t length = strlen(name);

	(void)state;
	for (int i = 1; i < 60; i++)
		length += (size_t)snprintf(name + length, sizeof(name) - length,
					   "St4pairIS%c_S%c_E", '0' + i % 10, '0' + i % 10);
	assert_true(demangle(name, text) < DEMANGLED_MAX);
	/* The same for Rust: tuples of what was said before. */
	length = (size_t)snprintf(name, sizeof(name), "_RINvC1a1f");
	length += (size_t)snprintf(name + length, sizeof(name) - length, "TuuE");
	for (int i = 0; i < 60; i++)
		length += (size_t)snprintf(name + length, sizeof(name) - length, "TB%c_B%c_E", '8',
					   '8');
	snprintf(name + length, sizeof(name) - length, "E");
	assert_true(demangle(name, text) < DEMANGLED_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_cplusplus_have_namespaces_and_parameters),
		cmocka_unit_test(both_manglings_of_rust_lose_their_hash),
		cmocka_unit_test(other_names_stay_as_they_are),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(a_name_that_describes_an_endless_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
