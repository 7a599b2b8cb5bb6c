/* SPDX-License-Identifier: MIT */
#include "store/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "model/run/run_snapshot.h"
#include "store/history/history.h"
#include "store/history/instant.h"
#include "store/run/run_file.h"
#include "store/snapshot_file.h"
#include "store/tscope/container.h"

#define STANDARD_INPUT "standard input"
/* A run may begin with damaged lines; something else that comes through a pipe may have no end. */
#define UNKNOWN_MAX ((size_t)16 << 20)

enum content {
	CONTENT_UNKNOWN, /* its reader will say what is wrong with it */
	CONTENT_SNAPSHOT,
	CONTENT_LINES,
	CONTENT_HISTORY,
};

static enum content content_of(const char *head, size_t length)
{
	static const char history[] = "SQLite format 3";

	if (snapshot_file_is_likely(head, length))
		return CONTENT_SNAPSHOT;
	if (length >= sizeof(history) && memcmp(head, history, sizeof(history)) == 0)
		return CONTENT_HISTORY;
	return length && head[0] == '{' ? CONTENT_LINES : CONTENT_UNKNOWN;
}

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
	return length <= 0 ? CONTENT_UNKNOWN : content_of(head, (size_t)length);
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

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* Reads all of it, unless it is a recording. */
static int slurp_standard_input(struct text *bytes, struct error *error)
{
	char chunk[16 * 1024];
	enum content content;
	size_t length;

	while ((length = fread(chunk, 1, sizeof(chunk), stdin)) > 0) {
		text_append(bytes, chunk, length);
		if (bytes->failed)
			return out_of_memory(STANDARD_INPUT, error);
		content = content_of(text_string(bytes), bytes->length);
		if (content == CONTENT_HISTORY)
			return error_set(error, -EINVAL,
					 "a recording cannot be read from " STANDARD_INPUT
					 ": give the name of its file");
		if (content == CONTENT_UNKNOWN && bytes->length > UNKNOWN_MAX)
			return error_set(error, -EINVAL,
					 STANDARD_INPUT " is neither a snapshot nor a run");
		if (bytes->length > FILE_SIZE_LIMIT)
			return error_set(error, -EFBIG,
					 STANDARD_INPUT " is larger than any snapshot");
	}
	return ferror(stdin) ? error_set(error, -EIO, "cannot read " STANDARD_INPUT) : 0;
}

/* Lines that begin with a damaged one; or the reader of runs says what is wrong. */
static int read_lines_of(struct text *bytes, struct run **ret, struct error *error)
{
	FILE *in = fmemopen(bytes->data, bytes->length, "r");
	int status = in ? run_file_read_stream(in, STANDARD_INPUT, ret, error) :
			  out_of_memory(STANDARD_INPUT, error);

	if (in)
		fclose(in);
	return status;
}

/*
 * Gives a snapshot or a run, whichever it is, and leaves the other NULL.  JSON lines are read as they
 * come; a snapshot has its checksums at the end.
 */
static int read_standard_input(bool wants_run, struct snapshot **ret_snapshot, struct run **ret_run,
			       struct error *error)
{
	static bool is_taken;
	CLEANUP(text_free) struct text bytes = { 0 };
	int first, status;

	if (is_taken)
		return error_set(error, -EINVAL,
				 "- is given twice, and " STANDARD_INPUT " can be read only once");
	is_taken = true;
	first = getc(stdin);
	if (first != EOF)
		ungetc(first, stdin);
	if (first == '{')
		return run_file_read_stream(stdin, STANDARD_INPUT, ret_run, error);
	status = slurp_standard_input(&bytes, error);
	if (status < 0)
		return status;
	if (wants_run && content_of(text_string(&bytes), bytes.length) != CONTENT_SNAPSHOT)
		return read_lines_of(&bytes, ret_run, error);
	return snapshot_file_decode(STANDARD_INPUT, text_string(&bytes), bytes.length, ret_snapshot,
				    error);
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
	if (content != CONTENT_LINES && !is_standard_input(path))
		return snapshot_file_read(path, ret, error);
	status = is_standard_input(path) ? read_standard_input(false, ret, &run, error) :
					   run_file_read(path, &run, error);
	if (status < 0 || !run)
		return status;
	return run_to_snapshot(run, ret) < 0 ? out_of_memory(path, error) : 0;
}

int recording_read_run(const char *path, struct run **ret, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status;

	if (is_standard_input(path))
		status = read_standard_input(true, &snapshot, ret, error);
	else if (find_content(path) == CONTENT_SNAPSHOT)
		status = snapshot_file_read(path, &snapshot, error);
	else
		status = run_file_read(path, ret, error);
	if (status < 0 || !snapshot)
		return status;
	if (!snapshot_is_run(snapshot))
		return error_set(error, -EINVAL,
				 "%s is a capture, which has no past to report: `taskscope show` "
				 "shows it",
				 path);
	return run_from_snapshot(snapshot, ret) < 0 ? out_of_memory(path, error) : 0;
}
