/* SPDX-License-Identifier: MIT */
#include "host/proc/kept_files.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "host/proc/proc_file.h"

#define FILES_MAX 2048 /* at most a quarter of our limit */

static void forget(struct kept_files *kept, struct kept_file *file)
{
	if (!file->fd)
		return;
	close(file->fd - 1);
	*file = (struct kept_file){ 0 };
	kept->open--;
}

void kept_files_clear(struct kept_files *kept)
{
	for (size_t i = 0; i < kept->list.count; i++)
		forget(kept, &kept->list.data[i]);
	array_free(&kept->list);
	dictionary_free(kept->names);
	*kept = (struct kept_files){ 0 };
}

ssize_t kept_files_read(struct kept_files *kept, const char *name, struct proc_buffer *buffer)
{
	uint32_t number = kept->names ? dictionary_find(kept->names, name, strlen(name)) : 0;
	struct kept_file *file = number < kept->list.count ? &kept->list.data[number] : NULL;
	ssize_t length;

	if (!file || !file->fd)
		return -ENOENT;
	file->is_used = true;
	length = lseek(file->fd - 1, 0, SEEK_SET) < 0 ? -errno : proc_read_fd(file->fd - 1, buffer);
	if (length >= 0 || length == -ENOMEM)
		return length;
	forget(kept, file);
	return -ENOENT;
}

static bool has_room(const struct kept_files *kept)
{
	struct rlimit limit;

	return kept->open < FILES_MAX && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       kept->open < limit.rlim_cur / 4;
}

void kept_files_add(struct kept_files *kept, const char *name, int fd)
{
	CLEANUP(close_fd) int own = fd;
	uint32_t number;

	if (!has_room(kept))
		return;
	if (!kept->names)
		kept->names = dictionary_new();
	if (!kept->names || dictionary_add(kept->names, name, strlen(name), &number) < 0 ||
	    array_extend(&kept->list, number + 1, (struct kept_file){ 0 }) < 0)
		return;
	forget(kept, &kept->list.data[number]);
	kept->list.data[number] = (struct kept_file){ TAKE_FD(own) + 1, true };
	kept->open++;
}

/* Names of files that are closed for good must not pile up. */
static void forget_names(struct kept_files *kept)
{
	struct kept_files left = { 0 };

	for (uint32_t i = 0; i < kept->list.count; i++) {
		struct kept_file *file = &kept->list.data[i];

		if (!file->fd)
			continue;
		kept_files_add(&left, dictionary_text(kept->names, i), file->fd - 1);
		file->fd = 0;
	}
	kept_files_clear(kept);
	*kept = left;
}

void kept_files_sweep(struct kept_files *kept)
{
	for (size_t i = 0; i < kept->list.count; i++)
		if (!kept->list.data[i].is_used)
			forget(kept, &kept->list.data[i]);
	if (kept->list.count > 2 * kept->open + 64)
		forget_names(kept);
	for (size_t i = 0; i < kept->list.count; i++)
		kept->list.data[i].is_used = false;
}
