/* SPDX-License-Identifier: MIT */
/*
 * The whole program when memory runs out, at every allocation of its own: once, or from there on.
 * Either all of the output is there, or one sentence and the status for it.
 */
#include <fcntl.h>
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

#include "scarce_memory.h"

int taskscope_main(int count, char **arguments);
#define main taskscope_main
#include "cli/main.c"
#undef main

#define WORDS_MAX 16
/* So many allocations are tried one by one; later ones are more of the same and are tried now and then. */
#define EACH 40

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

/* Every run is a process of its own: nothing of one is left for the next. */
static struct said run(const char *line, unsigned long refused, bool for_good)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	unsigned long *asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char storage[4096], *words[WORDS_MAX] = { 0 };
	int count = split(line, storage, sizeof(storage), words);
	struct said said = { 0 };
	pid_t child = fork();
	int status;

	if (child == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		memory.asked = 0;
		memory.refused = refused;
		memory.for_good = for_good;
		status = taskscope_main(count, words);
		*asked = memory.asked;
		fflush(stdout);
		_exit(status);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		fail_msg("%s: allocation %lu: signal %d", line, refused, WTERMSIG(status));
	said = (struct said){ WEXITSTATUS(status), *asked, text_of(out), text_of(err) };
	munmap(asked, sizeof(*asked));
	return said;
}

/* Notes may come before it. */
static bool ends_with_sentence(const char *err)
{
	const char *sentence = strstr(err, "taskscope: ");
	const char *end = sentence ? strchr(sentence, '\n') : NULL;

	return end && !end[1] && strstr(sentence, "emory");
}

static void try(const char *line, const struct said *whole, unsigned long refused, bool for_good)
{
	struct said said = run(line, refused, for_good);

	if (said.status == whole->status) {
		if (strcmp(said.out, whole->out) != 0 || strcmp(said.err, whole->err) != 0)
			fail_msg("%s: allocation %lu%s: not whole: %s", line, refused,
				 for_good ? " and on" : "", said.err);
	} else if (said.status != EXIT_ERROR || !ends_with_sentence(said.err)) {
		fail_msg("%s: allocation %lu%s: status %d, '%s'", line, refused,
			 for_good ? " and on" : "", said.status, said.err);
	}
	said_free(&said);
}

/* Alone, or with all after it. */
static void sweep(const char *line)
{
	struct said whole = run(line, 0, false);

	if (whole.status != 0)
		fail_msg("%s: %s", line, whole.err);
	assert_true(whole.asked > 20);
	for (unsigned long refused = 1; refused <= whole.asked; refused += 1 + refused / EACH)
		try(line, &whole, refused, refused % 2);
	said_free(&whole);
}

static void what_is_shown_is_whole_or_there_is_a_sentence(void **state)
{
	static const char *const lines[] = {
		"taskscope show %D/files/format-1.tscope",
		"taskscope show %D/files/format-1-readings.tscope --sections all",
		"taskscope show %D/files/format-1-scopes.tscope -g process",
		"taskscope show %D/files/format-1.tscope -g cgroup --flatten /* -s minflt",
		"taskscope show %D/files/format-1-readings.tscope --sections all --format json",
		"taskscope show %D/files/format-1-readings.tscope --sections host --format csv",
		"taskscope show %D/files/format-1.tscope -g thread --format csv",
		"taskscope show %D/ctprof/defaults.ctprof.zst",
		"taskscope show %D/runs/build.jsonl",
		"taskscope compare %D/files/format-1.tscope %D/files/format-1-readings.tscope",
		"taskscope compare %D/files/format-1.tscope %D/files/format-1-readings.tscope --format json",
		"taskscope compare %D/files/format-1.tscope %D/files/format-1-readings.tscope --format csv -s minflt",
		"taskscope report %D/runs/every_key.jsonl",
		"taskscope report %D/runs/every_key.jsonl --format json",
		"taskscope metrics",
		"taskscope metrics --format json",
		"taskscope help show",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		sweep(lines[i]);
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
		cmocka_unit_test(a_capture_is_written_or_there_is_a_sentence),
	};

	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
