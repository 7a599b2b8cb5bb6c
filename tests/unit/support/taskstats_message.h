/* SPDX-License-Identifier: MIT */
/*
 * Messages as the kernel sends them, for tests of taskstats.
 *
 * The structure in them has a word of 64 bits after the other, each with its own
 * offset as its value, so that a member tells where it was read.
 */
#ifndef TESTS_UNIT_TASKSTATS_MESSAGE_H
#define TESTS_UNIT_TASKSTATS_MESSAGE_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdint.h>
#include <string.h>

#define MESSAGE_FAMILY 23
#define STATS_MAX 1024

struct stats {
	size_t length;
	uint64_t words[STATS_MAX / 8];
};

static inline void stats_make(struct stats *stats, uint16_t version, size_t length)
{
	stats->length = length;
	for (size_t i = 0; i < STATS_MAX / 8; i++)
		stats->words[i] = i * 8;
	memcpy(stats->words, &version, sizeof(version));
}

struct message {
	size_t length;
	uint32_t words[(STATS_MAX + 256) / 4];
};

static inline void message_append(struct message *message, const void *bytes, size_t length)
{
	memcpy((char *)message->words + message->length, bytes, length);
	message->length += (length + 3) & ~(size_t)3;
}

static inline void message_attribute(struct message *message, uint16_t type, const void *bytes,
				     size_t length)
{
	const struct nlattr head = { (uint16_t)(sizeof(head) + length), type };

	message_append(message, &head, sizeof(head));
	message_append(message, bytes, length);
}

static inline void message_begin(struct message *message, uint16_t type, uint32_t sequence)
{
	const struct nlmsghdr head = { .nlmsg_type = type, .nlmsg_seq = sequence };

	memset(message, 0, sizeof(*message));
	message_append(message, &head, sizeof(head));
}

static inline void message_end(struct message *message)
{
	((struct nlmsghdr *)message->words)->nlmsg_len = (uint32_t)message->length;
}

/* The answer about a task. */
static inline void message_answer(struct message *message, uint32_t sequence, uint32_t tid,
				  const struct stats *stats)
{
	const struct genlmsghdr head = { .cmd = TASKSTATS_CMD_NEW, .version = 1 };
	struct message inner = { 0 };

	message_attribute(&inner, TASKSTATS_TYPE_PID, &tid, sizeof(tid));
	message_attribute(&inner, TASKSTATS_TYPE_NULL, "", 0);
	message_attribute(&inner, TASKSTATS_TYPE_STATS, stats->words, stats->length);
	message_begin(message, MESSAGE_FAMILY, sequence);
	message_append(message, &head, sizeof(head));
	message_attribute(message, TASKSTATS_TYPE_AGGR_PID, inner.words, inner.length);
	message_end(message);
}

static inline void message_error(struct message *message, uint32_t sequence, int error)
{
	const struct nlmsgerr body = { .error = error };

	message_begin(message, NLMSG_ERROR, sequence);
	message_append(message, &body, sizeof(body));
	message_end(message);
}

#endif
