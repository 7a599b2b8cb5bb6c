/* SPDX-License-Identifier: MIT */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "netlink_script.h"
#include "trace/connector/connector_socket.h"

#define HEAD_BYTES (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define LATER_NS (UINT64_MAX / 2)

static struct connector_socket *opened;
static struct connector_event events[CONNECTOR_BATCH];
static struct error error;

static struct scripted *add(const struct proc_event *event, uint32_t sequence, uint32_t ack)
{
	const struct nlmsghdr header = { .nlmsg_len = (uint32_t)(HEAD_BYTES + sizeof(*event)),
					 .nlmsg_type = NLMSG_DONE };
	const struct cn_msg message = {
		.id = { CN_IDX_PROC, CN_VAL_PROC },
		.seq = sequence,
		.ack = ack,
		.len = sizeof(*event),
	};
	char bytes[HEAD_BYTES + sizeof(*event)] = { 0 };

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(bytes + HEAD_BYTES, event, sizeof(*event));
	return script_add(bytes, sizeof(bytes));
}

static struct scripted *add_exec(uint32_t cpu, uint32_t sequence, uint64_t time_ns)
{
	const struct proc_event event = { .what = PROC_EVENT_EXEC,
					  .cpu = cpu,
					  .timestamp_ns = time_ns };

	return add(&event, sequence, 0);
}

static void add_answer(uint32_t number, uint32_t code)
{
	const struct proc_event event = { .what = PROC_EVENT_NONE,
					  .cpu = 9,
					  .event_data.ack.err = code };

	add(&event, 0, number + 1);
}

static int start(void **state)
{
	(void)state;
	memset(&script, 0, sizeof(script));
	error = (struct error){ 0 };
	return 0;
}

static int start_open(void **state)
{
	start(state);
	add_answer((uint32_t)getpid(), 0);
	assert_int_equal(connector_socket_open(&opened, &error), 0);
	script.count = script.next = 0;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	connector_socket_close(opened);
	opened = NULL;
	return 0;
}

static void expect_question(enum proc_cn_mcast_op operation, uint32_t number)
{
	const struct nlmsghdr *header = (const void *)script.asked;
	struct cn_msg message;
	enum proc_cn_mcast_op asked;

	assert_int_equal(script.asked_length, HEAD_BYTES + sizeof(operation));
	assert_int_equal(header->nlmsg_len, script.asked_length);
	assert_int_equal(header->nlmsg_type, NLMSG_DONE);
	memcpy(&message, script.asked + NLMSG_HDRLEN, sizeof(message));
	memcpy(&asked, script.asked + HEAD_BYTES, sizeof(asked));
	assert_int_equal(message.id.idx, CN_IDX_PROC);
	assert_int_equal(message.id.val, CN_VAL_PROC);
	assert_int_equal(message.ack, number);
	assert_int_equal(message.len, sizeof(operation));
	assert_int_equal(asked, operation);
}

static void it_asks_to_listen_and_at_the_end_to_ignore(void **state)
{
	start_open(state);
	expect_question(PROC_CN_MCAST_LISTEN, (uint32_t)getpid());
	assert_int_equal(script.address.nl_family, AF_NETLINK);
	assert_int_equal(script.address.nl_groups, CN_IDX_PROC);
	assert_int_equal(script.option_count, 1);
	assert_true(connector_socket_fd(opened) >= 0);
	stop(state);
	expect_question(PROC_CN_MCAST_IGNORE, 0);
	connector_socket_close(NULL);
}

static void a_smaller_buffer_does_where_a_large_one_is_refused(void **state)
{
	start(state);
	script.force_error = EPERM;
	add_answer((uint32_t)getpid(), 0);
	assert_int_equal(connector_socket_open(&opened, &error), 0);
	assert_int_equal(script.option_count, 2);
	assert_int_equal(script.options[1], SO_RCVBUF);
}

static void expect_refusal(int status, const char *word)
{
	error = (struct error){ 0 };
	assert_int_equal(connector_socket_open(&opened, &error), status);
	assert_null(opened);
	assert_non_null(strstr(error.message, word));
}

static void a_refusal_says_why(void **state)
{
	(void)state;
	script.socket_error = EPROTONOSUPPORT;
	expect_refusal(-EPROTONOSUPPORT, "CONFIG_PROC_EVENTS");
	script.socket_error = ENOENT;
	expect_refusal(-ENOENT, "this kernel has no");
	script.socket_error = 0;
	script.bind_error = EPERM;
	expect_refusal(-EPERM, "CAP_NET_ADMIN");
	script.bind_error = EACCES;
	expect_refusal(-EACCES, "CAP_NET_ADMIN");
	script.bind_error = EMFILE;
	expect_refusal(-EMFILE, "cannot be used");
	script.bind_error = 0;
	script.send_error = ECONNREFUSED;
	expect_refusal(-ECONNREFUSED, "network namespace");
	script.send_error = 0;
	expect_refusal(-ETIMEDOUT, "does not answer");
	add_answer((uint32_t)getpid(), EPERM);
	expect_refusal(-EPERM, "CAP_NET_ADMIN");
}

static void the_answer_is_found_among_others(void **state)
{
	(void)state;
	add_answer((uint32_t)getpid() + 1, EPERM);
	add_exec(0, 1, 5);
	script_add_error(ENOBUFS);
	add_exec(0, 2, 6);
	add_answer((uint32_t)getpid(), 0);
	assert_int_equal(connector_socket_open(&opened, &error), 0);
	assert_int_equal(script.next, script.count);
}

