/* SPDX-License-Identifier: MIT */
/* Thread pointers by a short stop: the right ones, and every thread goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "host/elf/thread_stop.h"
#include "patience.h"
#include "target_process.h"

static const struct stop_limits limits = { .thread_ms = HANG_MS, .total_ms = HANG_MS };

/* Its letter in the thread's stat file, which no stopped or traced thread of ours may have. */
static char thread_state(const struct target_process *target, int tid)
{
	char path[64], text[256];
	const char *name_end;
	int fd;
	ssize_t length;

	snprintf(path, sizeof(path), "task/%d/stat", tid);
	fd = openat(target->directory, path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(length > 0);
	text[length] = '\0';
	name_end = strrchr(text, ')');
	assert_non_null(name_end);
	return name_end[2];
}

static void check_goes_on(struct target_process *target)
{
	unsigned long before = target_turns(target);

	WAIT_UNTIL(target_turns(target) > before);
	for (size_t i = 0; i < target->count; i++)
		assert_null(strchr("tTX", thread_state(target, target->threads[i].tid)));
}

static void stopped_threads_tell_their_pointer_and_go_on(void **state)
{
	struct stopped_thread threads[TARGET_THREADS] = { 0 };
	struct target_process target;

	(void)state;
	target_start(&target, "dynamic", NULL, NULL);
	for (size_t i = 0; i < target.count; i++)
		threads[i].tid = target.threads[i].tid;
	assert_int_equal(thread_stop_read(target.directory, threads, target.count, &limits), 0);
	for (size_t i = 0; i < target.count; i++) {
		assert_int_equal(threads[i].error, 0);
		assert_int_equal(threads[i].step, STOP_DONE);
		assert_int_equal(threads[i].pointer, target.threads[i].pointer);
		assert_true(threads[i].held_ns > 0);
	}
	check_goes_on(&target);
	target_end(&target);
}

static void a_thread_that_is_gone_costs_itself_only(void **state)
{
	struct stopped_thread threads[3] = { 0 };
	struct target_process target;
	pid_t gone = fork();

	(void)state;
	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	target_start(&target, "dynamic", NULL, NULL);
	threads[0].tid = target.threads[0].tid;
	threads[1].tid = gone;
	threads[2].tid = target.threads[2].tid;
	assert_int_equal(thread_stop_read(target.directory, threads, 3, &limits), 0);
	assert_int_equal(threads[0].step, STOP_DONE);
	assert_int_equal(threads[1].step, STOP_SEIZE);
	assert_int_equal(threads[1].error, -ESRCH);
	assert_int_equal(threads[1].pointer, 0);
	assert_int_equal(threads[2].step, STOP_DONE);
	target_end(&target);
}

static void without_time_nothing_is_stopped(void **state)
{
	static const struct stop_limits none = { .thread_ms = 10, .total_ms = 0 };
	struct stopped_thread thread = { 0 };
	struct target_process target;

	(void)state;
	target_start(&target, "dynamic", NULL, NULL);
	thread.tid = target.threads[0].tid;
	assert_int_equal(thread_stop_read(target.directory, &thread, 1, &none), 0);
	assert_int_equal(thread.step, STOP_NOT_TRIED);
	assert_int_equal(thread.error, -ETIMEDOUT);
	target_end(&target);
}

/* A child of vfork() keeps its parent waiting where no stop reaches it. */
static pid_t start_stuck(int *ret_release)
{
	int release[2];
	pid_t parent;

	assert_int_equal(pipe2(release, O_CLOEXEC), 0);
	parent = fork();
	if (parent == 0) {
		char byte;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(release[1]);
		if (vfork() == 0) {
			if (read(release[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
		for (;;)
			pause();
	}
	close(release[0]);
	*ret_release = release[1];
	WAIT_UNTIL(task_state(parent) == 'D');
	return parent;
}

static void a_thread_that_does_not_stop_is_let_go(void **state)
{
	static const struct stop_limits few = { .thread_ms = 50, .total_ms = 1000 };
	struct stopped_thread thread = { 0 };
	struct target_process stuck = { 0 };
	char path[64];
	int release;

	(void)state;
	stuck.pid = start_stuck(&release);
	snprintf(path, sizeof(path), "/proc/%d", stuck.pid);
	stuck.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	thread.tid = stuck.pid;
	assert_int_equal(thread_stop_read(stuck.directory, &thread, 1, &few), 0);
	assert_int_equal(thread.step, STOP_WAIT);
	assert_int_equal(thread.error, -ETIMEDOUT);
	close(release);
	WAIT_UNTIL(thread_state(&stuck, stuck.pid) == 'S'); /* neither stopped nor traced */
	kill(stuck.pid, SIGKILL);
	waitpid(stuck.pid, NULL, 0);
	close(stuck.directory);
}

static int find_role(const struct target_process *target, const char *role)
{
	for (size_t i = 0; i < target->count; i++)
		if (strcmp(target->threads[i].role, role) == 0)
			return target->threads[i].tid;
	fail_msg("no %s thread", role);
	return 0;
}

/* Whether somebody holds the thread, or is about to. */
static bool is_traced(pid_t tid)
{
	char path[64], line[256];
	int tracer = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	status = fopen(path, "re");
	assert_non_null(status);
	while (fgets(line, sizeof(line), status) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	fclose(status);
	return tracer != 0;
}

/* Of a process that has them all, as far as one can see. */
static int directory_of(const struct stopped_thread *threads, size_t count)
{
	char place[] = "/tmp/thread_stop.XXXXXX", path[64];
	int directory;

	assert_non_null(mkdtemp(place));
	directory = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(directory >= 0);
	assert_int_equal(mkdirat(directory, "task", 0700), 0);
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "task/%d", threads[i].tid);
		assert_int_equal(mkdirat(directory, path, 0700), 0);
	}
	return directory;
}

/* What is left of it: directories alone. */
static void remove_directory(int directory, const struct stopped_thread *threads, size_t count)
{
	char path[64], place[64];
	ssize_t length;

	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "task/%d", threads[i].tid);
		unlinkat(directory, path, AT_REMOVEDIR);
	}
	unlinkat(directory, "task", AT_REMOVEDIR);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	length = readlink(path, place, sizeof(place) - 1);
	assert_true(length > 0);
	place[length] = '\0';
	rmdir(place);
	close(directory);
}

static void a_number_that_is_anothers_by_now_is_left_alone(void **state)
{
	struct stopped_thread threads[2] = { 0 };
	struct target_process target, stranger;

	(void)state;
	target_start(&target, "dynamic", NULL, NULL);
	target_start(&stranger, "dynamic", NULL, NULL);
	threads[0].tid = stranger.threads[0].tid;
	threads[1].tid = target.threads[0].tid;
	assert_int_equal(thread_stop_read(target.directory, threads, 2, &limits), 0);
	assert_int_equal(threads[0].step, STOP_SEIZE);
	assert_int_equal(threads[0].error, -ESRCH);
	assert_int_equal(threads[0].pointer, 0);
	assert_int_equal(threads[0].held_ns, 0);
	assert_int_equal(threads[1].step, STOP_DONE);
	target_end(&stranger);
	target_end(&target);
}

struct stopping {
	int directory;
	struct stopped_thread threads[2];
};

static void *stop_both(void *argument)
{
	struct stopping *stopping = argument;

	assert_int_equal(thread_stop_read(stopping->directory, stopping->threads, 2, &limits), 0);
	return NULL;
}

static void a_thread_does_not_wait_for_the_next_one(void **state)
{
	struct stopping stopping = { 0 };
	struct stopped_thread *threads = stopping.threads;
	struct target_process target;
	pthread_t stopper;
	int release;

	(void)state;
	target_start(&target, "dynamic", NULL, NULL);
	threads[0].tid = find_role(&target, "spinning");
	threads[1].tid = start_stuck(&release);
	stopping.directory = directory_of(threads, 2);
	assert_int_equal(pthread_create(&stopper, NULL, stop_both, &stopping), 0);
	WAIT_UNTIL(is_traced(threads[1].tid));
	assert_false(is_traced(threads[0].tid));
	close(release);
	pthread_join(stopper, NULL);
	remove_directory(stopping.directory, threads, 2);
	assert_int_equal(threads[0].step, STOP_DONE);
	assert_int_equal(threads[1].step, STOP_DONE);
	kill(threads[1].tid, SIGKILL);
	waitpid(threads[1].tid, NULL, 0);
	target_end(&target);
}

static void a_thread_that_is_stopped_already_stays_so(void **state)
{
	struct stopped_thread thread = { 0 };
	struct target_process target;

	(void)state;
	target_start(&target, "dynamic", NULL, NULL);
	kill(target.pid, SIGSTOP);
	thread.tid = target.threads[0].tid;
	WAIT_UNTIL(thread_state(&target, thread.tid) == 'T');
	assert_int_equal(thread_stop_read(target.directory, &thread, 1, &limits), 0);
	assert_int_equal(thread.step, STOP_DONE);
	assert_int_equal(thread.pointer, target.threads[0].pointer);
	WAIT_UNTIL(thread_state(&target, thread.tid) == 'T');
	kill(target.pid, SIGCONT);
	check_goes_on(&target);
	target_end(&target);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_threads_tell_their_pointer_and_go_on),
		cmocka_unit_test(a_thread_that_is_gone_costs_itself_only),
		cmocka_unit_test(without_time_nothing_is_stopped),
		cmocka_unit_test(a_thread_that_does_not_stop_is_let_go),
		cmocka_unit_test(a_number_that_is_anothers_by_now_is_left_alone),
		cmocka_unit_test(a_thread_does_not_wait_for_the_next_one),
		cmocka_unit_test(a_thread_that_is_stopped_already_stays_so),
	};

	return cmocka_run_group_tests_name("thread_stop", tests, NULL, NULL);
}
