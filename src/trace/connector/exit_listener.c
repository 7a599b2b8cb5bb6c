/* SPDX-License-Identifier: MIT */
#include "trace/connector/exit_listener.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "host/netlink.h"
#include "host/taskstats/taskstats.h"
#include "host/taskstats/taskstats_socket.h"

#define RECEIVED 32
#define MESSAGE_BYTES 4096	       /* a record; for the last thread also one of the process */
#define QUEUE_BYTES (16 * 1024 * 1024) /* some 6,000 records */
#define RECORDS_MAX 65536	       /* records kept for exits that the connector will report */
#define ANSWER_MS 500
#define CPU_LIST_BYTES 1024
#define KIB 1024

struct exit_listener {
	struct netlink *netlink;
	uint16_t family;
	char cpus[CPU_LIST_BYTES];
	struct number_map records;
};

/*
 * Where a counter is in a record, and its unit.  The numbers of reads and writes are not used: the
 * kernel cuts them to multiples of 1024, as it does with bytes.
 */
static const struct {
	enum taskstats_member member;
	enum amount_id id;
	uint64_t unit;
} sources[] = {
	{ TASKSTATS_cpu_run_virtual_total, AMOUNT_run_time_ns, 1 },
	{ TASKSTATS_ac_utime, AMOUNT_utime_ns, 1000 },
	{ TASKSTATS_ac_stime, AMOUNT_stime_ns, 1000 },
	{ TASKSTATS_ac_minflt, AMOUNT_minflt, 1 },
	{ TASKSTATS_ac_majflt, AMOUNT_majflt, 1 },
	{ TASKSTATS_read_bytes, AMOUNT_read_bytes, 1 },
	{ TASKSTATS_write_bytes, AMOUNT_write_bytes, 1 },
	{ TASKSTATS_read_char, AMOUNT_rchar, 1 },
	{ TASKSTATS_write_char, AMOUNT_wchar, 1 },
	{ TASKSTATS_nvcsw, AMOUNT_voluntary_csw, 1 },
	{ TASKSTATS_nivcsw, AMOUNT_nonvoluntary_csw, 1 },
	{ TASKSTATS_cpu_delay_total, AMOUNT_wait_time_ns, 1 },
	{ TASKSTATS_cpu_count, AMOUNT_wait_count, 1 },
	{ TASKSTATS_cpu_delay_max, AMOUNT_wait_max, 1 },
};

void exit_record_decode(int32_t tid, const void *bytes, size_t length, struct exit_record *ret)
{
	struct taskstats_values values;

	*ret = (struct exit_record){ .tid = tid };
	taskstats_decode(bytes, length, &values);
	taskstats_comm(bytes, length, ret->comm, sizeof(ret->comm));
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (taskstats_has(&values, sources[i].member))
			amounts_set(&ret->counters, sources[i].id,
				    values.raw[sources[i].member] * sources[i].unit);
	/* The kernel says 0 for a task without memory. */
	ret->has_peak =
		taskstats_has(&values, TASKSTATS_hiwater_rss) && values.raw[TASKSTATS_hiwater_rss];
	if (ret->has_peak)
		ret->peak_rss_bytes = values.raw[TASKSTATS_hiwater_rss] * KIB;
}

static int ask(const struct exit_listener *listener, uint16_t attribute)
{
	const struct genlmsghdr head = { .cmd = TASKSTATS_CMD_GET, .version = 1 };
	alignas(MNL_ALIGNTO) char buffer[CPU_LIST_BYTES + 64];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = listener->family;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	message->nlmsg_seq = attribute;
	memcpy(mnl_nlmsg_put_extra_header(message, sizeof(head)), &head, sizeof(head));
	mnl_attr_put_strz(message, attribute, listener->cpus);
	return netlink_send(listener->netlink, message, message->nlmsg_len);
}

static void drop_records(struct exit_listener *listener)
{
	for (size_t i = 0; i < listener->records.capacity; i++)
		free(listener->records.slots[i].value);
	number_map_clear(&listener->records);
}

void exit_listener_forget(struct exit_listener *listener)
{
	if (listener->records.count)
		drop_records(listener);
}

