/* SPDX-License-Identifier: MIT */
#include "store/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "model/run/run_snapshot.h"
#include "store/history/history.h"
#include "store/history/instant.h"
#include "store/run/run_file.h"
#include "store/snapshot_file.h"

enum content {
	CONTENT_UNKNOWN, /* its reader will say what is wrong with it */
	CONTENT_SNAPSHOT,
	CONTENT_LINES,
	CONTENT_HISTORY,
};

/* Decides by the first bytes.  A pipe is not read, since those bytes would be lost. */
static enum content find_content(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[16] = "";
	struct stat stat;
	ssize_t length;

	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
		return CONTENT_UNKNOWN;
	length = file_read_at(fd, 0, head, sizeof(head));
	if (length <= 0)
		return CONTENT_UNKNOWN;
	if (snapshot_file_is_likely(head, (size_t)length))
		return CONTENT_SNAPSHOT;
	if (memcmp(head, "SQLite format 3", sizeof(head)) == 0)
		return CONTENT_HISTORY;
	return head[0] == '{' ? CONTENT_LINES : CONTENT_UNKNOWN;
}

bool recording_is_history(const char *path)
{
	return find_content(path) == CONTENT_HISTORY;
}

static int out_of_memory(const char *path, struct error *error)
{
	return error_set(error, -ENOMEM, "cannot read %s: not enough memory", path);
}

static int read_instant(const char *path, const char *instant, struct snapshot **ret,
			struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	int status = history_open(path, &history, error);
	uint64_t at = UINT64_MAX;
	struct history_span span;

	if (status == 0 && !history_extent(history, &span))
		return error_set(error, -ENOENT, "%s has no ticks yet", path);
	if (status == 0)
		status = instant_parse(instant, &span, &at, error);
	return status < 0 ? status : history_snapshot(history, at, ret, error);
}

/*
 * Splits FILE@TIME.  A file whose name has an @ in it is that file.  Gives the name of the file, to
 * be freed, or NULL; *ret_instant is what follows.
 */
static char *split_instant(const char *path, const char **ret_instant)
{
	const char *sign = strrchr(path, '@');
	char *name;

	if (!sign || sign == path || access(path, F_OK) == 0)
		return NULL;
	name = strndup(path, (size_t)(sign - path));
	*ret_instant = sign + 1;
	if (name && access(name, F_OK) == 0)
		return name;
	free(name);
	return NULL;
}

int recording_read(const char *path, struct snapshot **ret, struct error *error)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	const char *instant = "latest";
	CLEANUP(free_pointer) char *name = split_instant(path, &instant);
	enum content content = find_content(name ? name : path);
	int status;

	if (content == CONTENT_HISTORY)
		return read_instant(name ? name : path, instant, ret, error);
	if (name)
		return error_set(error, -EINVAL, "%s is one snapshot: @TIME is for a recording",
				 name);
	if (content != CONTENT_LINES)
		return snapshot_file_read(path, ret, error);
	status = run_file_read(path, &run, error);
	if (status < 0)
		return status;
	return run_to_snapshot(run, ret) < 0 ? out_of_memory(path, error) : 0;
}

int recording_read_run(const char *path, struct run **ret, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status;

	if (strcmp(path, "-") == 0 || find_content(path) != CONTENT_SNAPSHOT)
		return run_file_read(path, ret, error);
	status = snapshot_file_read(path, &snapshot, error);
	if (status < 0)
		return status;
	if (!snapshot_is_run(snapshot))
		return error_set(error, -EINVAL,
				 "%s is a capture, which has no past to report: `taskscope show` "
				 "shows it",
				 path);
	return run_from_snapshot(snapshot, ret) < 0 ? out_of_memory(path, error) : 0;
}
