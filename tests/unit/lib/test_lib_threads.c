/* SPDX-License-Identifier: MIT */
/* Which block is whose: threads that come, end, die silently, and are too many. */
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <sys/syscall.h>

#include "lib/usage/own_usage.h"
#include "lib_support.h"

enum { MANY = 1000, TOO_MANY = SCOPE_THREADS + 76, AT_ONCE = 20, SMALL_STACK = 64 * 1024 };
enum { NOBODY = 1 << 23 }; /* beyond the numbers that the kernel gives */

static int setup(void **state)
{
	(void)state;
	library_start(TASKSCOPE_STATISTICS);
	taskscope_leave(taskscope_enter("main"));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	taskscope_stop();
	return 0;
}

static size_t descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void *work(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("work");

	taskscope_thread("worker");
	taskscope_leave((taskscope_enter)("made"));
	taskscope_leave(scope);
	return argument;
}

static void run_at_once(size_t count, void *(*function)(void *))
{
	pthread_t threads[AT_ONCE];

	for (size_t i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, function, NULL), 0);
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void a_thousand_threads_leak_nothing(void **state)
{
	size_t descriptors_before, memory_before;

	(void)state;
	run_at_once(AT_ONCE, work);
	descriptors_before = descriptors();
	memory_before = mallinfo2().uordblks;
	for (size_t i = 0; i < MANY / AT_ONCE; i++)
		run_at_once(AT_ONCE, work);
	assert_int_equal(blocks_in_use(), 1);
	assert_true(area.header->thread_count <= AT_ONCE + 1);
	/* The heartbeat thread opens one now and then, for a moment. */
	WAIT_UNTIL(descriptors() <= descriptors_before);
	assert_int_equal(mallinfo2().uordblks, memory_before);
	assert_int_equal(area.header->lost_threads, 0);
}

static void a_block_is_given_back_clean(void **state)
{
	const struct scope_thread *block = area_thread(1);

	(void)state;
	on_thread(work, NULL);
	assert_int_equal(block->tid, 0);
	assert_int_equal(block->depth, 0);
	assert_int_equal(block->statistic_count, 0);
	assert_int_equal(block->texts_used, 0);
	assert_string_equal(block->name, "");
	assert_int_equal(block->sequence % 2, 0);
	assert_true(block->generation > 0);
}

static void *leave_open(void *argument)
{
	struct taskscope_progress *progress = argument;

	*progress = taskscope_begin("left open", 7);
	for (size_t i = 0; i < SCOPE_FRAMES; i++)
		taskscope_enter("deeper");
	return NULL;
}

static void what_a_thread_leaves_open_is_closed_and_counted(void **state)
{
	struct taskscope_progress progress;
	uint64_t unwound = area.header->ended_unwound;
	uint64_t deep = area.header->ended_lost_depth;

	(void)state;
	on_thread(leave_open, &progress);
	assert_int_equal(area.header->ended_unwound, unwound + SCOPE_FRAMES + 1);
	assert_int_equal(area.header->ended_lost_depth, deep + 1);
	taskscope_advance(&progress, 1);
	assert_int_equal(area_thread(1)->frames[0].count, 0);
}

static void *see_name(void *argument)
{
	taskscope_thread("a name that is longer than thirty-one bytes");
	taskscope_enter("named");
	assert_string_equal(own_block()->name, "a name that is longer than thir");
	taskscope_thread(NULL);
	assert_string_equal(own_block()->name, "");
	taskscope_thread("short");
	assert_string_equal(own_block()->name, "short");
	return argument;
}

static void a_thread_has_the_name_that_it_gave_itself(void **state)
{
	(void)state;
	on_thread(see_name, NULL);
}

static pthread_key_t other_key;
static int other_rounds;

/* Comes after the library's own, and uses scopes again. */
static void use_scopes_at_the_end(void *value)
{
	struct taskscope_scope scope = taskscope_enter("destructor");

	assert_int_not_equal(scope.handle, 0);
	assert_int_equal(own_depth(), 1); /* in a block that is the thread's own again */
	taskscope_leave(scope);
	if (--other_rounds > 0)
		pthread_setspecific(other_key, value);
}

static void *set_key(void *argument)
{
	work(NULL);
	pthread_setspecific(other_key, &other_key);
	return argument;
}

static void destructors_of_a_thread_may_use_scopes(void **state)
{
	(void)state;
	pthread_key_create(&other_key, use_scopes_at_the_end);
	other_rounds = 2;
	on_thread(set_key, NULL);
	assert_int_equal(blocks_in_use(), 1);
	/* So often that the system stops asking: the block is found later. */
	other_rounds = 100;
	on_thread(set_key, NULL);
	threads_reclaim();
	assert_int_equal(blocks_in_use(), 1);
	pthread_key_delete(other_key);
}

