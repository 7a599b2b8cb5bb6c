/* SPDX-License-Identifier: MIT */
/*
 * The whole program when memory runs out, at every allocation of its own: once, or from there on.
 * Either all of the output is there, or one sentence and the status for it.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sanitized.h"
#include "scarce_memory.h"

int taskscope_main(int count, char **arguments);
#define main taskscope_main
#include "cli/main.c"
#undef main

#define WORDS_MAX 16
#define AT_A_TIME 8
/* So many allocations are tried one by one; later ones are more of the same and are tried now and then. */
#if defined(ADDRESS_SPACE_IS_RESERVED) /* every process takes long then */
#define EACH 8
#define ALL 8
#else
#define EACH 40
#define ALL ULONG_MAX
#endif

/* What one run of the program left. */
struct said {
	int status;
	unsigned long asked; /* allocations */
	char *out, *err;
};

static char folder[] = "/tmp/taskscope-memory.XXXXXX";

static char *text_of(int fd)
{
	struct stat status;
	char *text;

	assert_int_equal(fstat(fd, &status), 0);
	text = calloc(1, (size_t)status.st_size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)status.st_size, 0), status.st_size);
	close(fd);
	return text;
}

static void said_free(struct said *said)
{
	free(said->out);
	free(said->err);
}

/* "%D" stands for the recorded data, "%T" for a folder of the test's own. */
static int split(const char *line, char *storage, size_t size, char **ret_words)
{
	CLEANUP(text_free) struct text text = { 0 };
	int count = 0;

	for (; *line; line++) {
		if (line[0] == '%')
			text_append_string(&text,
					   *++line == 'D' ? getenv("TASKSCOPE_TEST_DATA") : folder);
		else
			text_append(&text, line, 1);
	}
	assert_true(text.length < size);
	memcpy(storage, text_string(&text), text.length + 1);
	for (char *word; (word = strsep(&storage, " "));)
		ret_words[count++] = word;
	assert_true(count < WORDS_MAX);
	return count;
}

/* A run of the program: a process of its own, so that nothing of one is left for the next. */
struct attempt {
	pid_t child;
	unsigned long refused;
	bool for_good;
	int out, err;
	unsigned long *asked;
};

static struct attempt start(const char *line, unsigned long refused, bool for_good)
{
	struct attempt attempt = {
		.refused = refused,
		.for_good = for_good,
		.out = memfd_create("out", MFD_CLOEXEC),
		.err = memfd_create("err", MFD_CLOEXEC),
		.asked = mmap(NULL, sizeof(*attempt.asked), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	char storage[4096], *words[WORDS_MAX] = { 0 };
	int status, count = split(line, storage, sizeof(storage), words);

	attempt.child = fork();
	if (attempt.child != 0)
		return attempt;
	dup2(attempt.out, STDOUT_FILENO);
	dup2(attempt.err, STDERR_FILENO);
	memory.asked = 0;
	memory.refused = refused;
	memory.for_good = for_good;
	status = taskscope_main(count, words);
	*attempt.asked = memory.asked;
	fflush(stdout);
	_exit(status);
}

static struct said finish_attempt(const char *line, const struct attempt *attempt)
{
	struct said said;
	int status;

	assert_int_equal(waitpid(attempt->child, &status, 0), attempt->child);
	if (!WIFEXITED(status))
		fail_msg("%s: allocation %lu: signal %d", line, attempt->refused, WTERMSIG(status));
	said = (struct said){ WEXITSTATUS(status), *attempt->asked, text_of(attempt->out),
			      text_of(attempt->err) };
	munmap(attempt->asked, sizeof(*attempt->asked));
	return said;
}

static struct said run(const char *line, unsigned long refused, bool for_good)
{
	struct attempt attempt = start(line, refused, for_good);

