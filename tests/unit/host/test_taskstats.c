/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "host/taskstats/taskstats.h"
#include "taskstats_message.h"

#define NOWHERE 0 /* the version is there */

/* Where the headers of a kernel have a member: cpu, blkio, swapin, freepages, ... */
struct layout {
	uint16_t version;
	size_t length;
	size_t counts[8], maxima[8], timestamps[8];
	size_t etime, hiwater;
};

static const enum taskstats_member counts[8] = {
	TASKSTATS_cpu_count,	   TASKSTATS_blkio_count,     TASKSTATS_swapin_count,
	TASKSTATS_freepages_count, TASKSTATS_thrashing_count, TASKSTATS_compact_count,
	TASKSTATS_wpcopy_count,	   TASKSTATS_irq_count,
};

static void assert_at(const struct taskstats_values *values, enum taskstats_member member,
		      size_t offset)
{
	assert_int_equal(taskstats_has(values, member), offset != NOWHERE);
	if (offset != NOWHERE)
		assert_int_equal(values->raw[member], offset);
}

static void assert_family(const struct taskstats_values *values, enum taskstats_member count,
			  size_t at, size_t max, size_t timestamp)
{
	assert_at(values, count, at);
	assert_at(values, count + 1, at ? at + 8 : NOWHERE);
	assert_at(values, count + 2, max);
	assert_at(values, count + 3, max ? max + 8 : NOWHERE);
	assert_int_equal(taskstats_has(values, count + 4), timestamp != NOWHERE);
	if (timestamp)
		assert_int_equal(values->raw[count + 4], timestamp * 1000000000 + timestamp + 8);
}

static void assert_layout(const struct layout *layout)
{
	struct taskstats_values values;
	struct stats stats;

	stats_make(&stats, layout->version, layout->length);
	taskstats_decode(stats.words, stats.length, &values);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		assert_family(&values, counts[i], layout->counts[i], layout->maxima[i],
			      layout->timestamps[i]);
	assert_at(&values, TASKSTATS_ac_etime, layout->etime);
	assert_at(&values, TASKSTATS_hiwater_rss, layout->hiwater);
	assert_at(&values, TASKSTATS_hiwater_vm, layout->hiwater + 8);
}

/* What is of no family: each where the kernel's headers have it, and in version 15 further on. */
static void single_members_are_where_each_version_has_them(void **state)
{
	static const struct {
		enum taskstats_member member;
		size_t offset, interleaved;
	} members[] = {
		{ TASKSTATS_cpu_run_virtual_total, 72, 120 },
		{ TASKSTATS_ac_utime, 152, 200 },
		{ TASKSTATS_ac_majflt, 176, 224 },
		{ TASKSTATS_read_char, 216, 264 },
		{ TASKSTATS_write_bytes, 256, 304 },
		{ TASKSTATS_nivcsw, 280, 328 },
		{ TASKSTATS_ac_tgid, 368, 464 },
	};
	struct taskstats_values plain, interleaved;
	struct stats stats;

	(void)state;
	stats_make(&stats, 16, 560);
	taskstats_decode(stats.words, stats.length, &plain);
	stats_make(&stats, 15, 560);
	taskstats_decode(stats.words, stats.length, &interleaved);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		assert_at(&plain, members[i].member, members[i].offset);
		assert_at(&interleaved, members[i].member, members[i].interleaved);
	}
	assert_true(taskstats_has(&plain, TASKSTATS_ac_exitcode));
}

static void a_name_is_where_each_version_has_it_and_ends(void **state)
{
	struct stats stats;
	char comm[16];

	(void)state;
	stats_make(&stats, 16, 560);
	memset((char *)stats.words + 80, 'a', 32);
	memset((char *)stats.words + 128, 'b', 32);
	taskstats_comm(stats.words, stats.length, comm, sizeof(comm));
	assert_string_equal(comm, "aaaaaaaaaaaaaaa");
	stats.words[0] = 15;
	taskstats_comm(stats.words, stats.length, comm, sizeof(comm));
	assert_string_equal(comm, "bbbbbbbbbbbbbbb");
	taskstats_comm(stats.words, 100, comm, sizeof(comm));
	assert_string_equal(comm, "");
}