/* How C++ destroys its thread_local objects. */
extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library);
extern void *__dso_handle;

static void close_at_the_end(void *object)
{
	struct taskscope_scope *scope = object;

	assert_int_equal(own_depth(), 1);
	taskscope_leave(*scope);
	taskscope_leave(taskscope_enter("object"));
	assert_int_equal(own_depth(), 0);
	scope->handle = 0;
}

static void *open_until_the_end(void *argument)
{
	struct taskscope_scope *scope = argument;

	*scope = taskscope_enter("until the end");
	__cxa_thread_atexit_impl(close_at_the_end, scope, &__dso_handle);
	return NULL;
}

static void objects_of_a_thread_may_be_scopes(void **state)
{
	uint64_t unwound = area.header->ended_unwound;
	struct taskscope_scope scope;

	(void)state;
	on_thread(open_until_the_end, &scope);
	assert_int_equal(scope.handle, 0);
	assert_int_equal(blocks_in_use(), 1);
	assert_int_equal(area.header->ended_unwound, unwound);
}

/* Ends without the destructors of the C library. */
static void *die_silently(void *argument)
{
	taskscope_enter("last words");
	self.block->sequence |= 1; /* in the middle of a change */
	*(pid_t *)argument = gettid();
	syscall(SYS_exit, 0);
	return NULL;
}

static void wait_for_end(const pid_t *tid)
{
	WAIT_UNTIL(__atomic_load_n(tid, __ATOMIC_ACQUIRE) && tgkill(getpid(), *tid, 0) != 0);
}

static void a_thread_that_died_silently_is_found(void **state)
{
	uint64_t unwound = area.header->ended_unwound;
	pthread_attr_t detached;
	pthread_t thread;
	pid_t tid = 0;

	(void)state;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &detached, die_silently, &tid);
	wait_for_end(&tid);
	threads_reclaim();
	assert_int_equal(blocks_in_use(), 1);
	assert_int_equal(area.header->ended_unwound, unwound + 1);
	assert_int_equal(area_thread(1)->sequence % 2, 0);
}

static void *claim_after_namesake(void *argument)
{
	struct scope_thread *old = area_thread(3);

	old->tid = gettid();
	old->depth = 5;
	area.header->thread_count = 4;
	taskscope_enter("new life");
	assert_int_equal(old->depth, 0);
	assert_int_equal(blocks_in_use(), 2);
	return argument;
}

static void the_block_of_a_namesake_is_not_ours(void **state)
{
	(void)state;
	on_thread(claim_after_namesake, NULL);
	assert_int_equal(blocks_in_use(), 1);
}

static pthread_barrier_t all_there, all_seen;

static void *crowd(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("crowd");

	taskscope_leave(scope);
	taskscope_leave(taskscope_enter("crowd"));
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_seen);
	return argument;
}

static void crowd_start(pthread_t *threads)
{
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, SMALL_STACK);
	pthread_barrier_init(&all_there, NULL, TOO_MANY + 1);
	pthread_barrier_init(&all_seen, NULL, TOO_MANY + 1);
	for (size_t i = 0; i < TOO_MANY; i++)
		assert_int_equal(pthread_create(&threads[i], &small, crowd, NULL), 0);
	pthread_barrier_wait(&all_there);
}

static void crowd_end(pthread_t *threads)
{
	pthread_barrier_wait(&all_seen);
	for (size_t i = 0; i < TOO_MANY; i++)
		pthread_join(threads[i], NULL);
}

static void threads_without_a_block_are_counted_exactly(void **state)
{
	static pthread_t threads[TOO_MANY];
	uint32_t lost = TOO_MANY - (SCOPE_THREADS - 1);

	(void)state;
	crowd_start(threads);
	assert_int_equal(blocks_in_use(), SCOPE_THREADS);
	assert_int_equal(area.header->lost_threads, lost);
	assert_int_equal(area.header->lost_scopes, 2 * lost);
	crowd_end(threads);
	assert_int_equal(blocks_in_use(), 1);
}

enum { UNWINDERS = 3000 };

static int unwinders_end;

static void *unwind_one(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("outer");

	taskscope_enter("inner");
	taskscope_leave(scope);
	return argument;
}

/* As a reader does it: of threads that live and that ended; false when one ended meanwhile. */
static bool unwound_count(uint64_t *ret)
{
	uint32_t sequence = __atomic_load_n(&area.header->retired_sequence, __ATOMIC_ACQUIRE);
	uint64_t sum = __atomic_load_n(&area.header->ended_unwound, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < 4; i++)
		sum += __atomic_load_n(&area_thread(i)->unwound, __ATOMIC_ACQUIRE);
	*ret = sum;
	return sequence % 2 == 0 &&
	       __atomic_load_n(&area.header->retired_sequence, __ATOMIC_ACQUIRE) == sequence;
}

