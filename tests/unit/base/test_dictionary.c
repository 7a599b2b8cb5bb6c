/* SPDX-License-Identifier: MIT */
/* Strings by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/collection/dictionary.h"

static int make_dictionary(void **state)
{
	*state = dictionary_new();
	return *state == NULL;
}

static int free_dictionary(void **state)
{
	dictionary_free(*state);
	return 0;
}

static uint32_t add(struct dictionary *dictionary, const char *text)
{
	uint32_t id = UINT32_MAX;

	assert_int_equal(dictionary_add(dictionary, text, strlen(text), &id), 0);
	return id;
}

static void number_0_is_the_empty_string(void **state)
{
	assert_int_equal(dictionary_count(*state), 1);
	assert_string_equal(dictionary_text(*state, 0), "");
	assert_int_equal(add(*state, ""), 0);
	assert_int_equal(dictionary_count(*state), 1);
}

static void the_same_text_gets_the_same_number(void **state)
{
	uint32_t first = add(*state, "worker"), second = add(*state, "Worker");

	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	assert_int_equal(add(*state, "worker"), first);
	assert_int_equal(dictionary_count(*state), 3);
}

static void only_so_many_bytes_as_told_are_taken(void **state)
{
	uint32_t id;

	assert_int_equal(dictionary_add(*state, "worker-17", 6, &id), 0);
	assert_string_equal(dictionary_text(*state, id), "worker");
	assert_int_equal(add(*state, "worker"), id);
}

static void what_was_never_added_is_not_found(void **state)
{
	uint32_t worker = add(*state, "worker");

	assert_int_equal(dictionary_find(*state, "worker-17", 6), worker);
	assert_int_equal(dictionary_find(*state, "worker-17", 9), 0);
	assert_int_equal(dictionary_find(*state, "", 0), 0);
	assert_int_equal(dictionary_count(*state), 2);
}

static void any_bytes_are_kept_as_they_are(void **state)
{
	uint32_t id = add(*state, "\x01\xff\x1b[2J\n");

	assert_string_equal(dictionary_text(*state, id), "\x01\xff\x1b[2J\n");
}

static void a_number_that_was_never_given_is_the_empty_string(void **state)
{
	assert_string_equal(dictionary_text(*state, 1), "");
	assert_string_equal(dictionary_text(*state, UINT32_MAX), "");
}

static void texts_stay_where_they_are_while_it_grows(void **state)
{
	const char *early = dictionary_text(*state, add(*state, "early"));
	char text[32];

	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(add(*state, text), i + 2);
	}
	assert_ptr_equal(dictionary_text(*state, 1), early);
	assert_string_equal(early, "early");
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(add(*state, text), i + 2);
		assert_string_equal(dictionary_text(*state, i + 2), text);
	}
	assert_int_equal(dictionary_count(*state), 20002);
}

#define WITH_DICTIONARY(test)                                                                      \
	cmocka_unit_test_setup_teardown(test, make_dictionary, free_dictionary)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DICTIONARY(number_0_is_the_empty_string),
		WITH_DICTIONARY(the_same_text_gets_the_same_number),
		WITH_DICTIONARY(only_so_many_bytes_as_told_are_taken),
		WITH_DICTIONARY(what_was_never_added_is_not_found),
		WITH_DICTIONARY(any_bytes_are_kept_as_they_are),
		WITH_DICTIONARY(a_number_that_was_never_given_is_the_empty_string),
		WITH_DICTIONARY(texts_stay_where_they_are_while_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
