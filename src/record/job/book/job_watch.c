/* SPDX-License-Identifier: MIT */
#include "record/job/book/job_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "record/job/book/job_survey.h"
#include "record/job/job_tracker_parts.h"

#define LOOK_NS (500 * NS_PER_MS)
#define TOGETHER_NS (2 * NS_PER_SECOND)
#define CHANGES_MOST 1024
#define ENTRIES_MOST 100000 /* that are looked at to find directories, of a job */
/*
 * Who makes many changes must not keep others from being measured: so long are they read at once, and
 * the kernel counts what it has no room for meanwhile.  Few events are read in between.
 */
#define READ_NS (50 * NS_PER_MS)
#define READ_BYTES 2048
enum change { CHANGE_CREATED, CHANGE_CHANGED, CHANGE_DELETED, CHANGE_COUNT };

struct file_change {
	char *path;
	uint64_t hash; /* of the path, which may be long and differ only at its end */
	uint64_t counts[CHANGE_COUNT];
	uint64_t since_ns, unix_ns;
	const char *step; /* that ran then; NULL: none */
};

struct job_watch {
	struct book_job *job;
	int inotify, root;
	ARRAY_OF(struct watched_directory) directories;
	ARRAY_OF(struct file_change) changes;
	uint64_t entries;
	bool is_silent; /* its file system did not answer */
	/* A directory that was moved away; where to, if not out of sight, comes next. */
	uint32_t moved_cookie;
	char *moved_path; /* NULL: none was */
	uint64_t lost;
};

static void watch_free(struct job_watch *watch)
{
	for (size_t i = 0; i < watch->directories.count; i++)
		free(watch->directories.data[i].path);
	for (size_t i = 0; i < watch->changes.count; i++)
		free(watch->changes.data[i].path);
	array_free(&watch->directories);
	array_free(&watch->changes);
	close_fd(&watch->inotify);
	close_fd(&watch->root);
	free(watch->moved_path);
	free(watch);
}

static char *join(const char *directory, const char *name)
{
	CLEANUP(text_free) struct text path = { 0 };

	text_format(&path, "%s%s%s", directory, *directory ? "/" : "", name);
	return path.failed ? NULL : strdup(text_string(&path));
}

static uint64_t hash_path(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	return hash;
}

static struct file_change *find_change(struct job_watch *watch, const char *path, uint64_t hash)
{
	for (size_t i = 0; i < watch->changes.count; i++)
		if (watch->changes.data[i].hash == hash &&
		    strcmp(watch->changes.data[i].path, path) == 0)
			return &watch->changes.data[i];
	return NULL;
}

static void note(struct job_watch *watch, const char *path, enum change kind)
{
	uint64_t hash = hash_path(path);
	struct file_change *found = find_change(watch, path, hash);
	struct file_change change = {
		.hash = hash,
		.step = watch->job->current ? watch->job->current->row.name : NULL,
		.since_ns = monotonic_ns(),
		.unix_ns = clock_ns(CLOCK_REALTIME),
	};

	change.counts[kind] = 1;
	if (found) {
		found->counts[kind]++;
		return;
	}
	change.path = watch->changes.count < CHANGES_MOST ? strdup(path) : NULL;
	if (!change.path || array_append(&watch->changes, change) < 0) {
		free(change.path);
		watch->lost++;
	}
}

static struct watched_directory *find_directory(const struct job_watch *watch, int number)
{
	for (size_t i = 0; i < watch->directories.count; i++)
		if (watch->directories.data[i].watch == number)
			return &watch->directories.data[i];
	return NULL;
}

static void forget_directory(struct job_watch *watch, int number)
{
	for (size_t i = 0; i < watch->directories.count; i++) {
		struct watched_directory *directory = &watch->directories.data[i];

		if (directory->watch != number)
			continue;
		free(directory->path);
		*directory = watch->directories.data[--watch->directories.count];
		return;
	}
}

