/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "base/file.h"
#include "collect/collector.h"

struct cgroup_paths {
	const struct host *host;
	struct snapshot *snapshot;
	struct source_tally *tally;
	struct dictionary *ids;	      /* numbers the ids seen */
	ARRAY_OF(uint32_t) by_number; /* path of each, plus 1; 0 when not known */
	uint64_t latest_id;
	uint32_t latest;
};

struct cgroup_paths *cgroup_paths_new(const struct host *host, struct snapshot *snapshot,
				      struct source_tally *tally)
{
	struct cgroup_paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return NULL;
	paths->host = host;
	paths->snapshot = snapshot;
	paths->tally = tally;
	paths->ids = dictionary_new();
	if (paths->ids)
		return paths;
	free(paths);
	return NULL;
}

void cgroup_paths_free(struct cgroup_paths *paths)
{
	if (!paths)
		return;
	dictionary_free(paths->ids);
	array_free(&paths->by_number);
	free(paths);
}

/* Finds the slot for the path of a cgroup. */
static int find_place(struct cgroup_paths *paths, uint64_t id, uint32_t **ret)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%" PRIu64, id);
	uint32_t number;

	if (dictionary_add(paths->ids, text, (size_t)length, &number) < 0 ||
	    array_reserve(&paths->by_number, number + 1) < 0)
		return -ENOMEM;
	while (paths->by_number.count <= number)
		paths->by_number.data[paths->by_number.count++] = 0;
	*ret = &paths->by_number.data[number];
	return 0;
}

/*
 * Whether the directory at that path is the cgroup: the task may have moved since the id was read,
 * and our cgroup mount may begin elsewhere.  A cgroup's id is its directory's inode number.
 */
static bool is_path_of(const struct host *host, uint64_t id, const char *path)
{
	struct stat directory;

	path += strspn(path, "/");
	return fstatat(host->cgroup.fd, *path ? path : ".", &directory, 0) == 0 &&
	       directory.st_ino == id;
}

static int read_path(struct cgroup_paths *paths, int32_t tgid, int32_t tid, uint32_t *ret)
{
	CLEANUP(text_free) struct text text = { 0 };
	char file[64];
	const char *path;
	size_t length;
	int status;

	*ret = 0;
	if (tid == 0)
		return 0;
	snprintf(file, sizeof(file), "%" PRId32 "/task/%" PRId32 "/cgroup", tgid, tid);
	status = file_read_text(paths->host->proc, file, (size_t)1 << 20, &text);
	if (status != -ENOMEM)
		source_count(paths->tally, status);
	if (status < 0)
		return status;
	path = cgroup_path(text_string(&text), &paths->host->cgroup, &length);
	return path ? snapshot_intern(paths->snapshot, path, length, ret) : 0;
}

int cgroup_paths_find(struct cgroup_paths *paths, uint64_t id, int32_t tgid, int32_t tid,
		      uint32_t *ret)
{
	uint32_t *place;
	int status;

	if (id == 0)
		return read_path(paths, tgid, tid, ret);
	if (id == paths->latest_id) {
		*ret = paths->latest;
		return 0;
	}
	status = find_place(paths, id, &place);
	if (status < 0)
		return status;
	if (*place == 0) {
		status = read_path(paths, tgid, tid, ret);
		if (status < 0)
			return status;
		if (*ret == 0 || !is_path_of(paths->host, id, snapshot_text(paths->snapshot, *ret)))
			return 0;
		*place = *ret + 1;
	}
	*ret = *place - 1;
	paths->latest_id = id;
	paths->latest = *ret;
	return 0;
}
