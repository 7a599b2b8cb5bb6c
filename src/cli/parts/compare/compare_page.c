/* SPDX-License-Identifier: MIT */
#include "cli/parts/compare/compare_page.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "cli/parts/compare/compare_input.h"
#include "export/exporter.h"
#include "export/html.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"

struct side_runs {
	ARRAY_OF(struct run *) runs;
};

static void side_runs_clear(struct side_runs *side)
{
	for (size_t i = 0; i < side->runs.count; i++)
		run_free(side->runs.data[i]);
	array_free(&side->runs);
}

int compare_page_check(const char *path, struct error *error)
{
	const struct exporter *exporter = exporter_find(path);

	if (!exporter || exporter->write != html_write_run)
		return error_set(error, -EINVAL,
				 "cannot write to '%s': what compare writes ends in .html", path);
	return html_check(error);
}

static int check_side(const struct input_side *side, struct error *error)
{
	for (size_t i = 0; i < side->snapshots.count; i++)
		if (!snapshot_is_run(side->snapshots.data[i]))
			return error_set(error, -EINVAL,
					 "-o is for two runs, which have stacks; '%s' is a capture",
					 i < side->names.count ? side->names.data[i] : "now");
	return 0;
}

int compare_page_check_input(const struct compare_input *input, struct error *error)
{
	int status = check_side(&input->before, error);

	return status < 0 ? status : check_side(&input->after, error);
}

static int restore_side(const struct input_side *side, struct side_runs *ret)
{
	for (size_t i = 0; i < side->snapshots.count; i++) {
		CLEANUP(run_free_pointer) struct run *run = NULL;

		if (run_from_snapshot(side->snapshots.data[i], &run) < 0 ||
		    array_append(&ret->runs, run) < 0)
			return -ENOMEM;
		TAKE_PTR(run);
	}
	return 0;
}

static int write_page(const void *comparison, FILE *out, struct error *error)
{
	return html_write_comparison(comparison, out, error);
}

int compare_page_write(const struct compare_input *input, const struct compare_view *view,
		       const char *path, struct error *error)
{
	CLEANUP(side_runs_clear) struct side_runs before = { 0 };
	CLEANUP(side_runs_clear) struct side_runs after = { 0 };
	struct html_comparison comparison = { .view = view };

	if (restore_side(&input->before, &before) < 0 || restore_side(&input->after, &after) < 0)
		return error_set(error, -ENOMEM, "out of memory: there is no page");
	comparison.before = (const struct run *const *)before.runs.data;
	comparison.after = (const struct run *const *)after.runs.data;
	comparison.before_count = before.runs.count;
	comparison.after_count = after.runs.count;
	return export_save(path, write_page, &comparison, error);
}