/* What of the path is below the directory: "" if it is that itself, NULL if it is elsewhere. */
static const char *path_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strncmp(path, directory, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

/*
 * Directories below the old path have the new one from now on.  False when none of them was
 * watched.
 */
static bool follow_move(struct job_watch *watch, const char *old, const char *new)
{
	bool is_watched = false;

	for (size_t i = 0; i < watch->directories.count; i++) {
		struct watched_directory *directory = &watch->directories.data[i];
		const char *rest = path_below(directory->path, old);
		CLEANUP(text_free) struct text path = { 0 };
		char *moved;

		if (!rest)
			continue;
		is_watched = true;
		text_format(&path, "%s%s", new, rest);
		moved = path.failed ? NULL : strdup(text_string(&path));
		watch->lost += !moved;
		if (moved) {
			free(directory->path);
			directory->path = moved;
		}
	}
	return is_watched;
}

/* What left the job's directory is not the job's any more. */
static void forget_moved(struct job_watch *watch)
{
	CLEANUP(free_pointer) char *path = TAKE_PTR(watch->moved_path);

	for (size_t i = watch->directories.count; path && i-- > 0;) {
		struct watched_directory *directory = &watch->directories.data[i];

		if (!path_below(directory->path, path))
			continue;
		(void)inotify_rm_watch(watch->inotify, directory->watch);
		forget_directory(watch, directory->watch);
	}
}

/*
 * Whether the event is the second one of a watched directory that was moved from one place to another
 * inside.  Events of others may be between the two.
 */
static bool take_move(struct job_watch *watch, const struct inotify_event *event, const char *path)
{
	bool is_target = event->mask & IN_ISDIR && event->mask & IN_MOVED_TO && watch->moved_path &&
			 event->cookie == watch->moved_cookie;

	if (is_target) {
		CLEANUP(free_pointer) char *old = TAKE_PTR(watch->moved_path);

		return follow_move(watch, old, path);
	}
	if (event->mask & IN_ISDIR && event->mask & IN_MOVED_FROM) {
		forget_moved(watch);
		watch->moved_path = strdup(path);
		watch->moved_cookie = event->cookie;
		watch->lost += !watch->moved_path;
	}
	return false;
}

/* Takes over what was found; a directory may be found twice, the second time at its new place. */
static void merge(struct job_watch *watch, struct job_survey *survey)
{
	for (size_t i = 0; i < survey->directories.count; i++) {
		struct watched_directory *found = &survey->directories.data[i];
		struct watched_directory *known = find_directory(watch, found->watch);

		if (known) {
			free(known->path);
			known->path = TAKE_PTR(found->path);
		} else if (array_append(&watch->directories, *found) == 0) {
			found->path = NULL;
		} else {
			watch->lost++;
		}
	}
	for (size_t i = 0; i < survey->files.count; i++)
		note(watch, survey->files.data[i], CHANGE_CREATED);
	watch->entries += survey->entries;
	watch->lost += survey->lost;
	if (watch->root < 0)
		watch->root = TAKE_FD(survey->root);
}

/* A file system that did not answer is not asked again. */
static int survey(struct job_watch *watch, const char *path, bool is_new)
{
	uint64_t entries = watch->entries < ENTRIES_MOST ? ENTRIES_MOST - watch->entries : 0;
	struct job_survey *found;
	int status;

	if (watch->is_silent)
		return -ETIMEDOUT;
	found = job_survey_new(watch->job->row.uid, watch->inotify, watch->root, path);
	if (!found)
		return -ENOMEM;
	found->is_new = is_new;
	found->entries_most = entries;
	found->directories_most = JOB_WATCH_DIRECTORIES - watch->directories.count;
	status = job_survey_run(found);
	watch->is_silent = status == -ETIMEDOUT;
	if (status < 0)
		return status;
	status = found->status;
	merge(watch, found);
	job_survey_free(found);
	return status;
}

static void take(struct job_watch *watch, const struct inotify_event *event)
{
	static const struct {
		uint32_t mask;
		enum change change;
	} changes[] = {
		{ IN_CREATE | IN_MOVED_TO, CHANGE_CREATED },
		{ IN_MODIFY, CHANGE_CHANGED },
		{ IN_DELETE | IN_MOVED_FROM, CHANGE_DELETED },
	};
	const struct watched_directory *directory = find_directory(watch, event->wd);
	CLEANUP(free_pointer) char *path = NULL;
	int status = 0;

	if (event->mask & IN_Q_OVERFLOW)
		watch->lost++;
	if (event->mask & IN_IGNORED)
		forget_directory(watch, event->wd);
	if (!directory || !event->len || event->mask & IN_IGNORED)
		return;
	path = join(directory->path, event->name);
	watch->lost += !path;
	if (path && take_move(watch, event, path))
		return;
	for (size_t i = 0; path && i < ARRAY_SIZE(changes); i++)
		if (event->mask & changes[i].mask && !(event->mask & IN_ISDIR))
			note(watch, path, changes[i].change);
	if (path && event->mask & IN_ISDIR && event->mask & (IN_CREATE | IN_MOVED_TO))
		status = survey(watch, path, true);
	/* One that is gone again had nothing, or nothing that could be seen. */
	watch->lost += status == -ETIMEDOUT || status == -ENOMEM;
}

/* Whether all was read before that time. */
static bool read_events(struct job_watch *watch, uint64_t until_ns)
{
	alignas(struct inotify_event) char buffer[READ_BYTES];
	ssize_t length;

	do {
		length = read(watch->inotify, buffer, sizeof(buffer));
		for (ssize_t at = 0; at < length;) {
			const struct inotify_event *event = (const void *)(buffer + at);

			at += (ssize_t)(sizeof(*event) + event->len);
			take(watch, event);
		}
	} while (length > 0 && monotonic_ns() < until_ns);
	/* Where to a directory was moved may be among those that were not read. */
	if (length <= 0)
		forget_moved(watch);
	return length <= 0;
}

static void log_change(struct job_tracker *tracker, struct job_watch *watch,
		       const struct file_change *change)
{
	static const enum job_event_kind kinds[CHANGE_COUNT] = {
		[CHANGE_CREATED] = JOB_EVENT_FILE_CREATED,
		[CHANGE_CHANGED] = JOB_EVENT_FILE_CHANGED,
		[CHANGE_DELETED] = JOB_EVENT_FILE_DELETED,
	};
	struct job_event event = {
		.unix_ns = change->unix_ns,
		.details = change->path,
		.step = change->step,
	};

	for (int i = 0; i < CHANGE_COUNT; i++) {
		/* What is written into a new file is part of making it. */
		if (!change->counts[i] || (i == CHANGE_CHANGED && change->counts[CHANGE_CREATED]))
			continue;
		event.kind = kinds[i];
		event.count = change->counts[i];
		job_log(tracker, watch->job, &event);
	}
}

/* Logs changes that began before that time. */
static void log_changes(struct job_tracker *tracker, struct job_watch *watch, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->changes.count; i++) {
		struct file_change *change = &watch->changes.data[i];

		if (change->since_ns > before_ns) {
			watch->changes.data[kept++] = *change;
			continue;
		}
		log_change(tracker, watch, change);
		free(change->path);
	}
	watch->changes.count = kept;
	watch->job->lost_job_events += TAKE(watch->lost, 0);
}

