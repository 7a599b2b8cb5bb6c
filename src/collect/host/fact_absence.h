/* SPDX-License-Identifier: MIT */
/*
 * Records why a fact about the host is not known.  Facts have no place for a reason: so for each
 * missing fact the host's sheet gets a column with its name, without cells and with the reason.
 */
#ifndef COLLECT_FACT_ABSENCE_H
#define COLLECT_FACT_ABSENCE_H

#include "model/snapshot/snapshot.h"

struct capture;

enum host_tree {
	TREE_PROC,
	TREE_SYS,
	TREE_ETC,
};

/* Where a fact is read from: a file in one of the host's trees. */
struct fact_place {
	enum host_tree tree;
	const char *path;
};

/*
 * The file could not be read (a negative errno), is empty (-ENODATA), makes no sense (-EBADMSG),
 * or lacks the line with the fact (-ENOKEY).
 */
void fact_set_unread(struct capture *capture, enum fact_id id, const struct fact_place *place,
		     int status);

/* No file has the fact, for this reason. */
void fact_set_absent(struct capture *capture, enum fact_id id, const char *reason);

/* If facts were lost, marks the source as partial, with a reason that names them.  0 or -ENOMEM. */
int facts_note_lost(struct capture *capture);

#endif
