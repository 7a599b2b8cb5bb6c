/* SPDX-License-Identifier: MIT */
#include "trace/stack/image_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "trace/stack/image_decoder.h"

#define RINGS_BYTES (8u << 20) /* all together, */
#define RING_MOST (512u << 10) /* and each: the kernel lets a user lock that much for each CPU */
#define RING_LEAST (64u << 10)
#define PENDING_MAX (1u << 17)
#define PATHS_MAX (16u << 20) /* bytes */
#define RECORD_MAX 65536

static int open_event(int cpu, size_t bytes, bool with_build_id)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = with_build_id,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(bytes / 4),
	};
	long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int add_ring(struct image_events *events, int cpu, size_t bytes)
{
	CLEANUP(close_fd) int fd = open_event(cpu, bytes, true);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct image_ring ring;

	if (fd == -EINVAL)
		fd = open_event(cpu, bytes, false);
	if (fd == -ENODEV) /* not online */
		return 0;
	if (fd < 0)
		return fd;
	ring = (struct image_ring){ fd, NULL, bytes };
	ring.memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring.memory == MAP_FAILED)
		return -errno;
	if (array_append(&events->rings, ring) < 0) {
		munmap(ring.memory, page + bytes);
		return -ENOMEM;
	}
	TAKE_FD(fd);
	return 0;
}

static size_t ring_bytes(int cpus)
{
	size_t bytes = RING_MOST;

	while (bytes > RING_LEAST && bytes * (size_t)cpus > RINGS_BYTES)
		bytes /= 2;
	return bytes;
}

int image_events_open(struct image_events *events)
{
	int count = libbpf_num_possible_cpus(), status = count < 0 ? count : 0;

	for (int cpu = 0; cpu < count && status == 0; cpu++)
		status = add_ring(events, cpu, ring_bytes(count));
	if (status < 0)
		image_events_close(events);
	return status;
}

void image_events_close(struct image_events *events)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < events->rings.count; i++) {
		munmap(events->rings.data[i].memory, page + events->rings.data[i].bytes);
		close(events->rings.data[i].fd);
	}
	array_free(&events->rings);
	array_free(&events->pending);
	array_free(&events->paths);
	number_map_clear(&events->members);
}

int image_events_join(struct image_events *events, int32_t pid)
{
	return number_map_set(&events->members, pid, events);
}

static int keep(struct image_events *events, const struct tracer_image_event *event)
{
	struct image_pending pending = {
		.event = *event,
		.path = events->paths.count,
		.order = events->pending.count,
	};
	size_t size = event->path ? strlen(event->path) + 1 : 0;

	if (events->pending.count >= PENDING_MAX || events->paths.count + size > PATHS_MAX) {
		events->lost++;
		return 0;
	}
	if (array_reserve(&events->paths, events->paths.count + size) < 0 ||
	    array_append(&events->pending, pending) < 0)
		return -ENOMEM;
	if (size)
		memcpy(events->paths.data + events->paths.count, event->path, size);
	events->paths.count += size;
	return 0;
}

int image_events_end(struct image_events *events, int32_t pid, uint64_t time_ns)
{
	return keep(events, &(struct tracer_image_event){
				    .type = TRACER_END, .pid = pid, .time_ns = time_ns });
}

/* A record that begins at the end of the ring goes on at its beginning. */
static void copy_out(const struct image_ring *ring, const char *data, uint64_t position, void *ret,
		     size_t size)
{
	size_t begin = position & (ring->bytes - 1);
	size_t first = ring->bytes - begin < size ? ring->bytes - begin : size;

	memcpy(ret, data + begin, first);
	memcpy((char *)ret + first, data, size - first);
}

static int take_record(struct image_events *events, const void *bytes, size_t size)
{
	struct tracer_image_event event;
	int status = image_record_decode(bytes, size, &event, &events->lost);

	if (status == -EBADMSG)
		events->lost++;
	return status > 0 ? keep(events, &event) : 0;
}

static int read_ring(struct image_events *events, const struct image_ring *ring)
{
	static char record[RECORD_MAX] __attribute__((aligned(8)));
	struct perf_event_mmap_page *control = ring->memory;
	const char *data = (const char *)ring->memory + control->data_offset;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = control->data_tail;
	int status = 0;

	while (tail < head && status == 0) {
		struct perf_event_header header;

		copy_out(ring, data, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			events->lost++;
			tail = head;
			break;
		}
		copy_out(ring, data, tail, record, header.size);
		status = take_record(events, record, header.size);
		tail += header.size;
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
	return status;
}

static int compare_times(const void *left, const void *right)
{
	const struct image_pending *a = left, *b = right;

	if (a->event.time_ns != b->event.time_ns)
		return a->event.time_ns < b->event.time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/*
 * Forgets the paths before the first that is still needed.  Some always are while a program maps
 * files without pause.
 */
static void forget_paths(struct image_events *events)
{
	size_t first = events->paths.count;

	for (size_t i = 0; i < events->pending.count; i++)
		if (events->pending.data[i].path < first)
			first = events->pending.data[i].path;
	for (size_t i = 0; i < events->pending.count; i++)
		events->pending.data[i].path -= first;
	events->paths.count -= first;
	if (events->paths.count)
		memmove(events->paths.data, events->paths.data + first, events->paths.count);
}

static void forget_sent(struct image_events *events)
{
	size_t left = events->pending.count - events->sent;

	if (left)
		memmove(events->pending.data, events->pending.data + events->sent,
			left * sizeof(events->pending.data[0]));
	events->pending.count = left;
	events->sent = 0;
	forget_paths(events);
}

int image_events_read(struct image_events *events)
{
	int status = 0;

	forget_sent(events);
	for (size_t i = 0; i < events->rings.count && status == 0; i++)
		status = read_ring(events, &events->rings.data[i]);
	for (size_t i = 0; i < events->pending.count; i++)
		events->pending.data[i].order = i;
	array_sort(&events->pending, compare_times);
	return status;
}

static int send(struct image_events *events, struct image_pending *pending,
		const struct tracer_stack_sink *sink)
{
	struct tracer_image_event *event = &pending->event;
	int32_t by = event->type == TRACER_FORK ? event->parent_pid : event->pid;
	int status = 0;

	if (!number_map_get(&events->members, by))
		return 0;
	if (event->type == TRACER_FORK)
		status = image_events_join(events, event->pid);
	else if (event->type == TRACER_END)
		number_map_remove(&events->members, event->pid);
	if (status < 0)
		return status;
	event->path = event->type == TRACER_MAP ? events->paths.data + pending->path : NULL;
	return sink->image(sink->context, event);
}

int image_events_send(struct image_events *events, uint64_t until_ns,
		      const struct tracer_stack_sink *sink)
{
	int status = 0;

	while (events->sent < events->pending.count && status == 0 &&
	       events->pending.data[events->sent].event.time_ns <= until_ns)
		status = send(events, &events->pending.data[events->sent++], sink);
	return status;
}
