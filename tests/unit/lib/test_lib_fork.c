/* SPDX-License-Identifier: MIT */
/* Forked children: they part from their parent's memory at once, and go on with their own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib_support.h"

#include "lib/scope/locks.h"
#include "lib/start.h"

enum { FORKS = 60, WORKERS = 2, CHILD_THREADS = 8 };

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "in the child, line %d: %s\n", __LINE__, #condition);      \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static int setup(void **state)
{
	(void)state;
	library_start(TASKSCOPE_STATISTICS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	return 0;
}

static pid_t test_pid;

/* The child ends well if the function returns. */
static void in_child(void (*function)(void *), void *argument)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		alarm(HANG_SECONDS);
		function(argument);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return;
	if (getpid() != test_pid)
		_exit(1);
	fail_msg("the child ended with 0x%x", status);
}

/* Descriptors of this process that are the library's memory. */
static int memory_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(folder))) {
		char target[64] = "";

		if (readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1) > 0)
			count += strncmp(target, "/memfd:taskscope", 16) == 0;
	}
	closedir(folder);
	return count;
}

static int memory_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int count = 0;

	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "/memfd:taskscope") != NULL;
	fclose(maps);
	return count;
}

static void holds_nothing(void *argument)
{
	(void)argument;
	CHECK(memory_descriptors() == 0);
	CHECK(memory_mappings() == 0);
	taskscope_stop();
	CHECK(memory_descriptors() == 0);
}

static void a_child_that_uses_no_scopes_holds_nothing_of_its_parents(void **state)
{
	struct taskscope_scope scope = taskscope_enter("parent");

	(void)state;
	assert_int_equal(memory_descriptors(), 1);
	in_child(holds_nothing, NULL);
	taskscope_leave(scope);
}

static void has_room(void *argument)
{
	struct taskscope_progress progress = taskscope_begin("child", 3);

	(void)argument;
	CHECK(progress.scope.handle);
	taskscope_advance(&progress, 2);
	CHECK(((struct scope_frame *)progress.frame)->count == 2);
	taskscope_end(&progress);
}

/* A child with memory of its own, in which things can be broken. */
static void becomes_a_parent(void *function)
{
	void (*run)(void *);

	has_room(NULL);
	*(void **)&run = function;
	run(NULL);
}

static void has_the_pipe(void *argument)
{
	CHECK(fcntl(*(int *)argument, F_GETFD) >= 0);
	CHECK(memory_mappings() == 0);
	has_room(NULL);
}

/* As a daemon does that closes whatever it may have inherited. */
static void gives_the_number_away(void *argument)
{
	int number = area.fd;
	int ends[2];

	(void)argument;
	CHECK(pipe(ends) == 0);
	CHECK(dup2(ends[0], number) == number);
	in_child(has_the_pipe, &number);
}

static void a_descriptor_that_is_no_longer_ours_stays_open(void **state)
{
	(void)state;
	taskscope_leave(taskscope_enter("parent"));
	in_child(becomes_a_parent, gives_the_number_away);
}

/* A sanitizer needs memory of its own at any time, so that a program cannot be short of it. */
#ifndef __SANITIZE_ADDRESS__

static void parts_in_place(void *argument)
{
	CHECK(memory_mappings() == 0);
	CHECK(memory_descriptors() == 0);
	CHECK(own_depth() == 2);
	taskscope_leave(*(struct taskscope_scope *)argument);
	CHECK(own_depth() == 1);
	has_room(NULL);
}

static void limit_memory(rlim_t size)
{
	struct rlimit limit = { size, RLIM_INFINITY };

	setrlimit(RLIMIT_AS, &limit);
}

static void is_off_for_good(void *argument)
{
	CHECK(memory_descriptors() == 0);
	taskscope_leave(*(struct taskscope_scope *)argument);
	CHECK(taskscope_enter("child").handle == 0);
	limit_memory(RLIM_INFINITY);
	CHECK(taskscope_start(NULL) == -ENOMEM);
	taskscope_stop();
}