/* Of each job in turn, as far as there is time. */
static void read_all(struct job_watches *watches)
{
	uint64_t until_ns = monotonic_ns() + READ_NS;

	for (size_t i = 0; i < watches->list.count && monotonic_ns() < until_ns; i++)
		(void)read_events(watches->list.data[watches->turn++ % watches->list.count],
				  until_ns);
}

static void look(void *context)
{
	struct job_watches *watches = context;

	read_all(watches);
	for (size_t i = 0; i < watches->list.count; i++)
		log_changes(watches->tracker, watches->list.data[i], monotonic_ns() - TOGETHER_NS);
	watches->due.deadline_ns = watches->list.count ? monotonic_ns() + LOOK_NS : LOOP_NEVER;
}

void job_watches_open(struct job_watches *watches, struct loop *loop, struct job_tracker *tracker)
{
	*watches = (struct job_watches){
		.tracker = tracker,
		.loop = loop,
		.due = { .due = look, .context = watches, .deadline_ns = LOOP_NEVER },
	};
	loop_add_timer(loop, &watches->due);
}

void job_watches_close(struct job_watches *watches)
{
	loop_remove_timer(watches->loop, &watches->due);
	for (size_t i = 0; i < watches->list.count; i++)
		watch_free(watches->list.data[i]);
	array_free(&watches->list);
}

