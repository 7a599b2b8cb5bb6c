/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/scope/scope_reader.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "session/phase/phase_search.h"
#include "session/phase/phases.h"
#include "session/phase/phase_view.h"

/* Far more blocks than this process has threads, each with a scope of a second. */
enum {
	BLOCKS = 4096,
	BLOCK_SIZE = 1024,
	BLOCKS_OFFSET = 8192,
	FRAME_OFFSET = offsetof(struct scope_thread, frames),
	MEMORY_SIZE = BLOCKS_OFFSET + BLOCKS * BLOCK_SIZE,
};

/* What may be believed of threads that nobody else knows. */
#define STRANGERS_MOST 100

struct scene {
	struct host *host;
	char *memory;
	int fd;
	struct phases phases;
	struct tree_thread thread;
	struct tree_thread *live[1];
	struct tree_process process;
	struct phase_view *view;
};

static struct scope_thread *block_of(struct scene *scene, size_t slot)
{
	return (struct scope_thread *)(scene->memory + BLOCKS_OFFSET + slot * BLOCK_SIZE);
}

static void fill_memory(struct scene *scene)
{
	*(struct scope_header *)scene->memory = (struct scope_header){
		.magic = SCOPE_MAGIC,
		.version = SCOPE_VERSION,
		.state = SCOPE_STATE_ON,
		.label_offset = SCOPE_HEADER_SIZE,
		.label_size = SCOPE_LABEL_SIZE,
		.statistic_size = sizeof(struct scope_statistic),
		.thread_offset = BLOCKS_OFFSET,
		.thread_size = BLOCK_SIZE,
		.thread_max = BLOCKS,
		.frame_offset = FRAME_OFFSET,
		.frame_size = sizeof(struct scope_frame),
		.frame_max = 1,
		.bucket_count = SCOPE_BUCKETS,
		.pid = getpid(),
		.clock = SCOPE_CLOCK_MONOTONIC,
		.thread_count = BLOCKS,
	};
	for (size_t i = 0; i < BLOCKS; i++) {
		struct scope_frame *frame =
			(struct scope_frame *)((char *)block_of(scene, i) + FRAME_OFFSET);

		block_of(scene, i)->depth = 1;
		frame->generation = 1;
		frame->entered_ticks = 1;
	}
}

static void open_scene(struct scene *scene)
{
	int fd = memfd_create(SCOPE_MEMORY_NAME, MFD_CLOEXEC);
	struct scope_reader *reader = NULL;
	struct error error = { 0 };

	*scene = (struct scene){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, SCOPE_FD) };
	close(fd);
	assert_int_equal(ftruncate(scene->fd, MEMORY_SIZE), 0);
	scene->memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, scene->fd, 0);
	assert_ptr_not_equal(scene->memory, MAP_FAILED);
	fill_memory(scene);
	scene->thread.key = (struct task_key){ getpid(), getpid(), 1 };
	scene->live[0] = &scene->thread;
	scene->process = (struct tree_process){
		.key = scene->thread.key,
		.live = scene->live,
		.live_count = 1,
	};
	assert_int_equal(host_open(&scene->host, NULL, &error), 0);
	assert_int_equal(
		scope_reader_open(scene->host, getpid(), SCOPE_SEARCH_QUICK, &reader, &error), 0);
	scene->view = phase_view_new(reader, &scene->process);
	assert_non_null(scene->view);
}

static void close_scene(struct scene *scene)
{
	phase_view_free(scene->view);
	phases_free(&scene->phases);
	host_close(scene->host);
	munmap(scene->memory, MEMORY_SIZE);
	close(scene->fd);
}

static void sample(struct scene *scene)
{
	assert_int_equal(phase_view_sample(scene->view, &scene->phases, &scene->process, 0), 0);
}

static void threads_that_nobody_knows_are_believed_in_bounds(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (int32_t round = 0; round < 20; round++) {
		for (int32_t i = 0; i < BLOCKS; i++)
			block_of(&scene, (size_t)i)->tid = INT32_MAX - round * BLOCKS - i;
		block_of(&scene, BLOCKS - 1)->tid = getpid();
		sample(&scene);
		assert_in_range(scene.view->phases.threads.count, 1, STRANGERS_MOST);
		assert_in_range(scene.view->scopes.tasks.count, 1, STRANGERS_MOST);
		assert_non_null(phase_thread_find(&scene.view->phases, getpid()));
		assert_in_range(scene.phases.list.data[0].samples, 1,
				((uint64_t)round + 1) * STRANGERS_MOST);
	}
	close_scene(&scene);
}

static void a_thread_has_one_block(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (size_t i = 0; i < BLOCKS; i++)
		block_of(&scene, i)->tid = getpid();
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 1);
	assert_int_equal(scene.view->scopes.tasks.count, 1);
	assert_int_equal(scene.phases.list.data[0].samples, 1);
	close_scene(&scene);
}

static void threads_that_have_no_block_any_more_are_forgotten(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	block_of(&scene, 7)->tid = getpid();
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 1);
	block_of(&scene, 7)->tid = 0;
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 0);
	assert_int_equal(scene.phases.list.data[0].threads, 1);
	close_scene(&scene);
}

static void a_look_that_fails_is_counted(void **state)
{
	struct run run = { 0 };
	struct phase_watch watch = { .run = &run };

	(void)state;
	phase_count_failure(&watch, 0);
	phase_count_failure(&watch, 3);
	assert_int_equal(run.losses.scopes, 0);
	phase_count_failure(&watch, -EIO);
	assert_int_equal(run.losses.scopes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_nobody_knows_are_believed_in_bounds),
		cmocka_unit_test(a_thread_has_one_block),
		cmocka_unit_test(threads_that_have_no_block_any_more_are_forgotten),
		cmocka_unit_test(a_look_that_fails_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
