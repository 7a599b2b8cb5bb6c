/* SPDX-License-Identifier: MIT */
/*
 * Arranges keys of AXIS_ALL as a tree: cgroups by the segments of their paths, in them processes,
 * in those threads.
 *
 *	struct key_tree tree = { 0 };
 *	for each key, the most important first: key_tree_add(&tree, &key, item);
 *	key_tree_finish(&tree);
 *	for each of tree.lines: line->depth, line->label, line->item
 *	for each key of all, also of those that were not added: key_tree_find(&tree, &key)
 *	key_tree_clear(&tree);
 *
 * Below one parent, what came first stays first.  A node that has only one below it is one line
 * with that: "/system.slice/cron.service cron".  So an inner line has at least two lines below.
 */
#ifndef ANALYZE_KEY_TREE_H
#define ANALYZE_KEY_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "base/text.h"

struct dictionary;

#define KEY_TREE_NONE UINT32_MAX

/* A key, and where its first two parts end in it: "CGROUP PROCESS/THREAD". */
struct tree_key {
	const char *text;
	uint32_t cgroup_end, process_end; /* 0: it has no parts */
};

struct tree_line {
	const char *label; /* what it adds to the line above it that contains it */
	uint32_t depth;
	uint32_t item;	 /* KEY_TREE_NONE: an inner line */
	uint32_t parent; /* the line that contains it; KEY_TREE_NONE: no line does */
	uint32_t first;	 /* of an inner line: the item that came first */
};

struct tree_node;

/* All zeros is empty and valid. */
struct key_tree {
	ARRAY_OF(struct tree_line) lines; /* each after the one that contains it */
	ARRAY_OF(struct tree_node) nodes;
	struct dictionary *names; /* of the nodes: what kind they are, and the start of their key */
	struct arena arena;
	struct text name;
};

/* The key must live until the tree is finished; each key is added once.  0 or -ENOMEM. */
int key_tree_add(struct key_tree *tree, const struct tree_key *key, uint32_t item);

/* Makes the lines.  0 or -ENOMEM. */
int key_tree_finish(struct key_tree *tree);

/* The innermost inner line that contains a key, or KEY_TREE_NONE. */
uint32_t key_tree_find(struct key_tree *tree, const struct tree_key *key);

void key_tree_clear(struct key_tree *tree);

#endif
