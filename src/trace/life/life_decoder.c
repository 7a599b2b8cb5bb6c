/* SPDX-License-Identifier: MIT */
#include "trace/life/life_decoder.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "trace/bpf/counters.h"

static_assert(TREE_COMM_SIZE == LIFE_RECORD_COMM, "names have one size");
static_assert(TREE_ARGUMENTS_MAX == LIFE_RECORD_ARGUMENTS, "command lines have one size");

static const struct {
	size_t size; /* the smallest */
	int kind;
} types[LIFE_RECORD_COUNT] = {
	[LIFE_RECORD_SPAWN] = { sizeof(struct life_record_head), LIFE_SPAWN },
	[LIFE_RECORD_EXEC] = { offsetof(struct life_exec_record, arguments), LIFE_EXEC },
	[LIFE_RECORD_EXIT] = { sizeof(struct life_exit_record), LIFE_EXIT },
	[LIFE_RECORD_SIGNAL] = { sizeof(struct life_signal_record), LIFE_SIGNAL },
	[LIFE_RECORD_OOM] = { sizeof(struct life_record_head), LIFE_OOM },
	[LIFE_RECORD_RENAME] = { sizeof(struct life_rename_record), LIFE_RENAME },
	[LIFE_RECORD_MEMBER] = { sizeof(struct life_record_head), -1 },
};

int life_record_kind(uint32_t type)
{
	return type < LIFE_RECORD_COUNT ? types[type].kind : -1;
}

/* The size that the record must have; 0 when its own numbers make no sense. */
static size_t expected_size(const struct life_record_head *head)
{
	const struct life_exec_record *exec = (const void *)head;
	size_t size = types[head->type].size;

	if (head->type != LIFE_RECORD_EXEC)
		return size;
	return exec->length <= LIFE_RECORD_ARGUMENTS ? size + exec->length : 0;
}

ssize_t life_record_size(const void *bytes, size_t length)
{
	const struct life_record_head *head = bytes;

	if (length < sizeof(*head))
		return 0;
	if (head->type >= LIFE_RECORD_COUNT || head->size < types[head->type].size)
		return -EBADMSG;
	if (length < types[head->type].size)
		return 0;
	if (head->size != expected_size(head))
		return -EBADMSG;
	return length < head->size ? 0 : (ssize_t)head->size;
}

static struct task_key life_decoder_key(const struct life_decoder *decoder,
					const struct life_record_head *head)
{
	uint64_t start_ns =
		head->start_ns ? head->start_ns + (uint64_t)decoder->boottime_offset_ns : 0;

	return (struct task_key){ head->pid, head->pid, start_ns - start_ns % decoder->tick_ns };
}

static void copy_comm(char target[TREE_COMM_SIZE], const void *source)
{
	memcpy(target, source, TREE_COMM_SIZE);
	target[TREE_COMM_SIZE - 1] = '\0';
}

static void decode_exec(const struct life_decoder *decoder, const void *bytes,
			struct life_report *ret)
{
	const struct life_exec_record *record = bytes;

	ret->arguments = record->arguments;
	ret->length = record->length;
	ret->cut = record->cut;
	ret->has_maxrss = true;
	ret->maxrss_bytes = record->maxrss * decoder->page_bytes;
}

/* Ticks only tell the ratio of user and system time. */
static void decode_usage(const struct life_exit_record *record, struct amounts *amounts)
{
	static const enum amount_id ids[LIFE_USAGE_COUNT] = {
#define AMOUNT_OF(id, ...) [LIFE_USAGE_##id] = AMOUNT_##id,
		LIFE_USAGES(AMOUNT_OF, AMOUNT_OF)
#undef AMOUNT_OF
	};
	const struct amounts nothing = { 0 };
	struct amounts raw = { 0 };

	for (size_t i = 0; i < LIFE_USAGE_COUNT; i++)
		if (record->present >> i & 1)
			amounts_set(&raw, ids[i], record->usage[i]);
	counters_raise(amounts, &nothing, &raw);
}

static void decode_exit(const struct life_decoder *decoder, const void *bytes,
			struct life_report *ret)
{
	const struct life_exit_record *record = bytes;
	struct life_event *event = &ret->event;

	event->present |= LIFE_HAS_STATUS;
	event->status = record->status;
	if (record->has_peak) {
		event->present |= LIFE_HAS_PEAK;
		event->peak_rss_bytes = record->peak * decoder->page_bytes;
	}
	ret->has_maxrss = true;
	ret->maxrss_bytes = record->maxrss * decoder->page_bytes;
	ret->oom_killed = record->oom_killed;
	decode_usage(record, &event->amounts);
}

static void decode_signal(const struct life_decoder *decoder, const void *bytes,
			  struct life_report *ret)
{
	const struct life_signal_record *record = bytes;

	(void)decoder;
	ret->event.kind = record->number == SIGKILL ? LIFE_KILL : LIFE_SIGNAL;
	ret->event.present |= LIFE_HAS_SENDER;
	ret->event.signal = record->number;
	ret->event.sender_pid = record->sender_pid;
	copy_comm(ret->sender_comm, record->sender_comm);
}

static void decode_rename(const struct life_decoder *decoder, const void *bytes,
			  struct life_report *ret)
{
	const struct life_rename_record *record = bytes;

	(void)decoder;
	copy_comm(ret->event.comm, record->comm);
}

typedef void record_decoder(const struct life_decoder *decoder, const void *bytes,
			    struct life_report *ret);

static record_decoder *const decoders[LIFE_RECORD_COUNT] = {
	[LIFE_RECORD_EXEC] = decode_exec,
	[LIFE_RECORD_EXIT] = decode_exit,
	[LIFE_RECORD_SIGNAL] = decode_signal,
	[LIFE_RECORD_RENAME] = decode_rename,
};

int life_decode(const struct life_decoder *decoder, const void *bytes, size_t length,
		struct life_report *ret)
{
	const struct life_record_head *head = bytes;

	if (life_record_size(bytes, length) <= 0)
		return -EBADMSG;
	*ret = (struct life_report){
		.event.kind = types[head->type].kind < 0 ? LIFE_SPAWN : types[head->type].kind,
		.event.task = life_decoder_key(decoder, head),
		.event.parent_pid = head->parent_pid,
		.time_ns = head->time_ns,
		.is_found = head->type == LIFE_RECORD_MEMBER,
	};
	copy_comm(ret->event.comm, head->comm);
	if (head->start_ns) {
		ret->event.present = LIFE_HAS_UID;
		ret->event.uid = head->euid;
	}
	if (decoders[head->type])
		decoders[head->type](decoder, bytes, ret);
	return 0;
}