static void version_8_knows_reclaim_but_neither_thrashing_nor_compaction(void **state)
{
	static const struct layout layout = {
		.version = 8,
		.length = 328,
		.counts = { 16, 32, 48, 312 },
		.etime = 144,
		.hiwater = 200,
	};

	(void)state;
	assert_layout(&layout);
}

static void version_13_has_seven_families_without_extremes(void **state)
{
	static const struct layout layout = {
		.version = 13,
		.length = 416,
		.counts = { 16, 32, 48, 312, 328, 352, 400 },
		.etime = 144,
		.hiwater = 200,
	};

	(void)state;
	assert_layout(&layout);
}

static void version_14_adds_interrupts(void **state)
{
	static const struct layout layout = {
		.version = 14,
		.length = 432,
		.counts = { 16, 32, 48, 312, 328, 352, 400, 416 },
		.etime = 144,
		.hiwater = 200,
	};

	(void)state;
	assert_layout(&layout);
}

static void version_15_has_extremes_in_the_middle(void **state)
{
	static const struct layout layout = {
		.version = 15,
		.length = 560,
		.counts = { 16, 48, 80, 360, 392, 432, 496, 528 },
		.maxima = { 32, 64, 96, 376, 408, 448, 512, 544 },
		.etime = 192,
		.hiwater = 248,
	};

	(void)state;
	assert_layout(&layout);
}

static void version_16_has_extremes_at_the_end(void **state)
{
	static const struct layout layout = {
		.version = 16,
		.length = 560,
		.counts = { 16, 32, 48, 312, 328, 352, 400, 416 },
		.maxima = { 432, 448, 464, 480, 496, 512, 528, 544 },
		.etime = 144,
		.hiwater = 200,
	};

	(void)state;
	assert_layout(&layout);
}

static void version_17_adds_when_the_longest_waits_ended(void **state)
{
	static const struct layout layout = {
		.version = 17,
		.length = 688,
		.counts = { 16, 32, 48, 312, 328, 352, 400, 416 },
		.maxima = { 432, 448, 464, 480, 496, 512, 528, 544 },
		.timestamps = { 560, 576, 592, 608, 624, 640, 656, 672 },
		.etime = 144,
		.hiwater = 200,
	};

	(void)state;
	assert_layout(&layout);
}

static void of_a_newer_version_the_known_part_is_read(void **state)
{
	static const struct layout layout = {
		.version = 99,
		.length = 1000,
		.counts = { 16, 32, 48, 312, 328, 352, 400, 416 },
		.maxima = { 432, 448, 464, 480, 496, 512, 528, 544 },
		.timestamps = { 560, 576, 592, 608, 624, 640, 656, 672 },
		.etime = 144,
		.hiwater = 200,
	};

	(void)state;
	assert_layout(&layout);
}

static void what_is_beyond_the_end_is_absent_and_not_zero(void **state)
{
	struct taskstats_values values;
	struct stats stats;

	(void)state;
	stats_make(&stats, 17, 47);
	taskstats_decode(stats.words, stats.length, &values);
	assert_true(taskstats_has(&values, TASKSTATS_blkio_count));
	assert_false(taskstats_has(&values, TASKSTATS_blkio_delay_total));
	assert_false(taskstats_has(&values, TASKSTATS_blkio_delay_max_ts));
	stats_make(&stats, 17, 575); /* half a timestamp */
	taskstats_decode(stats.words, stats.length, &values);
	assert_false(taskstats_has(&values, TASKSTATS_cpu_delay_max_ts));
	taskstats_decode(stats.words, 1, &values);
	assert_int_equal(values.present, 0);
}

