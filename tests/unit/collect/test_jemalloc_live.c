/* SPDX-License-Identifier: MIT */
/*
 * Heap counters of programs that run, by their debug information: the programs
 * only look as if they had jemalloc, and their counters are known.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "base/error.h"
#include "child.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"

/* Of objects/sample.c. */
#define ALLOCATED 123456
#define DEALLOCATED 3456

static struct host *host;

static int open_host(void **state)
{
	(void)state;
	return host_open(&host, NULL, NULL);
}

static int close_host(void **state)
{
	(void)state;
	host_close(host);
	return 0;
}

/* A file that changed just now is in no cache. */
static const char *object(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("TASKSCOPE_TEST_OBJECTS"), name);
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
	return path;
}

static struct snapshot *take_by(enum task_lister lister, pid_t pid, bool without_oracle)
{
	struct capture_options options = {
		.lister = lister,
		.pids = &pid,
		.pid_count = 1,
		.no_jemalloc_oracle = without_oracle,
	};
	struct snapshot *snapshot;
	struct error error = { 0 };

	if (capture_take(host, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	return snapshot;
}

/* Without the iterator's thread pointers, so that the target's own lists are walked. */
static struct snapshot *take(pid_t pid, bool without_oracle)
{
	return take_by(LIST_PROCFS, pid, without_oracle);
}

static const char *note_of(const struct snapshot *snapshot)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	uint64_t text;

	if (column_get(sheet_find(sheet, "jemalloc"), 0, &text) != CELL_TEXT)
		return "";
	return snapshot_text(snapshot, (uint32_t)text);
}

static void assert_counters(const struct snapshot *snapshot, const char *note)
{
	uint64_t value = 0;

	assert_string_equal(note_of(snapshot), note);
	assert_true(snapshot_get(snapshot, METRIC_allocated_bytes, 0, &value));
	assert_int_equal(value, ALLOCATED);
	assert_true(snapshot_get(snapshot, METRIC_deallocated_bytes, 0, &value));
	assert_int_equal(value, DEALLOCATED);
}

static void assert_lost(const struct snapshot *snapshot, const char *tag, const char *reason)
{
	uint64_t value;

	assert_string_equal(note_of(snapshot), tag);
	assert_false(snapshot_get(snapshot, METRIC_allocated_bytes, 0, &value));
	assert_non_null(snapshot->columns[METRIC_allocated_bytes].absent);
	assert_non_null(strstr(snapshot->columns[METRIC_allocated_bytes].absent, reason));
}

static void check(const char *name, const char *note)
{
	pid_t pid = child_start(object(name), "wait", NULL, 1);
	struct snapshot *snapshot = take(pid, true);

	child_end(pid);
	assert_counters(snapshot, note);
	snapshot_free(snapshot);
}

static void an_executable_is_read_by_its_own_debug_information(void **state)
{
	(void)state;
	check("dwarf5", "executable, dwarf, thread-list");
	check("dwarf4", "executable, dwarf, thread-list");
	check("compressed", "executable, dwarf, thread-list");
}

static void an_executable_is_read_by_a_debug_file_beside_it(void **state)
{
	(void)state;
	check("linked", "executable, debug-file, thread-list");
}

static void what_was_learned_is_kept_for_the_next_time(void **state)
{
	pid_t pid = child_start(object("dwarf5"), "wait", NULL, 1);
	struct snapshot *snapshot = take(pid, true);

	(void)state;
	snapshot_free(snapshot);
	snapshot = take(pid, true);
	child_end(pid);
	assert_counters(snapshot, "executable, cached, thread-list");
	snapshot_free(snapshot);
}

static void a_library_is_read_where_the_loader_put_it(void **state)
{
	pid_t pid = child_start("/bin/sleep", "100", object("preloaded"), 0);
	struct snapshot *snapshot = take(pid, true);

	(void)state;
	child_end(pid);
	assert_counters(snapshot, "library, dwarf, thread-list");
	snapshot_free(snapshot);
}

/* A child that reads files would be the capture's: it has none when memory tells all. */
static bool has_had_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_minflt > 0;
}

#define TRIES 20

/*
 * In a process that has had no children yet; its exit status is 0 when all was as it should.  On a busy
 * machine the time for heap counters can be over before anything was read: then there is no note.
 */