static rlim_t memory_size(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages;

	CHECK(fscanf(statm, "%lu", &pages) == 1);
	fclose(statm);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void fork_with_memory(rlim_t size, void (*function)(void *))
{
	struct taskscope_scope scope = taskscope_enter("short of memory");

	limit_memory(size);
	in_child(function, &scope);
	CHECK(own_depth() == 2);
	taskscope_leave(scope);
}

static void forks_without_more_memory(void *argument)
{
	(void)argument;
	fork_with_memory(memory_size(), parts_in_place);
}

static void forks_with_too_much_memory(void *argument)
{
	(void)argument;
	fork_with_memory(4096, is_off_for_good);
}

static void without_memory_a_child_parts_all_the_same(void **state)
{
	struct taskscope_scope scope = taskscope_enter("parent");

	(void)state;
	in_child(becomes_a_parent, forks_without_more_memory);
	in_child(becomes_a_parent, forks_with_too_much_memory);
	taskscope_leave(scope);
}

#endif

static void closes_what_it_inherited(void *argument)
{
	struct scope_thread *block = own_block();

	CHECK(block->depth == 1);
	taskscope_leave(*(struct taskscope_scope *)argument);
	CHECK(block->depth == 0);
	taskscope_leave(*(struct taskscope_scope *)argument);
	CHECK(block->misplaced == 1);
}

static void what_a_child_closes_stays_open_in_the_parent(void **state)
{
	struct taskscope_scope scope = taskscope_enter("parent");
	uint32_t sequence = own_block()->sequence;

	(void)state;
	in_child(closes_what_it_inherited, &scope);
	assert_int_equal(own_depth(), 1);
	assert_int_equal(own_block()->sequence, sequence);
	taskscope_leave(scope);
}

static void counts_on(void *argument)
{
	struct taskscope_progress *progress = argument;
	const struct scope_frame *frame = progress->frame;

	taskscope_advance(progress, 10);
	CHECK(frame->count == 15);
	taskscope_enter("child");
	CHECK(frame->count == 15);
	taskscope_advance(progress, 10);
	CHECK(frame->count == 25);
	taskscope_end(progress);
	CHECK(own_depth() == 0);
	taskscope_advance(progress, 10);
	CHECK(frame->count == 25);
}

static void a_childs_progress_is_not_its_parents(void **state)
{
	struct taskscope_progress progress = taskscope_begin("parent", 100);

	(void)state;
	taskscope_advance(&progress, 5);
	in_child(counts_on, &progress);
	assert_int_equal(own_block()->frames[0].count, 5);
	taskscope_end(&progress);
}

static void has_its_own(void *argument)
{
	const struct scope_thread *block;

	(void)argument;
	CHECK(taskscope_enter("child").handle);
	block = own_block();
	CHECK(memory_descriptors() == 1);
	CHECK(memory_mappings() == 1);
	CHECK(fcntl(SCOPE_FD, F_GETFD) == FD_CLOEXEC);
	CHECK(area.header->pid == getpid());
	CHECK(area.header->state == SCOPE_STATE_ON);
	CHECK(area.header->flags & SCOPE_HAS_STATISTICS);
	CHECK(blocks_in_use() == 1);
	CHECK(block->tid == gettid());
	CHECK(block->depth == 2);
	CHECK(strcmp(frame_label(block, 0), "parent") == 0);
	CHECK(strcmp(frame_label(block, 1), "child") == 0);
	CHECK(block->unwound == 0);
	CHECK(block->statistics[0].count == 0);
	CHECK(area.header->ended_unwound == 0);
	CHECK(area_retired()[0].count == 0);
}

static void *unwind_and_end(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("parent");

	taskscope_enter("inner");
	taskscope_leave(scope);
	return argument;
}

static void a_child_goes_on_with_memory_of_its_own(void **state)
{
	struct taskscope_scope scope;

	(void)state;
	unwind_and_end(NULL);
	on_thread(unwind_and_end, NULL);
	scope = taskscope_enter("parent");
	in_child(has_its_own, NULL);
	assert_int_equal(area.header->pid, getpid());
	assert_int_equal(own_depth(), 1);
	assert_int_equal(memory_descriptors(), 1);
	taskscope_leave(scope);
}

static void forks_again(void *argument)
{
	in_child(has_its_own, argument);
	has_its_own(argument);
	taskscope_leave((struct taskscope_scope){
		(uint64_t)own_block()->frames[1].generation << 24 | 1 << 16 | own_block()->slot });
	in_child(has_its_own, argument);
	CHECK(area.header->pid == getpid());
}

static void grandchildren_do_too(void **state)
{
	struct taskscope_scope scope = taskscope_enter("parent");

	(void)state;
	in_child(forks_again, NULL);
	taskscope_leave(scope);
}

static int workers_end;

static void *hammer(void *argument)
{
	struct taskscope_progress *shared = argument;

	while (!__atomic_load_n(&workers_end, __ATOMIC_ACQUIRE)) {
		struct taskscope_scope scope = taskscope_enter("worker");

		taskscope_advance(shared, 1);
		taskscope_leave((taskscope_enter)("made"));
		taskscope_leave(scope);
	}
	return NULL;
}

static void is_alone(void *argument)
{
	struct taskscope_progress *shared = argument;
	uint64_t before = ((struct scope_frame *)shared->frame)->count;

	CHECK(taskscope_enter("child").handle);
	CHECK(blocks_in_use() == 1);
	CHECK(own_depth() == 2);
	CHECK(((struct scope_frame *)shared->frame)->count == before);
	taskscope_end(shared);
	CHECK(own_depth() == 0);
}

static void of_many_threads_only_the_forking_one_lives_on(void **state)
{
	struct taskscope_progress shared = taskscope_begin("shared", 0);
	pthread_t threads[WORKERS];

	(void)state;
	workers_end = 0;
	for (size_t i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, hammer, &shared);
	for (size_t i = 0; i < FORKS; i++)
		in_child(is_alone, &shared);
	__atomic_store_n(&workers_end, 1, __ATOMIC_RELEASE);
	for (size_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(own_depth(), 1);
	taskscope_end(&shared);
}

static void *first_scope(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("thread of the child");

	CHECK(own_depth() == 1);
	taskscope_leave(scope);
	return argument;
}

static void starts_threads(void *argument)
{
	pthread_t threads[CHILD_THREADS];

	for (size_t i = 0; i < CHILD_THREADS; i++)
		pthread_create(&threads[i], NULL, first_scope, NULL);
	taskscope_leave(*(struct taskscope_scope *)argument);
	for (size_t i = 0; i < CHILD_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(own_block()->misplaced == 0);
	CHECK(own_depth() == 0);
	CHECK(blocks_in_use() == 1);
	taskscope_enter("main of the child");
	CHECK(own_depth() == 1);
}

static void threads_of_a_child_may_come_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORKS; i++) {
		struct taskscope_scope scope = taskscope_enter("parent");

		in_child(starts_threads, &scope);
		taskscope_leave(scope);
	}
}

static int is_watching, has_started;

/* Whether a scope could have been opened at any time. */
static void *watch_the_start(void *was_always_possible)
{
	bool *possible = was_always_possible;

	__atomic_store_n(&is_watching, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&has_started, __ATOMIC_ACQUIRE))
		*possible &= start_may_record();
	return NULL;
}

