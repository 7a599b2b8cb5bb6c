/* SPDX-License-Identifier: MIT */
/*
 * Why cgroups do not have a file's values: counted for each file while cgroups
 * are read, told once in words that a person can act on.
 */
#ifndef COLLECT_CGROUP_ABSENCE_H
#define COLLECT_CGROUP_ABSENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "collect/cgroup_files.h"
#include "collect/cgroup_v1.h"

struct sheet;

enum cgroup_absence {
	ABSENCE_NONE, /* it was read */
	ABSENCE_NOT_ENABLED,
	ABSENCE_NO_CONTROLLER,
	ABSENCE_NO_V2,
	ABSENCE_V1_LACKS,
	ABSENCE_ELSEWHERE,
	ABSENCE_KERNEL,
	ABSENCE_PRESSURE_OFF,
	ABSENCE_NOT_RECORDED,
	ABSENCE_GONE,
	ABSENCE_OUTSIDE,
	ABSENCE_REFUSED,
	ABSENCE_BROKEN,
	ABSENCE_NO_LINE, /* the file was read and does not tell */
	ABSENCE_ROOT,
	ABSENCE_COUNT,
};

/* All zeros is valid. */
struct cgroup_absences {
	uint32_t counts[ABSENCE_COUNT];
	const char *details[ABSENCE_COUNT]; /* a controller, a hierarchy, a file, an errno's text */
};

/* Counts one cgroup.  The detail is kept as a pointer: static text. */
void cgroup_absences_add(struct cgroup_absences *absences, enum cgroup_absence absence,
			 const char *detail);

/*
 * All that cgroups lack.  A reading may come from v2's file or from one of v1, and
 * what stands in the way is another thing for each.
 */
struct cgroup_lacks {
	struct cgroup_absences files[CGROUP_FILE_COUNT]; /* neither gave anything */
	struct cgroup_absences v2[CGROUP_FILE_COUNT];
	struct cgroup_absences v1[CGROUP_V1_MAX]; /* and v2's file does not stand in for it */
	uint32_t v1_trees; /* bit for each file of v1 whose hierarchy the host has */
};

/*
 * Gives a reason to every column of the sheet that has missing cells, to the
 * columns that a missing file would have filled, and to a column of its own for
 * every file that gave none: its name, with stars for what the file would have
 * told.  0 or -ENOMEM.
 */
int cgroup_lacks_tell(const struct cgroup_lacks *lacks, struct sheet *sheet);

#endif
