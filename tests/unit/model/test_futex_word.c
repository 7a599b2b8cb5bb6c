/* SPDX-License-Identifier: MIT */
/* What a futex is used for, from memory as C libraries and runtimes leave it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <linux/futex.h>

#include "model/wait/futex_word.h"

#define PRIVATE_WAIT (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define PRIVATE_BITSET (FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)
#define SHARED_BITSET (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME)
#define OWN 50	 /* a thread of the process that waits */
#define OTHER 70 /* one of another process */

static bool is_own(void *context, int32_t tid)
{
	(void)context;
	return tid == OWN;
}

static bool is_any(void *context, int32_t tid)
{
	(void)context;
	return tid == OWN || tid == OTHER || tid == 1;
}

static const struct futex_threads threads = { is_own, is_any, NULL };

struct example {
	const char *what;
	struct futex_wait wait;
	enum futex_use use;
	enum wait_reason reason;
	int32_t owner;
};

static void assert_examples(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct futex_judgement judgement = futex_judge(&examples[i].wait, &threads);

		if (judgement.use != examples[i].use || judgement.reason != examples[i].reason ||
		    judgement.owner != examples[i].owner)
			fail_msg("%s: %s, %s, owner %d", examples[i].what,
				 futex_use_names[judgement.use], waits[judgement.reason].name,
				 judgement.owner);
	}
}

#define ASSERT_EXAMPLES(examples)                                                                  \
	assert_examples(examples, sizeof(examples) / sizeof((examples)[0]))
/* clang-format off */
#define ALL .word_count = FUTEX_WORDS

