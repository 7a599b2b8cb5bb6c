/* SPDX-License-Identifier: MIT */
/* The screen, with a display that the test reads: what is where, and how it looks. */
#include "top_scene.h"

/* ---- the table ---- */

static void states_that_people_should_see_have_a_colour(void **state)
{
	(void)state;
	show("");
	assert_shown("PID", STYLE_TITLES, false);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "burner", "reader", "sleeper", "dead" };
		static const enum style styles[] = { STYLE_GOOD, STYLE_BAD, STYLE_PLAIN,
						     STYLE_BAD };
		int column, row = fake_find(names[i], &column);
		int at = (int)(strpbrk(fake.text[row] + 20, "RDSZ") - fake.text[row]);

		assert_int_equal(fake.styles[row][at], styles[i]);
	}
}

static void each_figure_is_below_its_title(void **state)
{
	static const char *const titles[] = { "%cpu", "rss_bytes" };
	static const char *const figures[] = { "50.0 %", "20.0 MiB" };
	int unused, row, column;

	(void)state;
	show("");
	row = fake_find("reader", &unused);
	for (int i = 0; i < 2; i++) {
		fake_find(titles[i], &column);
		column += (int)strlen(titles[i]); /* both end there */
		assert_memory_equal(&fake.text[row][column - (int)strlen(figures[i])], figures[i],
				    strlen(figures[i]));
	}
	assert_memory_equal(fake.text[row], "     20 ", 8);
}

static void the_marked_row_is_marked_as_a_whole(void **state)
{
	int column, row;

	(void)state;
	show("j");
	row = fake_find("reader", &column);
	for (column = 0; column < fake.columns; column++) {
		assert_true(fake.marks[row][column]);
		assert_false(fake.marks[row - 1][column]);
		assert_false(fake.marks[row + 1][column]);
	}
}

static void add_scope(struct moment *moment)
{
	struct snapshot *tasks = moment->tasks;
	uint32_t row = add_process(tasks, 50, "loader", 'R', 10);

	tasks->tasks[row].scope = hand_text(tasks, "load");
	hand_set(tasks, METRIC_scope_count, row, 3);
	hand_set(tasks, METRIC_scope_total, row, 12);
	hand_set(tasks, METRIC_scope_age_ns, row, 3 * NS_PER_SECOND);
}

static void scopes_have_their_progress_and_need_its_figures(void **state)
{
	static const enum metric_id needed[] = { METRIC_scope_age_ns, METRIC_scope_count,
						 METRIC_scope_total, METRIC_scope_stall_ns };

	(void)state;
	scene.fill = add_scope;
	show("");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		assert_false(scene.wanted[needed[i]]);
	show("6");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		assert_true(scene.wanted[needed[i]]);
	assert_shown("[|||       ] 3/12  eta 9.00 s", STYLE_PLAIN, false);
}

static size_t count_words(const char *line)
{
	size_t count = 0;

	for (; *(line += strspn(line, " ")); line += strcspn(line, " "))
		count++;
	return count;
}

/* The name has at least its part; a metric comes as soon as that is so, and the first ones before a scope. */
static void a_column_is_shown_once_there_is_room_for_it(void **state)
{
	size_t shown_before = 0;
	bool had_scope = false;

	(void)state;
	scene.fill = add_scope;
	for (fake.columns = 60; fake.columns < 160; fake.columns++) {
		int column, row, least = fake.columns / 4 > 12 ? fake.columns / 4 : 12;
		bool has_scope;
		size_t shown;

		show("");
		row = fake_find("COMMAND", &column);
		has_scope = strstr(fake.text[row], " SCOPE ");
		shown = count_words(fake.text[row]) - has_scope;
		assert_true(column + least <= fake.columns);
		assert_true(!has_scope || shown >= 2 + 3 + 1);
		if (shown_before && shown > shown_before)
			assert_int_equal(column + least, fake.columns);
		shown_before = shown;
		had_scope = had_scope || has_scope;
	}
	assert_true(had_scope);
	assert_int_equal(shown_before, 2 + 7 + 1);
}

static void add_many(struct moment *moment)
{
	for (int32_t pid = 100; pid < 140; pid++)
		add_process(moment->tasks, pid, "many", 'S', 0);
}

static int marked_row(void)
{
	int row = 0;

	while (row < fake.rows && !fake.marks[row][0])
		row++;
	return row;
}

