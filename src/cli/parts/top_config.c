/* SPDX-License-Identifier: MIT */
#include "cli/parts/top_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output/place.h"
#include "base/text.h"
#include "tui/view/moment_view.h"

#define CONFIG_BYTES_MOST (64 << 10)

int top_config_path(char ret[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int length = -1;

	if (config && config[0] == '/')
		length = snprintf(ret, PATH_MAX, "%s/taskscope/top.conf", config);
	else if (home && home[0] == '/')
		length = snprintf(ret, PATH_MAX, "%s/.config/taskscope/top.conf", home);
	return length > 0 && length < PATH_MAX ? 0 : -ENOENT;
}

/* Makes the last two folders of a path. */
static void make_folders(const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	*slash = '\0';
	slash = strrchr(folder, '/');
	*slash = '\0';
	(void)mkdir(folder, 0700);
	*slash = '/';
	(void)mkdir(folder, 0700);
}

static void append_choice(struct text *out, const struct view_choice *choice)
{
	const struct group_sort *sort = &choice->sorting.keys[0];

	text_append_string(out, "# written by `taskscope top`\nmetrics = ");
	for (size_t i = 0; i < choice->metrics.count; i++)
		text_format(out, "%s%s", i ? "," : "", metrics[choice->metrics.ids[i]].name);
	if (choice->sorting.count)
		text_format(out, "\nsort = %s:%s", group_sort_word(sort),
			    sort->ascending ? "asc" : "desc");
	text_format(out, "\nforest = %s\n", choice->is_forest ? "yes" : "no");
}

/* Whether a line of the file is one that the screen writes. */
static bool is_ours(const char *line)
{
	static const char *const ours[] = { "# written by `taskscope top`", "metrics", "sort",
					    "forest" };

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		size_t length = strlen(ours[i]);

		if (strncmp(line, ours[i], length) == 0 && strchr(" =\t", line[length]))
			return true;
	}
	return !line[0];
}

/* What somebody wrote into the file stays; one that cannot be read is not replaced. */
static int append_others(struct text *out, const char *path)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	CLEANUP(text_free) struct text old = { 0 };
	int status = place_open(&place, path);
	char *rest = NULL;

	if (status == 0)
		status = file_read_text(place.dir, place.name, CONFIG_BYTES_MOST, &old);
	if (status < 0 || !old.length)
		return status == -ENOENT ? 0 : status;
	for (char *line = strtok_r(old.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!is_ours(line))
			text_format(out, "%s\n", line);
	return 0;
}

int top_config_save(const struct view_choice *choice, struct error *error)
{
	CLEANUP(file_abandon) struct file_replacement file = { .fd = -1 };
	CLEANUP(text_free) struct text text = { 0 };
	char path[PATH_MAX];
	int status = top_config_path(path);

	if (status < 0)
		return error_set(error, status, "the choice is not kept: set HOME");
	make_folders(path);
	append_choice(&text, choice);
	status = append_others(&text, path);
	if (status == 0)
		status = text.failed ? -ENOMEM : file_replace(&file, path);
	if (status == 0)
		status = file_write(&file, text.data, text.length);
	if (status == 0)
		status = file_commit(&file);
	return status < 0 ? error_set(error, status, "the choice is not kept: '%s': %s", path,
				      strerror(-status)) :
			    0;
}
