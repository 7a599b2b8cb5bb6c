/* SPDX-License-Identifier: MIT */
/*
 * This room reads the machine that taskscope examines: this one, or a recorded directory tree.
 *
 * Everything is read below directory fds for proc, sys and the cgroup tree, so that every reader
 * also runs on a tree made by tools/record-root.sh.  A recorded host never asks the live one: no
 * clock, no system call about tasks, no uname.  What no file says is recorded in the tree's own
 * `taskscope-root`.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/text.h"

struct error;

/* The cgroup hierarchy that paths are taken from. */
struct cgroup_hierarchy {
	unsigned version;    /* 2, 1, or 0 when there is none */
	char controller[32]; /* of version 1: e.g. "memory", "name=systemd" */
	char name[48];	     /* for people: "v2", "v1 memory" */
	int fd;		     /* its root directory, or -1 */
};

/* Our own program, to start it as a child. */
extern const char host_own_program[];

struct host_clock {
	uint64_t unix_ns;
	uint64_t monotonic_ns;
	uint64_t boottime_ns;
};

struct host {
	bool live;
	int proc;
	int sys;
	int etc; /* -1 when there is none */
	struct cgroup_hierarchy cgroup;
	uint64_t clock_ticks; /* per second; 0 when the recording does not say */
	uint64_t tick_ns;     /* of one tick; assumes 100 ticks per second when that is 0 */
	uint64_t page_bytes;  /* 0 when the recording does not say */
	struct cpuset online; /* empty when not known */
	struct text recorded; /* taskscope-root of a recorded tree */
};

/* Opens this machine (root is NULL) or a recorded tree.  On failure the error says why. */
int host_open(struct host **ret, const char *root, struct error *error);
void host_close(struct host *host); /* NULL is allowed */
CLEANUP_POINTER(host_close, struct host)

/* The time now, or that of the recording; false when the recording has none. */
bool host_clock(const struct host *host, struct host_clock *ret);

/*
 * A number of the recording's taskscope-root, from the line that starts with `key`.  False on a
 * live host or when there is no such line.
 */
bool host_recorded_number(const struct host *host, const char *key, uint64_t *ret);

/* Inode number of one of our namespaces ("pid", "cgroup"). */
bool host_namespace(const struct host *host, const char *name, uint64_t *ret);

/* uname's machine. */
bool host_arch(const struct host *host, char *buffer, size_t capacity);

/* Opens a directory to read below it: an fd, or a negative errno. */
int host_open_directory(int dir, const char *path);

/* Reads a one-line file below proc or sys, without its newline. */
bool host_read_line(int dir, const char *path, char *buffer, size_t capacity);
bool host_read_number(int dir, const char *path, uint64_t *ret);

/*
 * Whether the kernel was built with an option ("CONFIG_TASK_XACCT"), by the file that
 * distributions keep beside their kernels, or by the line of that name in the recording.  False
 * when neither says.
 */
bool host_kernel_option(const struct host *host, const char *option, bool *ret);

/* What to add to the kernel's boot-time stamps to get those of our time namespace. */
int64_t host_boottime_offset_ns(const struct host *host);

/* The kernel's number of a cgroup in that hierarchy.  0, or an error with a sentence. */
int host_cgroup_number(const struct host *host, const char *path, uint64_t *ret,
		       struct error *error);

/*
 * The path of a task in host->cgroup's hierarchy, from the text of its cgroup file.  Points into
 * `text`, with its length in *ret_length; NULL when there is no such line.
 */
const char *cgroup_path(const char *text, const struct cgroup_hierarchy *hierarchy,
			size_t *ret_length);

#endif
