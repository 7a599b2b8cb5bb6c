/* SPDX-License-Identifier: MIT */
/* JSON that any parser takes, whatever the names in it are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"

struct output {
	FILE *file;
	char *text;
	size_t size;
	struct json json;
};

static struct output *open_output(void)
{
	struct output *output = calloc(1, sizeof(*output));

	output->file = open_memstream(&output->text, &output->size);
	output->json = json_writer(output->file);
	return output;
}

static void assert_output(struct output *output, const char *expected)
{
	fclose(output->file);
	assert_string_equal(output->text, expected);
	free(output->text);
	free(output);
}

static void commas_stand_between_values_and_nowhere_else(void **state)
{
	struct output *output = open_output();
	struct json *json = &output->json;

	(void)state;
	json_begin_object(json);
	json_member_u64(json, "a", 1);
	json_key(json, "b");
	json_begin_array(json);
	json_begin_array(json);
	json_end_array(json);
	json_begin_object(json);
	json_end_object(json);
	json_bool(json, true);
	json_bool(json, false);
	json_null(json);
	json_end_array(json);
	json_member_string(json, "c", "");
	json_end_object(json);
	assert_output(output, "{\n  \"a\": 1,\n  \"b\": [\n    [],\n    {},\n    true,\n"
			      "    false,\n    null\n  ],\n  \"c\": \"\"\n}\n");
}

static void integers_are_exact_to_the_last_digit(void **state)
{
	struct output *output = open_output();

	(void)state;
	json_begin_array(&output->json);
	json_u64(&output->json, UINT64_MAX);
	json_u64(&output->json, 9007199254740993);
	json_i64(&output->json, INT64_MIN);
	json_difference(&output->json, true, UINT64_MAX);
	json_difference(&output->json, true, 0);
	json_difference(&output->json, false, 7);
	json_end_array(&output->json);
	assert_output(output, "[\n  18446744073709551615,\n  9007199254740993,\n"
			      "  -9223372036854775808,\n  -18446744073709551615,\n  0,\n  7\n]\n");
}

static void a_number_that_json_cannot_write_is_null(void **state)
{
	struct output *output = open_output();

	(void)state;
	json_begin_array(&output->json);
	json_double(&output->json, 0.5);
	json_double(&output->json, -3);
	json_double(&output->json, 0);
	json_double(&output->json, -0.0);
	json_double(&output->json, 1e15);
	json_double(&output->json, 1e20);
	json_double(&output->json, NAN);
	json_double(&output->json, -INFINITY);
	json_end_array(&output->json);
	assert_output(output, "[\n  0.5,\n  -3,\n  0,\n  -0,\n  1e+15,\n"
			      "  1e+20,\n  null,\n  null\n]\n");
}

static void a_double_comes_back_as_it_was(void **state)
{
	static const double values[] = { 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.123456789 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct output *output = open_output();

		json_begin_array(&output->json);
		json_double(&output->json, values[i]);
		json_end_array(&output->json);
		fflush(output->file);
		assert_true(strtod(output->text + 1, NULL) == values[i]);
		fclose(output->file);
		free(output->text);
		free(output);
	}
}

static void bytes_that_are_no_text_are_written_as_hex(void **state)
{
	struct output *output = open_output();

	(void)state;
	json_begin_object(&output->json);
	json_member_string(&output->json, "\x1b", "quote\" slash\\ tab\t nul-free \xff \xc3\xbc");
	json_end_object(&output->json);
	assert_output(output, "{\n  \"\\\\x1b\": \"quote\\\" slash\\\\ tab\\\\x09 nul-free "
			      "\\\\xff \xc3\xbc\"\n}\n");
}

static void members_stand_on_lines_of_their_own_down_to_the_second_level(void **state)
{
	struct output *output = open_output();
	struct json *json = &output->json;

	(void)state;
	json_begin_object(json);
	json_key(json, "list");
	json_begin_array(json);
	for (int i = 0; i < 2; i++) {
		json_begin_object(json);
		json_member_u64(json, "a", 1);
		json_member_u64(json, "b", 2);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	assert_output(output, "{\n  \"list\": [\n    {\"a\":1,\"b\":2},\n    {\"a\":1,\"b\":2}\n"
			      "  ]\n}\n");
}

static void a_text_that_is_not_known_is_null_and_an_empty_one_is_empty(void **state)
{
	struct output *output = open_output();
	struct json *json = &output->json;

	(void)state;
	json_begin_object(json);
	json_member_text(json, "a", NULL);
	json_member_text(json, "b", "");
	json_member_text(json, "c", "text");
	json_end_object(json);
	assert_output(output, "{\n  \"a\": null,\n  \"b\": \"\",\n  \"c\": \"text\"\n}\n");
}

static void a_line_has_no_blanks_and_one_newline(void **state)
{
	struct output *output = open_output();

	(void)state;
	output->json = json_line_writer(output->file);
	json_begin_object(&output->json);
	json_member_u64(&output->json, "a", 1);
	json_key(&output->json, "b");
	json_begin_array(&output->json);
	json_u64(&output->json, 2);
	json_end_array(&output->json);
	json_end_object(&output->json);
	assert_output(output, "{\"a\":1,\"b\":[2]}\n");
}

static void a_number_that_is_not_known_is_null_and_zero_is_zero(void **state)
{
	struct output *output = open_output();

	(void)state;
	output->json = json_line_writer(output->file);
	json_begin_object(&output->json);
	json_member_known(&output->json, "a", true, 0);
	json_member_known(&output->json, "b", false, 0);
	json_member_known(&output->json, "c", true, UINT64_MAX);
	json_end_object(&output->json);
	assert_output(output, "{\"a\":0,\"b\":null,\"c\":18446744073709551615}\n");
}

static void rounded_numbers_have_no_zeros_at_their_end(void **state)
{
	struct output *output = open_output();

	(void)state;
	output->json = json_line_writer(output->file);
	json_begin_array(&output->json);
	json_fixed(&output->json, 1.6, 3);
	json_fixed(&output->json, 100, 2);
	json_fixed(&output->json, 0.00004, 4);
	json_fixed(&output->json, 2.0 / 3, 2);
	json_fixed(&output->json, INFINITY, 2);
	json_fixed(&output->json, 20, 0);
	json_fixed(&output->json, 1e300, 200);
	json_end_array(&output->json);
	assert_output(output, "[1.6,100,0,0.67,null,20,null]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_no_blanks_and_one_newline),
		cmocka_unit_test(rounded_numbers_have_no_zeros_at_their_end),
		cmocka_unit_test(commas_stand_between_values_and_nowhere_else),
		cmocka_unit_test(integers_are_exact_to_the_last_digit),
		cmocka_unit_test(a_number_that_json_cannot_write_is_null),
		cmocka_unit_test(a_double_comes_back_as_it_was),
		cmocka_unit_test(bytes_that_are_no_text_are_written_as_hex),
		cmocka_unit_test(members_stand_on_lines_of_their_own_down_to_the_second_level),
		cmocka_unit_test(a_number_that_is_not_known_is_null_and_zero_is_zero),
		cmocka_unit_test(a_text_that_is_not_known_is_null_and_an_empty_one_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
