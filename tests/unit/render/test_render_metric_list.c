/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "metric/metric.h"
#include "metric/reading.h"
#include "render/metric_list.h"
#include "render/scdoc.h"

static void json(FILE *out)
{
	metric_list_json(out);
}

static void text(FILE *out)
{
	assert_int_equal(metric_list_text(out, 0), 0);
}

static void man(FILE *out)
{
	assert_int_equal(metric_list_man(out), 0);
}

static char *printed_by(void (*print)(FILE *out))
{
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	print(out);
	fclose(out);
	return printed;
}

static void assert_part(const char *whole, const char *part)
{
	if (!strstr(whole, part))
		fail_msg("no '%s'", part);
}

static void every_metric_is_in_every_format(void **state)
{
	void (*const formats[])(FILE *) = { text, json };

	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		char *printed = printed_by(formats[f]);

		for (int id = 0; id < METRIC_COUNT; id++)
			assert_part(printed, metrics[id].name);
		free(printed);
	}
}

/* Whether a word begins a line between two places. */
static bool is_between(const char *from, const char *to, const char *before, const char *word)
{
	CLEANUP(text_free) struct text start = { 0 };
	const char *found;

	text_format(&start, "\n%s", before);
	if (before[0] == '*')
		scdoc_append(&start, word);
	else
		text_append_string(&start, word);
	text_append_string(&start, before[0] == '*' ? "* (" : " ");
	found = strstr(from, text_string(&start));
	return found && found < to;
}

/* Sections come in their order, so the last heading before the place is that of its section. */
static void assert_sections(const char *printed, const char *const *headings, const char *before)
{
	for (int section = 0; section < SECTION_COUNT; section++) {
		const char *from = strstr(printed, headings[section]);
		const char *to = section + 1 < SECTION_COUNT ?
					 strstr(printed, headings[section + 1]) :
					 printed + strlen(printed);

		assert_non_null(from);
		assert_non_null(to);
		assert_true(from < to);
		for (int id = 0; id < METRIC_COUNT; id++)
			assert_int_equal(is_between(from, to, before, metrics[id].name),
					 (int)metrics[id].section == section);
		for (size_t row = 0; row < reading_count; row++)
			assert_int_equal(is_between(from, to, before, readings[row].name),
					 (int)readings[row].section == section);
	}
}

static void each_is_listed_in_its_section(void **state)
{
	static const char *const titles[SECTION_COUNT] = {
		"\nIdentity ",
		"\nScheduling ",
		"\nInput and output ",
		"\nMemory ",
		"\nDelays ",
		"\nHeap ",
		"\nScopes ",
		"\nWaits ",
		"\nGPUs ",
		"\nCgroups\n",
		"\nLimits of cgroups\n",
		"\nMemory of cgroups (memory.stat)\n",
		"\nLimits reached by cgroups (memory.events)\n",
		"\nPressure\n",
		"\nHost\n",
		"\nWhat the host did\n",
		"\nWhat the host did, in detail\n",
	};
	static const char *const headings[SECTION_COUNT] = {
		"\n# IDENTITY\n",
		"\n# SCHEDULING\n",
		"\n# INPUT AND OUTPUT\n",
		"\n# MEMORY\n",
		"\n# DELAYS\n",
		"\n# HEAP\n",
		"\n# SCOPES\n",
		"\n# WAITS\n",
		"\n# GPUS\n",
		"\n# CGROUPS\n",
		"\n# LIMITS OF CGROUPS\n",
		"\n# MEMORY OF CGROUPS (MEMORY.STAT)\n",
		"\n# LIMITS REACHED BY CGROUPS (MEMORY.EVENTS)\n",
		"\n# PRESSURE\n",
		"\n# HOST\n",
		"\n# WHAT THE HOST DID\n",
		"\n# WHAT THE HOST DID, IN DETAIL\n",
	};
	CLEANUP(free_pointer) char *listed = printed_by(text);
	CLEANUP(free_pointer) char *page = printed_by(man);

	(void)state;
	assert_sections(listed, titles, "  ");
	assert_sections(page, headings, "*");
}

