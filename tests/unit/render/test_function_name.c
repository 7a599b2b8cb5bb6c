/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "render/run/function_name.h"

static void check(const char *name, const char *expected)
{
	CLEANUP(text_free) struct text out = { 0 };

	function_name_append(&out, name);
	assert_string_equal(text_string(&out), expected);
}

static void test_signatures(void **state)
{
	(void)state;
	check("push_to_top_level()", "push_to_top_level");
	check("void std::sort<int*, less<int> >(int*, int*, less<int>)", "std::sort");
	check("std::vector<int, alloc<int> >::size() const", "std::vector::size");
	check("bool std::operator< <char, x>(std::s<char> const&, std::s<char> const&)",
	      "std::operator<");
	check("it<shop::Order*>::operator--()", "it::operator--");
	check("f<int>(int)::{lambda(int)#1}::operator()(int) const", "f::{lambda#1}::operator()");
	check("node::(anonymous namespace)::Run(void*)", "node::(anonymous namespace)::Run");
	check("flag::operator bool() const", "flag::operator bool");
	check("operator new(unsigned long)", "operator new");
	check("v8::Map::Find(int) [clone .isra.0]", "v8::Map::Find");
}

static void test_others(void **state)
{
	static const char *const names[] = {
		"main",
		"",
		"core::fmt::write",
		"<alloc::String as core::fmt::Write>::write_str",
		"JS:*hot /srv/n.js:1:41",
		"JS:~(anonymous) /srv/n.js:2:3",
		"odd)(",
		"f(",
		"(x)",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check(names[i], names[i]);
	check("odd\n(int)", "odd\\x0a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
