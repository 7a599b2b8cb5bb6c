/* SPDX-License-Identifier: MIT */
/* Records of the kernel, as they come, and the events that they become. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "trace/life/life_decoder.h"
#include "trace/life/life_source.h"

#define TICK 10000000
#define PAGE 4096
#define TOLD_MAX 32

static const struct life_decoder decoder = { .page_bytes = PAGE, .tick_ns = TICK };

static struct life_event told[TOLD_MAX];
static char commands[TOLD_MAX][64], details[TOLD_MAX][64];
static size_t told_count;

static int take(void *context, const struct life_event *event)
{
	(void)context;
	assert_true(told_count < TOLD_MAX);
	told[told_count] = *event;
	snprintf(commands[told_count], sizeof(commands[0]), "%s", event->cmd ? event->cmd : "-");
	snprintf(details[told_count], sizeof(details[0]), "%s",
		 event->details ? event->details : "-");
	told_count++;
	return 0;
}

static int set_up(void **state)
{
	static struct lifecycle lifecycle;

	life_table_clear(&lifecycle.table);
	lifecycle = (struct lifecycle){ .sink = take, .unix_offset_ns = 1000 };
	told_count = 0;
	*state = &lifecycle;
	return 0;
}

static void head_init(struct life_record_head *head, enum life_record_type type, size_t size,
		      int pid, const char *comm)
{
	*head = (struct life_record_head){
		.size = (uint32_t)size,
		.type = type,
		.pid = pid,
		.parent_pid = pid - 1,
		.euid = 5,
		.start_ns = (uint64_t)pid * TICK + 3,
		.time_ns = 50,
	};
	snprintf((char *)head->comm, LIFE_RECORD_COMM, "%s", comm);
}

static void send(struct lifecycle *lifecycle, const void *record)
{
	const struct life_record_head *head = record;
	struct life_report report;

	assert_int_equal(life_decode(&decoder, record, head->size, &report), 0);
	assert_int_equal(life_report_send(lifecycle, &report), 0);
}

static void send_head(struct lifecycle *lifecycle, enum life_record_type type, int pid,
		      const char *comm)
{
	struct life_record_head head;

	head_init(&head, type, sizeof(head), pid, comm);
	send(lifecycle, &head);
}

static void send_exec(struct lifecycle *lifecycle, int pid, const char *comm, const char *arguments,
		      size_t length)
{
	struct life_exec_record record = { .length = (uint32_t)length, .maxrss = 10 };

	head_init(&record.head, LIFE_RECORD_EXEC,
		  offsetof(struct life_exec_record, arguments) + length, pid, comm);
	memcpy(record.arguments, arguments, length);
	send(lifecycle, &record);
}

static void send_signal(struct lifecycle *lifecycle, int pid, int number, int sender)
{
	struct life_signal_record record = { .number = number, .sender_pid = sender };

	head_init(&record.head, LIFE_RECORD_SIGNAL, sizeof(record), pid, "victim");
	if (sender)
		memcpy(record.sender_comm, "sender", 7);
	send(lifecycle, &record);
}

static struct life_exit_record exit_of(int pid, int status)
{
	struct life_exit_record record = { .status = status };

	head_init(&record.head, LIFE_RECORD_EXIT, sizeof(record), pid, "ended");
	return record;
}

static void a_life_has_a_name_and_a_command_line(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_exit_record end = exit_of(8, 3 << 8);

	send_exec(lifecycle, 7, "sh", "sh\0-c\0x", 8);
	send_head(lifecycle, LIFE_RECORD_SPAWN, 8, "sh");
	send_exec(lifecycle, 8, "true", "true\0a b\0\0", 10);
	end.present =
		1 << LIFE_USAGE_run_time_ns | 1 << LIFE_USAGE_utime_ns | 1 << LIFE_USAGE_stime_ns;
	end.usage[LIFE_USAGE_run_time_ns] = 400;
	end.usage[LIFE_USAGE_utime_ns] = 30;
	end.usage[LIFE_USAGE_stime_ns] = 10;
	send(lifecycle, &end);
	assert_int_equal(told_count, 4);
	assert_string_equal(commands[1], "sh -c x");
	assert_string_equal(commands[2], "true a b");
	assert_string_equal(commands[3], "true a b");
	assert_int_equal(told[3].kind, LIFE_EXIT);
	assert_int_equal(told[3].task.start_ns, 8 * TICK);
	assert_int_equal(told[3].unix_ns, 1050);
	assert_int_equal(told[3].uid, 5);
	assert_int_equal(told[3].parent_pid, 7);
	assert_int_equal(told[3].status, 3 << 8);
	assert_int_equal(amounts_get(&told[3].amounts, AMOUNT_utime_ns), 300);
	assert_int_equal(amounts_get(&told[3].amounts, AMOUNT_stime_ns), 100);
	assert_false(amounts_has(&told[3].amounts, AMOUNT_read_bytes));
	assert_null(life_table_find(&lifecycle->table, 8, 0));
	life_table_clear(&lifecycle->table);
}

static void who_sent_the_signal_that_ended_it(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_exit_record end = exit_of(8, SIGKILL);

	send_signal(lifecycle, 8, SIGTERM, 3);
	send_head(lifecycle, LIFE_RECORD_SPAWN, 8, "x");
	send_signal(lifecycle, 8, SIGTERM, 3);
	send_signal(lifecycle, 8, SIGKILL, 4);
	send(lifecycle, &end);
	assert_int_equal(told[0].kind, LIFE_SIGNAL);
	assert_int_equal(told[3].kind, LIFE_KILL);
	assert_string_equal(details[3], "sent by sender");
	assert_int_equal(told[4].sender_pid, 4);
	assert_int_equal(told[4].signal, SIGKILL);
	assert_true(told[4].present & LIFE_HAS_SENDER);
	/* Another signal than the last one that was seen ended it. */
	send_head(lifecycle, LIFE_RECORD_SPAWN, 9, "x");
	send_signal(lifecycle, 9, SIGTERM, 0);
	assert_string_equal(details[6], "sent by the kernel");
	end = exit_of(9, SIGKILL);
	send(lifecycle, &end);
	assert_false(told[7].present & LIFE_HAS_SENDER);
	life_table_clear(&lifecycle->table);
}

