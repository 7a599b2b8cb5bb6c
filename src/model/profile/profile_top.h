/* SPDX-License-Identifier: MIT */
/*
 * The functions in which a run spent most of its time.
 *
 * The time of a sample belongs to the function that did the work or waited: on the CPU the
 * innermost one.  A thread off the CPU is always in the same few functions of the kernel and of the
 * C library, so there it is the innermost one outside of both; if all are inside, the innermost
 * outside the kernel.
 */
#ifndef MODEL_PROFILE_TOP_H
#define MODEL_PROFILE_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile/profile.h"

#define PROFILE_NO_FRAME UINT32_MAX

/* A function of a module, or an address of it where the function is not known. */
struct profile_top {
	uint32_t frame;	   /* one of its frames */
	uint64_t self_ns;  /* that belongs to it */
	uint64_t total_ns; /* and to what it called; each sample counts once */
	uint32_t caller;   /* the one to which most of self_ns belongs; PROFILE_NO_FRAME: none */
	uint64_t caller_ns;
	uint8_t reason; /* enum wait_reason: most of self_ns; means nothing on the CPU */
	uint64_t reason_ns;
};

struct profile_tops {
	struct profile_top *rows; /* by self_ns, the largest first; only those that have some */
	size_t count;
	uint64_t ns; /* of all samples of that kind, with or without a stack */
};

/* Whether time off the CPU never belongs to such a frame while there is another. */
bool profile_frame_is_library(const struct profile *profile, const struct profile_frame *frame);

/* 0, and a list for profile_tops_free(); or -ENOMEM. */
int profile_tops(const struct profile *profile, enum profile_kind kind, struct profile_tops *ret);
void profile_tops_free(struct profile_tops *tops);

#endif
