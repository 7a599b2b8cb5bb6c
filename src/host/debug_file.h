/* SPDX-License-Identifier: MIT */
/*
 * Debug information that is kept apart from the program it belongs to.
 *
 * Found by the program's build id, else by the name that its debuglink gives, in
 * the places where debuggers look; first as the process itself sees its files,
 * since a container has its own, then on the host.  No server is ever asked.
 *
 * Opening and judging are two steps: the candidates are opened by whoever may,
 * and a confined child then decides which of them is the program's.
 */
#ifndef HOST_DEBUG_FILE_H
#define HOST_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_findings;

/* Each way of finding one, in each of two roots. */
#define DEBUG_FILES_MAX 12

/* How a candidate proves that it is the program's. */
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

/* The program or library that debug information is looked for. */
struct debug_program {
	int process;	  /* directory fd of a process that runs it, or -1: on the host alone */
	const char *path; /* where it is, as its process sees it */
	uid_t owner;	  /* of its file */
	const struct elf_findings *findings;
};

/*
 * Opens every candidate that is there.  What it says will hold for all who run the
 * program, and anyone can write a file with the build id or checksum that is asked
 * for: so only files of root, or of whom the program itself is, are candidates.
 */
void debug_files_open(const struct debug_program *program, struct debug_files *ret);
void debug_files_close(struct debug_files *files);

/*
 * Whether a candidate is the program's; reads all of it for a checksum.  Only in
 * a confined child.
 */
bool debug_file_matches(const struct debug_file *file, const struct elf_findings *findings);

/* Whether a debuglink names a file and not a way to one. */
bool debug_file_name_is_plain(const char *name);

/* The checksum of a whole file, as debuglinks have it.  0 or a negative errno. */
int debug_file_crc(int fd, uint32_t *ret);

#endif