static void a_mutex_of_glibc_names_its_owner(void **state)
{
	static const struct example examples[] = {
		{ "a mutex", { PRIVATE_WAIT, 2, .words = { 2, 0, OWN, 1, 0 }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "a recursive one", { PRIVATE_WAIT, 2, .words = { 2, 3, OWN, 1, 1 }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "with a time limit", { PRIVATE_BITSET, 2, .words = { 2, 0, OWN, 1, 0 }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "shared with another process", { FUTEX_WAIT, 2, .words = { 2, 0, OTHER, 1, 0x80 }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OTHER },
		{ "a stranger in a private one", { PRIVATE_WAIT, 2, .words = { 2, 0, OTHER, 1, 0 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "nobody", { PRIVATE_WAIT, 2, .words = { 2, 0, 0, 1, 0 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "no users", { PRIVATE_WAIT, 2, .words = { 2, 0, OWN, 0, 0 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "too many users", { PRIVATE_WAIT, 2, .words = { 2, 0, OWN, 0x10000, 0 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "a kind that is none", { PRIVATE_WAIT, 2, .words = { 2, 0, OWN, 1, 0x400 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "a negative owner", { FUTEX_WAIT, 2, .words = { 2, 0, -5U, 1, 0 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "not read", { PRIVATE_WAIT, 2, .word_count = 0 }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "not all read", { PRIVATE_WAIT, 2, .words = { 2, 0, OWN, 1, 0 }, .word_count = 4 }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
	};

	(void)state;
	ASSERT_EXAMPLES(examples);
}

static void an_owner_in_the_word_is_named(void **state)
{
	static const struct example examples[] = {
		{ "robust", { FUTEX_WAIT, FUTEX_WAITERS | OTHER, .words = { FUTEX_WAITERS | OTHER }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OTHER },
		{ "robust, the owner died", { FUTEX_WAIT, FUTEX_WAITERS | OWN, .words = { FUTEX_WAITERS | FUTEX_OWNER_DIED | OWN }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "the word counts, not what it was", { FUTEX_WAIT, FUTEX_WAITERS | OTHER, .words = { FUTEX_WAITERS | OWN }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "not read", { FUTEX_WAIT, FUTEX_WAITERS | OTHER, .word_count = 0 }, FUTEX_USE_MUTEX, WAIT_LOCK, OTHER },
		{ "lends priority", { FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, .words = { FUTEX_WAITERS | OWN }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "lends priority, by the newer operation", { 13 | FUTEX_PRIVATE_FLAG, 0, .words = { OWN }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, OWN },
		{ "a stranger", { FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, .words = { OTHER }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, 0 },
		{ "a normal mutex of musl", { PRIVATE_WAIT, FUTEX_WAITERS | 16, .words = { FUTEX_WAITERS | 16 }, ALL }, FUTEX_USE_MUTEX, WAIT_LOCK, 0 },
	};

	(void)state;
	ASSERT_EXAMPLES(examples);
}

static void a_reader_writer_lock_names_its_writer(void **state)
{
	static const struct example examples[] = {
		{ "a reader", { PRIVATE_BITSET, 3, .words = { 3, 1, 0, 0, OWN, 0 }, ALL }, FUTEX_USE_RWLOCK, WAIT_LOCK, OWN },
		{ "a writer", { PRIVATE_BITSET, 3, .words = { 3, 0, 0, OWN, 0 }, ALL }, FUTEX_USE_RWLOCK, WAIT_LOCK, OWN },
		{ "a writer behind readers", { PRIVATE_BITSET, 2, .words = { 2, 1, 0, 0, 0 }, ALL }, FUTEX_USE_RWLOCK, WAIT_LOCK, 0 },
		{ "shared is not a writer", { SHARED_BITSET, 3, .words = { 3, 0, 0, 0, 1 }, ALL }, FUTEX_USE_RWLOCK, WAIT_LOCK, 0 },
		{ "a mutex of Rust", { PRIVATE_BITSET, 2, .words = { 2, 9, 9, 9, 9 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
	};

	(void)state;
	ASSERT_EXAMPLES(examples);
}

static void a_join_is_a_shared_wait_for_the_number_of_a_thread(void **state)
{
	static const struct example examples[] = {
		{ "a join", { SHARED_BITSET, OWN, .words = { OWN }, ALL }, FUTEX_USE_JOIN, WAIT_CHILD, OWN },
		{ "of older C libraries", { FUTEX_WAIT, OWN, .words = { OWN }, ALL }, FUTEX_USE_JOIN, WAIT_CHILD, OWN },
		{ "not read", { SHARED_BITSET, OWN, .word_count = 0 }, FUTEX_USE_JOIN, WAIT_CHILD, OWN },
		{ "it has ended", { SHARED_BITSET, OWN, .words = { 0 }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "not a thread of it", { SHARED_BITSET, OTHER, .words = { OTHER }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "private", { PRIVATE_BITSET, OWN, .words = { OWN }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
	};

	(void)state;
	ASSERT_EXAMPLES(examples);
}

static void other_waits_are_for_work(void **state)
{
	static const struct example examples[] = {
		{ "a condition of glibc, also Java's", { PRIVATE_BITSET, 0, .words = { 0, 0, 7 }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "a parked worker of Go", { PRIVATE_WAIT, 0, .words = { 0, 1, 0, 0 }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "a mutex of Go's runtime", { PRIVATE_WAIT, 2, .words = { 2, 9, 9, 9, 9 }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
		{ "a parked thread of Rust", { PRIVATE_BITSET, UINT32_MAX, .words = { UINT32_MAX }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "a barrier", { PRIVATE_WAIT, 16, .words = { 16 }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "a condition with a mutex that lends priority", { FUTEX_WAIT_REQUEUE_PI, 2, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "a shared semaphore", { SHARED_BITSET, 0, .words = { 0, 1, FUTEX_PRIVATE_FLAG, 0 }, ALL }, FUTEX_USE_SEMAPHORE, WAIT_LOCK, 0 },
		{ "a semaphore", { PRIVATE_BITSET, 0, .words = { 0, 1, 0, 0 }, ALL }, FUTEX_USE_SEMAPHORE, WAIT_CONDITION, 0 },
		{ "a shared condition", { SHARED_BITSET, 0, .words = { 0, 0, FUTEX_PRIVATE_FLAG, 0 }, ALL }, FUTEX_USE_CONDITION, WAIT_CONDITION, 0 },
		{ "a mutex of libgomp", { PRIVATE_WAIT, UINT32_MAX, .words = { UINT32_MAX }, ALL }, FUTEX_USE_LOCK, WAIT_LOCK, 0 },
	};

	(void)state;
	ASSERT_EXAMPLES(examples);
}
/* clang-format on */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mutex_of_glibc_names_its_owner),
		cmocka_unit_test(an_owner_in_the_word_is_named),
		cmocka_unit_test(a_reader_writer_lock_names_its_writer),
		cmocka_unit_test(a_join_is_a_shared_wait_for_the_number_of_a_thread),
		cmocka_unit_test(other_waits_are_for_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
