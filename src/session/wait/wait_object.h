/* SPDX-License-Identifier: MIT */
/*
 * What a blocked thread waits for, as far as it can be known from outside: the lock and its holder,
 * the pipe or socket and the processes at its other end, the file, the thread or the child.
 *
 * This folder joins what host/wait reads with what analyze/wait judges.
 */
#ifndef SESSION_WAIT_OBJECT_H
#define SESSION_WAIT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/wait/descriptor_holders.h"
#include "host/wait/file_locks.h"
#include "model/tree/tree_event.h"

#define WAIT_OBJECT_NAME DESCRIPTOR_LINK
#define WAIT_PARTIES 16

/* A thread, or, if tid is 0, any thread of a process. */
struct wait_party {
	int32_t pid, tid;
	char comm[TREE_COMM_SIZE];
};

struct wait_object {
	const char *kind;	     /* "mutex", "pipe", "file"...; NULL: not known */
	char name[WAIT_OBJECT_NAME]; /* "pipe:[812]", "tcp 127.0.0.1:5 to 127.0.0.1:80", or "" */
	char file[WAIT_OBJECT_NAME]; /* path, or "" */
	uint64_t address;	     /* of a futex; 0: it is not one */
	int reason;		     /* enum wait_reason, or -1 when it is not known */
	bool has_holder;
	struct wait_party holder; /* the one thread, or process, that can end the wait */
	/* Those that can end it as well as each other: at the other end, or children. */
	struct wait_party peers[WAIT_PARTIES];
	size_t peer_count;
	bool is_timed;
	bool is_late; /* memory or files of the process could not be read in time */
	bool is_certain; /* only `holder` or `peers` can end it, not a time limit or somebody unknown */
};

struct deadline_threads;
struct host;
struct process_state;
struct text;

/* What is known about a process while the objects of its threads are found. */
struct wait_process {
	const struct host *host;
	const struct process_state *state;
	int directory; /* of the process */
	struct deadline_threads *reader;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; what is not found by then is late */
};

/*
 * Finds the object of each thread that is blocked; `objects` has room for all threads of the state.
 * The other ends of pipes and sockets are searched for by wait_objects_find_peers().
 */
void wait_objects_find(const struct wait_process *process, struct wait_object *objects);

/*
 * Fills in the peers of pipes and sockets, and who else has an open file that is locked, with one walk
 * over all processes until the deadline.
 */
void wait_objects_find_peers(const struct wait_process *process, struct wait_object *objects);

/* Appends it for people: "mutex 0x55d0c8 held by writer (812)", "pipe:[77], other end: cat (9)". */
void wait_object_describe(const struct wait_object *object, struct text *out);

enum wait_answer {
	ANSWER_NO,
	ANSWER_YES,
	ANSWER_NOT_KNOWN,
};

/* Answers that were found already, for the threads of one process that ask the same. */
struct wait_open_file {
	int32_t pid;
	uint64_t inode;
	enum wait_answer answer;
};

struct wait_open_files {
	ARRAY_OF(struct wait_open_file) list;
};

void wait_open_files_clear(struct wait_open_files *files);

/*
 * Whether a process has a file open; not known at the deadline of `asking`.  A lock of flock() has the number of the process that took it;
 * children that inherited the open file keep it locked after the end of that process, and another
 * one may have its number.
 */
enum wait_answer wait_has_inode_open(const struct wait_process *asking,
				     struct wait_open_files *known, int32_t pid, uint64_t inode);
/*
 * Whether a process has an open file of that path with a lock of that kind: FILE_LOCK_FLOCK or
 * FILE_LOCK_OPEN, since others are not those of an open file.  Not known at the deadline.
 */
enum wait_answer wait_has_lock(const struct wait_process *asking, int32_t pid, const char *path,
			       enum file_lock_kind kind);
/* The inode of a descriptor, without touching the file. */
bool wait_descriptor_inode(struct deadline_threads *reader, int32_t pid, int process, uint64_t fd,
			   uint64_t *ret, bool *is_late);

/* Reads the name of a process or thread, which may be empty; false when it is gone. */
bool wait_party_read_comm(const struct host *host, struct wait_party *party);

#endif