static void the_end_tells_of_a_victim_that_was_not_announced(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_exit_record end = exit_of(8, SIGKILL);

	end.oom_killed = 1;
	send_head(lifecycle, LIFE_RECORD_SPAWN, 8, "x");
	send(lifecycle, &end);
	assert_int_equal(told_count, 3);
	assert_int_equal(told[1].kind, LIFE_OOM);
	assert_int_equal(told[1].signal, SIGKILL);
	assert_int_equal(told[2].kind, LIFE_EXIT);
	send_head(lifecycle, LIFE_RECORD_SPAWN, 8, "x");
	send_head(lifecycle, LIFE_RECORD_OOM, 8, "x");
	send(lifecycle, &end);
	assert_int_equal(told_count, 6);
	assert_int_equal(told[4].kind, LIFE_OOM);
	life_table_clear(&lifecycle->table);
}

static void a_number_alone_is_completed_by_the_table(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_record_head head = { .size = sizeof(head), .type = LIFE_RECORD_OOM, .pid = 8 };

	send_head(lifecycle, LIFE_RECORD_SPAWN, 8, "x");
	send(lifecycle, &head);
	assert_int_equal(told[1].task.start_ns, 8 * TICK);
	assert_string_equal(told[1].comm, "x");
	lifecycle->options.tree_pid = 1;
	head.pid = 9;
	send(lifecycle, &head);
	head.pid = 0;
	send(lifecycle, &head);
	assert_int_equal(told_count, 2);
	life_table_clear(&lifecycle->table);
}

static void the_peak_is_that_of_the_last_program(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_exit_record end = exit_of(8, 0);

	end.maxrss = 10;
	send_exec(lifecycle, 8, "x", "x", 1);
	send(lifecycle, &end);
	assert_false(told[1].present & LIFE_HAS_PEAK);
	end.maxrss = 11;
	send_exec(lifecycle, 8, "x", "x", 1);
	send(lifecycle, &end);
	assert_int_equal(told[3].peak_rss_bytes, 11 * PAGE);
	end.has_peak = 1;
	end.peak = 4;
	send_exec(lifecycle, 8, "x", "x", 1);
	send(lifecycle, &end);
	assert_int_equal(told[5].peak_rss_bytes, 4 * PAGE);
	end.has_peak = 0;
	send(lifecycle, &end); /* of a process whose exec was not seen */
	assert_false(told[6].present & LIFE_HAS_PEAK);
	life_table_clear(&lifecycle->table);
}

