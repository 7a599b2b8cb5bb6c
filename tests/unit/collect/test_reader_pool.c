/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "base/collection/array.h"
#include "collect/process/reader_pool.h"
#include "patience.h"
#include "tree.h"

#define MS 1000000ll
#define PLENTY (HANG_MS * MS)
#define SHORT (200 * MS)

struct stage {
	struct tree tree;
	struct reader_pool *pool;
	int64_t patience_ns;
	int32_t pid;	     /* of all requests; 0 when it is not known */
	ssize_t lengths[64]; /* of the answers, by tag */
	char first[64];	     /* and their first bytes */
	unsigned answers;
	int fails;
};

static int note(void *context, const struct pool_answer *answer)
{
	struct stage *stage = context;

	assert_true(answer->tag < ARRAY_SIZE(stage->lengths));
	stage->answers++;
	stage->lengths[answer->tag] = answer->length;
	if (answer->length > 0) {
		assert_int_equal(strlen(answer->text), answer->length);
		assert_true(answer->took_ns > 0);
		stage->first[answer->tag] = answer->text[0];
	}
	return stage->fails;
}

static ssize_t read_one(const struct pool_request *request, char buffer[POOL_BYTES])
{
	return pool_read_file(request, "file", buffer);
}

static void begin(struct stage *stage, unsigned at_once, int64_t patience_ns)
{
	const struct pool_options options = {
		.read = read_one,
		.dir = -1,
		.at_once = at_once,
		.room = at_once,
		.help_ns = INT64_MAX,
		.budget_ns = INT64_MAX,
		.answer = note,
		.context = stage,
	};

	stage->patience_ns = patience_ns;
	assert_int_equal(reader_pool_new(&options, &stage->pool), 0);
}

static void path_of(char path[32], unsigned number)
{
	snprintf(path, 32, "%u/file", number);
}

static void write_file(const struct stage *stage, unsigned number, const char *text)
{
	char path[32];

	path_of(path, number);
	tree_text(&stage->tree, path, text);
}

/* Opening a pipe that nobody writes to blocks, as the lock on a memory map would. */
static void write_pipe(const struct stage *stage, unsigned number)
{
	char path[32], full[TREE_PATH];

	write_file(stage, number, "");
	path_of(path, number);
	tree_path(&stage->tree, path, full);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(mkfifo(full, 0600), 0);
}

static void release_pipe(const struct stage *stage, unsigned number)
{
	char path[32], full[TREE_PATH];
	int writer;

	path_of(path, number);
	tree_path(&stage->tree, path, full);
	writer = open(full, O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	close(writer);
}

static void ask(struct stage *stage, unsigned number)
{
	struct pool_request request = { .tag = number,
					.pid = stage->pid,
					.patience_ns = stage->patience_ns };
	char path[32];

	snprintf(path, sizeof(path), "%u", number);
	request.dir = tree_open(&stage->tree, path);
	reader_pool_read(stage->pool, &request);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 * MS + now.tv_nsec;
}

static unsigned count_threads(void)
{
	char line[256];
	unsigned threads = 0;
	FILE *file = fopen("/proc/self/status", "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Threads: %u", &threads) == 1)
			break;
	fclose(file);
	return threads;
}

static void every_file_is_read_once(void **state)
{
	struct stage *stage = *state;
	char text[] = "a";

	begin(stage, 2, PLENTY);
	for (unsigned i = 0; i < 50; i++) {
		text[0] = (char)('a' + i % 26);
		write_file(stage, i, text);
		ask(stage, i);
	}
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	assert_int_equal(stage->answers, 50);
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(stage->lengths[i], 1);
		assert_int_equal(stage->first[i], 'a' + i % 26);
	}
}

static unsigned readers_met;

/* Each of the first three waits for the others. */
static ssize_t read_together(const struct pool_request *request, char buffer[POOL_BYTES])
{
	__atomic_add_fetch(&readers_met, 1, __ATOMIC_ACQ_REL);
	for (unsigned waited_ms = 0; __atomic_load_n(&readers_met, __ATOMIC_ACQUIRE) < 3;
	     waited_ms++) {
		if (waited_ms == HANG_MS)
			return -ETIMEDOUT;
		usleep(1000);
	}
	return count_threads() <= 1 + 3 ? read_one(request, buffer) : -E2BIG;
}

static void as_many_are_read_at_once_as_was_asked_for(void **state)
{
	struct stage *stage = *state;
	const struct pool_options options = {
		.read = read_together,
		.at_once = 3,
		.room = 3,
		.help_ns = PLENTY,
		.budget_ns = INT64_MAX,
		.answer = note,
		.context = stage,
	};

	stage->patience_ns = PLENTY;
	assert_int_equal(reader_pool_new(&options, &stage->pool), 0);
	for (unsigned i = 0; i < 64; i++) {
		write_file(stage, i, "a");
		ask(stage, i);
	}
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(stage->lengths[i], 1);
}

static void a_file_that_is_not_there_says_why(void **state)
{
	struct stage *stage = *state;

	begin(stage, 1, PLENTY);
	tree_directory(&stage->tree, "0");
	ask(stage, 0);
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	assert_int_equal(stage->lengths[0], -ENOENT);
}

