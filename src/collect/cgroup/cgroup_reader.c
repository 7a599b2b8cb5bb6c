/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collect/cgroup/cgroup_v1.h"
#include "collect/collector.h"

/* clang-format off */
static const struct {
	const char *name;
	enum hierarchy_id v1;
} controllers[CONTROLLER_COUNT] = {
	[CONTROLLER_CPU] = { "cpu", HIERARCHY_CPU },    [CONTROLLER_MEMORY] = { "memory", HIERARCHY_MEMORY },
	[CONTROLLER_IO] = { "io", HIERARCHY_BLKIO },    [CONTROLLER_PIDS] = { "pids", HIERARCHY_PIDS },
	[CONTROLLER_CPUSET] = { "cpuset", HIERARCHY_CPUSET },
};
/* clang-format on */

/* A directory that nobody has needed yet. */
#define NOT_OPENED (-EINPROGRESS)

/* Why a row lacks a file. */
struct lack {
	enum cgroup_absence absence;
	const char *detail;
};

static bool has_tree(const struct cgroup_reader *reader, enum hierarchy_id id)
{
	return reader->trees.trees[id].fd >= 0;
}

/* The row's directory in a hierarchy: an fd or a negative errno. */
static int find_directory(struct cgroup_reader *reader, enum hierarchy_id id)
{
	int *dir = &reader->directories[id];

	if (*dir == NOT_OPENED)
		*dir = reader->row->same >> id & 1 ?
			       hierarchies_open_cgroup(&reader->trees, id, reader->row->path) :
			       -ENOENT;
	return *dir;
}

static int store_v1(struct cgroup_reader *reader, const struct kernel_value *value)
{
	struct cgroup_reading translated[V1_READINGS_MAX];
	size_t count =
		cgroup_v1_translate(reader->v1, reader->capture->host->tick_ns, value, translated);
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++)
		status = cgroup_reader_store(reader, translated[i].name, &translated[i].value,
					     value);
	return status;
}

/* Whether a directory is the root of its whole tree, and not just of our namespace. */
static bool is_true_root(struct cgroup_reader *reader, enum hierarchy_id id)
{
	int dir;

	if (strcmp(reader->row->path, "/") != 0)
		return false;
	if (!reader->capture->host->live)
		return true;
	dir = find_directory(reader, id);
	return id == HIERARCHY_V2 ? faccessat(dir, "cgroup.type", F_OK, 0) < 0 :
				    faccessat(dir, "release_agent", F_OK, 0) == 0;
}

/* The kernel gives whole hosts numbers for "cpu full" that mean nothing. */
static bool is_meaningless(struct cgroup_reader *reader, const struct kernel_value *value)
{
	return reader->file == CGROUP_FILE_CPU_PRESSURE && strncmp(value->key, "full", 4) == 0 &&
	       is_true_root(reader, HIERARCHY_V2);
}

static int take_value(struct kernel_sink *sink, const struct kernel_value *value)
{
	struct cgroup_reader *reader = (struct cgroup_reader *)sink;
	char name[SHEET_NAME_SIZE];

	if (reader->v1)
		return store_v1(reader, value);
	if (is_meaningless(reader, value))
		return 0;
	if (!*value->key)
		return cgroup_reader_store(reader, cgroup_files[reader->file].name, value, value);
	snprintf(name, sizeof(name), "%s %s", cgroup_files[reader->file].name, value->key);
	return cgroup_reader_store(reader, name, value, value);
}

/* If a file has nonsensical lines, that counts as one failed read. */
static void count_parsed(struct cgroup_reader *reader, int bad)
{
	source_count(reader->tally, bad ? -EBADMSG : 0);
	if (bad)
		reader->tally->reason = "files of cgroups with lines that make no sense";
}

/*
 * Whether the cgroup still exists: if it was removed, its files are missing too.  Checked once per
 * row, when a file is missing.
 */
static bool is_alive(struct cgroup_reader *reader, enum hierarchy_id id)
{
	if (!(reader->alive >> id & 1) &&
	    faccessat(find_directory(reader, id), "cgroup.procs", F_OK, 0) == 0)
		reader->alive |= (uint8_t)(1u << id);
	return reader->alive >> id & 1;
}

