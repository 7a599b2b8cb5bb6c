/*
 * What a group is set to, rather than how much it has: ranges, categories and
 * sets of CPUs.  Folded over all snapshots of a side, group by group.
 */
#ifndef ANALYZE_COMPARE_SETTINGS_H
#define ANALYZE_COMPARE_SETTINGS_H

#include <stdint.h>

#include "analyze/comparison.h"
#include "metric/fold.h"

struct compare_layout;

/* Members of each group, by snapshot and scope, and CPUs of each list. */
struct compare_settings {
	const struct compare_layout *layout;
	struct member_list {
		uint32_t *first; /* by group, and one more */
		uint32_t *rows;
		uint32_t *cpu_counts; /* plus one, by the list's number; 0: not counted yet */
	} * lists;		      /* SCOPE_THREAD, SCOPE_PROCESS of each run */
};

/* The layout must outlive it.  0, or -ENOMEM and there is nothing to clear. */
int compare_settings_init(struct compare_settings *settings, const struct compare_layout *layout);
void compare_settings_clear(struct compare_settings *settings);

/* A side of a group.  Texts that are no snapshot's are put into the arena. */
struct setting {
	struct fold fold;
	const char *list; /* of a cpu set that all share */
};

void compare_settings_fold(struct compare_settings *settings, int side, enum metric_id id,
			   size_t group, struct setting *ret);
bool setting_equals(const struct setting *a, const struct setting *b);
/* 0 or -ENOMEM. */
int setting_value(const struct setting *setting, struct arena *arena, struct compared_value *ret);

#endif
