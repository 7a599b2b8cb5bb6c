/* SPDX-License-Identifier: MIT */
/*
 * Opens and parses a file that a process has mapped, in a confined child.
 *
 * The file may belong to anyone, and its file system may never answer: a thread that waits for it
 * cannot even be killed.  So a child opens it, with our rights and under a deadline.  Then the
 * child gives up every right (host/confine/confine.h) and parses it.  Each child reads one file
 * only, so no other file can make it lie about this one.
 */
#ifndef COLLECT_JEMALLOC_FILE_H
#define COLLECT_JEMALLOC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/oracle/tsd_layout.h"

struct elf_findings;
struct host;
struct process_mapping;
struct process_module;

/* Identifies a file, as the kernel's map of a process does. */
struct file_id {
	uint64_t device, inode;
};

struct file_id file_id_of(const struct process_mapping *mapping);
bool file_is_same(struct file_id one, struct file_id other);

struct mapped_file {
	/* Set by the caller. */
	const struct host *host;
	int32_t tgid; /* a process that has it mapped */
	struct file_id id;
	bool is_executable;

	/* Set by mapped_file_inspect(), once the file was opened. */
	bool is_opened;
	struct stat status;
	char path[PATH_MAX]; /* as the process sees it */
};

/* The file of a module of process `tgid`. */
struct mapped_file mapped_file_of(const struct host *host, int32_t tgid,
				  const struct process_module *module);

/*
 * Opens the file and parses it, both in a child.  Returns 0; -EBADMSG when it is not a sound ELF
 * file; -ETIMEDOUT; -EPROTO when the child crashed or gave a false answer; -ESRCH when the process
 * ended or runs another program; or another negative errno of opening it.  Do not trust the
 * findings: strings are terminated and flags are 0 or 1, but numbers may have any value.
 */
int mapped_file_inspect(struct mapped_file *file, unsigned timeout_ms, struct elf_findings *ret);

/* Plain numbers, since it comes from a child that a hostile file may have taken over. */
struct debug_answer {
	int32_t status;		  /* 0: has a layout; -ENODATA: has none; or why it is broken */
	uint32_t in_own_file;	  /* the layout was in the file itself, not in a debug file */
	uint32_t has_file;	  /* the file has a separate debug file */
	struct tsd_layout layout; /* from the start of its TLS block */
	uint64_t main, mallctl;	  /* addresses from the symbols of a debug file; 0: none */
};

/*
 * Finds where jemalloc keeps its counters, from debug information in the file itself or in a
 * separate debug file.  Returns 0 and an answer, or why there is none: -EPROTO, -ETIMEDOUT,
 * -EBADMSG, ...  The child reads only this file and its debug files.
 */
int mapped_file_ask_debug(const struct mapped_file *file, const struct elf_findings *findings,
			  unsigned timeout_ms, struct debug_answer *ret);

#endif