/* Gives how often the sum fell. */
static void *watch_unwound(void *argument)
{
	uint64_t before = 0, now, falls = 0;

	(void)argument;
	while (!__atomic_load_n(&unwinders_end, __ATOMIC_ACQUIRE)) {
		if (!unwound_count(&now))
			continue;
		falls += now < before;
		before = now;
	}
	return (void *)(uintptr_t)falls;
}

static void no_loss_is_missing_or_doubled_while_its_thread_ends(void **state)
{
	pthread_t watcher;
	void *falls;

	(void)state;
	unwinders_end = 0;
	pthread_create(&watcher, NULL, watch_unwound, NULL);
	for (size_t i = 0; i < UNWINDERS; i++)
		on_thread(unwind_one, NULL);
	__atomic_store_n(&unwinders_end, 1, __ATOMIC_RELEASE);
	pthread_join(watcher, &falls);
	assert_null(falls);
}

static void *try_without_and_with_room(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("no room");
	struct scope_thread *last = area_thread(SCOPE_THREADS - 1);

	assert_int_equal(scope.handle, 0);
	last->tid = 0; /* nobody told us: it is not even looked for */
	assert_int_equal(taskscope_enter("no room").handle, 0);
	last->tid = getpid();
	for (uint32_t i = 1; i < SCOPE_THREADS; i++)
		area_thread(i)->tid = INT32_MAX; /* such a thread is not there */
	threads_reclaim();
	scope = taskscope_enter("room");
	assert_int_not_equal(scope.handle, 0);
	return argument;
}

static void a_thread_tries_again_when_a_block_was_given_back(void **state)
{
	uint64_t lost = area.header->lost_threads;

	(void)state;
	for (uint32_t i = 1; i < SCOPE_THREADS; i++)
		area_thread(i)->tid = getpid();
	area.header->thread_count = SCOPE_THREADS;
	on_thread(try_without_and_with_room, NULL);
	assert_int_equal(area.header->lost_threads, lost + 1);
	assert_int_equal(blocks_in_use(), 1);
}

/* As in a handler that came while the thread was about to get its block. */
static void *be_interrupted(void *argument)
{
	self_begin_change();
	assert_int_equal(taskscope_enter("in a handler").handle, 0);
	self_end_change();
	return argument;
}

static void a_scope_of_a_handler_is_counted_before_the_thread_has_a_block(void **state)
{
	uint64_t before = area.header->ended_interrupted;

	(void)state;
	on_thread(be_interrupted, NULL);
	assert_int_equal(area.header->ended_interrupted, before + 1);
	assert_int_equal(own_block()->interrupted, 0);
	assert_int_equal(blocks_in_use(), 1);
}

#define THREADS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A thread that is gone has no name, waits nowhere and is in no call. */
static void what_cannot_be_read_is_empty(void **state)
{
	char word[THREAD_WORD_SIZE];

	(void)state;
	thread_name(gettid(), word);
	assert_true(word[0]);
	for (int i = 0; i < 2; i++) { /* the second time, what the first one read is on the stack */
		thread_system_call(NOBODY, word);
		assert_string_equal(word, "");
		thread_system_call(gettid(), word);
	}
	thread_name(NOBODY, word);
	assert_string_equal(word, "");
	snprintf(word, sizeof(word), "what was there before");
	thread_wait_channel(NOBODY, word);
	assert_string_equal(word, "");
	assert_false(thread_cpu_ns(NOBODY).is_known);
	assert_true(thread_cpu_ns(gettid()).is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_read_is_empty),
		THREADS_TEST(a_thousand_threads_leak_nothing),
		THREADS_TEST(a_scope_of_a_handler_is_counted_before_the_thread_has_a_block),
		THREADS_TEST(a_block_is_given_back_clean),
		THREADS_TEST(what_a_thread_leaves_open_is_closed_and_counted),
		THREADS_TEST(a_thread_has_the_name_that_it_gave_itself),
		THREADS_TEST(destructors_of_a_thread_may_use_scopes),
		THREADS_TEST(objects_of_a_thread_may_be_scopes),
		THREADS_TEST(a_thread_that_died_silently_is_found),
		THREADS_TEST(the_block_of_a_namesake_is_not_ours),
		THREADS_TEST(no_loss_is_missing_or_doubled_while_its_thread_ends),
		THREADS_TEST(threads_without_a_block_are_counted_exactly),
		THREADS_TEST(a_thread_tries_again_when_a_block_was_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