static void is_watched(void *argument)
{
	bool was_always_possible = true;
	pthread_t thread;

	(void)argument;
	pthread_create(&thread, NULL, watch_the_start, &was_always_possible);
	while (!__atomic_load_n(&is_watching, __ATOMIC_ACQUIRE))
		;
	taskscope_enter("child");
	__atomic_store_n(&has_started, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	CHECK(was_always_possible);
}

static void no_scope_is_lost_while_a_child_starts(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORKS; i++)
		in_child(is_watched, NULL);
}

static int is_held, was_held;

/* As a thread of the child does while it makes the child's own memory. */
static void *hold(void *argument)
{
	lock_take(LOCK_START);
	__atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
	usleep(20000);
	was_held = 1;
	lock_release(LOCK_START);
	return argument;
}

static void waits(void *argument)
{
	pthread_t thread;

	CHECK(!self.block && self.kept);
	pthread_create(&thread, NULL, hold, NULL);
	while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
		;
	taskscope_leave(*(struct taskscope_scope *)argument);
	CHECK(was_held);
	pthread_join(thread, NULL);
}

static void nothing_is_closed_while_the_memory_changes_places(void **state)
{
	struct taskscope_scope scope = taskscope_enter("parent");

	(void)state;
	in_child(waits, &scope);
	taskscope_leave(scope);
}