	return finish_attempt(line, &attempt);
}

/* Notes may come before it. */
static bool ends_with_sentence(const char *err)
{
	const char *sentence = strstr(err, "taskscope: ");
	const char *end = sentence ? strchr(sentence, '\n') : NULL;

	return end && !end[1] && strstr(sentence, "emory");
}

/* A read that failed for lack of memory counts as lost, for that reason. */
static bool names_the_loss(const char *out)
{
	return strstr(out, "Cannot allocate memory") ||
	       strstr(out, "no thread could be started to read it");
}

static void check(const char *line, const struct said *whole, const struct attempt *attempt)
{
	struct said said = finish_attempt(line, attempt);
	const char *on = attempt->for_good ? " and on" : "";

	if (said.status == whole->status) {
		if ((strcmp(said.out, whole->out) != 0 && !names_the_loss(said.out)) ||
		    strcmp(said.err, whole->err) != 0)
			fail_msg("%s: allocation %lu%s: not whole: %s", line, attempt->refused, on,
				 said.err);
	} else if (said.status != EXIT_ERROR || !ends_with_sentence(said.err)) {
		fail_msg("%s: allocation %lu%s: status %d, '%s'", line, attempt->refused, on,
			 said.status, said.err);
	}
	said_free(&said);
}

/* Each allocation alone, or with all after it; some at a time. */
static void sweep(const char *line, unsigned long each)
{
	struct said whole = run(line, 0, false);
	struct attempt attempts[AT_A_TIME];
	size_t count = 0;

	if (whole.status != 0)
		fail_msg("%s: %s", line, whole.err);
	assert_true(whole.asked > 20);
	for (unsigned long refused = 1; refused <= whole.asked; refused += 1 + refused / each) {
		if (count >= AT_A_TIME)
			check(line, &whole, &attempts[count % AT_A_TIME]);
		attempts[count++ % AT_A_TIME] = start(line, refused, refused % 2);
	}
	for (size_t i = count < AT_A_TIME ? 0 : count - AT_A_TIME; i < count; i++)
		check(line, &whole, &attempts[i % AT_A_TIME]);
	said_free(&whole);
}

static void what_is_shown_is_whole_or_there_is_a_sentence(void **state)
{
	static const char *const lines[] = {
		"taskscope show %D/files/format-1.tscope",
		"taskscope show %D/files/format-1-scopes.tscope -g process",
		"taskscope show %D/files/format-1.tscope -g cgroup --flatten /* -s minflt",
		"taskscope show %D/files/format-1-readings.tscope --sections all --format json",
		"taskscope show %D/files/format-1-readings.tscope --sections host --format csv",
		"taskscope show %D/files/format-1.tscope -g thread --format csv",
		"taskscope show %D/ctprof/defaults.ctprof.zst",
		"taskscope show %D/runs/build.jsonl",
		"taskscope compare %D/files/format-1.tscope %D/files/format-1-readings.tscope --format json",
		"taskscope compare %D/files/format-1.tscope %D/files/format-1-readings.tscope --format csv -s minflt",
		"taskscope report %D/runs/every_key.jsonl",
		"taskscope report %D/runs/every_key.jsonl --format json",
		"taskscope report %D/runs/stacks.jsonl -v",
		"taskscope report %D/runs/stacks.jsonl --format json",
		"taskscope metrics",
		"taskscope metrics --format json",
		"taskscope help show",
	};

	(void)state;
	/* The longest pages: every allocation. */
	sweep("taskscope show %D/files/format-1-readings.tscope --sections all", ALL);
	sweep("taskscope compare %D/files/format-1.tscope %D/files/format-1-readings.tscope", ALL);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		sweep(lines[i], EACH);
}

/* A file is there if its capture succeeded, and can be read. */
static void a_capture_is_written_or_there_is_a_sentence(void **state)
{
	static const char line[] =
		"taskscope capture -q --root %D/roots/debian-6.1 -o %T/one.tscope";
	struct said whole = run(line, 0, false);
	char path[sizeof(folder) + 16];

	(void)state;
	snprintf(path, sizeof(path), "%s/one.tscope", folder);
	assert_int_equal(whole.status, 0);
	assert_int_equal(unlink(path), 0);
	for (unsigned long refused = 1; refused <= whole.asked; refused += 1 + refused / EACH) {
		struct said said = run(line, refused, true);

		assert_int_equal(said.status == 0, unlink(path) == 0);
		said_free(&said);
	}
	said_free(&whole);
}

/* What could not be read for lack of memory is not left out silently. */
static void what_is_read_is_whole_or_names_what_was_lost(void **state)
{
	(void)state;
	sweep("taskscope show --root %D/roots/debian-6.1 --smaps --sections all --format json",
	      ALL);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_shown_is_whole_or_there_is_a_sentence),
		cmocka_unit_test(what_is_read_is_whole_or_names_what_was_lost),
		cmocka_unit_test(a_capture_is_written_or_there_is_a_sentence),
	};

	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