static int take_again(pid_t pid, const char *note)
{
	struct snapshot *snapshot = take(pid, true);
	bool is_right;

	for (int i = 0; i < TRIES && !note_of(snapshot)[0]; i++) {
		snapshot_free(snapshot);
		snapshot = take(pid, true);
	}
	is_right = strcmp(note_of(snapshot), note) == 0;
	if (!is_right)
		fprintf(stderr, "%s, not %s\n", note_of(snapshot), note);
	snapshot_free(snapshot);
	return is_right ? has_had_children() : 2;
}

/* Whether another capture of the process did without a child. */
static bool is_quick(pid_t pid, const char *note)
{
	pid_t again = fork();
	int status;

	assert_true(again >= 0);
	if (again == 0)
		_exit(take_again(pid, note));
	assert_int_equal(waitpid(again, &status, 0), again);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

/* Only root learns which file is mapped without opening it. */
static bool can_be_quick(void)
{
	return geteuid() == 0;
}

static void files_of_a_process_with_a_known_jemalloc_are_not_read(void **state)
{
	pid_t library = child_start("/bin/sleep", "100", object("preloaded"), 0);
	pid_t program = child_start(object("dwarf5"), "wait", NULL, 1);

	(void)state;
	snapshot_free(take(library, true));
	snapshot_free(take(program, true));
	assert_int_equal(is_quick(library, "library, cached, thread-list"), can_be_quick());
	assert_int_equal(is_quick(program, "executable, cached, thread-list"), can_be_quick());
	/* As if it were another file: all is learned anew. */
	object("preloaded");
	assert_false(is_quick(library, "library, dwarf, thread-list"));
	child_end(library);
	child_end(program);
}

static void a_stripped_program_says_why_not(void **state)
{
	pid_t pid = child_start(object("stripped_large"), "wait", NULL, 1);
	struct snapshot *snapshot = take(pid, false);

	(void)state;
	child_end(pid);
	assert_lost(snapshot, "symbols-stripped", "1 of 1 processes: ");
	snapshot_free(snapshot);
}

static void no_program_is_run_when_that_is_not_wanted(void **state)
{
	pid_t pid = child_start(object("plain"), "wait", NULL, 1);
	struct snapshot *snapshot = take(pid, true);

	(void)state;
	child_end(pid);
	assert_lost(snapshot, "oracle-off", "--no-jemalloc-oracle");
	snapshot_free(snapshot);
}

static void a_program_without_jemalloc_has_absent_cells_and_no_failure(void **state)
{
	pid_t pid = child_start("/bin/sleep", "100", NULL, 0);
	struct snapshot *snapshot = take(pid, false);
	uint64_t failed = 1;

	(void)state;
	child_end(pid);
	assert_lost(snapshot, "", "no captured process uses jemalloc");
	column_get(sheet_find(&snapshot->sheets[SHEET_CAPTURE], "jemalloc failed"), 0, &failed);
	assert_int_equal(failed, 0);
	snapshot_free(snapshot);
}

/* A target can make every read of its memory wait; it costs its own counters and two seconds. */
static void a_target_that_blocks_its_reader_is_left_alone(void **state)
{
	char blocks;
	pid_t pid = child_start_asking(object("blocking"), "wait", NULL, 1, &blocks);
	struct snapshot *snapshot = take_by(LIST_AUTO, pid, true);

	(void)state;
	child_end(pid);
	if (blocks == 'y')
		assert_string_equal(note_of(snapshot), "target-blocked");
	else /* this kernel lets only root do that */
		assert_true(strncmp(note_of(snapshot), "executable, ", 12) == 0);
	snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_executable_is_read_by_its_own_debug_information),
		cmocka_unit_test(an_executable_is_read_by_a_debug_file_beside_it),
		cmocka_unit_test(what_was_learned_is_kept_for_the_next_time),
		cmocka_unit_test(a_library_is_read_where_the_loader_put_it),
		cmocka_unit_test(files_of_a_process_with_a_known_jemalloc_are_not_read),
		cmocka_unit_test(a_stripped_program_says_why_not),
		cmocka_unit_test(no_program_is_run_when_that_is_not_wanted),
		cmocka_unit_test(a_target_that_blocks_its_reader_is_left_alone),
		cmocka_unit_test(a_program_without_jemalloc_has_absent_cells_and_no_failure),
	};

	return cmocka_run_group_tests(tests, open_host, close_host);
}
