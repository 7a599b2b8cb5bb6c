/* SPDX-License-Identifier: MIT */
/* What keys do on the screen, with a display that the test reads. */
#include "top_scene.h"

/* ---- keys ---- */

static void only_what_goes_on_can_be_paused(void **state)
{
	(void)state;
	show(" ");
	assert_shown("a file has one moment only", STYLE_HEADING, false);
	scene.kind.is_live = true;
	show("");
	assert_shown("  live", STYLE_HEADING, false);
	show(" ");
	assert_shown("  PAUSED", STYLE_HEADING, false);
	scene.kind.is_live = false;
	scene.kind.can_move = true;
	show("");
	assert_shown("  recording", STYLE_HEADING, false);
	show(" ");
	assert_shown("  playing", STYLE_HEADING, false);
}

static void other_moments_are_those_of_a_recording(void **state)
{
	(void)state;
	show("]");
	assert_shown("only a recording has other moments", STYLE_HEADING, false);
	scene.kind.can_move = true;
	show("[");
	assert_int_equal(scene.moved.kind, MOVE_BACK);
	show("{");
	assert_int_equal(scene.moved.kind, MOVE_BY);
	assert_int_equal(scene.moved.ns, -60 * (int64_t)NS_PER_SECOND);
	show("E");
	assert_int_equal(scene.moved.kind, MOVE_TO_LAST_ANOMALY);
}

static void a_time_that_was_typed_is_gone_to(void **state)
{
	(void)state;
	scene.kind.can_move = true;
	show("b22:14\n");
	assert_int_equal(scene.moved.kind, MOVE_TO);
	assert_int_equal(scene.moved.unix_ns, BEGIN);
	show("bnever\n");
	assert_shown("'never' is no time", STYLE_BAD, false);
	assert_int_not_equal(scene.moved.kind, MOVE_TO);
}

static void a_text_that_is_opened_again_begins_at_its_top(void **state)
{
	char top[FAKE_COLUMNS + 1];
	int column, row;

	(void)state;
	show("?");
	row = fake_find("Keys (Escape leads back", &column);
	memcpy(top, fake.text[row], sizeof(top));
	show("?jjj");
	assert_string_not_equal(fake.text[row], top);
	show("?jjj??");
	assert_string_equal(fake.text[row], top);
}

static void keys_that_were_chosen_are_letters_in_a_prompt(void **state)
{
	static char detail[] = "detail=i,F12", usual[] = "detail=Enter";
	struct error error = { 0 };
	int column;

	(void)state;
	assert_int_equal(keys_choose(detail, &error), 0);
	assert_int_equal(key_find(KEY_F(12), true), KEY_OF_DETAIL);
	assert_int_equal(key_find(KEY_F(10), true), KEY_OF_QUIT);
	show("/i");
	assert_shown("find: i", STYLE_HEADING, false);
	show("/i\n");
	(void)fake_find("Columns", &column); /* the keys are told again */
	assert_int_equal(keys_choose(usual, &error), 0);
}

static void keys_that_no_terminal_has_are_refused(void **state)
{
	static const char *const wrong[] = { "quit=F0", "quit=F13", "quit=F1x", "quit=F123" };
	struct error error = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char text[16];

		snprintf(text, sizeof(text), "%s", wrong[i]);
		assert_int_equal(keys_choose(text, &error), -EINVAL);
	}
}

static void what_is_past_is_not_asked(void **state)
{
	static const enum key_id keys[] = { KEY_OF_WHY, KEY_OF_CALLS, KEY_OF_TRACE, KEY_OF_FLAME };

	(void)state;
	scene.kind.can_move = true;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		show((char[]){ key_table[keys[i]].keys[0], '\0' });
		assert_shown("what is shown is past: this asks a process of now", STYLE_BAD, false);
	}
}

static pid_t shown_pid; /* of a real process */
static uint64_t shown_start_ns;

static void add_real(struct moment *moment)
{
	uint32_t row = add_process(moment->tasks, shown_pid, "real", 'R', 99);

	moment->tasks->processes[moment->tasks->tasks[row].process].start_time_ns = shown_start_ns;
}

static struct host *begin_live(pid_t pid)
{
	char path[32], buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	struct host *host;
	uint64_t ticks;

	assert_int_equal(host_open(&host, NULL, NULL), 0);
	snprintf(path, sizeof(path), "%d/stat", pid);
	assert_int_equal(task_stat_read(host->proc, path, buffer, &stat), 0);
	assert_true(task_stat_number(&stat, TASK_STAT_START, &ticks));
	shown_start_ns = ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
	shown_pid = pid;
	scene.host = host;
	scene.fill = add_real;
	scene.kind.is_live = true;
	return host;
}

/* Ctrl-C is the screen's, and signals that the screen blocks reach the verb. */
static void another_verb_runs_in_a_group_of_its_own(void **state)
{
	struct host *host = begin_live(getpid());

	(void)state;
	fake.until = " group, blocks ";
	show("/real\ny");
	assert_shown("why --stacks -v: its own group, blocks no signal", STYLE_PLAIN, false);
	fake.until = NULL;
	host_close(host);
}