static void a_derived_metric_has_its_formula_and_others_their_sources(void **state)
{
	static const char *const parts[] = {
		"\n      = run_time_ns / (run_time_ns + wait_time_ns)\n",
		"\n      from task sched slice_max, bpf stats slice_max\n",
	};
	CLEANUP(free_pointer) char *listed = printed_by(text);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_part(listed, parts[i]);
	for (int id = 0; id < METRIC_COUNT; id++) {
		CLEANUP(text_free) struct text line = { 0 };

		text_format(&line, "\n  %-30s  %-6s  %-8s  %-7s  %s", metrics[id].name,
			    metric_unit_name(metrics[id].unit), metric_kind_name(metrics[id].kind),
			    metric_is_derived(id) ? "-" : metric_scope_name(metrics[id].scope),
			    metric_fold_name(metrics[id].fold));
		assert_part(listed, text_string(&line));
	}
}

static void json_says_all_that_the_table_knows(void **state)
{
	char *printed = printed_by(json);

	(void)state;
	assert_part(printed, "\"format\": \"taskscope-metrics\",\n  \"version\": 1,\n");
	assert_part(
		printed,
		"{\"name\":\"slice_max\",\"unit\":\"ns\",\"kind\":\"peak\",\"scope\":\"thread\","
		"\"fold\":\"max\",\"section\":\"scheduling\",\"gate\":\"SCHEDSTATS\","
		"\"class\":\"cfs-only\",\"sources\":[\"task sched slice_max\","
		"\"bpf stats slice_max\"],\"derived\":false,\"inputs\":[],\"formula\":null,"
		"\"help\":\"");
	assert_part(printed, "\"derived\":true,\"inputs\":[\"run_time_ns\",\"wait_time_ns\"],"
			     "\"formula\":\"run_time_ns / (run_time_ns + wait_time_ns)\"");
	free(printed);
}

static void text_fits_a_hundred_columns_without_blanks_at_the_end(void **state)
{
	char *printed = printed_by(text);

	(void)state;
	for (const char *at = printed; *at; at += strcspn(at, "\n") + 1) {
		size_t length = strcspn(at, "\n");

		assert_true(length <= 100);
		assert_true(length == 0 || at[length - 1] != ' ');
	}
	free(printed);
}

static void the_man_page_escapes_what_scdoc_would_format(void **state)
{
	char *printed = printed_by(man);

	(void)state;
	assert_part(printed, "taskscope-metrics(7)\n\n# NAME\n");
	assert_part(printed,
		    "*run\\_time\\_ns* (ns, counter, of a thread, sum) \\[SCHED\\_INFO\\]\n\t");
	free(printed);
}

static void words_for_scdoc_are_escaped_but_for_what_it_writes_itself(void **state)
{
	struct text words = { 0 };

	(void)state;
	scdoc_append(&words, "*_delay [a|b] <c> `d` 1++ \\ # ~ ...");
	assert_string_equal(text_string(&words), "\\*\\_delay \\[a\\|b\\] \\<c\\> \\`d\\` 1\\+\\+ "
						 "\\\\ \\# ~ ...");
	text_free(&words);
}

static void a_line_that_begins_with_a_dash_is_no_list_for_scdoc(void **state)
{
	struct text words = { 0 };

	(void)state;
	scdoc_append(&words, "--one - two\n--three");
	assert_string_equal(text_string(&words), "\\--one - two\n\\--three");
	text_free(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_is_in_every_format),
		cmocka_unit_test(each_is_listed_in_its_section),
		cmocka_unit_test(a_derived_metric_has_its_formula_and_others_their_sources),
		cmocka_unit_test(json_says_all_that_the_table_knows),
		cmocka_unit_test(text_fits_a_hundred_columns_without_blanks_at_the_end),
		cmocka_unit_test(the_man_page_escapes_what_scdoc_would_format),
		cmocka_unit_test(words_for_scdoc_are_escaped_but_for_what_it_writes_itself),
		cmocka_unit_test(a_line_that_begins_with_a_dash_is_no_list_for_scdoc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