static void a_file_without_end_is_refused(void **state)
{
	struct stage *stage = *state;
	char *text = calloc(1, POOL_BYTES + 2);

	assert_non_null(text);
	memset(text, 'x', POOL_BYTES - 1);
	write_file(stage, 0, text);
	text[POOL_BYTES - 1] = 'x';
	write_file(stage, 1, text);
	free(text);
	begin(stage, 1, PLENTY);
	ask(stage, 0);
	ask(stage, 1);
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	assert_int_equal(stage->lengths[0], POOL_BYTES - 1);
	assert_int_equal(stage->lengths[1], -EFBIG);
}

static void one_that_blocks_is_late_and_holds_up_nobody(void **state)
{
	struct stage *stage = *state;
	int64_t began_ns = now_ns();

	begin(stage, 1, SHORT);
	write_pipe(stage, 0);
	write_file(stage, 1, "quick");
	ask(stage, 0);
	stage->patience_ns = PLENTY;
	ask(stage, 1);
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	assert_true(now_ns() - began_ns >= SHORT);
	assert_true(now_ns() - began_ns < PLENTY);
	assert_int_equal(stage->answers, 2);
	assert_int_equal(stage->lengths[0], -ETIMEDOUT);
	assert_int_equal(stage->lengths[1], 5);
	release_pipe(stage, 0);
}

/* Else a recorder would have one thread more after each sample. */
static void a_process_that_blocks_for_ever_costs_one_thread(void **state)
{
	struct stage *stage = *state;
	unsigned threads = 0;

	write_pipe(stage, 0);
	stage->pid = 7;
	for (unsigned round = 0; round < 5; round++) {
		begin(stage, 1, SHORT);
		ask(stage, 0);
		assert_int_equal(reader_pool_finish(stage->pool), 0);
		assert_int_equal(stage->lengths[0], -ETIMEDOUT);
		if (round == 0)
			threads = count_threads();
	}
	/* Readers that are not stuck end by themselves. */
	for (int64_t end_ns = now_ns() + PLENTY; count_threads() > threads && now_ns() < end_ns;)
		usleep(1000);
	assert_true(count_threads() <= threads);
	release_pipe(stage, 0);
}

static void once_all_readers_are_stuck_the_rest_is_late_at_once(void **state)
{
	struct stage *stage = *state;
	unsigned before = count_threads();
	int64_t stuck_ns;

	begin(stage, 4, SHORT);
	for (unsigned i = 0; i < POOL_READERS; i++) {
		write_pipe(stage, i);
		ask(stage, i);
	}
	for (unsigned i = POOL_READERS; i < 64; i++)
		write_file(stage, i, "never read");
	ask(stage, POOL_READERS);
	assert_true(count_threads() <= before + POOL_READERS);
	stuck_ns = now_ns();
	for (unsigned i = POOL_READERS + 1; i < 64; i++)
		ask(stage, i);
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	assert_true(now_ns() - stuck_ns < PLENTY);
	assert_int_equal(stage->answers, 64);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(stage->lengths[i], -ETIMEDOUT);
	for (unsigned i = 0; i < POOL_READERS; i++)
		release_pipe(stage, i);
}

static void a_reader_that_comes_back_works_on(void **state)
{
	struct stage *stage = *state;
	unsigned tries = 0;

	begin(stage, 1, SHORT);
	for (unsigned i = 0; i < POOL_READERS; i++) {
		write_pipe(stage, i);
		ask(stage, i);
	}
	write_file(stage, 60, "late");
	write_file(stage, 61, "read");
	ask(stage, 60);
	assert_int_equal(stage->lengths[60], -ETIMEDOUT);
	release_pipe(stage, 3);
	do { /* until it is back */
		stage->lengths[61] = 0;
		ask(stage, 61);
		usleep(10000);
	} while (stage->lengths[61] == -ETIMEDOUT && ++tries < HANG_MS / 10);
	assert_int_equal(reader_pool_finish(stage->pool), 0);
	assert_int_equal(stage->lengths[61], 4);
	/* What was late has no second answer. */
	assert_int_equal(stage->answers, POOL_READERS + 2 + tries);
	for (unsigned i = 0; i < POOL_READERS; i++)
		if (i != 3)
			release_pipe(stage, i);
}

static void an_answer_that_fails_is_told_at_the_end(void **state)
{
	struct stage *stage = *state;

	stage->fails = -ENOMEM;
	begin(stage, 2, PLENTY);
	write_file(stage, 0, "x");
	ask(stage, 0);
	assert_int_equal(reader_pool_finish(stage->pool), -ENOMEM);
}

static int make(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	assert_non_null(stage);
	tree_make(&stage->tree);
	*state = stage;
	return 0;
}

static int end(void **state)
{
	struct stage *stage = *state;

	tree_remove(&stage->tree);
	free(stage);
	return 0;
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGE_TEST(every_file_is_read_once),
		STAGE_TEST(as_many_are_read_at_once_as_was_asked_for),
		STAGE_TEST(a_file_that_is_not_there_says_why),
		STAGE_TEST(a_file_without_end_is_refused),
		STAGE_TEST(one_that_blocks_is_late_and_holds_up_nobody),
		STAGE_TEST(a_process_that_blocks_for_ever_costs_one_thread),
		STAGE_TEST(once_all_readers_are_stuck_the_rest_is_late_at_once),
		STAGE_TEST(a_reader_that_comes_back_works_on),
		STAGE_TEST(an_answer_that_fails_is_told_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
