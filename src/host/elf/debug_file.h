/* SPDX-License-Identifier: MIT */
/*
 * Finds debug files: debug information that is kept apart from its program.
 *
 * A debug file is found by the program's build id, else by the name that its debuglink gives, in
 * the places where debuggers look; first in the file system as the process sees it, since a
 * container has its own, then on the host.  No server is ever asked.
 *
 * Opening and checking are two steps: a process that has the rights opens the candidates, and a
 * confined child then decides which of them belongs to the program.
 */
#ifndef HOST_DEBUG_FILE_H
#define HOST_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_findings;

/* Enough for each way of finding one, in each of two roots. */
#define DEBUG_FILES_MAX 12

/* How a candidate proves that it belongs to the program. */
enum debug_file_proof {
	PROOF_BUILD_ID, /* it has the same build id */
	PROOF_CRC,	/* it has the checksum that the debuglink names */
};

struct debug_file {
	int fd;
	enum debug_file_proof proof;
};

/* All zeros is empty and valid. */
struct debug_files {
	struct debug_file list[DEBUG_FILES_MAX];
	size_t count;
};

/* The program or library whose debug information is wanted. */
struct debug_program {
	int process;	  /* directory fd of a process that runs it, or -1: search the host only */
	const char *path; /* where it is, as its process sees it */
	uid_t owner;	  /* of its file */
	const struct elf_findings *findings;
};

/*
 * Opens every candidate that exists.  What a debug file says is used for everyone who runs the
 * program, and anyone can write a file with the wanted build id or checksum.  So only files that
 * belong to root or to the program's owner are candidates.
 */
void debug_files_open(const struct debug_program *program, struct debug_files *ret);

/*
 * Whether a candidate belongs to the program.  Reads the whole file for a checksum.  Only in a
 * confined child.
 */
bool debug_file_matches(const struct debug_file *file, const struct elf_findings *findings);

/* Whether a debuglink is a plain file name, without a path. */
bool debug_file_name_is_plain(const char *name);

/* Calculates the checksum of a whole file, as debuglinks have it.  0 or a negative errno. */
int debug_file_crc(int fd, uint32_t *ret);

#endif
