/* SPDX-License-Identifier: MIT */
#include "tui/moment/moment_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "tui/moment/moment.h"

int moment_source_take(struct moment_source *source, const struct move *move, struct moment *moment,
		       struct error *error)
{
	struct moment next = { .is_live = source->kind->is_live };
	int status = source->kind->take(source, move, &next, error);

	if (status < 0) {
		moment_clear(&next);
		return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
	}
	moment_clear(moment);
	*moment = next;
	return 0;
}

void moment_source_close(struct moment_source *source)
{
	if (source)
		source->kind->close(source);
}

void moment_source_close_pointer(struct moment_source **source)
{
	moment_source_close(*source);
}

struct file_source {
	struct moment_source source;
	struct snapshot *snapshot;
	bool was_taken;
};

static int take_file(struct moment_source *source, const struct move *move, struct moment *ret,
		     struct error *error)
{
	struct file_source *file = (struct file_source *)source;

	(void)move;
	if (file->was_taken)
		return error_set(error, -ENODATA, "the file has one moment only");
	file->was_taken = true;
	return moment_make(ret, NULL, file->snapshot);
}

static void close_file(struct moment_source *source)
{
	struct file_source *file = (struct file_source *)source;

	snapshot_free(file->snapshot);
	free(file);
}

static const struct moment_source_kind file_kind = { .take = take_file, .close = close_file };

int file_source_open(struct snapshot *snapshot, struct moment_source **ret, struct error *error)
{
	struct file_source *file = calloc(1, sizeof(*file));

	if (!file) {
		snapshot_free(snapshot);
		return error_set(error, -ENOMEM, "out of memory");
	}
	file->source.kind = &file_kind;
	file->snapshot = snapshot;
	*ret = &file->source;
	return 0;
}
