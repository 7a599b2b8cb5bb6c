/* SPDX-License-Identifier: MIT */
/*
 * Finds cgroups that were renamed: which cgroup of A is which of B, when
 * neither side has the other's key.
 *
 * A cgroup is recognised by its threads: its type set is the patterns of the
 * process and thread names in it.  Two cgroups are the same when
 *
 *	they share at least 10 types, and 90 % of all types that either has; or
 *	their sets are equal, however small, their last segments are alike (equal, or
 *	begin with the same word), and no other cgroup of either side fits as well; or
 *	they are at the same place below two that match, and share half their types.
 *
 * Each is matched once.  The order of tasks does not change the result.  Which
 * side is called A changes it only where more than 32 others fit one equally
 * well.
 *
 *	cgroup_matches_new(&before, &after, &options->grouping, &matches);
 *	match = cgroup_matches_find(matches, group->cgroup);	(a group of B)
 *	if (match)
 *		cgroup_match_append_key(match, group, &key);	(what A calls it)
 *
 * Time and memory grow with the number of tasks, not of pairs.
 */
#ifndef ANALYZE_CGROUP_MATCH_H
#define ANALYZE_CGROUP_MATCH_H

#include <stddef.h>

struct compare_side;
struct group;
struct grouping_options;
struct text;

struct cgroup_match {
	const char *before, *after; /* keys, as a census of both sides gives them */
};

struct cgroup_matches;

/*
 * NULL options mean the defaults.  Returns 0 and matches that the caller frees,
 * -ENOMEM, or the error of census_new() for the options.
 */
int cgroup_matches_new(const struct compare_side *sides, const struct grouping_options *options,
		       struct cgroup_matches **ret);
void cgroup_matches_free(struct cgroup_matches *matches); /* NULL is allowed */
void cgroup_matches_free_pointer(struct cgroup_matches **matches);

/* Sorted by B's keys. */
const struct cgroup_match *cgroup_matches_all(const struct cgroup_matches *matches,
					      size_t *ret_count);

/* Finds by the key of a cgroup of B, such as group->cgroup.  NULL is allowed and has no match. */
const struct cgroup_match *cgroup_matches_find(const struct cgroup_matches *matches,
					       const char *after);

/* Appends the key that a group of B has in A, on the axes cgroup and all. */
void cgroup_match_append_key(const struct cgroup_match *match, const struct group *group,
			     struct text *out);

#endif
