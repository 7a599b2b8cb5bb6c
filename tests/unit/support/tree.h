/* SPDX-License-Identifier: MIT */
/*
 * A directory tree for one test: made below the temporary directory, filled file
 * by file, removed at the end.
 */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE_PATH 1024

struct tree {
	char root[64];
};

static inline void tree_make(struct tree *tree)
{
	const char *base = getenv("TMPDIR");

	snprintf(tree->root, sizeof(tree->root), "%.40s/taskscope-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(tree->root));
}

static inline int tree_remove_entry(const char *path, const struct stat *status, int type,
				    struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static inline void tree_remove(struct tree *tree)
{
	assert_int_equal(nftw(tree->root, tree_remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void tree_path(const struct tree *tree, const char *path, char full[TREE_PATH])
{
	int length = snprintf(full, TREE_PATH, "%s/%s", tree->root, path);

	assert_true(length > 0 && length < TREE_PATH - 1);
}

/* Makes a directory and those above it. */
static inline void tree_directory(const struct tree *tree, const char *path)
{
	char full[TREE_PATH];

	tree_path(tree, path, full);
	full[strlen(full) + 1] = '\0';
	full[strlen(full)] = '/';
	for (char *slash = full + strlen(tree->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
}

/* Makes a file of these bytes, with the directories above it. */
static inline void tree_bytes(const struct tree *tree, const char *path, const void *bytes,
			      size_t length)
{
	char full[TREE_PATH];
	const char *name = strrchr(path, '/');
	FILE *file;

	if (name) {
		snprintf(full, sizeof(full), "%.*s", (int)(name - path), path);
		tree_directory(tree, full);
	}
	tree_path(tree, path, full);
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static inline void tree_text(const struct tree *tree, const char *path, const char *text)
{
	tree_bytes(tree, path, text, strlen(text));
}

/* A file of a thread, or of the whole process when tid is 0. */
static inline void tree_task_text(const struct tree *tree, int tgid, int tid, const char *name,
				  const char *text)
{
	char path[TREE_PATH];

	if (tid)
		snprintf(path, sizeof(path), "proc/%d/task/%d/%s", tgid, tid, name);
	else
		snprintf(path, sizeof(path), "proc/%d/%s", tgid, name);
	tree_text(tree, path, text);
}

static inline void tree_unlink(const struct tree *tree, const char *path)
{
	char full[TREE_PATH];

	tree_path(tree, path, full);
	assert_int_equal(unlink(full), 0);
}

static inline int tree_open(const struct tree *tree, const char *path)
{
	char full[TREE_PATH];
	int fd;

	tree_path(tree, path, full);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

#endif
