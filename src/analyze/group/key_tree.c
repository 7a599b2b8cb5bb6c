/* SPDX-License-Identifier: MIT */
#include "analyze/group/key_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/collection/dictionary.h"

#define NONE KEY_TREE_NONE

enum node_kind {
	NODE_CGROUP = 1,
	NODE_PROCESS,
	NODE_THREAD,
};

struct tree_node {
	struct tree_key key; /* the first that it contains */
	uint32_t end;	     /* of the node's own part in it */
	uint32_t parent, first_child, last_child, next;
	uint32_t item, first;
	uint32_t line;
};

/* Where the part of the key ends that comes after `from`, and what it is; false at the end. */
static bool next_part(const struct tree_key *key, uint32_t from, enum node_kind *kind,
		      uint32_t *ret_end)
{
	uint32_t length = (uint32_t)strlen(key->text);

	if (from < key->cgroup_end) {
		const char *slash = memchr(key->text + from + 1, '/', key->cgroup_end - from - 1);

		*kind = NODE_CGROUP;
		*ret_end = slash ? (uint32_t)(slash - key->text) : key->cgroup_end;
	} else if (from < key->process_end) {
		*kind = NODE_PROCESS;
		*ret_end = key->process_end;
	} else {
		*kind = NODE_THREAD;
		*ret_end = length;
	}
	return from < length;
}

/* The name of the node for the key up to `end`. */
static void write_name(struct key_tree *tree, const struct tree_key *key, enum node_kind kind,
		       uint32_t end)
{
	char first = (char)kind;

	text_clear(&tree->name);
	text_append(&tree->name, &first, 1);
	text_append(&tree->name, key->text, end);
}

static int add_node(struct key_tree *tree, const struct tree_key *key, uint32_t end,
		    uint32_t parent, uint32_t item)
{
	uint32_t number = (uint32_t)tree->nodes.count;
	struct tree_node node = { .key = *key,
				  .end = end,
				  .parent = parent,
				  .first_child = NONE,
				  .last_child = NONE,
				  .next = NONE,
				  .item = NONE,
				  .first = item,
				  .line = NONE };
	struct tree_node *above;

	if (array_append(&tree->nodes, node) < 0)
		return -ENOMEM;
	if (number == 0)
		return 0;
	above = &tree->nodes.data[parent];
	if (above->last_child == NONE)
		above->first_child = number;
	else
		tree->nodes.data[above->last_child].next = number;
	above->last_child = number;
	return 0;
}

/* Node 0 contains all others and is never a line; so nodes have the numbers of their names. */
static int begin(struct key_tree *tree)
{
	static const struct tree_key nothing = { .text = "" };

	if (tree->names)
		return 0;
	tree->names = dictionary_new();
	return tree->names ? add_node(tree, &nothing, 0, NONE, NONE) : -ENOMEM;
}

int key_tree_add(struct key_tree *tree, const struct tree_key *key, uint32_t item)
{
	uint32_t at = 0, from = 0, end;
	enum node_kind kind;
	int status = begin(tree);

	while (status == 0 && next_part(key, from, &kind, &end)) {
		uint32_t number;

		write_name(tree, key, kind, end);
		if (tree->name.failed || dictionary_add(tree->names, text_string(&tree->name),
							tree->name.length, &number) < 0)
			return -ENOMEM;
		if (number == tree->nodes.count)
			status = add_node(tree, key, end, at, item);
		at = number;
		from = end;
	}
	if (status == 0)
		tree->nodes.data[at].item = item;
	return status;
}

/* Whether a thread has its process's name, which need not be said twice. */
static bool has_process_name(const struct tree_key *key)
{
	size_t length = key->process_end - key->cgroup_end - 1;
	const char *thread = key->text + key->process_end + 1;

	return strlen(thread) == length &&
	       memcmp(thread, key->text + key->cgroup_end + 1, length) == 0;
}

/* What the node adds to the part of its key up to `from`, which the line above it says. */
static const char *label_of(struct key_tree *tree, const struct tree_node *node, uint32_t from)
{
	const struct tree_key *key = &node->key;
	bool is_thread = key->process_end && node->end > key->process_end;
	uint32_t end = node->end;

	if (is_thread && from <= key->cgroup_end && has_process_name(key))
		end = key->process_end;
	/* The slash of a segment is a part of it; what separates the parts of the key is not. */
	if (from >= key->cgroup_end && from > 0)
		from++;
	return arena_copy(&tree->arena, key->text + from, end > from ? end - from : 0);
}

/* The node that is one line with this one: the last of a chain in which each has one below. */
static uint32_t end_of_chain(const struct key_tree *tree, uint32_t node)
{
	const struct tree_node *at = &tree->nodes.data[node];

	while (at->item == NONE && at->first_child == at->last_child) {
		node = at->first_child;
		at = &tree->nodes.data[node];
	}
	return node;
}

static int add_line(struct key_tree *tree, uint32_t first, uint32_t last, uint32_t parent)
{
	struct tree_node *node = &tree->nodes.data[last];
	const struct tree_node *above = &tree->nodes.data[tree->nodes.data[first].parent];
	struct tree_line line = { .label = label_of(tree, node, above->end),
				  .item = node->item,
				  .parent = parent,
				  .first = node->first };

	if (parent != NONE)
		line.depth = tree->lines.data[parent].depth + 1;
	node->line = (uint32_t)tree->lines.count;
	return line.label ? array_append(&tree->lines, line) : -ENOMEM;
}

/* The line of the nearest node above that has one. */
static uint32_t line_above(const struct key_tree *tree, uint32_t node)
{
	uint32_t at = tree->nodes.data[node].parent;

	while (at != NONE && tree->nodes.data[at].line == NONE)
		at = tree->nodes.data[at].parent;
	return at == NONE ? NONE : tree->nodes.data[at].line;
}

/* The first node of the next chain after all that is below this one. */
static uint32_t next_node(const struct key_tree *tree, uint32_t node)
{
	while (node != NONE && tree->nodes.data[node].next == NONE)
		node = tree->nodes.data[node].parent;
	return node == NONE ? NONE : tree->nodes.data[node].next;
}

int key_tree_finish(struct key_tree *tree)
{
	uint32_t at = tree->nodes.count ? tree->nodes.data[0].first_child : NONE;
	int status = 0;

	/* Without recursion: the path of a cgroup may be deep. */
	while (at != NONE && status == 0) {
		uint32_t last = end_of_chain(tree, at), child = tree->nodes.data[last].first_child;

		status = add_line(tree, at, last, line_above(tree, at));
		at = child != NONE ? child : next_node(tree, last);
	}
	return status;
}

uint32_t key_tree_find(struct key_tree *tree, const struct tree_key *key)
{
	uint32_t from = 0, end, found = NONE;
	enum node_kind kind;

	while (tree->names && next_part(key, from, &kind, &end)) {
		uint32_t number, line;

		write_name(tree, key, kind, end);
		number = tree->name.failed ? 0 :
					     dictionary_find(tree->names, text_string(&tree->name),
							     tree->name.length);
		if (number == 0)
			break;
		line = tree->nodes.data[number].line;
		if (line != NONE && tree->lines.data[line].item == NONE)
			found = line;
		from = end;
	}
	return found;
}

void key_tree_clear(struct key_tree *tree)
{
	array_free(&tree->lines);
	array_free(&tree->nodes);
	dictionary_free(tree->names);
	arena_clear(&tree->arena);
	text_free(&tree->name);
	*tree = (struct key_tree){ 0 };
}