static void a_rename_says_what_the_name_was(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_rename_record record = { 0 };

	send_head(lifecycle, LIFE_RECORD_SPAWN, 8, "old");
	head_init(&record.head, LIFE_RECORD_RENAME, sizeof(record), 8, "old");
	memset(record.comm, 'n', sizeof(record.comm));
	send(lifecycle, &record);
	assert_string_equal(told[1].comm, "nnnnnnnnnnnnnnn");
	assert_string_equal(details[1], "was old");
	send_signal(lifecycle, 8, SIGTERM, 1);
	life_table_clear(&lifecycle->table);
}

static void time_does_not_go_back(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_record_head head;

	head_init(&head, LIFE_RECORD_SPAWN, sizeof(head), 8, "x");
	send(lifecycle, &head);
	head.time_ns = 40;
	head.pid = 9;
	send(lifecycle, &head);
	assert_int_equal(told[1].unix_ns, 1050);
	life_table_clear(&lifecycle->table);
}

static void a_process_that_is_found_is_no_event(void **state)
{
	struct lifecycle *lifecycle = *state;

	send_head(lifecycle, LIFE_RECORD_MEMBER, 8, "x");
	assert_int_equal(told_count, 0);
	assert_true(life_table_find(&lifecycle->table, 8, 8 * TICK)->is_member);
	life_table_clear(&lifecycle->table);
}

static void a_full_table_still_sends(void **state)
{
	struct lifecycle *lifecycle = *state;
	struct life_exit_record end = exit_of(8, 0);

	lifecycle->table.processes_max = 1;
	send_head(lifecycle, LIFE_RECORD_SPAWN, 7, "x");
	send_exec(lifecycle, 8, "y", "y", 1);
	send(lifecycle, &end);
	assert_int_equal(told_count, 3);
	assert_string_equal(commands[1], "y");
	assert_string_equal(commands[2], "-");
	assert_string_equal(told[2].comm, "ended");
	life_table_clear(&lifecycle->table);
}

static int count(void *context, const struct life_event *event)
{
	(void)event;
	++*(size_t *)context;
	return 0;
}

static void a_witness_sees_what_is_only_counted(void **state)
{
	struct lifecycle *lifecycle = *state;
	size_t seen = 0;

	lifecycle->budget.per_second = 2;
	lifecycle->options.witness = count;
	lifecycle->options.witness_context = &seen;
	for (int pid = 100; pid < 120; pid++)
		send_head(lifecycle, LIFE_RECORD_SPAWN, pid, "many");
	assert_int_equal(seen, 20);
	assert_true(told_count < 20);
	assert_int_equal(life_report_lost(lifecycle, 3, "the ring was full"), 0);
	assert_int_equal(seen, 21);
}

static void bytes_that_are_no_record_are_refused(void **state)
{
	struct life_exec_record record = { .length = LIFE_RECORD_ARGUMENTS + 1 };
	struct life_report report;
	size_t least = offsetof(struct life_exec_record, arguments);

	(void)state;
	head_init(&record.head, LIFE_RECORD_EXEC, sizeof(record) + 1, 1, "x");
	assert_int_equal(life_record_size(&record, sizeof(record.head) - 1), 0);
	assert_int_equal(life_record_size(&record, sizeof(record)), -EBADMSG);
	record.length = 4;
	assert_int_equal(life_record_size(&record, sizeof(record)), -EBADMSG);
	record.head.size = (uint32_t)least + 4;
	assert_int_equal(life_record_size(&record, least - 1), 0);
	assert_int_equal(life_record_size(&record, least + 3), 0);
	assert_int_equal(life_record_size(&record, least + 4), least + 4);
	record.head.type = LIFE_RECORD_COUNT;
	assert_int_equal(life_decode(&decoder, &record, sizeof(record), &report), -EBADMSG);
	assert_int_equal(life_record_kind(LIFE_RECORD_COUNT), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_life_has_a_name_and_a_command_line, set_up),
		cmocka_unit_test_setup(who_sent_the_signal_that_ended_it, set_up),
		cmocka_unit_test_setup(the_end_tells_of_a_victim_that_was_not_announced, set_up),
		cmocka_unit_test_setup(a_number_alone_is_completed_by_the_table, set_up),
		cmocka_unit_test_setup(the_peak_is_that_of_the_last_program, set_up),
		cmocka_unit_test_setup(a_rename_says_what_the_name_was, set_up),
		cmocka_unit_test_setup(time_does_not_go_back, set_up),
		cmocka_unit_test_setup(a_process_that_is_found_is_no_event, set_up),
		cmocka_unit_test_setup(a_full_table_still_sends, set_up),
		cmocka_unit_test_setup(a_witness_sees_what_is_only_counted, set_up),
		cmocka_unit_test_setup(bytes_that_are_no_record_are_refused, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
