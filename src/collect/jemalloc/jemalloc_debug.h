/* SPDX-License-Identifier: MIT */
/*
 * Finds where a jemalloc keeps its counters, from debug information in the file itself or in a
 * separate debug file.  It is read in a confined child.  Only for jemalloc_layout.c.
 */
#ifndef COLLECT_JEMALLOC_DEBUG_H
#define COLLECT_JEMALLOC_DEBUG_H

#include <stdint.h>

#include "host/oracle/tsd_layout.h"

struct elf_findings;
struct mapped_file;

struct debug_question {
	const struct mapped_file *file;
	const struct elf_findings *findings; /* of the file: they say where its debug files are */
	unsigned timeout_ms;
	uint64_t memory_bytes; /* of address space */
};

/* Plain numbers, since it comes from a child that a hostile file may have taken over. */
struct debug_answer {
	int32_t status;		  /* 0: has a layout; -ENODATA: has none; or why it is broken */
	uint32_t in_own_file;	  /* the layout was in the file itself, not in a debug file */
	uint32_t has_file;	  /* the file has a separate debug file */
	struct tsd_layout layout; /* from the start of its TLS block */
	uint64_t main, mallctl;	  /* addresses from the symbols of a debug file; 0: none */
};

/*
 * Returns 0 and an answer, or why there is none: -EPROTO, -ETIMEDOUT, -EBADMSG, ...  The child
 * reads only this file and its debug files, so no other file can make it lie about this one.
 */
int jemalloc_debug_ask(const struct debug_question *question, struct debug_answer *ret);

#endif
