/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/dictionary.h"
#include "host/code/code_state.h"

#define OPEN_FDS_MAX 256 /* of files; the service has the others, and loses them when it fails */
#define TRIES_MAX 8
#define KEY_BYTES (PATH_MAX + 128)

static const char vdso_name[] = "[vdso]";

static void note_bad(struct code *code, struct code_file *file)
{
	if (!file->is_counted)
		code->bad++;
	file->is_counted = true;
}

static void set_state(struct code *code, struct code_file *file, enum code_file_state state)
{
	file->state = state;
	if (state == CODE_FILE_BAD || state == CODE_FILE_MISSING)
		note_bad(code, file);
	if (file->fd >= 0 && state != CODE_FILE_KNOWN) {
		close_fd(&file->fd);
		code->open_fds--;
	}
}

/* ---- finding ---- */

static void id_key(const uint8_t *id, size_t size, uint32_t owner, char key[KEY_BYTES])
{
	size_t length = (size_t)snprintf(key, KEY_BYTES, "id %" PRIu32 " ", owner);

	for (size_t i = 0; i < size; i++)
		length += (size_t)snprintf(key + length, KEY_BYTES - length, "%02x", id[i]);
}

/*
 * A file that is written to in its place keeps its inode, so its size and time count too, while there is a process to
 * ask.  Without an inode, a path is all there is.
 */
static void mapping_key(const struct code_mapping *mapping, uint32_t owner, const struct stat *file,
			char key[KEY_BYTES])
{
	if (mapping->build_id_size)
		id_key(mapping->build_id, mapping->build_id_size, owner, key);
	else if (mapping->inode)
		snprintf(key, KEY_BYTES, "inode %" PRIx64 " %" PRIx64 " %" PRIx64 " %ld.%ld %s",
			 mapping->device, mapping->inode, (uint64_t)file->st_size,
			 (long)file->st_mtim.tv_sec, file->st_mtim.tv_nsec, mapping->path);
	else
		snprintf(key, KEY_BYTES, "path %s", mapping->path);
}

/* NULL: there is none with this key. */
static struct code_file *file_of(const struct code *code, const char *key)
{
	uint32_t id = dictionary_find(code->keys, key, strlen(key));

	return id && id < code->by_key.count ? code->by_key.data[id] : NULL;
}

static int set_key(struct code *code, const char *key, struct code_file *file)
{
	uint32_t id;
	int status = dictionary_add(code->keys, key, strlen(key), &id);

	if (status == 0)
		status = array_extend(&code->by_key, (size_t)id + 1, NULL);
	if (status == 0)
		code->by_key.data[id] = file;
	return status;
}

static void set_owner(struct code *code, struct code_file *file, uint32_t owner)
{
	file->owner = owner;
	file->service = owner == CODE_OWNER_TRUSTED ? &code->service : &code->strangers;
}

/* Whose share a file uses up that may not be what it says: that of its owner, or of who mapped it. */
static struct code_user *user_of(struct code *code, uint32_t owner, int32_t pid, uint64_t start_ns)
{
	CLEANUP(close_fd) int process = -1;

	if (owner != CODE_OWNER_TRUSTED && owner != CODE_OWNER_UNKNOWN)
		return code_user_find(code, owner);
	process = code_open_process(code, pid, start_ns);
	return code_user_of_process(code, process);
}