static void events_after_the_question_mean_that_no_answer_comes(void **state)
{
	(void)state;
	add_exec(0, 1, LATER_NS);
	script_add_error(ENOBUFS); /* a batch of its own */
	add_answer((uint32_t)getpid(), 0);
	expect_refusal(-ETIMEDOUT, "does not answer");
	assert_int_equal(script.next, 1);
}

static void an_error_ends_the_wait_for_an_answer(void **state)
{
	(void)state;
	script_add_error(EIO);
	add_answer((uint32_t)getpid(), 0);
	expect_refusal(-EIO, "cannot be used");
}

static void events_come_in_order(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CONNECTOR_BATCH + 2; i++)
		add_exec(0, i, i + 7);
	assert_int_equal(connector_socket_receive(opened, events), CONNECTOR_BATCH);
	for (uint32_t i = 0; i < CONNECTOR_BATCH; i++) {
		assert_int_equal(events[i].kernel.what, PROC_EVENT_EXEC);
		assert_int_equal(events[i].kernel.timestamp_ns, i + 7);
	}
	assert_int_equal(connector_socket_receive(opened, events), 2);
	assert_int_equal(events[1].kernel.timestamp_ns, CONNECTOR_BATCH + 1 + 7);
	assert_int_equal(connector_socket_receive(opened, events), 0);
	assert_int_equal(connector_socket_lost(opened), 0);
}

static void what_is_no_event_is_left_out(void **state)
{
	(void)state;
	add_exec(0, 1, 1)->flags = MSG_TRUNC;
	add_exec(0, 1, 2)->sender = 77;
	add_exec(0, 1, 3)->name_length--;
	script_add("nonsense", 8);
	add_exec(0, 1, 5);
	assert_int_equal(connector_socket_receive(opened, events), 1);
	assert_int_equal(events[0].kernel.timestamp_ns, 5);
	add_exec(0, 1, 1)->flags = MSG_TRUNC;
	script_add_error(EINTR);
	add_exec(0, 2, 6);
	assert_int_equal(connector_socket_receive(opened, events), 1);
	assert_int_equal(events[0].kernel.timestamp_ns, 6);
	add_exec(0, 3, 1)->sender = 5;
	assert_int_equal(connector_socket_receive(opened, events), 0);
	script_add_error(EIO);
	assert_int_equal(connector_socket_receive(opened, events), -EIO);
}

static uint64_t lost_after(uint32_t cpu, uint32_t sequence)
{
	add_exec(cpu, sequence, 1);
	assert_int_equal(connector_socket_receive(opened, events), 1);
	return connector_socket_lost(opened);
}

static void gaps_are_counted_on_each_cpu(void **state)
{
	(void)state;
	assert_int_equal(lost_after(0, 10), 0);
	assert_int_equal(lost_after(2, 50), 0);
	assert_int_equal(lost_after(0, 11), 0);
	assert_int_equal(lost_after(0, 14), 2);
	assert_int_equal(lost_after(2, 52), 3);
	assert_int_equal(lost_after(1, 99), 3);
	assert_int_equal(lost_after(65536, 1), 3);
	assert_int_equal(lost_after(65536, 9), 3);
	assert_int_equal(lost_after(65535, 1), 3);
	assert_int_equal(lost_after(65535, 3), 4);
	assert_int_equal(lost_after(0, UINT32_MAX), 4 + UINT32_MAX - 15);
	assert_int_equal(lost_after(0, 0), 4 + UINT32_MAX - 15);
}

static void an_overrun_is_part_of_the_gap_that_shows_later(void **state)
{
	(void)state;
	lost_after(0, 10);
	script_add_error(ENOBUFS);
	script_add_error(ENOBUFS);
	script_add_error(ENOBUFS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(connector_socket_receive(opened, events), -ENOBUFS);
	assert_int_equal(connector_socket_lost(opened), 3);
	assert_int_equal(lost_after(0, 12), 3);
	assert_int_equal(lost_after(0, 18), 6);
	assert_int_equal(lost_after(0, 20), 7);
}

/* Each of two CPUs lost events: the gap of the first must not hide what the second lost. */
static void what_was_lost_never_becomes_less(void **state)
{
	(void)state;
	lost_after(0, 0);
	lost_after(1, 700);
	script_add_error(ENOBUFS);
	script_add_error(ENOBUFS);
	for (int i = 0; i < 2; i++)
		assert_int_equal(connector_socket_receive(opened, events), -ENOBUFS);
	assert_int_equal(lost_after(0, 2), 2);
	assert_int_equal(lost_after(1, 703), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(it_asks_to_listen_and_at_the_end_to_ignore, stop),
		cmocka_unit_test_teardown(a_smaller_buffer_does_where_a_large_one_is_refused, stop),
		cmocka_unit_test_setup_teardown(a_refusal_says_why, start, stop),
		cmocka_unit_test_setup_teardown(the_answer_is_found_among_others, start, stop),
		cmocka_unit_test_setup_teardown(events_after_the_question_mean_that_no_answer_comes,
						start, stop),
		cmocka_unit_test_setup_teardown(an_error_ends_the_wait_for_an_answer, start, stop),
		cmocka_unit_test_setup_teardown(events_come_in_order, start_open, stop),
		cmocka_unit_test_setup_teardown(what_is_no_event_is_left_out, start_open, stop),
		cmocka_unit_test_setup_teardown(gaps_are_counted_on_each_cpu, start_open, stop),
		cmocka_unit_test_setup_teardown(what_was_lost_never_becomes_less, start_open, stop),
		cmocka_unit_test_setup_teardown(an_overrun_is_part_of_the_gap_that_shows_later,
						start_open, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
