/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "trace/stack/image_decoder.h"
#include "trace/stack/image_events.h"

#define PATH "/usr/lib/libx.so"

/* Records as the kernel lays them out. */
static struct {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint8_t identity[24];
	uint32_t protection, flags;
	char path[24];
	uint64_t time;
} map;

static struct {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t fork_time, time;
} fork_made;

static struct {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[8];
	uint64_t time;
} comm;

static struct tracer_image_event event;
static uint64_t lost;

static int prepare(void **state)
{
	(void)state;
	memset(&map, 0, sizeof(map));
	map.header = (struct perf_event_header){ PERF_RECORD_MMAP2, 0, sizeof(map) };
	map.pid = 10;
	map.tid = 11;
	map.address = 0x1000;
	map.length = 0x2000;
	map.offset = 0x3000;
	map.protection = PROT_READ | PROT_EXEC;
	map.time = 77;
	memcpy(map.path, PATH, sizeof(PATH));
	memset(&fork_made, 0, sizeof(fork_made));
	fork_made.header = (struct perf_event_header){ PERF_RECORD_FORK, 0, sizeof(fork_made) };
	fork_made.pid = fork_made.tid = 20;
	fork_made.parent_pid = fork_made.parent_tid = 10;
	fork_made.time = 88;
	memset(&comm, 0, sizeof(comm));
	comm.header = (struct perf_event_header){ PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
						  sizeof(comm) };
	comm.pid = comm.tid = 20;
	comm.time = 99;
	lost = 0;
	return 0;
}

static int decode(const void *record)
{
	return image_record_decode(record, ((const struct perf_event_header *)record)->size, &event,
				   &lost);
}

static void a_mapping_has_its_file(void **state)
{
	const uint32_t device[] = { 8, 3 };
	const uint64_t inode = 1234;

	(void)state;
	memcpy(map.identity, device, sizeof(device));
	memcpy(map.identity + 8, &inode, sizeof(inode));
	assert_int_equal(decode(&map), 1);
	assert_int_equal(event.type, TRACER_MAP);
	assert_int_equal(event.pid, 10);
	assert_int_equal(event.time_ns, 77);
	assert_int_equal(event.start, 0x1000);
	assert_int_equal(event.end, 0x3000);
	assert_int_equal(event.offset, 0x3000);
	assert_int_equal(event.device, makedev(8, 3));
	assert_int_equal(event.inode, 1234);
	assert_int_equal(event.build_id_size, 0);
	assert_string_equal(event.path, PATH);
}

static void a_mapping_has_a_build_id(void **state)
{
	(void)state;
	map.header.misc = PERF_RECORD_MISC_MMAP_BUILD_ID;
	map.identity[0] = 20;
	map.identity[4] = 0xab;
	map.identity[23] = 0xcd;
	assert_int_equal(decode(&map), 1);
	assert_int_equal(event.build_id_size, 20);
	assert_int_equal(event.build_id[0], 0xab);
	assert_int_equal(event.build_id[19], 0xcd);
	assert_int_equal(event.inode, 0);
	map.identity[0] = 21;
	assert_int_equal(decode(&map), 1);
	assert_int_equal(event.build_id_size, 0);
}

static void what_cannot_run_is_left_out(void **state)
{
	(void)state;
	map.protection = PROT_READ;
	assert_int_equal(decode(&map), 0);
	comm.header.misc = 0;
	assert_int_equal(decode(&comm), 0);
	/* A thread. */
	fork_made.pid = 10;
	assert_int_equal(decode(&fork_made), 0);
	map.header.type = PERF_RECORD_SAMPLE;
	assert_int_equal(decode(&map), 0);
}

static void forks_and_execs_are_told(void **state)
{
	(void)state;
	assert_int_equal(decode(&fork_made), 1);
	assert_int_equal(event.type, TRACER_FORK);
	assert_int_equal(event.pid, 20);
	assert_int_equal(event.parent_pid, 10);
	assert_int_equal(event.time_ns, 88);
	assert_int_equal(decode(&comm), 1);
	assert_int_equal(event.type, TRACER_EXEC);
	assert_int_equal(event.pid, 20);
	assert_int_equal(event.time_ns, 99);
}

static void damaged_records_are_refused(void **state)
{
	(void)state;
	for (size_t length = 0; length < sizeof(map); length++)
		assert_int_equal(image_record_decode(&map, length, &event, &lost), -EBADMSG);
	memset(map.path, 'x', sizeof(map.path));
	assert_int_equal(decode(&map), -EBADMSG);
	prepare(NULL);
	map.length = UINT64_MAX;
	assert_int_equal(decode(&map), -EBADMSG);
	map.header.size = offsetof(__typeof__(map), path) + 4;
	assert_int_equal(decode(&map), -EBADMSG);
	comm.header.size = 12;
	assert_int_equal(decode(&comm), -EBADMSG);
}

static void losses_are_counted(void **state)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} losing = { { PERF_RECORD_LOST, 0, sizeof(losing) }, 1, 30 };

	(void)state;
	assert_int_equal(decode(&losing), 0);
	assert_int_equal(decode(&losing), 0);
	assert_int_equal(lost, 60);
}

