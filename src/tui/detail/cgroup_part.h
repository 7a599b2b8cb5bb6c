/* SPDX-License-Identifier: MIT */
/* Limits, use and pressure of a cgroup: what limits it now comes first, the rest is folded. */
#ifndef TUI_CGROUP_PART_H
#define TUI_CGROUP_PART_H

struct top;

void cgroup_part_add(struct top *top, const char *path);
/* Unfolds the rest of the page that is shown, or folds it again. */
void cgroup_part_switch(struct top *top);

#endif
