/* SPDX-License-Identifier: MIT */
/* The critical path, for people. */
#include "watched_run.h"

#include "base/cleanup.h"
#include "render/run/run_text.h"
#include "render/run/run_text_tables.h"

static void assert_does(const struct path_part *part, const char *expected)
{
	const struct run_text_options options = { .width = 80 };
	CLEANUP(run_free_pointer) struct run *run = NULL;
	CLEANUP(free_pointer) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(run_new(&run), 0);
	run->path.is_known = true;
	run->path.total_ns = part->ns;
	assert_int_equal(critical_path_add_part(&run->path, part), 0);
	run_text_path(out, run, &options);
	fclose(out);
	if (!strstr(text, expected))
		fail_msg("no '%s' in:\n%s", expected, text);
}

/* A name needs no "others" before it; without one, at least whose work it was is said. */
static void a_row_names_what_had_the_cpu_or_ended_the_wait(void **state)
{
	static const struct {
		struct path_part part;
		const char *does;
	} cases[] = {
		{ { .kind = PATH_CPU }, "  cpu  " },
		{ { .kind = PATH_RUN_QUEUE }, "  run queue  " },
		{ { .kind = PATH_RUN_QUEUE, .by_tree_ns = 501 }, "  run queue, own tree  " },
		{ { .kind = PATH_RUN_QUEUE, .by_tree_ns = 500 }, "  run queue  " },
		{ { .kind = PATH_RUN_QUEUE, .by_outside_ns = 501 }, "  run queue behind others  " },
		{ { .kind = PATH_RUN_QUEUE, .by_outside_ns = 900, .peer = "cc1", .peer_ns = 501 },
		  "  run queue behind cc1  " },
		{ { .kind = PATH_RUN_QUEUE, .by_outside_ns = 900, .peer = "cc1", .peer_ns = 500 },
		  "  run queue behind others  " },
		{ { .kind = WAIT_NETWORK, .peer = "redis\033", .peer_ns = 501 },
		  "  network, ended by redis\\x1b  " },
		{ { .kind = PATH_NOT_SEEN }, "  not seen  " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct path_part part = cases[i].part;

		part.ns = 1000;
		part.via = PATH_DIRECT;
		snprintf(part.program, sizeof(part.program), "demo");
		assert_does(&part, cases[i].does);
	}
}

/* What it is called comes first, not where it lies; a script inside of it is not the name. */
static void a_row_names_the_program_by_what_it_runs(void **state)
{
	static const struct {
		struct path_part part;
		const char *name;
	} cases[] = {
		{ { .program = "git", .command = "/usr/lib/git-core/git gc" }, "\ngit gc  " },
		{ { .program = "git", .command = "/usr/bin/git\033 gc" }, "\ngit\\x1b gc  " },
		{ { .program = "gzip", .command = "gzip -9", .processes = 3 },
		  "\ngzip x3 (gzip -9)  " },
		{ { .program = "python3", .command = "python3 -c \nimport os\nos.sync()" },
		  "\npython3 -c import os ...  " },
		{ { .program = "solver", .thread = "heavy", .command = "solver --all" },
		  "\nheavy of solver --all  " },
		{ { .program = "cat",
		    .command = "cat 34567890123456789012345678901234567890123456789" },
		  "78901234567890123456789  " },
		{ { .program = "cat",
		    .command = "cat 345678901234567890123456789012345678901234567890" },
		  "78901234567890123456789...  " },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct path_part part = cases[i].part;

		part.kind = PATH_CPU;
		part.ns = 1000;
		part.via = PATH_DIRECT;
		assert_does(&part, cases[i].name);
	}
}

static void assert_limit(const struct verdict *verdict, const char *expected)
{
	CLEANUP(text_free) struct text line = { 0 };

	run_text_append_limit(&line, verdict);
	assert_string_equal(text_string(&line), expected);
}

static void the_limit_names_who_unless_the_cause_has_that_name(void **state)
{
	struct verdict verdict = { .class = CLASS_IDLE, .cause = CAUSE_SLEEP, .confidence = 0.85 };

	(void)state;
	memcpy(verdict.who, "sleep", sizeof("sleep"));
	assert_limit(&verdict, "mostly idle: sleep (idle, 85 % sure)");
	memcpy(verdict.who, "sleeper", sizeof("sleeper"));
	assert_limit(&verdict, "mostly idle: sleep, sleeper (idle, 85 % sure)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_names_who_unless_the_cause_has_that_name),
		cmocka_unit_test(a_row_names_the_program_by_what_it_runs),
		cmocka_unit_test(a_row_names_what_had_the_cpu_or_ended_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