static void is_new(void *argument)
{
	(void)argument;
	CHECK(taskscope_enter("child").handle);
	CHECK(own_depth() == 1);
	CHECK(blocks_in_use() == 1);
}

static void *fork_without_a_block(void *argument)
{
	in_child(is_new, argument);
	return NULL;
}

static void a_thread_without_scopes_may_fork(void **state)
{
	struct taskscope_scope scope = taskscope_enter("main");

	(void)state;
	on_thread(fork_without_a_block, NULL);
	taskscope_leave(scope);
}

static void starts_itself(void *argument)
{
	(void)argument;
	CHECK(taskscope_enter("off").handle == 0);
	CHECK(taskscope_start(NULL) == 0);
	has_its_own(NULL);
	CHECK(taskscope_start(NULL) == 0);
}

static void a_child_of_a_stopped_parent_can_start(void **state)
{
	struct taskscope_scope scope = taskscope_enter("parent");

	(void)state;
	taskscope_stop();
	setenv("TASKSCOPE_STATISTICS", "on", 1);
	setenv("TASKSCOPE_HEARTBEAT", "off", 1);
	in_child(starts_itself, NULL);
	unsetenv("TASKSCOPE_STATISTICS");
	unsetenv("TASKSCOPE_HEARTBEAT");
	taskscope_leave(scope);
}

static void stays_off(void *argument)
{
	(void)argument;
	taskscope_stop();
	CHECK(taskscope_enter("off").handle == 0);
	CHECK(memory_descriptors() == 0);
}

static void a_child_that_stops_stays_off(void **state)
{
	(void)state;
	in_child(stays_off, NULL);
}

static void looks_like_the_parent(void *argument)
{
	(void)argument;
	execl("/proc/self/exe", "test_lib_fork", "descriptors", (char *)NULL);
	_exit(1);
}

static void another_program_inherits_no_descriptor(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	in_child(looks_like_the_parent, NULL);
	pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "test_lib_fork", "descriptors", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void has_its_own_inside(void *argument)
{
	(void)argument;
	CHECK(taskscope_enter("child").handle);
	CHECK(own_depth() == 2);
	CHECK(area.header->pid == getpid());
}

static void starts_first(void *argument)
{
	(void)argument;
	CHECK(area.header == NULL);
	CHECK(taskscope_enter("early").handle == 0);
	CHECK(taskscope_start(NULL) == 0);
	CHECK(taskscope_enter("started").handle);
	CHECK(area.header->pid == getpid());
	in_child(has_its_own_inside, NULL);
}

static void a_fork_before_the_start_is_nothing_special(void **state)
{
	(void)state;
	in_child(starts_first, NULL);
}

#define FORK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_before_the_start_is_nothing_special),
		FORK_TEST(a_child_that_uses_no_scopes_holds_nothing_of_its_parents),
		FORK_TEST(a_descriptor_that_is_no_longer_ours_stays_open),
#ifndef __SANITIZE_ADDRESS__
		FORK_TEST(without_memory_a_child_parts_all_the_same),
#endif
		FORK_TEST(what_a_child_closes_stays_open_in_the_parent),
		FORK_TEST(a_childs_progress_is_not_its_parents),
		FORK_TEST(a_child_goes_on_with_memory_of_its_own),
		FORK_TEST(grandchildren_do_too),
		FORK_TEST(of_many_threads_only_the_forking_one_lives_on),
		FORK_TEST(threads_of_a_child_may_come_first),
		FORK_TEST(no_scope_is_lost_while_a_child_starts),
		FORK_TEST(nothing_is_closed_while_the_memory_changes_places),
		FORK_TEST(a_thread_without_scopes_may_fork),
		FORK_TEST(a_child_of_a_stopped_parent_can_start),
		FORK_TEST(a_child_that_stops_stays_off),
		FORK_TEST(another_program_inherits_no_descriptor),
	};

	(void)argv;
	if (argc > 1)
		return memory_descriptors();
	test_pid = getpid();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