static struct lack lack_of(struct cgroup_reader *reader, enum hierarchy_id id, const char *file,
			   bool on_root, int status)
{
	if (is_vanished(status)) {
		if (!on_root && is_true_root(reader, id))
			return (struct lack){ ABSENCE_ROOT, NULL };
		if (!reader->capture->host->live)
			return (struct lack){ ABSENCE_NOT_RECORDED, NULL };
		return is_alive(reader, id) ? (struct lack){ ABSENCE_KERNEL, file } :
					      (struct lack){ ABSENCE_GONE, NULL };
	}
	if (status == -ENODEV) /* removed between opening and reading */
		return (struct lack){ ABSENCE_GONE, NULL };
	if (status == -EOPNOTSUPP)
		return (struct lack){ ABSENCE_PRESSURE_OFF, NULL };
	return (struct lack){ ABSENCE_REFUSED, strerrordesc_np(-status) };
}

static bool is_failure(int status)
{
	return status != -ENODEV && status != -EOPNOTSUPP;
}

/* The reason why nothing of the row can be read in a hierarchy, if there is one. */
static struct lack check_directory(struct cgroup_reader *reader, enum hierarchy_id id)
{
	int dir = find_directory(reader, id);

	if (dir >= 0)
		return (struct lack){ ABSENCE_NONE, NULL };
	if (!is_vanished(dir))
		return (struct lack){ ABSENCE_REFUSED, strerrordesc_np(-dir) };
	return (struct lack){ reader->capture->host->live ? ABSENCE_GONE : ABSENCE_NOT_RECORDED,
			      NULL };
}

/* Reads a file of the row into the buffer: the one that was kept, or a new one. */
static ssize_t read_text(struct cgroup_reader *reader, enum hierarchy_id id, const char *name,
			 struct lack *ret)
{
	char kept_name[PATH_MAX + NAME_MAX];
	ssize_t length = -ENOENT;
	int fd;

	*ret = (struct lack){ ABSENCE_NONE, NULL };
	snprintf(kept_name, sizeof(kept_name), "%d%s/%s", id, reader->row->path, name);
	if (reader->kept)
		length = kept_files_read(reader->kept, kept_name, &reader->buffer);
	if (length != -ENOENT)
		return length;
	*ret = check_directory(reader, id);
	if (ret->absence)
		return -ENOENT;
	fd = file_open_below(find_directory(reader, id), name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	length = proc_read_fd(fd, &reader->buffer);
	if (length >= 0 && reader->kept)
		kept_files_add(reader->kept, kept_name, fd);
	else
		close(fd);
	return length;
}

/* Reads one file of the row into the sheet. */
static int read_file(struct cgroup_reader *reader, enum hierarchy_id id, const char *name,
		     enum kernel_format format, bool on_root, struct lack *ret)
{
	ssize_t length = read_text(reader, id, name, ret);
	int bad;

	if (ret->absence)
		return 0;

	if (length == -ENOMEM)
		return -ENOMEM;
	if (length < 0) {
		if (is_failure((int)length))
			source_count(reader->tally, length);
		*ret = lack_of(reader, id, name, on_root, (int)length);
		return 0;
	}
	bad = kernel_parse(format, reader->buffer.data, &reader->sink);
	if (bad < 0)
		return bad;
	count_parsed(reader, bad);
	*ret = (struct lack){ bad ? ABSENCE_BROKEN : ABSENCE_NONE, NULL };
	return 0;
}

/* Whether the row's tasks are in the same cgroup in a hierarchy. */
static struct lack check_place(const struct cgroup_reader *reader, enum hierarchy_id id)
{
	const char *name = id == HIERARCHY_V2 ? "v2" : reader->trees.trees[id].controller;

	return (struct lack){ reader->row->same >> id & 1 ? ABSENCE_NONE : ABSENCE_ELSEWHERE,
			      name };
}

/* The reason why v2 does not have the file, if that is known without trying to read it. */
static struct lack check_v2(const struct cgroup_reader *reader)
{
	enum cgroup_controller controller = cgroup_files[reader->file].controller;
	const char *name = controllers[controller].name;

