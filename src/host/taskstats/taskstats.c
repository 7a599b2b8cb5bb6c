/* SPDX-License-Identifier: MIT */
#include "host/taskstats/taskstats.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <string.h>

#include "base/clock.h"

#define INTERLEAVED_VERSION 15 /* the one with maxima and minima in the middle */
#define MAXIMA_VERSION 16
#define TIMESTAMPS_VERSION 17

/* Where a member is.  Offset 0 means nowhere, since the version itself is there. */
struct place {
	uint16_t since;
	uint16_t offset;
	uint16_t interleaved_offset;
	uint16_t bytes; /* 16: a time, as seconds and nanoseconds */
};

static const struct place places[TASKSTATS_MEMBERS] = {
/* clang-format off */
#define FAMILY(name, since, count, interleaved, max, timestamp)                                    \
	[TASKSTATS_##name##_count] = { since, count, interleaved, 8 },                         \
	[TASKSTATS_##name##_delay_total] = { since, (count) + 8, (interleaved) + 8, 8 },       \
	[TASKSTATS_##name##_delay_max] = { MAXIMA_VERSION, max, (interleaved) + 16, 8 },       \
	[TASKSTATS_##name##_delay_min] = { MAXIMA_VERSION, (max) + 8, (interleaved) + 24, 8 }, \
	[TASKSTATS_##name##_delay_max_ts] = { TIMESTAMPS_VERSION, timestamp, 0, 16 },
	TASKSTATS_FAMILIES(FAMILY)
#undef FAMILY
#define MEMBER(name, since, offset, interleaved, bytes)                                            \
	[TASKSTATS_##name] = { since, offset, interleaved, bytes },
	TASKSTATS_SINGLES(MEMBER)
#undef MEMBER
	/* clang-format on */
};

_Static_assert(TASKSTATS_MEMBERS <= 64, "the present bits fit in 64 bits");

/* Where the member is in these bytes; 0 when it is not there. */
static size_t offset_in(const struct place *place, const void *bytes, size_t length)
{
	size_t offset = place->offset;
	uint16_t version;

	if (length < sizeof(version))
		return 0;
	memcpy(&version, bytes, sizeof(version));
	if (version == INTERLEAVED_VERSION)
		offset = place->interleaved_offset;
	else if (version < place->since)
		return 0;
	return offset + place->bytes <= length ? offset : 0;
}

/* Attributes are aligned for 32-bit numbers only, hence the copies. */
static uint64_t number_at(const char *bytes, size_t offset)
{
	uint64_t number;

	memcpy(&number, bytes + offset, sizeof(number));
	return number;
}

static uint64_t value_at(const char *bytes, size_t offset, const struct place *place)
{
	uint32_t number;

	if (place->bytes == 16)
		return number_at(bytes, offset) * NS_PER_SECOND + number_at(bytes, offset + 8);
	if (place->bytes == 8)
		return number_at(bytes, offset);
	memcpy(&number, bytes + offset, sizeof(number));
	return number;
}

void taskstats_decode(const void *bytes, size_t length, struct taskstats_values *ret)
{
	ret->present = 0;
	for (int member = 0; member < TASKSTATS_MEMBERS; member++) {
		const struct place *place = &places[member];
		size_t offset = offset_in(place, bytes, length);

		if (!offset)
			continue;
		ret->raw[member] = value_at(bytes, offset, place);
		ret->present |= 1ull << member;
	}
}

void taskstats_comm(const void *bytes, size_t length, char *comm, size_t capacity)
{
	static const struct place place = { 2, 80, 128, TS_COMM_LEN };
	size_t offset = offset_in(&place, bytes, length);

	comm[0] = '\0';
	if (!offset)
		return;
	capacity = capacity > place.bytes ? place.bytes : capacity;
	memcpy(comm, (const char *)bytes + offset, capacity - 1);
	comm[capacity - 1] = '\0';
}

/* The attribute of that type, if it is complete and has at least that length; else NULL. */
static const struct nlattr *find_attribute(const void *bytes, size_t length, uint16_t type,
					   size_t least)
{
	const struct nlattr *attribute = bytes;

	while (length <= INT32_MAX && mnl_attr_ok(attribute, (int)length)) {
		size_t size = MNL_ALIGN(attribute->nla_len);

		if (mnl_attr_get_type(attribute) == type &&
		    mnl_attr_get_payload_len(attribute) >= least)
			return attribute;
		if (size >= length)
			break;
		attribute = mnl_attr_next(attribute);
		length -= size;
	}
	return NULL;
}

static int parse_error(const struct nlmsghdr *header, struct taskstats_reply *ret)
{
	struct nlmsgerr error;

	if (mnl_nlmsg_get_payload_len(header) < sizeof(error))
		return -EBADMSG;
	memcpy(&error, mnl_nlmsg_get_payload(header), sizeof(error));
	/* 0 is an acknowledgement, which we did not ask for and which is not an answer. */
	if (error.error >= 0 || error.error < -4095)
		return -EBADMSG;
	ret->sequence = header->nlmsg_seq;
	ret->status = error.error;
	return 0;
}

static int parse_answer(const struct nlmsghdr *header, struct taskstats_reply *ret)
{
	const char *payload = mnl_nlmsg_get_payload_offset(header, sizeof(struct genlmsghdr));
	size_t length = mnl_nlmsg_get_payload_len(header);
	const struct nlattr *outer, *tid, *stats;

	if (length < GENL_HDRLEN)
		return -EBADMSG;
	outer = find_attribute(payload, length - GENL_HDRLEN, TASKSTATS_TYPE_AGGR_PID, 0);
	if (!outer)
		return -EBADMSG;
	payload = mnl_attr_get_payload(outer);
	length = mnl_attr_get_payload_len(outer);
	tid = find_attribute(payload, length, TASKSTATS_TYPE_PID, sizeof(ret->tid));
	stats = find_attribute(payload, length, TASKSTATS_TYPE_STATS, 0);
	if (!tid || !stats)
		return -EBADMSG;
	ret->sequence = header->nlmsg_seq;
	ret->status = 0;
	ret->tid = (int32_t)mnl_attr_get_u32(tid);
	ret->bytes = mnl_attr_get_payload(stats);
	ret->length = mnl_attr_get_payload_len(stats);
	return 0;
}

int taskstats_parse(const void *message, size_t length, struct taskstats_reply *ret)
{
	const struct nlmsghdr *header = message;

	/* mnl_nlmsg_ok() would treat a length of 2 GiB or more as negative. */
	if (length > INT32_MAX || !mnl_nlmsg_ok(header, (int)length) || header->nlmsg_len > length)
		return -EBADMSG;
	if (header->nlmsg_type == NLMSG_ERROR)
		return parse_error(header, ret);
	if (header->nlmsg_type < NLMSG_MIN_TYPE)
		return -EBADMSG;
	return parse_answer(header, ret);
}
