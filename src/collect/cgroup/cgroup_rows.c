/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"

/* Real hosts have far fewer, but a hostile recorded tree may have more. */
#define ROWS_MAX 65536
#define DEPTH_MAX 256

/* If tasks end or move while their files are read, so many others are tried. */
#define TRIES_MAX 8

void cgroup_rows_clear(struct cgroup_rows *rows)
{
	dictionary_free(rows->paths);
	array_free(&rows->list);
	free(rows->order);
	*rows = (struct cgroup_rows){ 0 };
}

static bool has_parent_step(const char *path)
{
	for (const char *step = strstr(path, "/.."); step; step = strstr(step + 1, "/.."))
		if (step[3] == '/' || step[3] == '\0')
			return true;
	return false;
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; (path = strchr(path, '/')); path++)
		depth++;
	return depth;
}

/* The row of the path's first `length` bytes, added when it is new. */
static int find_row(struct cgroup_rows *rows, const char *path, size_t length, uint32_t parent,
		    uint32_t *ret)
{
	struct cgroup_row row = { .parent = parent };
	uint32_t number;

	if (dictionary_add(rows->paths, path, length, &number) < 0)
		return -ENOMEM;
	if (number > rows->list.count) {
		row.path = dictionary_text(rows->paths, number);
		if (array_append(&rows->list, row) < 0)
			return -ENOMEM;
	}
	*ret = number - 1;
	return 0;
}

/* The path's row, with all above it: the root first. */
static int add_path(struct cgroup_rows *rows, const char *path, uint32_t *ret)
{
	const char *slash = path;
	uint32_t row = 0;
	int status;

	if (has_parent_step(path)) {
		status = find_row(rows, path, strlen(path), 0, ret);
		if (status == 0) {
			rows->list.data[*ret].parent = *ret;
			rows->list.data[*ret].is_outside = true;
		}
		return status;
	}
	status = find_row(rows, "/", 1, (uint32_t)rows->list.count, &row);
	while (status == 0 && slash[1]) {
		slash += 1 + strcspn(slash + 1, "/");
		status = find_row(rows, path, (size_t)(slash - path), row, &row);
		if (*slash == '\0')
			break;
	}
	*ret = row;
	return status;
}

static bool is_acceptable(const struct cgroup_rows *rows, const char *path)
{
	return strlen(path) < PATH_MAX && depth_of(path) <= DEPTH_MAX &&
	       rows->list.count + DEPTH_MAX < ROWS_MAX;
}

/*
 * `known` has an item for each string of the snapshot: 0 when that path is not known, else its row
 * plus 2, or 1 for none.
 */
static int row_of_task(struct cgroup_rows *rows, const struct snapshot *snapshot, uint32_t *known,
		       const struct task *task, uint32_t *ret_place)
{
	const char *path = snapshot_text(snapshot, task->cgroup);
	uint32_t row;
	int status;

	if (known[task->cgroup] == 0) {
		known[task->cgroup] = 1;
		if (path[0] == '/' && is_acceptable(rows, path)) {
			status = add_path(rows, path, &row);
			if (status < 0)
				return status;
			known[task->cgroup] = row + 2;
		}
	}
	*ret_place = known[task->cgroup];
	rows->dropped += *ret_place == 1 && path[0] == '/';
	return 0;
}

/* What is needed to find the places of tasks in other hierarchies. */
struct question {
	const struct host *host;
	const struct hierarchies *trees;
	struct proc_buffer buffer;
	uint8_t open;	/* the hierarchies that the host has */
	uint8_t always; /* those in which the rows' paths are known to be right */
};

static bool is_at(const char *text, const struct cgroup_hierarchy *hierarchy, const char *path)
{
	size_t length;
	const char *found = cgroup_path(text, hierarchy, &length);

	return found && length == strlen(path) && memcmp(found, path, length) == 0;
}

/* A task that has left the row's cgroup is ignored. */
static void ask_task(struct question *question, int32_t tgid, int32_t tid, struct cgroup_row *row)
{
	char file[64];

	row->tries++;
	snprintf(file, sizeof(file), "%" PRId32 "/task/%" PRId32 "/cgroup", tgid, tid);
	if (proc_read(question->host->proc, file, &question->buffer) < 0 ||
	    !is_at(question->buffer.data, &question->host->cgroup, row->path))
		return;
	row->is_asked = true;
	for (int id = 0; id < HIERARCHY_COUNT; id++)
		if (question->open >> id & 1 &&
		    is_at(question->buffer.data, &question->trees->trees[id], row->path))
			row->same |= (uint8_t)(1u << id);
}

