/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/scope/scope_survey.h"
#include "render/scope/scope_amount.h"
#include "render/scope/scopes_view.h"

#define SECOND UINT64_C(1000000000)

static struct scope_task *add_thread(struct scope_survey_process *process, int32_t tid,
				     const char *name)
{
	struct scope_survey_thread thread = { .comm = "solver", .state = 'S' };
	struct scope_task task = {
		.tid = tid,
		.own_tid = tid,
		.first = process->scopes.list.count,
		.changed_ns = 12 * SECOND,
	};

	snprintf(task.name, sizeof(task.name), "%s", name);
	assert_int_equal(array_append(&process->threads, thread), 0);
	assert_int_equal(array_append(&process->scopes.tasks, task), 0);
	return &process->scopes.tasks.data[process->scopes.tasks.count - 1];
}

static struct scope *add_scope(struct scope_survey_process *process, const char *label,
			       uint64_t age_ns)
{
	struct scopes *scopes = &process->scopes;
	struct scope scope = { .age_ns = age_ns };

	snprintf(scope.label, sizeof(scope.label), "%s", label);
	assert_int_equal(array_append(&scopes->list, scope), 0);
	scopes->tasks.data[scopes->tasks.count - 1].count++;
	return &scopes->list.data[scopes->list.count - 1];
}

/* Two threads: one solves, the other is stalled at a label that means harm. */
static struct scope_survey_process solver(void)
{
	struct scope_survey_process process = { .comm = "solver" };
	struct scope_task *task;
	struct scope *scope;

	process.scopes.pid = 4242;
	process.scopes.is_on = true;
	process.scopes.age_ns = 130 * SECOND;
	process.scopes.stall_limit_ms = 120000;
	add_thread(&process, 4242, "main");
	add_scope(&process, "load matrix", 62 * SECOND);
	scope = add_scope(&process, "solve", 58 * SECOND);
	scope->has_progress = true;
	scope->count = 412;
	scope->total = 1000;
	task = add_thread(&process, 4243, "");
	task->stall = SCOPE_STALL_BUSY;
	task->stalled_ns = 125 * SECOND;
	process.threads.data[1] = (struct scope_survey_thread){ "sol\nver", 'R' };
	add_scope(&process, "\033[2J", 126 * SECOND);
	return process;
}

static struct scope_survey survey_of(struct scope_survey_process process)
{
	struct scope_survey survey = { 0 };

	assert_int_equal(array_append(&survey.processes, process), 0);
	return survey;
}

static char *print_text(const struct scope_survey *survey, bool with_statistics, bool colour)
{
	const struct terminal terminal = { .colour = colour, .width = 100 };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	assert_int_equal(scopes_text(out, survey, with_statistics, &terminal), 0);
	fclose(out);
	return printed;
}

static char *print_json(const struct scope_survey *survey, bool with_statistics)
{
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	scopes_json(out, survey, with_statistics);
	fclose(out);
	return printed;
}

static void assert_text(struct scope_survey *survey, bool with_statistics, const char *expected)
{
	char *printed = print_text(survey, with_statistics, false);

	assert_string_equal(printed, expected);
	free(printed);
	scope_survey_free(survey);
}

static void assert_holds(const char *printed, const char *part)
{
	assert_non_null(printed);
	if (!strstr(printed, part))
		fail_msg("no %s in %s", part, printed ? printed : "");
}

static void a_scope_is_a_line(void **state)
{
	struct scope_survey survey = survey_of(solver());

	(void)state;
	assert_text(&survey, false,
		    "solver 4242: 2 threads, 3 scopes, on for 130 s\n"
		    "  4242 main  S  changed 12.0 s ago\n"
		    "    load matrix               62.0 s\n"
		    "      solve                   58.0 s   412/1000 (41%)  7.10/s  eta 82.8 s\n"
		    "  4243 sol\\x0aver  R  STALLED 125 s (busy)\n"
		    "    \\x1b[2J                   126 s  <- no progress\n");
}

static void ages_are_in_a_column_unless_labels_are_very_long(void **state)
{
	struct scope_survey_process process = { .comm = "a",
						.scopes = { .pid = 1, .is_on = true } };
	struct scope_survey survey;

	(void)state;
	add_thread(&process, 1, "");
	add_scope(&process, "short", SECOND);
	add_scope(&process, "a label that is longer than most", SECOND);
	add_scope(&process, "a label that is so long that nobody wants a column for it", SECOND);
	survey = survey_of(process);
	assert_text(&survey, false,
		    "a 1: 1 thread, 3 scopes, on for 0 ns\n"
		    "  1 solver  S  changed 12.0 s ago\n"
		    "    short                               1.00 s\n"
		    "      a label that is longer than most  1.00 s\n"
		    "        a label that is so long that nobody wants a column for it  1.00 s\n");
}

