/* SPDX-License-Identifier: MIT */
/*
 * Files that a process has mapped, as the search for jemalloc names and opens them.
 */
#ifndef COLLECT_JEMALLOC_FILE_H
#define COLLECT_JEMALLOC_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct process_mapping;
struct process_maps;

/* A file as `maps` names it. */
struct file_id {
	uint64_t device, inode;
};

/* Addresses. */
struct address_range {
	uint64_t start, end;
};

bool file_is_same(struct file_id one, struct file_id other);

/* Where a process has a file: from its first to its last mapping; all zeros when nowhere. */
struct address_range file_place(const struct process_maps *maps, struct file_id id);

/*
 * Opens the mapped file for reading; `process` is the process's directory fd.  The
 * program itself is also found by the link that its owner may follow when it was
 * deleted.  Returns an fd or a negative errno (host/process_maps.h).
 */
int file_open(int process, const struct process_mapping *mapping, bool is_executable);

/*
 * Whether memory at the start of a file's place looks like a program or library;
 * other executable memory (a compiler's, a file of drivers) can hold no jemalloc.
 * May wait for the target.
 */
bool file_is_program(int32_t tgid, struct address_range place);

#endif
