/* SPDX-License-Identifier: MIT */
/*
 * What debug information, in the file itself or in one that belongs to it, says about a
 * jemalloc.  It is read in a confined child.  Only for jemalloc_layout.c.
 */
#ifndef COLLECT_JEMALLOC_DEBUG_H
#define COLLECT_JEMALLOC_DEBUG_H

#include <stdint.h>
#include <sys/types.h>

#include "host/tsd_layout.h"

struct elf_findings;

/* The program or library. */
struct debug_question {
	int process;	  /* directory fd of a process that has it mapped */
	const char *path; /* as the process sees it */
	uid_t owner;
	int fd;
	const struct elf_findings *findings; /* by which debug files are searched */
	unsigned timeout_ms;
	uint64_t memory_bytes; /* of address space */
};

/* Numbers only: it comes from a child that strangers may have taken over. */
struct debug_answer {
	int32_t status;		  /* 0: the layout; -ENODATA: none; or what is wrong with it */
	uint32_t in_own_file;	  /* not in a debug file */
	uint32_t has_file;	  /* there is a debug file of it */
	struct tsd_layout layout; /* from the start of its TLS block */
	uint64_t main, mallctl;	  /* addresses by the symbols of a debug file, 0 for none */
};

/*
 * 0 and an answer, or why there is none: -EPROTO, -ETIMEDOUT, -EBADMSG, ...  Whatever happens,
 * *ret_findings is set as soon as they are known.  The child reads nothing but this file and
 * what belongs to it: no other file can make it tell lies about this one.
 */
int jemalloc_debug_ask(const struct debug_question *question, struct elf_findings *ret_findings,
		       struct debug_answer *ret);

#endif