static int walk_tasks(struct cgroup_rows *rows, const struct snapshot *snapshot, uint32_t *known,
		      struct question *question)
{
	for (size_t i = 0; i < snapshot->task_count; i++) {
		const struct task *task = &snapshot->tasks[i];
		struct cgroup_row *row;
		uint32_t place;

		if (row_of_task(rows, snapshot, known, task, &place) < 0)
			return -ENOMEM;
		if (place < 2 || question->open == question->always)
			continue;
		row = &rows->list.data[place - 2];
		if (!row->is_asked && row->tries < TRIES_MAX && !row->is_outside)
			ask_task(question, snapshot->processes[task->process].tgid, task->tid, row);
	}
	return 0;
}

static void spread_upwards(struct cgroup_rows *rows, const struct question *question)
{
	for (size_t i = rows->list.count; i-- > 0;) {
		struct cgroup_row *row = &rows->list.data[i];
		struct cgroup_row *above = &rows->list.data[row->parent];

		row->same |= strcmp(row->path, "/") == 0 ? question->open : question->always;
		if (!above->is_asked)
			above->same |= row->same;
	}
}

static int compare_paths(const void *a, const void *b, void *context)
{
	const struct cgroup_row *list = context;

	return strcmp(list[*(const uint32_t *)a].path, list[*(const uint32_t *)b].path);
}

static int put_in_order(struct cgroup_rows *rows)
{
	rows->order = calloc(rows->list.count + 1, sizeof(*rows->order));
	if (!rows->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->list.count; i++)
		rows->order[i] = i;
	qsort_r(rows->order, rows->list.count, sizeof(*rows->order), compare_paths,
		rows->list.data);
	return 0;
}

static bool is_same_tree(const struct cgroup_hierarchy *a, const struct cgroup_hierarchy *b)
{
	return a->version == b->version && strcmp(a->controller, b->controller) == 0;
}

static struct question question_make(const struct capture *capture, const struct hierarchies *trees)
{
	struct question question = { .host = capture->host, .trees = trees };

	for (int id = 0; id < HIERARCHY_COUNT; id++) {
		if (trees->trees[id].fd < 0)
			continue;
		question.open |= (uint8_t)(1u << id);
		if (is_same_tree(&trees->trees[id], &capture->host->cgroup))
			question.always |= (uint8_t)(1u << id);
	}
	return question;
}

int cgroup_rows_find(const struct capture *capture, const struct hierarchies *trees,
		     struct cgroup_rows *ret)
{
	size_t strings = dictionary_count(capture->snapshot->strings);
	CLEANUP(free_pointer) uint32_t *known = calloc(strings + 1, sizeof(*known));
	struct question question = question_make(capture, trees);
	int status = -ENOMEM;

	*ret = (struct cgroup_rows){ .paths = dictionary_new() };
	if (ret->paths && known)
		status = walk_tasks(ret, capture->snapshot, known, &question);
	if (status == 0) {
		spread_upwards(ret, &question);
		status = put_in_order(ret);
	}
	proc_buffer_clear(&question.buffer);
	if (status < 0)
		cgroup_rows_clear(ret);
	return status;
}

/* Adds the row of one hierarchy, and the rows above it. */
static int add_place(struct cgroup_rows *rows, const char *path, size_t length, unsigned id)
{
	char copy[PATH_MAX];
	uint32_t row, above;

	if (length >= sizeof(copy))
		return 0;
	memcpy(copy, path, length);
	copy[length] = '\0';
	if (!is_acceptable(rows, copy))
		return 0;
	if (add_path(rows, copy, &row) < 0)
		return -ENOMEM;
	for (above = row;; above = rows->list.data[above].parent) {
		rows->list.data[above].same |= (uint8_t)(1u << id);
		if (rows->list.data[above].parent == above)
			return 0;
	}
}

int cgroup_rows_of_process(const char *places, const struct hierarchies *trees,
			   struct cgroup_rows *ret)
{
	int status;

	*ret = (struct cgroup_rows){ .paths = dictionary_new() };
	status = ret->paths ? 0 : -ENOMEM;
	for (unsigned id = 0; id < HIERARCHY_COUNT && status == 0; id++) {
		size_t length;
		const char *path = trees->trees[id].fd < 0 ?
					   NULL :
					   cgroup_path(places, &trees->trees[id], &length);

		if (path && path[0] == '/')
			status = add_place(ret, path, length, id);
	}
	if (status == 0)
		status = put_in_order(ret);
	if (status < 0)
		cgroup_rows_clear(ret);
	return status;
}
