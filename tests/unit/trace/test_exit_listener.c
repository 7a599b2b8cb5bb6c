/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "host/host.h"
#include "host/taskstats/taskstats_socket.h"
#include "netlink_script.h"
#include "taskstats_message.h"
#include "trace/connector/exit_listener.h"

#define VERSION 15
#define LENGTH 560

int __wrap_taskstats_socket_open(struct taskstats_socket **ret);
uint16_t __wrap_taskstats_socket_family(const struct taskstats_socket *socket);

static struct exit_listener *listener;
static struct error error;
static struct host host;
static char folder[] = "/tmp/taskscope-exit-XXXXXX";
static int family_status;

int __wrap_taskstats_socket_open(struct taskstats_socket **ret)
{
	*ret = NULL;
	return family_status;
}

uint16_t __wrap_taskstats_socket_family(const struct taskstats_socket *socket)
{
	assert_null(socket);
	return MESSAGE_FAMILY;
}

static void write_possible(const char *text)
{
	int dir = openat(host.sys, "devices/system/cpu", O_PATH | O_DIRECTORY);
	int fd = openat(dir, "possible", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	close(dir);
}

static int make_host(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	host.sys = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	mkdirat(host.sys, "devices", 0700);
	mkdirat(host.sys, "devices/system", 0700);
	mkdirat(host.sys, "devices/system/cpu", 0700);
	return 0;
}

static int remove_host(void **state)
{
	(void)state;
	unlinkat(host.sys, "devices/system/cpu/possible", 0);
	unlinkat(host.sys, "devices/system/cpu", AT_REMOVEDIR);
	unlinkat(host.sys, "devices/system", AT_REMOVEDIR);
	unlinkat(host.sys, "devices", AT_REMOVEDIR);
	rmdir(folder);
	close(host.sys);
	return 0;
}

static struct scripted *add_message(const struct message *message)
{
	return script_add(message->words, message->length);
}

static struct scripted *add_record(uint32_t tid)
{
	struct message message;
	struct stats stats;

	stats_make(&stats, VERSION, LENGTH);
	message_answer(&message, 0, tid, &stats);
	return add_message(&message);
}

static struct scripted *add_answer(int status)
{
	struct message message;

	message_error(&message, 0, status);
	return add_message(&message);
}

static int start(void **state)
{
	(void)state;
	memset(&script, 0, sizeof(script));
	error = (struct error){ 0 };
	family_status = 0;
	write_possible("0-3\n");
	return 0;
}

static int start_open(void **state)
{
	start(state);
	add_answer(0);
	assert_int_equal(exit_listener_open(&host, &listener, &error), 0);
	script.count = script.next = 0;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	exit_listener_close(listener);
	listener = NULL;
	return 0;
}

static void expect_question(uint16_t attribute)
{
	const struct nlmsghdr *header = (const void *)script.asked;
	const struct genlmsghdr *head = NLMSG_DATA(header);
	const struct nlattr *cpus = (const void *)((const char *)head + GENL_HDRLEN);

	assert_int_equal(header->nlmsg_len, script.asked_length);
	assert_int_equal(header->nlmsg_type, MESSAGE_FAMILY);
	assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	assert_int_equal(head->cmd, TASKSTATS_CMD_GET);
	assert_int_equal(head->version, 1);
	assert_int_equal(cpus->nla_type, attribute);
	assert_string_equal((const char *)(cpus + 1), "0-3");
}

static void it_registers_for_all_cpus_and_at_the_end_no_more(void **state)
{
	start_open(state);
	expect_question(TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
	assert_int_equal(script.option_count, 1);
	stop(state);
	expect_question(TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
	assert_int_equal(script.asked_times, 2);
	exit_listener_close(NULL);
}

static void a_smaller_buffer_does_where_a_large_one_is_refused(void **state)
{
	start(state);
	script.force_error = EPERM;
	add_answer(0);
	assert_int_equal(exit_listener_open(&host, &listener, &error), 0);
	assert_int_equal(script.option_count, 2);
	assert_int_equal(script.options[1], SO_RCVBUF);
}

static void expect_refusal(int status, const char *word)
{
	error = (struct error){ 0 };
	assert_int_equal(exit_listener_open(&host, &listener, &error), status);
	assert_null(listener);
	assert_non_null(strstr(error.message, word));
}

static void a_refusal_says_why(void **state)
{
	(void)state;
	script.socket_error = EMFILE;
	expect_refusal(-EMFILE, "cannot be had");
	script.socket_error = 0;
	family_status = -ENOENT;
	expect_refusal(-ENOENT, "CONFIG_TASKSTATS");
	assert_int_equal(script.asked_times, 0);
	family_status = 0;
	script.send_error = EPERM;
	expect_refusal(-EPERM, "CAP_NET_ADMIN");
	script.send_error = 0;
	expect_refusal(-ETIMEDOUT, "cannot be had");
	add_answer(-EINVAL);
	expect_refusal(-EINVAL, "namespaces");
	script_add_error(EIO);
	expect_refusal(-EIO, "cannot be had");
	assert_int_equal(unlinkat(host.sys, "devices/system/cpu/possible", 0), 0);
	script.asked_times = 0;
	expect_refusal(-EINVAL, "namespaces");
	assert_int_equal(script.asked_times, 0);
}

static void where_possible_cpus_are_not_known_those_online_are_asked(void **state)
{
	uint64_t words[] = { 15 };

	(void)state;
	unlinkat(host.sys, "devices/system/cpu/possible", 0);
	host.online.words = words;
	host.online.word_count = 1;
	add_answer(0);
	assert_int_equal(exit_listener_open(&host, &listener, &error), 0);
	host.online = (struct cpuset){ 0 };
	expect_question(TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
}

static void the_answer_is_found_among_records(void **state)
{
	(void)state;
	add_record(5);
	add_answer(-EPERM)->sender = 4;
	add_answer(-EPERM)->flags = MSG_TRUNC;
	add_answer(-EPERM)->length = NLMSG_HDRLEN + sizeof(struct nlmsgerr) - 1;
	script_add_error(EAGAIN);
	add_answer(0)->length = NLMSG_HDRLEN + sizeof(struct nlmsgerr);
	assert_int_equal(exit_listener_open(&host, &listener, &error), 0);
	assert_int_equal(script.next, script.count);
}

static bool take(int32_t tid)
{
	struct exit_record record = { 0 };
	bool found = exit_listener_take(listener, tid, &record);

	assert_int_equal(record.tid, found ? tid : 0);
	return found;
}

static void records_are_kept_until_they_are_taken(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		add_record(100 + i);
	assert_int_equal(exit_listener_read(listener), 0);
	assert_int_equal(script.next, script.count);
	for (int i = 99; i >= 0; i--)
		assert_true(take(100 + i));
	assert_false(take(100));
	add_record(7);
	add_record(7);
	assert_int_equal(exit_listener_read(listener), 0);
	assert_true(take(7));
	assert_false(take(7));
}

static void what_is_no_record_is_left_out(void **state)
{
	(void)state;
	add_record(1)->sender = 9;
	add_record(2)->flags = MSG_TRUNC;
	add_record(3)->name_length--;
	add_answer(0);
	add_answer(-ESRCH);
	script_add("x", 1);
	add_record(4);
	assert_int_equal(exit_listener_read(listener), 0);
	for (int i = 0; i < 4; i++)
		assert_false(take(i));
	assert_true(take(4));
}

static void losses_do_not_end_the_reading(void **state)
{
	(void)state;
	add_record(1);
	script_add_error(ENOBUFS);
	script_add_error(EINTR);
	add_record(2);
	script_add_error(EIO);
	add_record(3);
	assert_int_equal(exit_listener_read(listener), -EIO);
	assert_true(take(1));
	assert_true(take(2));
	assert_false(take(3));
}

static void what_nobody_takes_is_forgotten(void **state)
{
	(void)state;
	exit_listener_forget(listener);
	add_record(1);
	exit_listener_read(listener);
	exit_listener_forget(listener);
	assert_false(take(1));
}

static void too_many_that_nobody_takes_are_forgotten(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 65536; i++) {
		add_record(i);
		exit_listener_read(listener);
		script.count = script.next = 0;
	}
	assert_non_null(exit_listener_comm(listener, 1));
	assert_true(take(65536));
	add_record(65536);
	exit_listener_read(listener);
	assert_non_null(exit_listener_comm(listener, 1));
	add_record(65537);
	exit_listener_read(listener);
	assert_null(exit_listener_comm(listener, 1));
	assert_true(take(65537));
}

static void a_record_has_a_name(void **state)
{
	(void)state;
	add_record(1);
	exit_listener_read(listener);
	assert_non_null(exit_listener_comm(listener, 1));
	assert_null(exit_listener_comm(listener, 2));
}

static void expect(const struct exit_record *record, enum amount_id id, uint64_t value)
{
	assert_true(amounts_has(&record->counters, id));
	assert_int_equal(amounts_get(&record->counters, id), value);
}

/* Each member of the structure has the offset in it as its value. */
static void members_are_taken_from_their_places(void **state)
{
	struct exit_record record;
	struct taskstats_values values;
	struct stats stats;

	(void)state;
	stats_make(&stats, VERSION, LENGTH);
	taskstats_decode(stats.words, stats.length, &values);
	exit_record_decode(9, stats.words, stats.length, &record);
	assert_int_equal(record.tid, 9);
	expect(&record, AMOUNT_run_time_ns, values.raw[TASKSTATS_cpu_run_virtual_total]);
	expect(&record, AMOUNT_utime_ns, values.raw[TASKSTATS_ac_utime] * 1000);
	expect(&record, AMOUNT_stime_ns, values.raw[TASKSTATS_ac_stime] * 1000);
	expect(&record, AMOUNT_voluntary_csw, values.raw[TASKSTATS_nvcsw]);
	assert_false(amounts_has(&record.counters, AMOUNT_syscr));
	assert_true(amounts_has(&record.counters, AMOUNT_wait_time_ns));
	assert_int_equal(amounts_get(&record.counters, AMOUNT_wait_time_ns),
			 values.raw[TASKSTATS_cpu_delay_total]);
	assert_int_equal(amounts_get(&record.counters, AMOUNT_wait_count),
			 values.raw[TASKSTATS_cpu_count]);
	assert_true(taskstats_has(&values, TASKSTATS_cpu_delay_max));
	assert_int_equal(amounts_get(&record.counters, AMOUNT_wait_max),
			 values.raw[TASKSTATS_cpu_delay_max]);
	assert_true(record.has_peak);
	assert_int_equal(record.peak_rss_bytes, values.raw[TASKSTATS_hiwater_rss] * 1024);
	stats.words[200 / 8] = stats.words[248 / 8] = 0;
	exit_record_decode(9, stats.words, stats.length, &record);
	assert_false(record.has_peak);
	assert_int_equal(record.peak_rss_bytes, 0);
	exit_record_decode(9, stats.words, 0, &record);
	assert_false(record.has_peak || amounts_has(&record.counters, AMOUNT_wait_time_ns));
	assert_int_equal(amounts_get(&record.counters, AMOUNT_wait_time_ns), 0);
	stats_make(&stats, 8, 328);
	exit_record_decode(9, stats.words, stats.length, &record);
	assert_true(amounts_has(&record.counters, AMOUNT_wait_time_ns));
	assert_int_equal(amounts_get(&record.counters, AMOUNT_wait_max), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(it_registers_for_all_cpus_and_at_the_end_no_more, stop),
		cmocka_unit_test_teardown(a_smaller_buffer_does_where_a_large_one_is_refused, stop),
#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, stop)
		TEST(a_refusal_says_why, start),
		TEST(where_possible_cpus_are_not_known_those_online_are_asked, start),
		TEST(the_answer_is_found_among_records, start),
		TEST(records_are_kept_until_they_are_taken, start_open),
		TEST(what_is_no_record_is_left_out, start_open),
		TEST(losses_do_not_end_the_reading, start_open),
		TEST(what_nobody_takes_is_forgotten, start_open),
		TEST(too_many_that_nobody_takes_are_forgotten, start_open),
		TEST(a_record_has_a_name, start_open),
#undef TEST
		cmocka_unit_test(members_are_taken_from_their_places),
	};

	return cmocka_run_group_tests(tests, make_host, remove_host);
}
