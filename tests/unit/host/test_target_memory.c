/* SPDX-License-Identifier: MIT */
/* Reads of another process' memory: whole, partly readable, in batches. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_memory.h"
#include "host/elf/target_memory.h"

#define NUMBERS 1500 /* more than two batches */

static uint64_t numbers[NUMBERS];
static char *edge; /* the last byte of readable memory is edge[4095] */

/* A child has all of our memory at the same addresses. */
static pid_t start_child(void)
{
	pid_t child;

	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = i * i;
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(edge != MAP_FAILED);
	memset(edge, 'e', 4096);
	assert_int_equal(mprotect(edge + 4096, 4096, PROT_NONE), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(edge, 8192);
}

static void memory_is_read_as_it_is(void **state)
{
	pid_t child = start_child();
	struct target_memory memory = target_memory_of(&child);
	uint64_t value = 0;
	char bytes[16];

	(void)state;
	numbers[5] = 0; /* ours, not the child's */
	assert_int_equal(target_read(&memory, (uintptr_t)&numbers[5], &value, sizeof(value)), 0);
	assert_int_equal(value, 25);
	assert_int_equal(target_read(&memory, (uintptr_t)edge + 4080, bytes, 16), 0);
	assert_int_equal(target_read(&memory, (uintptr_t)edge + 4088, bytes, 16), -EFAULT);
	assert_int_equal(target_read(&memory, 0, bytes, 16), -EFAULT);
	end_child(child);
	assert_int_equal(target_read(&memory, (uintptr_t)edge, bytes, 16), -ESRCH);
}

/* A page that was never touched is not present; reading all pages fetches it. */
static void pages_that_are_not_present_are_read_on_request(void **state)
{
	char *fresh = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child = start_child();
	char path[64], bytes[16];
	struct present_memory present = { .pid = child };
	struct target_memory there = target_memory_present(&present);
	struct target_memory whole = target_memory_whole(&present);
	uint64_t value;

	(void)state;
	assert_ptr_not_equal(fresh, MAP_FAILED);
	snprintf(path, sizeof(path), "/proc/%ld/pagemap", (long)child);
	present.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(present.pagemap >= 0);
	assert_int_equal(target_read(&there, (uintptr_t)&numbers[5], &value, sizeof(value)), 0);
	assert_int_equal(value, 25);
	assert_int_equal(target_read(&there, (uintptr_t)fresh, bytes, 16), -EAGAIN);
	assert_int_equal(target_read(&whole, (uintptr_t)&numbers[5], &value, sizeof(value)), 0);
	assert_int_equal(value, 25);
	assert_int_equal(target_read(&whole, (uintptr_t)fresh, bytes, 16), 0);
	assert_int_equal(target_read(&whole, (uintptr_t)edge + 4088, bytes, 16), -EFAULT);
	end_child(child);
	close(present.pagemap);
	munmap(fresh, 8192);
}

static void spans_are_read_in_their_order(void **state)
{
	static struct target_span spans[NUMBERS];
	static uint64_t values[NUMBERS];
	pid_t child = start_child();

	(void)state;
	for (size_t i = 0; i < NUMBERS; i++)
		spans[i].address = (uintptr_t)&numbers[NUMBERS - 1 - i];
	assert_int_equal(target_read_spans(child, spans, NUMBERS, 8, values), NUMBERS);
	for (size_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(spans[i].error, 0);
		assert_int_equal(values[i], (NUMBERS - 1 - i) * (NUMBERS - 1 - i));
	}
	end_child(child);
}

/* The first, the last, neighbours, ends of a batch, and one that is half readable. */
static bool is_bad(size_t i)
{
	return i == 0 || i == 7 || i == 8 || i == 511 || i == 1024 || i == NUMBERS - 1;
}

static uint64_t bad_address(size_t i)
{
	return i == 7 ? (uintptr_t)edge + 4092 : (uintptr_t)edge + 4096;
}

static void a_span_that_cannot_be_read_costs_itself_only(void **state)
{
	static struct target_span spans[NUMBERS];
	static uint64_t values[NUMBERS];
	pid_t child = start_child();

	(void)state;
	for (size_t i = 0; i < NUMBERS; i++)
		spans[i].address = is_bad(i) ? bad_address(i) : (uintptr_t)&numbers[i];
	assert_int_equal(target_read_spans(child, spans, NUMBERS, 8, values), NUMBERS - 6);
	for (size_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(spans[i].error, is_bad(i) ? -EFAULT : 0);
		if (!is_bad(i))
			assert_int_equal(values[i], i * i);
	}
	end_child(child);
}

static void a_process_that_is_gone_is_the_error_of_all(void **state)
{
	struct target_span spans[3] = { { 1, 0 }, { 2, 0 }, { 3, 0 } };
	pid_t child = start_child();
	uint64_t values[3];

	(void)state;
	end_child(child);
	assert_int_equal(target_read_spans(child, spans, 3, 8, values), -ESRCH);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(spans[i].error, -ESRCH);
	assert_int_equal(target_read_spans(child, spans, 0, 8, values), 0);
}

static void what_was_read_is_remembered_in_blocks(void **state)
{
	static struct fake_memory fake;
	struct target_memory memory = fake_target(&fake);
	struct target_cache *cache = target_cache_new(&memory);
	struct target_memory cached = target_cache_memory(cache);
	uint64_t value;

	(void)state;
	assert_non_null(cache);
	fake_word(&fake, FAKE_BASE + 4092, 77);
	fake_word(&fake, FAKE_BASE + 100, 88);
	assert_int_equal(target_read(&cached, FAKE_BASE + 4092, &value, sizeof(value)), 0);
	assert_int_equal(value, 77);
	assert_int_equal(target_read(&cached, FAKE_BASE + 100, &value, sizeof(value)), 0);
	assert_int_equal(value, 88);
	assert_int_equal(fake.reads, 2);
	/* Another block in the same place, and the first again. */
	assert_int_equal(target_read(&cached, FAKE_BASE - 4096 * 32, &value, 8), -EFAULT);
	assert_int_equal(target_read(&cached, FAKE_BASE + 100, &value, sizeof(value)), 0);
	assert_int_equal(value, 88);
	assert_int_equal(fake.reads, 4);
	free(cache);
}

static void remembered_memory_ends_where_memory_ends(void **state)
{
	static struct fake_memory fake;
	struct target_memory memory = fake_target(&fake);
	struct target_cache *cache = target_cache_new(&memory);
	struct target_memory cached = target_cache_memory(cache);
	char bytes[64];

	(void)state;
	assert_non_null(cache);
	assert_int_equal(cached.read(cache, FAKE_BASE + FAKE_SIZE - 10, bytes, sizeof(bytes)), 10);
	assert_int_equal(cached.read(cache, FAKE_BASE + FAKE_SIZE, bytes, sizeof(bytes)), -EFAULT);
	assert_int_equal(cached.read(cache, UINT64_MAX - 3, bytes, sizeof(bytes)), -EFAULT);
	assert_int_equal(cached.read(cache, FAKE_BASE, bytes, 0), 0);
	free(cache);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_read_as_it_is),
		cmocka_unit_test(pages_that_are_not_present_are_read_on_request),
		cmocka_unit_test(spans_are_read_in_their_order),
		cmocka_unit_test(a_span_that_cannot_be_read_costs_itself_only),
		cmocka_unit_test(a_process_that_is_gone_is_the_error_of_all),
		cmocka_unit_test(what_was_read_is_remembered_in_blocks),
		cmocka_unit_test(remembered_memory_ends_where_memory_ends),
	};

	return cmocka_run_group_tests_name("target_memory", tests, NULL, NULL);
}
