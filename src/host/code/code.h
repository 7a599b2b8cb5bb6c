/* SPDX-License-Identifier: MIT */
/*
 * This room finds out what code is at an address of a process: which file is mapped there, which function it is
 * in, and who called it.  It works for processes that are gone, and for programs without frame pointers.
 *
 *	code.h		the files that are known, by build id, and the confined process that parses them
 *	address_space.h	what a program has mapped where, while it lives and afterwards
 *	unwind.h	the callers of a thread, from its registers and a copy of its stack
 *	code_name.h	the name of a function, its source file and line (in the room name)
 *
 * ELF files and their debug information may be hostile, so a confined process (host/confine) parses them
 * with elfutils: the code service.  It is sent open files, and answers with rows of unwind rules and with
 * names, which are checked and kept here, by build id.  A service that crashes or does not answer in time
 * is started again, and the file that it was working on is not tried again: it counts as a bad file.  Files of
 * strangers, which are neither root's nor ours, have a service of their own.
 */
#ifndef HOST_CODE_H
#define HOST_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code;
struct host;

struct code_limits {
	uint64_t memory_bytes; /* of rows and names that are kept; 0: a default */
	unsigned
		answer_ms; /* how long one answer may take: of the service, or of a file system; 0: a default */
};

/*
 * 0 or a negative errno.  Starts the service at once, while we are small: it is a fork of ours, and its memory
 * is what ours was then.  Call it in a thread that stays: the service ends with the one that started it.
 */
int code_open(const struct host *host, const struct code_limits *limits, struct code **ret);
void code_close(struct code *code); /* NULL is allowed */

struct code_counts {
	uint64_t files;	    /* that were opened */
	uint64_t bad_files; /* that could not be opened or parsed */
	uint64_t refused; /* questions that were not asked, since their user's share was used up */
	uint64_t names_lost; /* for lack of memory */
	uint64_t restarts;   /* of the service */
	uint64_t service_cpu_ns, service_peak_rss_bytes;
};
void code_counts(const struct code *code, struct code_counts *ret);

#endif