	if (controller && has_tree(reader, controllers[controller].v1))
		return (struct lack){ ABSENCE_V1_LACKS, name };
	if (!has_tree(reader, HIERARCHY_V2))
		return controller ? (struct lack){ ABSENCE_NO_CONTROLLER, name } :
				    (struct lack){ ABSENCE_NO_V2, NULL };
	if (controller && reader->row->has_controllers &&
	    !(reader->row->controllers >> controller & 1))
		return (struct lack){ reader->host_controllers >> controller & 1 ?
					      ABSENCE_NOT_ENABLED :
					      ABSENCE_NO_CONTROLLER,
				      name };
	return check_place(reader, HIERARCHY_V2);
}

static int read_v2(struct cgroup_reader *reader, struct lack *ret)
{
	const struct cgroup_file *file = &cgroup_files[reader->file];

	reader->v1 = NULL;
	*ret = check_v2(reader);
	if (ret->absence)
		return 0;
	return read_file(reader, HIERARCHY_V2, file->name, file->format, file->on_root, ret);
}

static int read_v1(struct cgroup_reader *reader, const struct cgroup_v1_file *v1, struct lack *ret)
{
	reader->v1 = v1;
	*ret = check_place(reader, v1->hierarchy);
	if (ret->absence)
		return 0;
	if (!v1->is_given)
		return read_file(reader, v1->hierarchy, v1->name, v1->format, !v1->not_on_root,
				 ret);
	if (cgroup_reader_has(reader, cgroup_files[v1->file].name))
		return 0;
	*ret = check_directory(reader, v1->hierarchy);
	if (!ret->absence)
		*ret = (struct lack){ ABSENCE_KERNEL, v1->name };
	return 0;
}

static void note_lack(struct cgroup_absences *absences, struct lack lack)
{
	if (lack.absence)
		cgroup_absences_add(absences, lack.absence, lack.detail);
}

/* Reads one v1 file, unless v2 has given all of it. */
static int try_v1(struct cgroup_reader *reader, size_t index, bool has_v2)
{
	const struct cgroup_v1_file *v1 = &cgroup_v1_files[index];
	struct lack lack;
	int status;

	if (!has_tree(reader, v1->hierarchy))
		return 0;
	reader->lacks.v1_trees |= 1u << index;
	if (has_v2 && v1->is_in_v2)
		return 0;
	status = read_v1(reader, v1, &lack);
	if (status == 0)
		note_lack(&reader->lacks.v1[index], lack);
	return status;
}

/* Reads a file from v2, and from v1 what v2 lacks. */
static int read_reading(struct cgroup_reader *reader, size_t *next_v1)
{
	struct lack lack;
	int status = read_v2(reader, &lack);
	bool has_v2 = status == 0 && !lack.absence;

	if (status == 0)
		note_lack(&reader->lacks.v2[reader->file], lack);
	for (; *next_v1 < cgroup_v1_file_count; ++*next_v1) {
		if (cgroup_v1_files[*next_v1].file != reader->file)
			break;
		if (status == 0)
			status = try_v1(reader, *next_v1, has_v2);
	}
	return status;
}

static uint8_t controller_bit(const char *name)
{
	for (int controller = 1; controller < CONTROLLER_COUNT; controller++)
		if (strcmp(controllers[controller].name, name) == 0)
			return (uint8_t)(1u << controller);
	return 0;
}

/* A controller that is off for a cgroup is also off for those below. */
static void read_controllers(struct cgroup_reader *reader)
{
	const struct cgroup_row *above = &reader->rows.list.data[reader->row->parent];
	struct cgroup_row *row = reader->row;
	struct lack lack;
	char *rest, *word;

	if (above != row && above->has_controllers && !above->controllers) {
		row->has_controllers = true;
		return;
	}
	if (!(row->same >> HIERARCHY_V2 & 1) ||
	    read_text(reader, HIERARCHY_V2, "cgroup.controllers", &lack) < 0)
		return;
	row->has_controllers = true;
	rest = reader->buffer.data;
	while ((word = strsep(&rest, " \n")))
		row->controllers |= controller_bit(word);
	reader->host_controllers |= row->controllers;
}

static void close_directories(struct cgroup_reader *reader)
{
	for (int id = 0; id < HIERARCHY_COUNT; id++)
		close_fd(&reader->directories[id]);
}

static void leave_out(struct cgroup_reader *reader, enum cgroup_absence absence)
{
	struct cgroup_lacks *lacks = &reader->lacks;

	for (int file = 0; file < CGROUP_FILE_COUNT; file++) {
		cgroup_absences_add(&lacks->v2[file], absence, NULL);
	}
	for (size_t i = 0; i < cgroup_v1_file_count; i++)
		if (has_tree(reader, cgroup_v1_files[i].hierarchy))
			cgroup_absences_add(&lacks->v1[i], absence, NULL);
}

int cgroup_reader_read_row(struct cgroup_reader *reader, struct cgroup_row *row, uint32_t sheet_row)
{
	size_t next_v1 = 0;
	int status = 0;

	reader->row = row;
	reader->sheet_row = sheet_row;
	if (row->is_outside) {
		leave_out(reader, ABSENCE_OUTSIDE);
		return 0;
	}
	reader->sink.take = take_value;
	reader->alive = 0;
	for (int id = 0; id < HIERARCHY_COUNT; id++)
		reader->directories[id] = NOT_OPENED;
	read_controllers(reader);
	for (int file = 0; status == 0 && file < CGROUP_FILE_COUNT; file++) {
		reader->file = file;
		status = read_reading(reader, &next_v1);
	}
	close_directories(reader);
	return status;
}