static void a_profile_is_made_when_its_name_was_meant(void **state)
{
	char folder[] = "/tmp/top-profile.XXXXXX", path[64], keys[96];
	struct host *host = begin_live(getpid());
	int column;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/page.html", folder);
	snprintf(keys, sizeof(keys), "/real\nO\x15%s\033", path); /* Escape */
	show(keys);
	fake_find("F1Help", &column);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(keys, sizeof(keys), "/real\nO\x15%s\n", path);
	fake.until = " group, blocks ";
	show(keys);
	fake_find("its own group, blocks no signal", &column);
	fake.until = NULL;
	(void)unlink(path);
	assert_int_equal(rmdir(folder), 0);
	host_close(host);
}

/* What the screen runs: this program once more. */
static int say_how_it_runs(char **words)
{
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	printf("%s %s %s: %s group, blocks %s signal\n", words[1], words[2], words[3],
	       getpgrp() == getpid() ? "its own" : "another's",
	       sigismember(&blocked, SIGINT) ? "a" : "no");
	return 0;
}

static void a_signal_is_sent_once_it_was_confirmed(void **state)
{
	pid_t pid = fork();
	struct host *host;
	char said[64];
	int status;

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	host = begin_live(pid);
	show("/real\n\xf9\nn"); /* F9, SIGTERM, no */
	assert_shown("nothing was sent", STYLE_HEADING, false);
	assert_int_equal(waitpid(shown_pid, &status, WNOHANG), 0);
	show("/real\n\xf9\ny");
	snprintf(said, sizeof(said), "SIGTERM was sent to process %d", shown_pid);
	assert_shown(said, STYLE_HEADING, false);
	assert_int_equal(waitpid(shown_pid, &status, 0), shown_pid);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	show("/real\n\xf9"); /* it is gone */
	snprintf(said, sizeof(said), "process %d has ended", shown_pid);
	assert_shown(said, STYLE_BAD, false);
	host_close(host);
}

static void a_search_goes_on_in_both_directions(void **state)
{
	int column;

	(void)state;
	show("/er\n"); /* the row itself, which is named so */
	assert_true(fake.marks[fake_find("burner", &column)][0]);
	show("/er\nn");
	assert_true(fake.marks[fake_find("reader", &column)][0]);
	show("/er\nN"); /* around */
	assert_true(fake.marks[fake_find("sleeper", &column)][0]);
	show("/er\nNN");
	assert_true(fake.marks[fake_find("reader", &column)][0]);
	show("/absent");
	assert_shown("no row has 'absent' in its name", STYLE_HEADING, false);
}

static void rows_are_sorted_as_chosen(void **state)
{
	int column;

	(void)state;
	show("");
	assert_true(fake_find("burner", &column) < fake_find("sleeper", &column));
	assert_shown("%cpuv", STYLE_TITLES, false);
	show("I");
	assert_true(fake_find("burner", &column) > fake_find("sleeper", &column));
	assert_shown("%cpu^", STYLE_TITLES, false);
	show("M");
	assert_true(fake_find("burner", &column) > fake_find("dead", &column));
	assert_shown("rss_bytesv", STYLE_TITLES, false);
	show("M<");
	assert_shown("%waitv", STYLE_TITLES, false);
	show("M>");
	assert_shown("nr_threadsv", STYLE_TITLES, false);
}

static void every_key_is_in_the_list_of_keys(void **state)
{
	char line[128];

	(void)state;
	fake.rows = FAKE_ROWS;
	for (size_t i = 0; i < KEY_ID_COUNT; i++) {
		char keys[] = "?jjjjjjjjjjjjjjjjjjjjjjjjjjjjjj"; /* it is longer than the screen */
		int column;

		keys[i < KEY_ID_COUNT / 2 ? 1 : sizeof(keys) - 1] = '\0';
		show(keys);
		snprintf(line, sizeof(line), "%.40s", key_table[i].help);
		fake_find(line, &column);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_goes_on_can_be_paused),
		TEST(other_moments_are_those_of_a_recording),
		TEST(a_time_that_was_typed_is_gone_to),
		TEST(a_text_that_is_opened_again_begins_at_its_top),
		TEST(keys_that_were_chosen_are_letters_in_a_prompt),
		TEST(keys_that_no_terminal_has_are_refused),
		TEST(what_is_past_is_not_asked),
		TEST(another_verb_runs_in_a_group_of_its_own),
		TEST(a_profile_is_made_when_its_name_was_meant),
		TEST(a_signal_is_sent_once_it_was_confirmed),
		TEST(a_search_goes_on_in_both_directions),
		TEST(rows_are_sorted_as_chosen),
		TEST(every_key_is_in_the_list_of_keys),
	};

	if (argc > 3)
		return say_how_it_runs(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