static int check_room(const struct job_watches *watches, uint32_t uid, struct error *error)
{
	size_t own = 0;

	for (size_t i = 0; i < watches->list.count; i++)
		own += watches->list.data[i]->job->row.uid == uid;
	if (watches->list.count >= JOB_WATCHES_MOST || own >= JOB_WATCHES_OF_USER)
		return error_set(error, -E2BIG, "too many running jobs watch a directory");
	return 0;
}

static int open_watch(struct job_watch *watch, struct error *error)
{
	const struct job *row = &watch->job->row;
	int status;

	watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->inotify < 0)
		return error_set(error, -errno, "cannot watch %s: %s", row->watched,
				 strerror(errno));
	status = survey(watch, row->watched, false);
	if (status == -EPERM)
		return error_set(error, status,
				 "the directory '%s' belongs to another user: root can mark it",
				 row->watched);
	return status < 0 ?
		       error_set(error, status, "cannot watch %s: %s", row->watched,
				 status == -ELOOP     ? "it is not a directory, or behind a link" :
				 status == -ETIMEDOUT ? "to read it took longer than a second" :
							strerror(-status)) :
		       0;
}

int job_watches_add(struct job_watches *watches, struct book_job *job, struct error *error)
{
	int status = check_room(watches, job->row.uid, error);
	struct job_watch *watch;

	if (status < 0)
		return status;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return error_set(error, -ENOMEM, "out of memory");
	*watch = (struct job_watch){ .job = job, .inotify = -1, .root = -1 };
	status = open_watch(watch, error);
	if (status == 0 && array_append(&watches->list, watch) < 0)
		status = error_set(error, -ENOMEM, "out of memory");
	if (status < 0)
		watch_free(watch);
	else if (watches->due.deadline_ns == LOOP_NEVER)
		watches->due.deadline_ns = monotonic_ns() + LOOK_NS;
	return status;
}

static void finish(struct job_watches *watches, struct job_watch *watch)
{
	watch->lost += !read_events(watch, monotonic_ns() + READ_NS);
	log_changes(watches->tracker, watch, UINT64_MAX);
}

/* Its place in the list, or their number. */
static size_t find_watch(const struct job_watches *watches, const struct book_job *job)
{
	size_t place = 0;

	while (place < watches->list.count && watches->list.data[place]->job != job)
		place++;
	return place;
}

void job_watches_settle(struct job_watches *watches, const struct book_job *job)
{
	size_t place = find_watch(watches, job);

	if (place == watches->list.count)
		return;
	(void)read_events(watches->list.data[place], monotonic_ns() + READ_NS);
	log_changes(watches->tracker, watches->list.data[place], UINT64_MAX);
}

void job_watches_remove(struct job_watches *watches, struct book_job *job)
{
	size_t place = find_watch(watches, job);
	struct job_watch *watch;

	if (place == watches->list.count)
		return;
	watch = watches->list.data[place];
	finish(watches, watch);
	watches->list.data[place] = watches->list.data[--watches->list.count];
	watch_free(watch);
}

void job_watches_flush(struct job_watches *watches)
{
	for (size_t i = 0; i < watches->list.count; i++)
		finish(watches, watches->list.data[i]);
}