/* Rows 5 to 22 are of the table, row 23 has the keys. */
static void the_marked_row_is_always_on_the_screen(void **state)
{
	(void)state;
	scene.fill = add_many;
	show("");
	assert_int_equal(marked_row(), 5);
	show("jjj");
	assert_int_equal(marked_row(), 8);
	show("G");
	assert_int_equal(marked_row(), 22);
	show("Gkk");
	assert_int_equal(marked_row(), 20);
	show("Ggjj");
	assert_int_equal(marked_row(), 7);
	show("G\x02\x02"); /* two pages up */
	assert_int_equal(marked_row(), 5);
}

static void keys_in_a_text_do_not_reach_the_table_below(void **state)
{
	(void)state;
	scene.fill = add_many;
	show("?jj?");
	assert_int_equal(marked_row(), 5);
}

static void add_folder(struct moment *moment)
{
	uint32_t row = add_process(moment->tasks, 50, "tool", 'S', 99);

	moment->tasks->processes[moment->tasks->tasks[row].process].cmdline =
		hand_text(moment->tasks, "/usr/lib/tool --in /tmp/x");
}

static void a_command_is_shown_without_its_folder(void **state)
{
	int column, row;

	(void)state;
	scene.fill = add_folder;
	show("");
	row = fake_find("tool --in /tmp/x", &column);
	assert_int_equal(fake.text[row][column - 1], ' ');
}

static void fill_jobs(struct moment *moment)
{
	struct moment_job jobs[] = {
		{ .job = { .id = 7, .name = "nightly", .steps = 4 },
		  .elapsed_ns = 20 * NS_PER_SECOND,
		  .usual_ns = 50 * NS_PER_SECOND,
		  .step_count = 2 },
		{ .job = { .id = 6, .name = "broken", .cmd = "make all", .outcome = JOB_FAILURE },
		  .elapsed_ns = 3 * NS_PER_SECOND,
		  .first_step = 2 },
	};
	const struct job_step steps[] = {
		{ .name = "one", .outcome = JOB_SUCCESS, .duration_ns = 8 * NS_PER_SECOND },
		{ .name = "two", .duration_ns = 12 * NS_PER_SECOND },
	};
	const struct job_member member = { 10, 10 * 10000000, 0, "two" };

	job_set(&jobs[1].job.figures, JOB_run_time_ns, 2e9);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(array_append(&moment->jobs, jobs[i]), 0);
		assert_int_equal(array_append(&moment->steps, steps[i]), 0);
	}
	assert_int_equal(array_append(&moment->members, member), 0);
}

static void assert_words(const char *expected, const char *name)
{
	int column, row = fake_find(name, &column);
	char line[FAKE_COLUMNS + 1] = "";

	for (const char *at = fake.text[row]; *(at += strspn(at, " "));) {
		size_t length = strcspn(at, " ");

		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%.*s",
			 line[0] ? " " : "", (int)length, at);
		at += length;
	}
	assert_string_equal(line, expected);
}

static void jobs_have_their_progress_and_what_their_processes_do(void **state)
{
	(void)state;
	scene.fill = fill_jobs;
	show("8");
	assert_words("7 running [||| ] 1/4 20.0 s 30.0 s 90.0% 10.0 MiB 1 nightly", "] 1/4");
	assert_words("success 8.00 s - - - step one", "step one");
	assert_words("running 12.0 s 90.0% 10.0 MiB 1 step two", "step two");
	assert_words("6 failure 3.00 s 2.00 s - - broken make all", "broken");
	assert_shown("failure", STYLE_BAD, false);
	show("8jjj");
	assert_shown("failure", STYLE_BAD, true);
}

static void the_job_whose_processes_are_shown_is_named(void **state)
{
	int column;

	(void)state;
	scene.fill = fill_jobs;
	show("8\n");
	fake_find("  job #7 nightly  ", &column);
	show("8jjj\n");
	fake_find("  job #6 broken  ", &column);
}

static void fill_no_jobs(struct moment *moment)
{
	moment->no_jobs = "nobody records";
}

static void without_jobs_there_is_a_reason(void **state)
{
	(void)state;
	show("8");
	assert_shown("no job ran in the hour before", STYLE_PLAIN, false);
	scene.fill = fill_no_jobs;
	show("8");
	assert_shown("nobody records", STYLE_PLAIN, false);
}