/* A ring in plain memory, as perf maps it. */
static struct {
	struct perf_event_mmap_page control;
	char rest[4096 - sizeof(struct perf_event_mmap_page)];
	char data[4096];
} ring_memory;

static struct image_events events;
static char seen[256], seen_path[32];

static int note(void *context, const struct tracer_image_event *got)
{
	static const char letters[] = "mxfe";
	size_t length = strlen(seen);

	(void)context;
	snprintf(seen + length, sizeof(seen) - length, "%c%d@%d ", letters[got->type], got->pid,
		 (int)got->time_ns);
	snprintf(seen_path, sizeof(seen_path), "%s", got->path ? got->path : "");
	return 0;
}

static const struct tracer_stack_sink sink = { .image = note };

static void write_record(const void *record)
{
	const struct perf_event_header *header = record;

	for (size_t i = 0; i < header->size; i++)
		ring_memory.data[(ring_memory.control.data_head + i) % sizeof(ring_memory.data)] =
			((const char *)record)[i];
	ring_memory.control.data_head += header->size;
}

static int open_events(void **state)
{
	struct image_ring ring = { -1, &ring_memory, sizeof(ring_memory.data) };

	prepare(state);
	memset(&ring_memory, 0, sizeof(ring_memory));
	ring_memory.control.data_offset = 4096;
	memset(&events, 0, sizeof(events));
	seen[0] = '\0';
	return array_append(&events.rings, ring);
}

static int close_events(void **state)
{
	(void)state;
	events.rings.count = 0;
	image_events_close(&events);
	return 0;
}

static void only_the_tree_is_told_in_the_order_of_time(void **state)
{
	(void)state;
	assert_int_equal(image_events_join(&events, 10), 0);
	write_record(&comm);
	write_record(&fork_made);
	write_record(&map);
	map.pid = 30;
	write_record(&map);
	assert_int_equal(image_events_end(&events, 20, 200), 0);
	assert_int_equal(image_events_read(&events), 0);
	assert_int_equal(image_events_send(&events, 76, &sink), 0);
	assert_string_equal(seen, "");
	assert_int_equal(image_events_send(&events, 90, &sink), 0);
	assert_string_equal(seen, "m10@77 f20@88 ");
	assert_int_equal(image_events_read(&events), 0);
	assert_int_equal(image_events_send(&events, 1000, &sink), 0);
	assert_string_equal(seen, "m10@77 f20@88 x20@99 e20@200 ");
	/* It is gone: another one may have its number now. */
	write_record(&comm);
	assert_int_equal(image_events_read(&events), 0);
	assert_int_equal(image_events_send(&events, 1000, &sink), 0);
	assert_string_equal(seen, "m10@77 f20@88 x20@99 e20@200 ");
	assert_int_equal(events.lost, 0);
}

static void records_go_on_at_the_beginning_of_the_ring(void **state)
{
	size_t count = 0;

	(void)state;
	assert_int_equal(image_events_join(&events, 10), 0);
	for (int i = 0; i < 100; i++) {
		seen[0] = '\0';
		write_record(&map);
		assert_int_equal(image_events_read(&events), 0);
		assert_int_equal(image_events_send(&events, 1000, &sink), 0);
		count += strcmp(seen, "m10@77 ") == 0;
	}
	assert_int_equal(count, 100);
	assert_int_equal(ring_memory.control.data_tail, ring_memory.control.data_head);
}

/* Someone maps files without pause, so that one record always waits. */
static void paths_of_what_was_sent_are_forgotten(void **state)
{
	(void)state;
	assert_int_equal(image_events_join(&events, 10), 0);
	for (uint64_t i = 0; i < 10000; i++) {
		seen[0] = '\0';
		map.time = i;
		snprintf(map.path, sizeof(map.path), "/%d", (int)i);
		write_record(&map);
		assert_int_equal(image_events_read(&events), 0);
		assert_int_equal(image_events_send(&events, i ? i - 1 : 0, &sink), 0);
		assert_true(events.paths.count <= 2 * sizeof(map.path));
	}
	assert_string_equal(seen, "m10@9998 ");
	assert_string_equal(seen_path, "/9998");
	assert_int_equal(events.lost, 0);
}

static void a_damaged_ring_is_left_behind(void **state)
{
	struct perf_event_header broken = { PERF_RECORD_MMAP2, 0, 4 };

	(void)state;
	memcpy(ring_memory.data, &broken, sizeof(broken));
	ring_memory.control.data_head = 64;
	assert_int_equal(image_events_read(&events), 0);
	assert_int_equal(events.lost, 1);
	assert_int_equal(ring_memory.control.data_tail, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, prepare)
		TEST(a_mapping_has_its_file),
		TEST(a_mapping_has_a_build_id),
		TEST(what_cannot_run_is_left_out),
		TEST(forks_and_execs_are_told),
		TEST(damaged_records_are_refused),
		TEST(losses_are_counted),
#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_events, close_events)
		TEST(only_the_tree_is_told_in_the_order_of_time),
		TEST(records_go_on_at_the_beginning_of_the_ring),
		TEST(paths_of_what_was_sent_are_forgotten),
		TEST(a_damaged_ring_is_left_behind),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