static struct code_file *new_file(struct code *code, const struct code_mapping *mapping,
				  uint32_t owner, struct code_user *user)
{
	struct code_file *file;

	if (code->files.count == CODE_FILES_MAX || !code_user_may_add(user)) {
		code->bad++;
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	*file = (struct code_file){ .number = (uint32_t)code->files.count,
				    .fd = -1,
				    .user = user,
				    .build_id_size = mapping->build_id_size,
				    .path = strdup(mapping->path) };
	memcpy(file->build_id, mapping->build_id, sizeof(file->build_id));
	set_owner(code, file, owner);
	if (file->path && array_append(&code->files, file) == 0) {
		user->files++;
		return file;
	}
	free(file->path);
	free(file);
	return NULL;
}

/* The file of a mapping, if its owner is that: one that is known already, or a new one. */
static struct code_file *file_for(struct code *code, const struct code_mapping *mapping,
				  uint32_t owner, int32_t pid, uint64_t start_ns,
				  const struct stat *status)
{
	struct code_file *file;
	char key[KEY_BYTES];

	mapping_key(mapping, owner, status, key);
	file = file_of(code, key);
	if (file)
		return file;
	file = new_file(code, mapping, owner, user_of(code, owner, pid, start_ns));
	return file && set_key(code, key, file) == 0 ? file : NULL;
}

/* Opens the file that was missing.  Its owner may turn out to be another, and so the file. */
static struct code_file *open_file(struct code *code, struct code_file *missing,
				   const struct code_mapping *mapping, int32_t pid,
				   uint64_t start_ns, const struct stat *status)
{
	uint32_t owner = CODE_OWNER_TRUSTED;
	CLEANUP(close_fd)
	int fd = strcmp(mapping->path, vdso_name) == 0 ?
			 code_open_vdso() :
			 code_open_mapping(code, mapping, pid, start_ns, &owner);
	struct code_file *file = missing;

	missing->tries++;
	if (fd < 0)
		return missing;
	if (mapping->build_id_size && owner != missing->owner)
		file = file_for(code, mapping, owner, pid, start_ns, status);
	if (!file || file->state != CODE_FILE_MISSING)
		return file;
	set_owner(code, file, owner);
	if (owner == CODE_OWNER_TRUSTED)
		file->user = code_user_find(code, owner);
	file->fd = TAKE_FD(fd);
	file->state = CODE_FILE_NEW;
	code->open_fds++;
	code->opened++;
	return file;
}

/* The kernel names memory without a file in brackets or with two slashes. */
static bool may_be_file(const struct code_mapping *mapping)
{
	return mapping->path && mapping->path[0] &&
	       (strcmp(mapping->path, vdso_name) == 0 ||
		(mapping->path[0] != '[' && strncmp(mapping->path, "//", 2) != 0));
}

/* A trusted file with the build id is as good as any other; NULL: there is none. */
static struct code_file *trusted_file_of(const struct code *code, const uint8_t *id, size_t size)
{
	char key[KEY_BYTES];
	struct code_file *file;

	if (!size)
		return NULL;
	id_key(id, size, CODE_OWNER_TRUSTED, key);
	file = file_of(code, key);
	return file && file->state != CODE_FILE_MISSING ? file : NULL;
}

struct code_file *code_file_find(struct code *code, const struct code_mapping *mapping, int32_t pid,
				 uint64_t start_ns)
{
	struct code_file *file;
	struct stat status;
	uint32_t owner;

	if (!may_be_file(mapping) || mapping->build_id_size > CODE_BUILD_ID_MAX)
		return NULL;
	file = trusted_file_of(code, mapping->build_id, mapping->build_id_size);
	if (file)
		return file;
	owner = code_stat_mapping(code, mapping, pid, start_ns, &status);
	file = file_for(code, mapping, owner, pid, start_ns, &status);
	if (file && file->state == CODE_FILE_MISSING && file->tries < TRIES_MAX)
		file = open_file(code, file, mapping, pid, start_ns, &status);
	return file;
}

/* ---- asking ---- */

/* The service has the file now; a lot of files must not take all our fds. */
static void note_sent(struct code *code, struct code_file *file)
{
	file->sent_to = file->service->starts;
	if (code->open_fds <= OPEN_FDS_MAX)
		return;
	close_fd(&file->fd);
	code->open_fds--;
}

static ssize_t ask(struct code *code, struct code_file *file, struct code_question *question)
{
	int fd = file->sent_to == file->service->starts ? -1 : file->fd;
	uint64_t begin_ns = monotonic_ns();
	ssize_t size;

	question->file = file->number;
	size = code_service_ask(file->service, question, fd, &code->answer);
	code_user_charge(file, begin_ns, size);
	if (size == -EPROTO || size == -ETIMEDOUT)
		set_state(code, file, CODE_FILE_BAD);
	else if (fd >= 0 && size >= 0)
		note_sent(code, file);
	return size;
}

ssize_t code_file_ask(struct code *code, struct code_file *file, struct code_question *question)
{
	if (file->state != CODE_FILE_NEW && file->state != CODE_FILE_KNOWN)
		return -ENODATA;
	if (!code_user_may_ask(code, file))
		return -EBUSY;
	if (code_service_start(file->service) < 0)
		return -ENODATA;
	if (file->sent_to != file->service->starts && file->fd < 0) {
		set_state(code, file, CODE_FILE_BAD);
		return -ENODATA;
	}
	return ask(code, file, question);
}

void code_file_distrust(struct code *code, struct code_file *file)
{
	code_service_end(file->service);
	set_state(code, file, CODE_FILE_BAD);
}

/* ---- learning ---- */

static bool is_valid(const struct code_file_answer *answer)
{
	if (answer->build_id_size > CODE_BUILD_ID_MAX || answer->segment_count > CODE_SEGMENTS_MAX)
		return false;
	for (size_t i = 0; i < answer->segment_count; i++) {
		const struct code_segment *segment = &answer->segments[i];

		if (segment->offset + segment->size < segment->offset ||
		    segment->address + segment->size < segment->address)
			return false;
	}
	return true;
}

/* Opened by its path alone, it may be another file. */
static bool is_expected(const struct code_file *file, const struct code_file_answer *answer)
{
	return !file->build_id_size ||
	       (file->build_id_size == answer->build_id_size &&
		memcmp(file->build_id, answer->build_id, file->build_id_size) == 0);
}

static int keep(struct code_file *file, const struct code_file_answer *answer)
{
	size_t size = answer->segment_count * sizeof(*file->segments);

	file->segments = malloc(size + 1);
	if (!file->segments)
		return -ENOMEM;
	memcpy(file->segments, answer->segments, size);
	file->segment_count = answer->segment_count;
	file->entry = answer->entry;
	file->build_id_size = (uint8_t)answer->build_id_size;
	memcpy(file->build_id, answer->build_id, sizeof(file->build_id));
	return 0;
}

/* A file that was found by its inode may be known by its build id. */
static void find_same(struct code *code, struct code_file *file)
{
	char key[KEY_BYTES];
	struct code_file *other;

	if (!file->build_id_size)
		return;
	id_key(file->build_id, file->build_id_size, file->owner, key);
	other = trusted_file_of(code, file->build_id, file->build_id_size);
	if (!other)
		other = file_of(code, key);
	if (!other)
		set_key(code, key, file); /* if there is no memory, it is kept twice */
	else if (other != file && other->state == CODE_FILE_KNOWN)
		file->same = other;
}

static void learn(struct code *code, struct code_file *file)
{
	struct code_question question = { .kind = CODE_ASK_FILE };
	const struct code_file_answer *answer = (void *)code->answer.bytes;
	ssize_t size = code_file_ask(code, file, &question);

	if (size < 0) {
		if (file->state == CODE_FILE_NEW && size != -EBUSY)
			set_state(code, file, size == -ENOEXEC ? CODE_FILE_OTHER : CODE_FILE_BAD);
	} else if (size != sizeof(*answer) || !is_valid(answer)) {
		code_file_distrust(code, file);
	} else if (!is_expected(file, answer)) {
		set_state(code, file, CODE_FILE_MISSING);
		file->sent_to = 0;
	} else if (keep(file, answer) < 0) {
		set_state(code, file, CODE_FILE_BAD);
	} else {
		file->state = CODE_FILE_KNOWN;
		find_same(code, file);
	}
}

struct code_file *code_file_learn(struct code *code, struct code_file *file)
{
	if (file->state == CODE_FILE_NEW)
		learn(code, file);
	if (file->state == CODE_FILE_MISSING)
		note_bad(code, file);
	return file->same ? file->same : file;
}
