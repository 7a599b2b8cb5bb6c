/* SPDX-License-Identifier: MIT */
#include "record/job/book/job_survey.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/deadline_run.h"
#include "host/user_directory.h"

#define SURVEY_MS 1000
#define DEPTH_MOST 16
#define WATCHED                                                                                    \
	(IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR |            \
	 IN_EXCL_UNLINK)

void job_survey_free(struct job_survey *survey)
{
	if (!survey)
		return;
	for (size_t i = 0; i < survey->directories.count; i++)
		free(survey->directories.data[i].path);
	for (size_t i = 0; i < survey->files.count; i++)
		free(survey->files.data[i]);
	array_free(&survey->directories);
	array_free(&survey->files);
	close_fd(&survey->inotify);
	close_fd(&survey->root);
	free(survey->path);
	free(survey);
}

struct job_survey *job_survey_new(uid_t uid, int inotify, int root, const char *path)
{
	struct job_survey *survey = calloc(1, sizeof(*survey));

	if (!survey)
		return NULL;
	survey->uid = uid;
	survey->inotify = fcntl(inotify, F_DUPFD_CLOEXEC, 0);
	survey->root = root < 0 ? -1 : fcntl(root, F_DUPFD_CLOEXEC, 0);
	survey->path = strdup(path);
	if (survey->inotify < 0 || (root >= 0 && survey->root < 0) || !survey->path) {
		job_survey_free(survey);
		return NULL;
	}
	return survey;
}

static bool is_directory(int directory, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

static char *join(const char *directory, const char *name)
{
	CLEANUP(text_free) struct text path = { 0 };

	text_format(&path, "%s%s%s", directory, *directory ? "/" : "", name);
	return path.failed ? NULL : strdup(text_string(&path));
}

static int add_directory(struct job_survey *survey, const char *path, unsigned depth);

static void add_entry(struct job_survey *survey, int directory, const char *path,
		      const struct dirent *entry, unsigned depth)
{
	CLEANUP(free_pointer) char *below = join(path, entry->d_name);

	if (!below)
		survey->lost++;
	else if (is_directory(directory, entry))
		(void)add_directory(survey, below, depth);
	else if (survey->is_new && array_append(&survey->files, below) == 0)
		below = NULL;
}

/* Directories below it, and what is in a new one. */
static void add_entries(struct job_survey *survey, int directory, const char *path, unsigned depth)
{
	DIR *entries = fdopendir(fcntl(directory, F_DUPFD_CLOEXEC, 0));
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (survey->entries++ >= survey->entries_most) {
			survey->lost++;
			break;
		}
		add_entry(survey, directory, path, entry, depth + 1);
	}
	if (entries)
		closedir(entries);
}

static int add_directory(struct job_survey *survey, const char *path, unsigned depth)
{
	CLEANUP(close_fd) int directory = -1;
	struct watched_directory added;

	if (survey->directories.count >= survey->directories_most || depth > DEPTH_MOST) {
		survey->lost++;
		return -E2BIG;
	}
	directory = user_directory_open_below(survey->uid, survey->root, path);
	if (directory < 0)
		return directory;
	added.watch = user_directory_watch(survey->uid, survey->inotify, directory, WATCHED);
	added.path = added.watch < 0 ? NULL : strdup(path);
	if (!added.path || array_append(&survey->directories, added) < 0) {
		free(added.path);
		survey->lost++;
		return added.watch < 0 ? added.watch : -ENOMEM;
	}
	add_entries(survey, directory, path, depth);
	return 0;
}

static int open_root(struct job_survey *survey)
{
	struct stat status;

	survey->root = user_directory_open(survey->uid, survey->path);
	if (survey->root < 0)
		return survey->root;
	if (fstat(survey->root, &status) < 0)
		return -errno;
	return survey->uid && status.st_uid != survey->uid ? -EPERM : 0;
}

static void work(void *context)
{
	struct job_survey *survey = context;
	bool is_first = survey->root < 0;

	survey->status = is_first ? open_root(survey) : 0;
	if (survey->status == 0)
		survey->status =
			add_directory(survey, is_first ? "" : survey->path, is_first ? 0 : 1);
}

static void release(void *context)
{
	job_survey_free(context);
}

int job_survey_run(struct job_survey *survey)
{
	int status = deadline_run(work, release, survey, SURVEY_MS);

	if (status == -EAGAIN)
		job_survey_free(survey);
	return status;
}