static void what_is_very_deep_is_indented_no_further(void **state)
{
	struct scope_survey_process process = { .comm = "a",
						.scopes = { .pid = 1, .is_on = true } };
	struct scope_survey survey;
	char *printed;

	(void)state;
	add_thread(&process, 1, "");
	for (size_t i = 0; i < 255; i++)
		add_scope(&process, "x", SECOND);
	survey = survey_of(process);
	printed = print_text(&survey, false, false);
	for (const char *line = printed; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") < 100);
	free(printed);
	scope_survey_free(&survey);
}

static void only_a_terminal_gets_colour(void **state)
{
	struct scope_survey survey = survey_of(solver());
	char *plain = print_text(&survey, false, false);
	char *coloured = print_text(&survey, false, true);

	(void)state;
	assert_null(strchr(plain, '\033'));
	assert_holds(coloured, "\033[1;31mSTALLED 125 s (busy)\033[0m\n");
	free(plain);
	free(coloured);
	scope_survey_free(&survey);
}

static void what_was_lost_is_said(void **state)
{
	struct scope_survey_process process = { .comm = "deep" };
	struct scope_survey survey;

	(void)state;
	process.scopes.pid = 7;
	process.scopes.age_ns = 3 * SECOND;
	process.scopes.losses.depth = 1;
	process.scopes.losses.lines = 2;
	add_thread(&process, 7, "")->is_idle = true;
	add_scope(&process, "", SECOND / 4);
	process.scopes.tasks.data[0].hidden = 10;
	process.scopes.tasks.data[0].is_torn = true;
	add_thread(&process, 8, "gc");
	survey = survey_of(process);
	assert_text(&survey, false,
		    "deep 7: 2 threads, 11 scopes, stopped; began 3.00 s ago\n"
		    "  lost: 2 lines that nobody took, 1 scope too deep\n"
		    "  7 solver  S  idle 12.0 s, changes too fast to be seen at one moment\n"
		    "    <no label>                250 ms\n"
		    "    and 10 deeper scopes\n"
		    "  8 gc  S  in no scope for 12.0 s\n");
}

static void those_that_may_not_be_read_are_counted(void **state)
{
	struct scope_survey survey = { .denied = 5, .hidden = 1, .broken = 2 };

	(void)state;
	assert_text(&survey, false,
		    "no process that may be read here has scopes\n"
		    "1 process with scopes may not be read: "
		    "that takes the owner, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH\n"
		    "4 processes may not be looked into: "
		    "that takes the owner, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH\n"
		    "2 processes with scopes cannot be understood: -p PID says why\n");
}

static struct scope_survey survey_with_statistics(void)
{
	struct scope_survey_process process = { .comm = "solver" };
	const struct scope_label_use step = {
		.label = "step",
		.count = 4,
		.total_ns = 8 * SECOND,
		.self_ns = 6 * SECOND,
		.longest_ns = 5 * SECOND,
		.p50_ns = SECOND,
		.p99_ns = 4 * SECOND,
		.has_cpu = true,
		.cpu_ns = 7 * SECOND,
	};
	const struct scope_label_use others = {
		.count = 2, .total_ns = 4000, .self_ns = 4000, .longest_ns = 3000
	};

	process.scopes.pid = 4242;
	process.scopes.is_on = process.scopes.has_statistics = true;
	process.scopes.age_ns = 9 * SECOND;
	assert_int_equal(array_append(&process.scopes.labels, step), 0);
	assert_int_equal(array_append(&process.scopes.labels, others), 0);
	return survey_of(process);
}

static void statistics_are_a_table(void **state)
{
	struct scope_survey survey = survey_with_statistics();

	(void)state;
	assert_text(
		&survey, true,
		"solver 4242: 0 threads, 0 scopes, on for 9.00 s\n"
		"\n"
		"scope    count    total     self     mean     p50     p99      max  cpu (sampled)\n"
		"step         4   8.00 s   6.00 s   2.00 s  1.00 s  4.00 s   5.00 s         7.00 s\n"
		"<other>      2  4.00 us  4.00 us  2.00 us    0 ns    0 ns  3.00 us              -\n");
}

static void a_label_that_was_never_closed_has_only_the_time_that_was_sampled(void **state)
{
	struct scope_survey survey = survey_with_statistics();
	char *printed;

	(void)state;
	survey.processes.data[0].scopes.labels.data[0] = (struct scope_label_use){
		.label = "step",
		.has_cpu = true,
		.cpu_ns = 7 * SECOND,
	};
	printed = print_json(&survey, true);
	assert_holds(printed, "{\"label\":\"step\",\"count\":0,\"total_ns\":0,\"self_ns\":0,"
			      "\"mean_ns\":null,\"p50_ns\":null,\"p99_ns\":null,\"max_ns\":null,"
			      "\"sampled_cpu_ns\":7000000000}");
	free(printed);
	assert_text(
		&survey, true,
		"solver 4242: 0 threads, 0 scopes, on for 9.00 s\n"
		"\n"
		"scope    count    total     self     mean   p50   p99      max  cpu (sampled)\n"
		"step         0     0 ns     0 ns        -     -     -        -         7.00 s\n"
		"<other>      2  4.00 us  4.00 us  2.00 us  0 ns  0 ns  3.00 us              -\n");
}

static void statistics_that_are_not_there_say_why(void **state)
{
	struct scope_survey survey = survey_with_statistics();
	char *printed;

	(void)state;
	survey.processes.data[0].scopes.labels.count = 0;
	printed = print_text(&survey, true, false);
	assert_holds(printed, "no statistics yet: no scope was closed\n");
	free(printed);
	survey.processes.data[0].scopes.has_statistics = false;
	printed = print_text(&survey, true, false);
	assert_holds(printed, "no statistics: the program does not take them");
	free(printed);
	scope_survey_free(&survey);
}

static void absent_values_are_null(void **state)
{
	struct scope_survey survey = survey_of(solver());
	char *printed = print_json(&survey, true);

	(void)state;
	assert_holds(printed, "\"stall_limit_ms\":120000");
	assert_holds(printed, "\"statistics\":null");
	assert_holds(printed, "{\"label\":\"load matrix\",\"age_ns\":62000000000,\"count\":null,"
			      "\"total\":null,\"rate\":null,\"eta_ns\":null,"
			      "\"stall_limit_ms\":null}");
	assert_holds(printed, "\"count\":412,\"total\":1000,\"rate\":7.103");
	assert_holds(printed, "\"stall\":null,\"stalled_ns\":null,\"stalled_scope\":null");
	assert_holds(printed, "\"stall\":\"busy\",\"stalled_ns\":125000000000,\"stalled_scope\":0");
	assert_holds(printed, "\"tid\":4243,\"own_tid\":4243,\"name\":\"sol\\\\x0aver\"");
	assert_holds(printed, "\"label\":\"\\\\x1b[2J\"");
	free(printed);
	survey.processes.data[0].scopes.stall_limit_ms = SCOPE_NO_LIMIT;
	printed = print_json(&survey, false);
	assert_holds(printed, "\"stall_limit_ms\":null,\"threads\"");
	assert_null(strstr(printed, "statistics"));
	free(printed);
	scope_survey_free(&survey);
}

static void sampled_times_are_called_so(void **state)
{
	struct scope_survey survey = survey_with_statistics();
	char *printed = print_json(&survey, true);

	(void)state;
	assert_holds(
		printed,
		"{\"label\":\"step\",\"count\":4,\"total_ns\":8000000000,\"self_ns\":6000000000,"
		"\"mean_ns\":2000000000,\"p50_ns\":1000000000,"
		"\"p99_ns\":4000000000,\"max_ns\":5000000000,"
		"\"sampled_cpu_ns\":7000000000}");
	assert_holds(printed, "{\"label\":null,\"count\":2");
	assert_holds(printed, "\"sampled_cpu_ns\":null");
	free(printed);
	scope_survey_free(&survey);
}

static void progress_is_never_rounded_up(void **state)
{
	static const struct {
		uint64_t count, total, age_ns;
		const char *text;
	} cases[] = {
		{ 999, 1000, SECOND, "999/1000 (99%)  999/s  eta 1.00 ms" },
		{ 1000, 1000, SECOND, "1000/1000 (100%)  1.00 K/s  eta 0 ns" },
		{ 0, 1000, SECOND, "0/1000 (0%)" },
		{ 33, 0, 3 * SECOND, "33/?  11/s" },
		{ 1, 0, 200 * SECOND, "1/?  0.005/s" },
		{ 5000000, 0, SECOND, "5000000/?  5.00 M/s" },
		{ 50000, 0, SECOND, "50000/?  50.0 K/s" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct scope scope = {
			.has_progress = true,
			.count = cases[i].count,
			.total = cases[i].total,
			.age_ns = cases[i].age_ns,
		};
		struct text text = { 0 };

		scope_progress_text(&text, &scope);
		assert_string_equal(text_string(&text), cases[i].text);
		text_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scope_is_a_line),
		cmocka_unit_test(ages_are_in_a_column_unless_labels_are_very_long),
		cmocka_unit_test(what_is_very_deep_is_indented_no_further),
		cmocka_unit_test(only_a_terminal_gets_colour),
		cmocka_unit_test(what_was_lost_is_said),
		cmocka_unit_test(those_that_may_not_be_read_are_counted),
		cmocka_unit_test(statistics_are_a_table),
		cmocka_unit_test(a_label_that_was_never_closed_has_only_the_time_that_was_sampled),
		cmocka_unit_test(statistics_that_are_not_there_say_why),
		cmocka_unit_test(absent_values_are_null),
		cmocka_unit_test(sampled_times_are_called_so),
		cmocka_unit_test(progress_is_never_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
