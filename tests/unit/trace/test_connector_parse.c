/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/connector/connector_parse.h"

#define HEAD_BYTES (NLMSG_HDRLEN + sizeof(struct cn_msg))

struct bytes {
	size_t length;
	_Alignas(4) char data[256];
};

static void make_message(const struct proc_event *event, size_t size, struct bytes *ret)
{
	const struct nlmsghdr header = { .nlmsg_len = (uint32_t)(HEAD_BYTES + size),
					 .nlmsg_type = NLMSG_DONE };
	const struct cn_msg message = {
		.id = { CN_IDX_PROC, CN_VAL_PROC },
		.seq = 41,
		.ack = 8,
		.len = (uint16_t)size,
	};

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->data, &header, sizeof(header));
	memcpy(ret->data + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(ret->data + HEAD_BYTES, event, size);
	ret->length = HEAD_BYTES + size;
}

static struct connector_event parse_event(const struct proc_event *event)
{
	struct connector_event parsed;
	struct bytes bytes;

	make_message(event, sizeof(*event), &bytes);
	assert_int_equal(connector_parse(bytes.data, bytes.length, &parsed), 0);
	assert_int_equal(parsed.sequence, 41);
	assert_int_equal(parsed.kernel.cpu, event->cpu);
	assert_int_equal(parsed.kernel.timestamp_ns, event->timestamp_ns);
	return parsed;
}

static void a_fork_tells_the_child_and_the_process_that_it_is_of(void **state)
{
	const struct proc_event event = {
		.what = PROC_EVENT_FORK,
		.cpu = 3,
		.timestamp_ns = 77,
		.event_data.fork = { .parent_pid = 11,
				     .parent_tgid = 10,
				     .child_pid = 21,
				     .child_tgid = 20 },
	};
	struct connector_event parsed = parse_event(&event);

	(void)state;
	assert_int_equal(parsed.kernel.what, PROC_EVENT_FORK);
	assert_int_equal(parsed.kernel.event_data.fork.child_tgid, 20);
	assert_int_equal(parsed.kernel.event_data.fork.child_pid, 21);
	assert_int_equal(parsed.kernel.event_data.fork.parent_tgid, 10);
}

static void an_exit_has_a_status_as_wait_has_it(void **state)
{
	const struct proc_event event = {
		.what = PROC_EVENT_EXIT,
		.event_data.exit = { .process_pid = 21,
				     .process_tgid = 20,
				     .exit_code = 3 << 8,
				     .exit_signal = 17,
				     .parent_tgid = 10 },
	};
	struct connector_event parsed = parse_event(&event);

	(void)state;
	assert_int_equal(parsed.kernel.what, PROC_EVENT_EXIT);
	assert_int_equal(parsed.kernel.event_data.exit.exit_code, 3 << 8);
	assert_int_equal(parsed.kernel.event_data.exit.parent_tgid, 10);
}

static void an_exit_of_an_old_kernel_has_no_parent(void **state)
{
	const struct proc_event event = {
		.what = PROC_EVENT_EXIT,
		.event_data.exit = { .process_pid = 21, .process_tgid = 20, .parent_tgid = 10 },
	};
	struct connector_event parsed;
	struct bytes bytes;

	(void)state;
	make_message(&event,
		     offsetof(struct proc_event, event_data) +
			     offsetof(struct exit_proc_event, parent_pid),
		     &bytes);
	assert_int_equal(connector_parse(bytes.data, bytes.length, &parsed), 0);
	assert_int_equal(parsed.kernel.event_data.exit.process_pid, 21);
	assert_int_equal(parsed.kernel.event_data.exit.parent_tgid, 0);
}

static void a_name_ends_even_when_the_kernels_does_not(void **state)
{
	struct proc_event event = { .what = PROC_EVENT_COMM };
	struct connector_event parsed;

	(void)state;
	memset(event.event_data.comm.comm, 'x', sizeof(event.event_data.comm.comm));
	parsed = parse_event(&event);
	assert_int_equal(parsed.kernel.what, PROC_EVENT_COMM);
	assert_string_equal(parsed.kernel.event_data.comm.comm, "xxxxxxxxxxxxxxx");
}

static void an_answer_names_its_question_and_why_it_was_refused(void **state)
{
	const struct proc_event event = { .what = PROC_EVENT_NONE, .event_data.ack.err = EPERM };
	struct connector_event parsed = parse_event(&event);

	(void)state;
	assert_int_equal(parsed.kernel.what, PROC_EVENT_NONE);
	assert_int_equal(parsed.answers, 7);
	assert_int_equal(parsed.kernel.event_data.ack.err, EPERM);
}

static void other_events_are_only_counted(void **state)
{
	const struct proc_event event = { .what = PROC_EVENT_UID };

	(void)state;
	assert_int_equal(parse_event(&event).kernel.what, PROC_EVENT_UID);
}

static void what_is_too_short_is_no_event(void **state)
{
	const struct proc_event event = { .what = PROC_EVENT_FORK };
	struct connector_event parsed;
	struct bytes bytes;

	(void)state;
	make_message(&event, offsetof(struct proc_event, event_data) + 15, &bytes);
	assert_int_equal(connector_parse(bytes.data, bytes.length, &parsed), -EBADMSG);
	make_message(&event, sizeof(event), &bytes);
	for (size_t length = 0; length < bytes.length; length++)
		assert_int_equal(connector_parse(bytes.data, length, &parsed), -EBADMSG);
}

static void what_claims_to_be_longer_than_it_is_is_no_event(void **state)
{
	const struct proc_event event = { .what = PROC_EVENT_EXEC };
	struct connector_event parsed;
	struct cn_msg message;
	struct bytes bytes;

	(void)state;
	make_message(&event, sizeof(event), &bytes);
	memcpy(&message, bytes.data + NLMSG_HDRLEN, sizeof(message));
	message.len++;
	memcpy(bytes.data + NLMSG_HDRLEN, &message, sizeof(message));
	assert_int_equal(connector_parse(bytes.data, bytes.length, &parsed), -EBADMSG);
}

static void messages_of_other_connectors_are_none_of_ours(void **state)
{
	const struct proc_event event = { .what = PROC_EVENT_EXEC };
	struct connector_event parsed;
	struct bytes bytes;

	(void)state;
	make_message(&event, sizeof(event), &bytes);
	bytes.data[NLMSG_HDRLEN]++;
	assert_int_equal(connector_parse(bytes.data, bytes.length, &parsed), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_tells_the_child_and_the_process_that_it_is_of),
		cmocka_unit_test(an_exit_has_a_status_as_wait_has_it),
		cmocka_unit_test(an_exit_of_an_old_kernel_has_no_parent),
		cmocka_unit_test(a_name_ends_even_when_the_kernels_does_not),
		cmocka_unit_test(an_answer_names_its_question_and_why_it_was_refused),
		cmocka_unit_test(other_events_are_only_counted),
		cmocka_unit_test(what_is_too_short_is_no_event),
		cmocka_unit_test(what_claims_to_be_longer_than_it_is_is_no_event),
		cmocka_unit_test(messages_of_other_connectors_are_none_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