/* ---- the header ---- */

static void fill_host(struct moment *moment)
{
	host_sample_set(&moment->sample, HOST_VALUE_cpu_busy_percent, 45);
	host_sample_set(&moment->sample, HOST_VALUE_memory_used_bytes, 950);
	host_sample_set(&moment->sample, HOST_VALUE_memory_total_bytes, 1000);
	host_sample_set(&moment->sample, HOST_VALUE_pressure_io_some_percent, 60);
}

static void fill_swap(struct moment *moment)
{
	(void)moment;
	snapshot_set_fact_number(read_now, FACT_swap_total_bytes, 1000);
	host_sample_set(&moment->sample, HOST_VALUE_swap_used_bytes, 300);
}

static void swap_is_shown_where_there_is_some(void **state)
{
	int column;

	(void)state;
	show("");
	assert_null(strstr(fake.text[1], "Swp"));
	scene.fill = fill_swap;
	show("");
	fake_find("Swp [|||       ] 300 B of 1000 B", &column);
}

static void bars_are_as_long_as_what_they_show(void **state)
{
	int column, row;

	(void)state;
	scene.fill = fill_host;
	show("");
	assert_shown("CPU [", STYLE_PLAIN, false);
	assert_shown("|||||     ", STYLE_GOOD, false);
	assert_shown("] 45.0 %", STYLE_PLAIN, false);
	assert_shown("Mem [", STYLE_PLAIN, false);
	assert_shown("||||||||||", STYLE_BAD, false);
	row = fake_find("io [|| ] 60.0 %", &column);
	assert_int_equal(fake.styles[row][column + 4], STYLE_WARNING);
	fake_find("mem [   ] -  ", &column);
}

static void fill_news(struct moment *moment)
{
	static const struct anomaly found[] = {
		{ .rule = 0 }, { .rule = 1, .task = { 7, 7, 7 }, .comm = "made\033" }
	};
	static const struct moment_job job = { .job = { .name = "nightly" } };

	for (size_t i = 0; i < ARRAY_SIZE(found); i++)
		assert_int_equal(array_append(&moment->anomalies, found[i]), 0);
	assert_int_equal(array_append(&moment->jobs, job), 0);
}

static void open_anomalies_are_named_with_their_processes(void **state)
{
	char line[128];

	(void)state;
	scene.fill = fill_news;
	show("");
	assert_shown("1 job: nightly", STYLE_PLAIN, false);
	snprintf(line, sizeof(line), "2 anomalies: %s, %s made\\x1b[7] ", anomaly_rules[0].name,
		 anomaly_rules[1].name);
	line[strlen(line) - 1] = '\0';
	assert_shown(line, STYLE_BAD, false);
}

/* ---- the ruler and the events ---- */

static void make_ruler(struct moment_source *source, struct ruler *ruler)
{
	(void)source;
	ruler->from_unix_ns = BEGIN;
	ruler->to_unix_ns = BEGIN + 60 * NS_PER_SECOND;
	ruler->at = 2;
	ruler->marks[0] = RULER_TICK;
	ruler->marks[1] = RULER_TICK | RULER_EVENT | RULER_JOB_EDGE;
	ruler->marks[3] = RULER_TICK | RULER_JOB;
	ruler->marks[4] = RULER_TICK | RULER_EVENT | RULER_JOB;
	ruler->marks[5] = RULER_ANOMALY | RULER_JOB_EDGE;
}

static void the_ruler_has_the_most_telling_sign_of_each_part(void **state)
{
	static const enum style styles[] = { STYLE_PLAIN, STYLE_HEADING, STYLE_PLAIN,
					     STYLE_GOOD,  STYLE_MORE,	 STYLE_BAD };
	int column, row;

	(void)state;
	scene.kind.can_move = true;
	scene.kind.ruler = make_ruler;
	show("");
	row = fake_find("22:14:00 -J^=*!", &column);
	assert_int_equal(column, 0);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(fake.styles[row][9 + i], styles[i]);
		assert_int_equal(fake.marks[row][9 + i], i == 2);
	}
	assert_true(fake.styles[row][0] == STYLE_PLAIN && !fake.marks[row][0]);
	assert_shown("22:15:00", STYLE_PLAIN, false);
	fake_find("22:15:00", &column);
	assert_int_equal(column, fake.columns - 8);
}

