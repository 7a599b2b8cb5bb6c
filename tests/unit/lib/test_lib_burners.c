/* SPDX-License-Identifier: MIT */
/* Threads that use much CPU time without saying what for; how much is up to the test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heartbeat/stacks.h"
#include "lib/usage/burners.h"
#include "lib/usage/own_usage.h"
#include "lib_support.h"

#define MARKED UINT64_C(5000000000)
#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)
enum { THREADS = 6 };

static struct burners burners;
static struct stacks stacks;
static pthread_t threads[THREADS];
static pid_t tids[THREADS];
static uint64_t used_ns[THREADS]; /* UINT64_MAX: not known */
static char printed[4096];
static volatile bool is_over;

struct amount __wrap_thread_cpu_ns(pid_t tid);

struct amount __wrap_thread_cpu_ns(pid_t tid)
{
	for (size_t i = 0; i < THREADS; i++)
		if (tids[i] == tid)
			return (struct amount){ .is_known = used_ns[i] != UINT64_MAX,
						.value = used_ns[i] };
	return (struct amount){ .is_known = true };
}

static void keep_line(void *context, enum taskscope_level level, const char *line)
{
	size_t length = strlen(printed);

	(void)context;
	(void)level;
	snprintf(printed + length, sizeof(printed) - length, "%s\n", line);
}

static void *live(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "burner-%d", (int)(uintptr_t)number);
	pthread_setname_np(pthread_self(), name);
	__atomic_store_n(&tids[(uintptr_t)number], gettid(), __ATOMIC_RELEASE);
	while (!is_over)
		usleep(1000);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	library_start(0);
	is_over = false;
	memset(tids, 0, sizeof(tids));
	memset(used_ns, 0, sizeof(used_ns));
	memset(&burners, 0, sizeof(burners));
	memset(&stacks, 0, sizeof(stacks));
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, live, (void *)i), 0);
	for (size_t i = 0; i < THREADS; i++)
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			usleep(100);
	burners_mark(&burners, MARKED);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	is_over = true;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	taskscope_stop();
	return 0;
}

/* What is said of the window since the mark. */
static const char *print(uint64_t window_ns)
{
	uint64_t lost = 0;
	struct output output = { .fd = -1, .log = keep_line, .lost_lines = &lost };

	printed[0] = 0;
	stacks.ns = MARKED + window_ns;
	burners_print(&burners, &stacks, &output);
	output_flush(&output);
	return printed;
}

static size_t count(const char *part)
{
	size_t found = 0;

	for (const char *at = printed; (at = strstr(at, part)); at++)
		found++;
	return found;
}

static void who_uses_most_comes_first_and_the_rest_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		used_ns[i] = (100 + 100 * i) * MS; /* of a second */
	print(SECOND);
	assert_int_equal(count("burner-"), BURNERS_LINES);
	for (size_t i = 1; i < BURNERS_LINES; i++) {
		char one[16], other[16];

		snprintf(one, sizeof(one), "burner-%d", (int)(THREADS - i));
		snprintf(other, sizeof(other), "burner-%d", (int)(THREADS - i - 1));
		assert_non_null(strstr(printed, one));
		assert_non_null(strstr(strstr(printed, one), other));
	}
	assert_int_equal(count(" ... and 2 more threads"), 1);
	used_ns[0] = used_ns[1] = 0;
	print(SECOND);
	assert_int_equal(count("burner-"), BURNERS_LINES);
	assert_int_equal(count("more threads"), 0);
}

static void little_use_is_not_told(void **state)
{
	(void)state;
	used_ns[0] = 50 * MS;
	used_ns[1] = 50 * MS - 1;
	print(SECOND);
	assert_int_equal(count("burner-0"), 1);
	assert_int_equal(count("burner-1"), 0);
	/* A window that is too short says nothing. */
	print(100 * MS - 1);
	assert_string_equal(printed, "");
	print(100 * MS);
	assert_int_equal(count("burner-1"), 1);
}

static void only_what_was_used_since_the_mark_counts(void **state)
{
	(void)state;
	used_ns[0] = 900 * MS;
	used_ns[1] = 180 * MS; /* as if another thread had had its number */
	burners_mark(&burners, MARKED);
	used_ns[1] = UINT64_MAX; /* not known */
	burners_mark(&burners, MARKED);
	used_ns[0] += 10 * MS;
	used_ns[1] = 200 * MS; /* as if it had begun since */
	print(SECOND);
	assert_int_equal(count("burner-0"), 0);
	assert_int_equal(count("burner-1"), 1);
	used_ns[1] = UINT64_MAX;
	print(SECOND);
	assert_string_equal(printed, "");
}

static void the_heartbeat_and_threads_with_scopes_are_left_out(void **state)
{
	(void)state;
	used_ns[0] = used_ns[1] = used_ns[2] = used_ns[3] = SECOND;
	burners.own_tid = tids[0];
	stacks.thread_count = 3;
	stacks.ticks = 10 * SECOND;
	stacks.ns_per_tick = 1;
	stacks.threads[0] = (struct stack){ .tid = tids[1], .depth = 1 };
	stacks.threads[1] = (struct stack){ .tid = tids[2], .is_changing = true };
	stacks.threads[2] = (struct stack){ .tid = tids[3], .changed_ticks = 9 * SECOND - 1 };
	print(SECOND);
	assert_int_equal(count("burner-"), 1);
	assert_int_equal(count("burner-3"), 1); /* its scopes are older than the window */
	stacks.threads[2].changed_ticks++;
	print(SECOND);
	assert_string_equal(printed, "");
}

static void without_a_mark_nothing_is_told(void **state)
{
	(void)state;
	used_ns[0] = SECOND;
	burners.marked_ns = 0;
	assert_string_equal(print(SECOND), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_uses_most_comes_first_and_the_rest_is_counted),
		TEST(little_use_is_not_told),
		TEST(only_what_was_used_since_the_mark_counts),
		TEST(the_heartbeat_and_threads_with_scopes_are_left_out),
		TEST(without_a_mark_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
