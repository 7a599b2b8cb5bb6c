/* SPDX-License-Identifier: MIT */
/* A ring that this test writes, as the kernel does: positions only grow, records go on at the front. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/bpf_ring.h"

#define RING_BYTES 4096

struct writer {
	int file;
	unsigned char *pages;
	size_t page_bytes;
	struct bpf_ring *ring;
	/* What was taken. */
	unsigned char expected; /* the first byte of the next record; the others follow it */
	size_t taken, taken_bytes, stop_after;
};

static unsigned long *position(struct writer *writer, bool is_written)
{
	return (unsigned long *)(writer->pages + (is_written ? writer->page_bytes : 0));
}

static int take(void *context, void *record, size_t size)
{
	struct writer *writer = context;
	const unsigned char *bytes = record;

	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], (unsigned char)(writer->expected + i));
	writer->expected++;
	writer->taken++;
	writer->taken_bytes += size;
	return writer->taken == writer->stop_after ? -EAGAIN : 0;
}

static void writer_open(struct writer *writer)
{
	*writer = (struct writer){ .page_bytes = (size_t)sysconf(_SC_PAGESIZE) };
	writer->file = memfd_create("ring", MFD_CLOEXEC);
	assert_int_equal(ftruncate(writer->file, (off_t)(2 * writer->page_bytes + RING_BYTES)), 0);
	writer->pages = mmap(NULL, 2 * writer->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE,
			     MAP_SHARED, writer->file, 0);
	assert_ptr_not_equal(writer->pages, MAP_FAILED);
	assert_int_equal(bpf_ring_map(writer->file, RING_BYTES, take, writer, &writer->ring), 0);
}

static void writer_close(struct writer *writer)
{
	bpf_ring_close(writer->ring);
	munmap(writer->pages, 2 * writer->page_bytes + RING_BYTES);
	close(writer->file);
}

/* Returns where its head is. */
static uint32_t *write_record(struct writer *writer, unsigned char first, size_t size,
			      uint32_t flags)
{
	unsigned char *records = writer->pages + 2 * writer->page_bytes;
	unsigned long *written = position(writer, true);
	uint32_t *head = (uint32_t *)(records + *written % RING_BYTES);

	*head = (uint32_t)size | flags;
	for (size_t i = 0; i < size; i++)
		records[(*written + BPF_RINGBUF_HDR_SZ + i) % RING_BYTES] =
			(unsigned char)(first + i);
	*written += (BPF_RINGBUF_HDR_SZ + size + 7) / 8 * 8;
	return head;
}

static size_t room(struct writer *writer)
{
	return RING_BYTES - (*position(writer, true) - *position(writer, false));
}

static void test_records_are_whole_wherever_the_ring_ends(void **state)
{
	struct writer writer;
	unsigned char next = 0;
	size_t written = 0;

	(void)state;
	writer_open(&writer);
	srand(7);
	while (written < 1000000) {
		size_t size = (size_t)rand() % 200 + 1;

		if (room(&writer) < size + 16) {
			assert_int_equal(bpf_ring_drain(writer.ring), 0);
			assert_int_equal(room(&writer), RING_BYTES);
		}
		write_record(&writer, next++, size, 0);
		written += size;
	}
	assert_int_equal(bpf_ring_drain(writer.ring), 0);
	assert_int_equal(writer.taken_bytes, written);
	writer_close(&writer);
}

static void test_a_record_that_is_being_written_is_waited_for(void **state)
{
	struct writer writer;
	uint32_t *head;

	(void)state;
	writer_open(&writer);
	write_record(&writer, 0, 24, 0);
	head = write_record(&writer, 1, 16, BPF_RINGBUF_BUSY_BIT);
	write_record(&writer, 2, 8, 0);
	assert_int_equal(bpf_ring_drain(writer.ring), 0);
	assert_int_equal(writer.taken, 1);
	*head &= ~BPF_RINGBUF_BUSY_BIT;
	assert_int_equal(bpf_ring_drain(writer.ring), 0);
	assert_int_equal(writer.taken, 3);
	writer_close(&writer);
}

static void test_a_discarded_record_is_passed_over(void **state)
{
	struct writer writer;

	(void)state;
	writer_open(&writer);
	write_record(&writer, 99, 40, BPF_RINGBUF_DISCARD_BIT);
	write_record(&writer, 0, 3, 0);
	assert_int_equal(bpf_ring_drain(writer.ring), 0);
	assert_int_equal(writer.taken, 1);
	assert_int_equal(room(&writer), RING_BYTES);
	writer_close(&writer);
}

static void test_reading_goes_on_after_the_record_at_which_it_ended(void **state)
{
	struct writer writer;

	(void)state;
	writer_open(&writer);
	for (unsigned char i = 0; i < 5; i++)
		write_record(&writer, i, 8, 0);
	writer.stop_after = 2;
	assert_int_equal(bpf_ring_drain(writer.ring), -EAGAIN);
	assert_int_equal(writer.taken, 2);
	assert_int_equal(bpf_ring_drain(writer.ring), 0);
	assert_int_equal(writer.taken, 5);
	writer_close(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_whole_wherever_the_ring_ends),
		cmocka_unit_test(test_a_record_that_is_being_written_is_waited_for),
		cmocka_unit_test(test_a_discarded_record_is_passed_over),
		cmocka_unit_test(test_reading_goes_on_after_the_record_at_which_it_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