static void fill_events(struct moment *moment)
{
	static const enum life_kind kinds[] = { LIFE_EXIT, LIFE_SIGNAL, LIFE_OOM };

	moment->has_recorder = true;
	for (int32_t i = 0; i < 3; i++) {
		struct life_event event = { .kind = kinds[i],
					    .unix_ns = BEGIN,
					    .task = { 71 + i, 71 + i, 7 } };

		assert_int_equal(array_append(&moment->events, event), 0);
	}
}

static void the_newest_event_is_the_lowest(void **state)
{
	int column, newest, older;

	(void)state;
	scene.fill = fill_events;
	show("v"); /* many */
	newest = fake_find(" 71 ", &column);
	assert_int_equal(fake.styles[newest][column], STYLE_PLAIN);
	older = fake_find(" 72 ", &column);
	assert_int_equal(fake.styles[older][column], STYLE_WARNING);
	assert_int_equal(newest, older + 1);
	assert_int_equal(newest, fake.rows - 2);
	older = fake_find(" 73 ", &column);
	assert_int_equal(fake.styles[older][column], STYLE_BAD);
	show(""); /* a few */
	assert_null(strstr(fake.text[older], " 73 "));
	show("vv");
	assert_null(strstr(fake.text[newest], " 71 "));
}

/* ---- the last line ---- */

static void keys_are_told_in_the_last_line(void **state)
{
	const char *line = fake.text[23];

	(void)state;
	show("");
	assert_memory_equal(line, "F1Help F2Columns F3Find F4Filter", 32);
	assert_shown("F2", STYLE_HEADING, false);
	assert_shown("Columns", STYLE_PLAIN, true);
	fake.columns = 16; /* what fits whole */
	show("");
	assert_memory_equal(line, "F1Help F2Columns", 16);
	fake.columns = 15;
	show("");
	assert_memory_equal(line, "F1Help         ", 15);
}

static void of_a_long_line_the_end_is_shown_where_one_types(void **state)
{
	const char *line = fake.text[23];

	(void)state;
	fake.columns = 20;
	show("/0123456789");
	assert_memory_equal(line, "find: 0123456789    ", 20);
	assert_int_equal(fake.cursor, 16);
	show("/0123456789abc");
	assert_memory_equal(line, "find: 0123456789abc ", 20);
	assert_int_equal(fake.cursor, 19);
	show("/0123456789abcdefgh");
	assert_memory_equal(line, " 0123456789abcdefgh ", 20);
	assert_int_equal(fake.cursor, 19);
	show("/0123456789abcdefghijklmno");
	assert_memory_equal(line, "6789abcdefghijklmno ", 20);
	assert_int_equal(fake.cursor, 19);
}

static void what_was_typed_can_be_taken_back(void **state)
{
	const char *line = fake.text[23];

	(void)state;
	show("/abc\x7f"); /* Backspace, in two ways */
	assert_memory_equal(line, "find: ab   ", 11);
	show("/abc\b\b");
	assert_memory_equal(line, "find: a    ", 11);
	show("/a\b\b\bz");
	assert_memory_equal(line, "find: z    ", 11);
	show("/abc\x15z"); /* Ctrl-U */
	assert_memory_equal(line, "find: z    ", 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(states_that_people_should_see_have_a_colour),
		TEST(each_figure_is_below_its_title),
		TEST(the_marked_row_is_marked_as_a_whole),
		TEST(scopes_have_their_progress_and_need_its_figures),
		TEST(a_column_is_shown_once_there_is_room_for_it),
		TEST(the_marked_row_is_always_on_the_screen),
		TEST(keys_in_a_text_do_not_reach_the_table_below),
		TEST(a_command_is_shown_without_its_folder),
		TEST(jobs_have_their_progress_and_what_their_processes_do),
		TEST(the_job_whose_processes_are_shown_is_named),
		TEST(without_jobs_there_is_a_reason),
		TEST(swap_is_shown_where_there_is_some),
		TEST(bars_are_as_long_as_what_they_show),
		TEST(open_anomalies_are_named_with_their_processes),
		TEST(the_ruler_has_the_most_telling_sign_of_each_part),
		TEST(the_newest_event_is_the_lowest),
		TEST(keys_are_told_in_the_last_line),
		TEST(of_a_long_line_the_end_is_shown_where_one_types),
		TEST(what_was_typed_can_be_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
