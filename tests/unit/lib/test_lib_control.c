/* SPDX-License-Identifier: MIT */
/* Options of the program and of its environment. */
#include "lib_support.h"

#include "lib/control.h"
#include "lib/lines/warnings.h"

static unsigned int complaints;

static struct control choose(const struct taskscope_options *options)
{
	struct warnings warnings = { 0 };
	struct control control_chosen;

	control_choose(options, &control_chosen, &warnings);
	complaints = warnings.count;
	return control_chosen;
}

static int clear_environment(void **state)
{
	static const char *const names[] = {
		"TASKSCOPE",	    "TASKSCOPE_HEARTBEAT",  "TASKSCOPE_STALL",	"TASKSCOPE_PHASES",
		"TASKSCOPE_FORMAT", "TASKSCOPE_STATISTICS", "TASKSCOPE_SIGNAL", "TASKSCOPE_OUTPUT",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	return 0;
}

static void without_options_the_defaults_hold(void **state)
{
	struct control chosen = choose(NULL);

	(void)state;
	assert_int_equal(chosen.heartbeat_ms, 60000);
	assert_int_equal(chosen.stall_ms, 120000);
	assert_int_equal(chosen.phase_lines, 8);
	assert_false(chosen.has_statistics);
	assert_false(chosen.is_json);
	assert_false(chosen.dumps_on_signal);
	assert_null(chosen.output);
	assert_null(chosen.log);
	assert_int_equal(complaints, 0);
}

static void options_replace_defaults(void **state)
{
	struct taskscope_options options = {
		.size = sizeof(options),
		.heartbeat_ms = TASKSCOPE_NEVER,
		.stall_ms = TASKSCOPE_NEVER,
		.phase_lines = 3,
		.flags = TASKSCOPE_STATISTICS_AT_EXIT | TASKSCOPE_JSON | TASKSCOPE_DUMP_ON_SIGUSR2,
		.log = lines_ignore,
		.log_context = &options,
	};
	struct control chosen = choose(&options);

	(void)state;
	assert_int_equal(chosen.heartbeat_ms, 0);
	assert_int_equal(chosen.stall_ms, TASKSCOPE_NEVER);
	assert_int_equal(chosen.phase_lines, 3);
	assert_true(chosen.has_statistics && chosen.prints_statistics);
	assert_true(chosen.is_json && chosen.dumps_on_signal);
	assert_ptr_equal(chosen.log, lines_ignore);
	assert_ptr_equal(chosen.log_context, &options);
}

static void an_older_program_has_fewer_options(void **state)
{
	struct taskscope_options options = {
		.size = offsetof(struct taskscope_options, stall_ms),
		.heartbeat_ms = 10,
		.stall_ms = 10,
		.log = lines_ignore,
	};
	struct control chosen = choose(&options);

	(void)state;
	assert_int_equal(chosen.heartbeat_ms, 10);
	assert_int_equal(chosen.stall_ms, 120000);
	assert_null(chosen.log);
}

static void the_environment_wins(void **state)
{
	struct taskscope_options options = {
		.size = sizeof(options),
		.heartbeat_ms = 10,
		.flags = TASKSCOPE_STATISTICS | TASKSCOPE_JSON,
	};
	struct control chosen;

	(void)state;
	setenv("TASKSCOPE_HEARTBEAT", "10s", 1);
	setenv("TASKSCOPE_STALL", "off", 1);
	setenv("TASKSCOPE_PHASES", "0", 1);
	setenv("TASKSCOPE_FORMAT", "text", 1);
	setenv("TASKSCOPE_STATISTICS", "off", 1);
	setenv("TASKSCOPE_SIGNAL", "on", 1);
	setenv("TASKSCOPE_OUTPUT", "/tmp/lines", 1);
	chosen = choose(&options);
	unsetenv("TASKSCOPE_OUTPUT");
	assert_int_equal(chosen.heartbeat_ms, 10000);
	assert_int_equal(chosen.stall_ms, TASKSCOPE_NEVER);
	assert_int_equal(chosen.phase_lines, 0);
	assert_false(chosen.is_json);
	assert_false(chosen.has_statistics);
	assert_true(chosen.dumps_on_signal);
	assert_string_equal(chosen.output, "/tmp/lines");
	assert_int_equal(complaints, 0);
}

static void durations_have_units(void **state)
{
	static const struct {
		const char *text;
		uint32_t milliseconds;
	} cases[] = {
		{ "500ms", 500 },  { "10s", 10000 }, { "2m", 120000 },
		{ "1h", 3600000 }, { "off", 0 },     { "1193h", 4294800000u },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("TASKSCOPE_HEARTBEAT", cases[i].text, 1);
		assert_int_equal(choose(NULL).heartbeat_ms, cases[i].milliseconds);
		assert_int_equal(complaints, 0);
	}
}

static void wrong_values_are_told_and_ignored(void **state)
{
	static const char *const pairs[][2] = {
		{ "TASKSCOPE_HEARTBEAT", "" },	   { "TASKSCOPE_HEARTBEAT", "10" },
		{ "TASKSCOPE_HEARTBEAT", "0s" },   { "TASKSCOPE_HEARTBEAT", "-1s" },
		{ "TASKSCOPE_HEARTBEAT", "s" },	   { "TASKSCOPE_HEARTBEAT", "10 s" },
		{ "TASKSCOPE_HEARTBEAT", "10sx" }, { "TASKSCOPE_HEARTBEAT", "1.5s" },
		{ "TASKSCOPE_STALL", "1194h" },	   { "TASKSCOPE_STALL", "9999999999s" },
		{ "TASKSCOPE_PHASES", "many" },	   { "TASKSCOPE_PHASES", "8x" },
		{ "TASKSCOPE_FORMAT", "xml" },	   { "TASKSCOPE_STATISTICS", "yes" },
		{ "TASKSCOPE_SIGNAL", "1" },	   { "TASKSCOPE_OUTPUT", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct control chosen, defaults;

		clear_environment(NULL);
		defaults = choose(NULL);
		setenv(pairs[i][0], pairs[i][1], 1);
		chosen = choose(NULL);
		assert_int_equal(complaints, 1);
		assert_int_equal(chosen.heartbeat_ms, defaults.heartbeat_ms);
		assert_int_equal(chosen.stall_ms, defaults.stall_ms);
		assert_int_equal(chosen.phase_lines, defaults.phase_lines);
		assert_null(chosen.output);
	}
}

static void the_environment_says_on_or_off_or_nothing(void **state)
{
	struct warnings warnings = { 0 };

	(void)state;
	assert_int_equal(control_wish(&warnings), CONTROL_NO_WISH);
	setenv("TASKSCOPE", "on", 1);
	assert_int_equal(control_wish(&warnings), CONTROL_ON);
	setenv("TASKSCOPE", "off", 1);
	assert_int_equal(control_wish(&warnings), CONTROL_OFF);
	assert_int_equal(warnings.count, 0);
	setenv("TASKSCOPE", "maybe", 1);
	assert_int_equal(control_wish(&warnings), CONTROL_NO_WISH);
	assert_int_equal(warnings.count, 1);
	assert_string_equal(warnings.texts[0], "TASKSCOPE=maybe is not understood and ignored");
}

static void kept_off_by_the_environment_the_start_succeeds(void **state)
{
	(void)state;
	setenv("TASKSCOPE", "off", 1);
	assert_int_equal(taskscope_start(NULL), 0);
	assert_null(area.header);
	assert_int_equal(taskscope_enter("off").handle, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_options_the_defaults_hold, clear_environment),
		cmocka_unit_test_setup(options_replace_defaults, clear_environment),
		cmocka_unit_test_setup(an_older_program_has_fewer_options, clear_environment),
		cmocka_unit_test_setup(the_environment_wins, clear_environment),
		cmocka_unit_test_setup(durations_have_units, clear_environment),
		cmocka_unit_test_setup(wrong_values_are_told_and_ignored, clear_environment),
		cmocka_unit_test_setup(the_environment_says_on_or_off_or_nothing,
				       clear_environment),
		cmocka_unit_test_setup(kept_off_by_the_environment_the_start_succeeds,
				       clear_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
