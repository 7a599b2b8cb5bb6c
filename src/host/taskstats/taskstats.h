/* SPDX-License-Identifier: MIT */
/*
 * Parses what the kernel's taskstats interface answers about one task: the netlink message, and
 * the structure in it.
 *
 * The structure has a version.  Every version adds members at its end, except version 15, which
 * inserted members in the middle.  So the place of a member depends on the version, and whether it
 * is there also depends on the length that was sent.  If the version is newer than the newest
 * known one, the known part is read.
 *
 * All functions are pure: they take bytes and never read beyond them.
 */
#ifndef HOST_TASKSTATS_H
#define HOST_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a task can wait for, and where that is in the structure.
 *
 *	FAMILY(name, since, count, count in version 15, max, timestamp of max)
 *
 * A total follows its count, a minimum its maximum.  `since` is the version that
 * brought count and total.  In version 15 the four follow each other.
 */
#define TASKSTATS_FAMILIES(FAMILY)                                                                 \
	FAMILY(cpu, 1, 16, 16, 432, 560)                                                           \
	FAMILY(blkio, 1, 32, 48, 448, 576)                                                         \
	FAMILY(swapin, 1, 48, 80, 464, 592)                                                        \
	FAMILY(freepages, 8, 312, 360, 480, 608)                                                   \
	FAMILY(thrashing, 9, 328, 392, 496, 624)                                                   \
	FAMILY(compact, 11, 352, 432, 512, 640)                                                    \
	FAMILY(wpcopy, 13, 400, 496, 528, 656)                                                     \
	FAMILY(irq, 14, 416, 528, 544, 672)

/*
 * What else is taken, by the kernel's names:
 *
 *	MEMBER(name, since, offset, offset in version 15, bytes)
 */
#define TASKSTATS_SINGLES(MEMBER)                                                                  \
	MEMBER(ac_exitcode, 1, 4, 4, 4) /* of a leader; as wait() has it */                        \
	MEMBER(cpu_run_virtual_total, 1, 72, 120, 8)                                               \
	MEMBER(ac_etime, 2, 144, 192, 8) /* microseconds since the start, not counting suspends */ \
	MEMBER(ac_utime, 2, 152, 200, 8) /* microseconds, sampled by the tick; so is the next */   \
	MEMBER(ac_stime, 2, 160, 208, 8)                                                           \
	MEMBER(ac_minflt, 2, 168, 216, 8)                                                          \
	MEMBER(ac_majflt, 2, 176, 224, 8)                                                          \
	MEMBER(hiwater_rss, 3, 200, 248, 8) /* KiB; so is the next */                              \
	MEMBER(hiwater_vm, 3, 208, 256, 8)                                                         \
	MEMBER(read_char, 3, 216, 264, 8) /* cut to a multiple of 1024; so are the next three */   \
	MEMBER(write_char, 3, 224, 272, 8)                                                         \
	MEMBER(read_syscalls, 3, 232, 280, 8)                                                      \
	MEMBER(write_syscalls, 3, 240, 288, 8)                                                     \
	MEMBER(read_bytes, 3, 248, 296, 8)                                                         \
	MEMBER(write_bytes, 3, 256, 304, 8)                                                        \
	MEMBER(nvcsw, 3, 272, 320, 8)                                                              \
	MEMBER(nivcsw, 3, 280, 328, 8)                                                             \
	MEMBER(ac_tgid, 12, 368, 464, 4)

/* Members, by the kernel's names. */
enum taskstats_member {
#define FAMILY(name, ...)                                                                          \
	TASKSTATS_##name##_count, TASKSTATS_##name##_delay_total, TASKSTATS_##name##_delay_max,    \
		TASKSTATS_##name##_delay_min, TASKSTATS_##name##_delay_max_ts,
	TASKSTATS_FAMILIES(FAMILY)
#undef FAMILY
#define MEMBER(name, ...) TASKSTATS_##name,
		TASKSTATS_SINGLES(MEMBER)
#undef MEMBER
			TASKSTATS_MEMBERS,
};

/* Raw numbers; a timestamp (_ts) in nanoseconds of the wall clock. */
struct taskstats_values {
	uint64_t present; /* a bit for each member */
	uint64_t raw[TASKSTATS_MEMBERS];
};

static inline bool taskstats_has(const struct taskstats_values *values,
				 enum taskstats_member member)
{
	return values->present >> member & 1;
}

/* Parses the structure.  One that is too short to hold its version has no members. */
void taskstats_decode(const void *bytes, size_t length, struct taskstats_values *ret);

/* The task's name, "" when it is not there. */
void taskstats_comm(const void *bytes, size_t length, char *comm, size_t capacity);

/* One message of the kernel. */
struct taskstats_reply {
	uint32_t sequence; /* of the request */
	int status;	   /* 0, or the negative errno that the kernel answered with */
	int32_t tid;	   /* when the status is 0: the task it is about, */
	const void *bytes; /* and the structure, in the message */
	size_t length;
};

/*
 * Parses a message, which must be aligned for 32-bit numbers.  Returns 0, or -EBADMSG for anything
 * but an answer about a task.
 */
int taskstats_parse(const void *message, size_t length, struct taskstats_reply *ret);

#endif
