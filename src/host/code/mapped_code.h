/* SPDX-License-Identifier: MIT */
/*
 * What address_space.h is made of, for the other parts of this room.
 */
#ifndef HOST_MAPPED_CODE_H
#define HOST_MAPPED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/code/address_space.h"

struct code_file;
struct code_frame;

#define MAPPED_CODE_MAX 32768 /* mappings of one program */
/*
 * Of all programs together.  Beyond that, only programs with few mappings get more: else a program
 * with many could fork processes that each take a copy of them.
 */
#define MAPPED_CODE_TOTAL (1u << 18)
#define MAPPED_CODE_FEW 256

/* Executable memory of a process. */
struct mapped_code {
	uint64_t start, end;
	uint64_t offset;
	struct code_file *file; /* NULL: it has none */
	bool is_learned;	/* the file is, and so `shift` is valid */
	uint64_t shift;		/* what to add to an address to get that in the file */
};

/* Shared by a process and those that it forked, until one of them maps something. */
struct mapped_codes {
	unsigned users;
	size_t *total;			   /* of all mappings: code->mapped */
	ARRAY_OF(struct mapped_code) list; /* ascending, without overlap */
};

struct address_space {
	struct code *code;
	int32_t pid;
	uint64_t start_ns;
	struct mapped_codes *codes;
	uint64_t number;   /* tells the programs of one process from each other */
	uint64_t begin_ns; /* of the program (CLOCK_MONOTONIC); 0: not known */
};

/* The code at an address, or NULL. */
struct mapped_code *mapped_code_at(const struct address_space *space, uint64_t address);

/* The same as a frame: learns about the file where it must. */
struct code_frame mapped_code_frame(const struct address_space *space, struct mapped_code *mapped,
				    uint64_t pc);

#endif
