/* SPDX-License-Identifier: MIT */
#include "export/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "export/exporters.h"
#include "model/tree/run.h"

static const struct exporter *const exporters[] = {
	&exporter_folded,
	&exporter_html,
	&exporter_pprof,
};

const struct exporter *exporter_find(const char *path)
{
	const struct exporter *found = NULL;
	size_t length = strlen(path), longest = 0;

	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++) {
		size_t ending = strlen(exporters[i]->ending);

		if (ending <= longest || length <= ending ||
		    strcmp(path + length - ending, exporters[i]->ending) != 0)
			continue;
		found = exporters[i];
		longest = ending;
	}
	return found;
}

void exporter_append_endings(struct text *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++)
		text_format(out, "%s%s", i ? ", " : "", exporters[i]->ending);
}

/* The run says itself why it has no stacks, unless nobody wanted any. */
static int refuse(const struct run *run, const char *path, struct error *error)
{
	const struct source_report *source = run_source(run, "stacks");

	return error_set(error, -ENODATA, "cannot write '%s': the run has no stacks%s%s", path,
			 source && source->reason ? ": " : "",
			 source && source->reason ? source->reason : "");
}

static int write_stream(int fd, export_writer *write, const void *content, struct error *error)
{
	CLEANUP(close_fd) int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	int status, failure;

	if (!out)
		return -ENOMEM;
	TAKE_FD(copy);
	errno = 0;
	status = write(content, out, error);
	failure = ferror(out) ? (errno ? errno : EIO) : 0;
	errno = 0;
	if (fclose(out) != 0 && !failure)
		failure = errno ? errno : EIO;
	return status < 0 ? status : -failure;
}

int export_save(const char *path, export_writer *write, const void *content, struct error *error)
{
	CLEANUP(file_abandon) struct file_replacement file = { .fd = -1 };
	int status = file_replace(&file, path);

	if (status == 0)
		status = write_stream(file.fd, write, content, error);
	if (status == 0)
		status = file_commit(&file);
	if (status == -EPIPE && file_is_standard_output(path)) /* the reader has seen enough */
		return 0;
	if (status < 0)
		return error_set(error, status, "cannot write to '%s': %s: %s",
				 file_is_standard_output(path) ? "standard output" : path,
				 strerror(-status), file_write_advice(status));
	return 0;
}

struct exported_run {
	const struct exporter *exporter;
	const struct run *run;
};

static int write_run(const void *content, FILE *out, struct error *error)
{
	const struct exported_run *exported = content;

	return exported->exporter->write(exported->run, out, error);
}

int exporter_save(const struct exporter *exporter, const struct run *run, const char *path,
		  struct error *error)
{
	struct exported_run exported = { exporter, run };
	int status = exporter->check ? exporter->check(error) : 0;

	if (status < 0)
		return status;
	if (exporter->needs_stacks && !run->profile)
		return refuse(run, path, error);
	return export_save(path, write_run, &exported, error);
}