void exit_listener_close(struct exit_listener *listener)
{
	if (!listener)
		return;
	if (listener->family)
		(void)ask(listener, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
	netlink_close(listener->netlink);
	drop_records(listener);
	free(listener);
}

/* An old record with this number is of a thread whose exit was never reported. */
static int keep_record(struct exit_listener *listener, const struct taskstats_reply *reply)
{
	struct exit_record *record = number_map_remove(&listener->records, reply->tid);

	if (listener->records.count >= RECORDS_MAX)
		exit_listener_forget(listener);
	if (!record)
		record = malloc(sizeof(*record));
	if (!record)
		return -ENOMEM;
	exit_record_decode(reply->tid, reply->bytes, reply->length, record);
	if (number_map_set(&listener->records, reply->tid, record) == 0)
		return 0;
	free(record);
	return -ENOMEM;
}

static int keep_batch(struct exit_listener *listener, int count)
{
	for (int i = 0; i < count; i++) {
		struct taskstats_reply reply;
		size_t length;
		const void *message = netlink_message(listener->netlink, i, &length);
		int status = 0;

		if (message && taskstats_parse(message, length, &reply) == 0 && reply.status == 0)
			status = keep_record(listener, &reply);
		if (status < 0)
			return status;
	}
	return 0;
}

static int receive(struct exit_listener *listener)
{
	int count = netlink_receive(listener->netlink, MSG_DONTWAIT);

	return count == -EAGAIN ? 0 : count;
}

/*
 * A dropped record is not noticed here (-ENOBUFS): it is missed and counted when the connector
 * reports the thread's exit.
 */
int exit_listener_read(struct exit_listener *listener)
{
	for (;;) {
		int count = receive(listener), status;

		if (count == -ENOBUFS)
			continue;
		if (count <= 0)
			return count;
		status = keep_batch(listener, count);
		if (status < 0)
			return status;
	}
}

bool exit_listener_take(struct exit_listener *listener, int32_t tid, struct exit_record *ret)
{
	struct exit_record *record = number_map_remove(&listener->records, tid);

	if (!record)
		return false;
	*ret = *record;
	free(record);
	return true;
}

const char *exit_listener_comm(const struct exit_listener *listener, int32_t tid)
{
	const struct exit_record *record = number_map_get(&listener->records, tid);

	return record && record->comm[0] ? record->comm : NULL;
}

/* Registers all possible CPUs, so that one that comes online later is included. */
static int find_cpus(const struct host *host, char *buffer, size_t capacity)
{
	struct text online = { 0 };
	int status = 0;

	if (host_read_line(host->sys, "devices/system/cpu/possible", buffer, capacity))
		return 0;
	cpulist_format(host->online.words, host->online.word_count, &online);
	if (online.failed || !online.length || online.length >= capacity)
		status = -EINVAL;
	else
		memcpy(buffer, online.data, online.length + 1);
	text_free(&online);
	return status;
}

/* Waits for the answer to the registration; a record may arrive before it. */
static int await_answer(struct exit_listener *listener)
{
	while (netlink_wait(listener->netlink, ANSWER_MS)) {
		int count = receive(listener);

		if (count < 0)
			return count;
		for (int i = 0; i < count; i++) {
			size_t length;
			const struct nlmsghdr *header =
				netlink_message(listener->netlink, i, &length);
			struct nlmsgerr answer;

			if (!header || length < NLMSG_LENGTH(sizeof(answer)) ||
			    header->nlmsg_type != NLMSG_ERROR)
				continue;
			memcpy(&answer, mnl_nlmsg_get_payload(header), sizeof(answer));
			return answer.error;
		}
	}
	return -ETIMEDOUT;
}

static int find_family(uint16_t *ret)
{
	CLEANUP(taskstats_socket_free_pointer) struct taskstats_socket *asking = NULL;
	int status = taskstats_socket_open(&asking);

	if (status == 0)
		*ret = taskstats_socket_family(asking);
	return status;
}

static int explain(int status, struct error *error)
{
	switch (status) {
	case -ENOENT:
		return error_set(error, status, "this kernel has no taskstats (CONFIG_TASKSTATS)");
	case -EPERM:
		return error_set(error, status,
				 "the exit records of taskstats need CAP_NET_ADMIN: run as root");
	case -EINVAL:
		return error_set(error, status,
				 "exit records of taskstats are only for the host's PID and user "
				 "namespaces, not for those of a container");
	default:
		return error_set(error, status, "exit records of taskstats cannot be had: %s",
				 strerror(-status));
	}
}

static int start_listening(struct exit_listener *listener, const struct host *host)
{
	int status = find_cpus(host, listener->cpus, sizeof(listener->cpus));

	if (status == 0)
		status = find_family(&listener->family);
	if (status == 0)
		status = ask(listener, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
	return status < 0 ? status : await_answer(listener);
}

int exit_listener_open(const struct host *host, struct exit_listener **ret, struct error *error)
{
	CLEANUP(exit_listener_close_pointer) struct exit_listener *opened = NULL;
	const struct netlink_size size = { RECEIVED, MESSAGE_BYTES, QUEUE_BYTES };
	int status;

	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_set(error, -ENOMEM, "out of memory");
	status = netlink_open(NETLINK_GENERIC, size, &opened->netlink);
	if (status == 0)
		status = start_listening(opened, host);
	if (status < 0)
		return explain(status, error);
	*ret = TAKE_PTR(opened);
	return 0;
}
