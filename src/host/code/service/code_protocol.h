/* SPDX-License-Identifier: MIT */
/*
 * This room is the code service: the confined process that parses files of code, and our end of it.
 *
 * What both say to each other: one packet for a question, one for its answer, on a socket
 * that keeps packets whole.  One question is asked at a time.
 *
 * A hostile file may have taken over the service.  So answers have fixed bounds, and our end checks every
 * number in them.  Questions are ours and trusted, but what they are about is not.
 *
 * To add a kind of question: a row here, its answer, and a function in the table of code_serve.c.
 */
#ifndef HOST_CODE_PROTOCOL_H
#define HOST_CODE_PROTOCOL_H

#include <stdint.h>

#include "host/code/address_space.h"
#include "host/code/unwind_rules.h"
#include "host/code/service/demangle.h"
#include "host/code/service/elf_names.h"
#include "host/elf/elf_inspect.h"

enum code_question_kind {
	CODE_ASK_FILE, /* comes with an fd, which gets the number `file`: struct code_file_answer */
	CODE_ASK_RULES, /* of the code around an address: struct code_rules_answer; -ENOENT: it has no rules at all */
	CODE_ASK_DEBUG_LINK,   /* struct code_debug_link */
	CODE_OFFER_DEBUG_FILE, /* comes with an fd that may be `file`'s debug file, see host/elf/debug_file.h;
				* `other` is how it proves that.  No bytes when it is; -EINVAL: it is not */
	CODE_ASK_NAME,	       /* of `address`: struct code_name_answer; -ENOENT: no code is there */
	CODE_FORGET_NAMES,     /* frees what names take, the debug file too.  No bytes */
	CODE_QUESTION_KINDS,
};

struct code_question {
	uint32_t kind;
	uint32_t number;  /* of the question; its answer has the same */
	uint32_t file;	  /* that it is about; our number of it */
	uint32_t other;	  /* of this and the next: what the kind makes of it */
	uint64_t address; /* as the file's symbols have it */
};

#define CODE_ANSWER_BYTES ((size_t)48 << 10)
#define CODE_FILES_MAX 16384

struct code_answer {
	uint32_t number; /* of the question */
	int32_t status;	 /* 0, or a negative errno: then there are no bytes */
	_Alignas(8) uint8_t bytes[CODE_ANSWER_BYTES]; /* as many as the packet has */
};

#define CODE_SEGMENTS_MAX 32

/* An executable PT_LOAD. */
struct code_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* where its symbols have that */
};

struct code_file_answer {
	uint64_t entry;
	uint8_t build_id[CODE_BUILD_ID_MAX]; /* a longer one is cut */
	uint32_t build_id_size;
	uint32_t segment_count; /* 0: nothing of it can run */
	struct code_segment segments[CODE_SEGMENTS_MAX];
};

#define CODE_ROWS_MAX 1024
#define CODE_RULES_MAX 96
#define CODE_NO_RULES UINT32_MAX

/* From an address on, the rules with that index hold. */
struct code_row {
	uint32_t offset; /* of the address */
	uint32_t rules;
};

/* The rows of [start, start + size), which may be more than one function.  None: there are no rules for `start`. */
struct code_rules_answer {
	uint64_t start;
	uint32_t size;
	uint32_t row_count; /* ascending; the first has offset 0 */
	uint32_t rules_count;
	uint32_t unused;
	struct code_row rows[CODE_ROWS_MAX];
	struct unwind_rules rules[CODE_RULES_MAX];
};

/* What a debug file is found by. */
struct code_debug_link {
	uint8_t build_id[ELF_BUILD_ID_SIZE];
	uint32_t build_id_size;
	char name[256]; /* ends with a NUL */
};

/* Only as many bytes of the texts are sent as there are. */
struct code_name_answer {
	uint64_t start, end;	 /* addresses for which the answer is the same */
	uint64_t function_start; /* of the last name */
	uint64_t memory_bytes;	 /* that the names of the file take in the service */
	uint32_t count;
	uint32_t padding;
	struct elf_name names[ELF_NAMES_MAX];
	char texts[ELF_NAMES_MAX * (DEMANGLED_MAX + ELF_SOURCE_MAX) + 1];
};

#endif
