/* SPDX-License-Identifier: MIT */
/*
 * Why a fact about the host is not known.  Facts have no reasons of their own: the
 * host's sheet has a column without cells under the name of each that is missing.
 */
#ifndef COLLECT_FACT_ABSENCE_H
#define COLLECT_FACT_ABSENCE_H

#include "model/snapshot.h"

struct capture;

enum host_tree {
	TREE_PROC,
	TREE_SYS,
	TREE_ETC,
};

/* Where a fact is told: a file of one of the host's trees. */
struct fact_place {
	enum host_tree tree;
	const char *path;
};

/*
 * The file could not be read (a negative errno), is empty (-ENODATA), makes no sense
 * (-EBADMSG), or lacks the line that would tell (-ENOKEY).
 */
void fact_set_unread(struct capture *capture, enum fact_id id, const struct fact_place *place,
		     int status);

/* No file tells it, and this is why. */
void fact_set_absent(struct capture *capture, enum fact_id id, const char *reason);

/* Makes the source partial when facts were lost: its reason names them.  0 or -ENOMEM. */
int facts_tell_lost(struct capture *capture);

#endif
