/* SPDX-License-Identifier: MIT */
#include "cli/args/store_args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "record/current_store.h"
#include "render/page.h"
#include "render/table/table.h"

int store_args_check(const char *path, struct error *error)
{
	return strcmp(path, "-") == 0 ?
		       error_set(error, -EINVAL,
				 "a recording is a file, not standard input or output: give its "
				 "name") :
		       0;
}

int store_args_path(const struct store_args *args, char ret[PATH_MAX], struct error *error)
{
	int status = args->store ? store_args_check(args->store, error) : 0;

	if (status < 0)
		return status;
	if (!args->store)
		status = record_current_store(ret);
	else if (snprintf(ret, PATH_MAX, "%s", args->store) >= PATH_MAX)
		status = -ENAMETOOLONG;
	return status < 0 ? error_set(error, status, "give --store FILE: %s", strerror(-status)) :
			    0;
}

int store_args_open(const struct store_args *args, struct history **ret, struct error *error)
{
	char path[PATH_MAX];
	int status = store_args_path(args, path, error);

	return status < 0 ? status : history_open(path, ret, error);
}

struct history_span store_args_span(const struct store_args *args, struct history *history,
				    uint64_t fallback_ns)
{
	uint64_t end_ns = history_end(history);
	uint64_t age_ns = args->since.given ? args->since.value : fallback_ns;

	return (struct history_span){
		.from_unix_ns = age_ns && age_ns < end_ns ? end_ns - age_ns : 0,
		.to_unix_ns = UINT64_MAX,
	};
}

void row_output_begin(struct row_output *output, const char *key)
{
	if (output->format == FORMAT_CSV)
		table_stream_csv(output->table, stdout);
	if (output->format != FORMAT_JSON)
		return;
	*output->json = json_writer(stdout);
	json_begin_object(output->json);
	json_member_array(output->json, key);
}

int row_output_end(struct row_output *output, const char *nothing, struct error *error)
{
	struct page page;
	int status = 0;

	if (output->format == FORMAT_JSON) {
		json_end_array(output->json);
		json_end_object(output->json);
	} else if (output->format == FORMAT_TEXT) {
		page_open(&page, stdout);
		if (table_rows(output->table))
			status = table_print(output->table, &page.terminal, page.out);
		else
			fprintf(page.out, "%s\n", nothing);
		if (page_close(&page) < 0)
			status = -ENOMEM;
	}
	if (status < 0 || output->table->failed)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}