static void bytes_that_an_old_version_does_not_define_are_not_read(void **state)
{
	struct taskstats_values values;
	struct stats stats;

	(void)state;
	stats_make(&stats, 13, 560);
	taskstats_decode(stats.words, stats.length, &values);
	assert_true(taskstats_has(&values, TASKSTATS_wpcopy_count));
	assert_false(taskstats_has(&values, TASKSTATS_irq_count));
	assert_false(taskstats_has(&values, TASKSTATS_cpu_delay_max));
}

static void an_answer_names_its_question_its_task_and_has_the_structure(void **state)
{
	struct taskstats_reply reply;
	struct message message;
	struct stats stats;

	(void)state;
	stats_make(&stats, 16, 560);
	message_answer(&message, 77, 4242, &stats);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), 0);
	assert_int_equal(reply.sequence, 77);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.tid, 4242);
	assert_int_equal(reply.length, 560);
	assert_memory_equal(reply.bytes, stats.words, 560);
}

static void a_refusal_is_the_errno_that_the_kernel_gives(void **state)
{
	struct taskstats_reply reply;
	struct message message;

	(void)state;
	message_error(&message, 5, -EPERM);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), 0);
	assert_int_equal(reply.sequence, 5);
	assert_int_equal(reply.status, -EPERM);
	message_error(&message, 5, 0);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
	message_error(&message, 5, 22);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
	message_error(&message, 5, -5000);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
}

static void a_message_that_is_cut_anywhere_is_no_answer(void **state)
{
	struct taskstats_reply reply;
	struct message message;
	struct stats stats;

	(void)state;
	stats_make(&stats, 14, 432);
	message_answer(&message, 1, 1, &stats);
	for (size_t length = 0; length < message.length; length++) {
		assert_int_equal(taskstats_parse(message.words, length, &reply), -EBADMSG);
		/* The same when the head does not admit it, down to where no head is. */
		((struct nlmsghdr *)message.words)->nlmsg_len = (uint32_t)length;
		assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
		message_end(&message);
	}
}

static void a_message_without_the_task_or_the_structure_is_no_answer(void **state)
{
	static const uint32_t tid = 9;
	static const struct genlmsghdr head = { .cmd = TASKSTATS_CMD_NEW };
	struct taskstats_reply reply;
	struct message message, inner = { 0 };

	(void)state;
	message_begin(&message, MESSAGE_FAMILY, 1);
	message_append(&message, &head, sizeof(head));
	message_end(&message);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
	message_attribute(&inner, TASKSTATS_TYPE_PID, &tid, sizeof(tid));
	message_attribute(&message, TASKSTATS_TYPE_AGGR_PID, inner.words, inner.length);
	message_end(&message);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
	message_begin(&message, NLMSG_DONE, 1);
	message_end(&message);
	assert_int_equal(taskstats_parse(message.words, message.length, &reply), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_members_are_where_each_version_has_them),
		cmocka_unit_test(a_name_is_where_each_version_has_it_and_ends),
		cmocka_unit_test(version_8_knows_reclaim_but_neither_thrashing_nor_compaction),
		cmocka_unit_test(version_13_has_seven_families_without_extremes),
		cmocka_unit_test(version_14_adds_interrupts),
		cmocka_unit_test(version_15_has_extremes_in_the_middle),
		cmocka_unit_test(version_16_has_extremes_at_the_end),
		cmocka_unit_test(version_17_adds_when_the_longest_waits_ended),
		cmocka_unit_test(of_a_newer_version_the_known_part_is_read),
		cmocka_unit_test(what_is_beyond_the_end_is_absent_and_not_zero),
		cmocka_unit_test(bytes_that_an_old_version_does_not_define_are_not_read),
		cmocka_unit_test(an_answer_names_its_question_its_task_and_has_the_structure),
		cmocka_unit_test(a_refusal_is_the_errno_that_the_kernel_gives),
		cmocka_unit_test(a_message_that_is_cut_anywhere_is_no_answer),
		cmocka_unit_test(a_message_without_the_task_or_the_structure_is_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
