/* SPDX-License-Identifier: MIT */
/*
 * Records why cgroups lack a file's values.  The reasons are counted for each file while cgroups
 * are read, and written once at the end in words that a person can act on.
 */
#ifndef COLLECT_CGROUP_ABSENCE_H
#define COLLECT_CGROUP_ABSENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "collect/cgroup/cgroup_files.h"
#include "collect/cgroup/cgroup_v1.h"

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
	ABSENCE_NO_LINE, /* the file was read, and does not have the value */
	ABSENCE_ROOT,
	ABSENCE_COUNT,
};

/* All zeros is valid. */
struct cgroup_absences {
	uint32_t counts[ABSENCE_COUNT];
	const char *details[ABSENCE_COUNT]; /* a controller, a hierarchy, a file, an errno's text */
};

/* Counts one cgroup.  The detail is kept as a pointer, so it must live as long. */
void cgroup_absences_add(struct cgroup_absences *absences, enum cgroup_absence absence,
			 const char *detail);

/*
 * All that cgroups lack.  A reading may come from a v2 file or from a v1 file, and the reason for
 * its absence differs between the two.
 */
struct cgroup_lacks {
	struct cgroup_absences v2[CGROUP_FILE_COUNT];
	struct cgroup_absences v1[CGROUP_V1_MAX]; /* where v2's file does not give it instead */
	uint32_t v1_trees; /* a bit for each v1 file whose hierarchy the host has */
};

/*
 * Sets a reason for every column of the sheet that has missing cells, and for the columns that a
 * missing file would have filled.  A file that gave no values at all gets a column of its own for
 * the reason; its name has stars in place of the file's keys.  0 or -ENOMEM.
 */
int cgroup_lacks_explain(const struct cgroup_lacks *lacks, struct sheet *sheet);

#endif
