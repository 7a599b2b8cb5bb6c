/* SPDX-License-Identifier: MIT */
/*
 * The code service itself: what runs in the confined process.  Everything here may be lost to a hostile file,
 * and nothing here may be trusted by the rest of us.
 */
#ifndef HOST_CODE_SERVE_H
#define HOST_CODE_SERVE_H

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_answer;
struct code_question;
struct elf_names;

/* A file that was sent. */
struct served_file {
	Elf *elf;
	uint64_t bytes;			   /* its size */
	bool has_tables;		   /* those with unwind rules were looked for */
	Dwarf_CFI *eh_frame, *debug_frame; /* NULL: there is none */
	Dwarf *dwarf;			   /* of debug_frame */
	struct elf_names *names; /* NULL until one is needed, and again when they are forgotten */
	Elf *debug;		 /* its debug file; NULL: none */
	uint64_t debug_bytes;
};

/* Takes the fd.  Returns 0 and a file, or a negative errno: -ENOEXEC when it is no ELF file of this machine. */
int served_file_new(int fd, struct served_file **ret);
void served_file_free(struct served_file *file); /* NULL is allowed */

/*
 * Answers a question about a file: writes to answer->bytes, of which CODE_ANSWER_BYTES are there.  Returns how
 * many were written, or a negative errno.
 */
typedef int code_server(struct served_file *file, const struct code_question *question,
			struct code_answer *answer);

code_server serve_file;	 /* CODE_ASK_FILE */
code_server serve_rules; /* CODE_ASK_RULES */
code_server serve_debug_link;  /* CODE_ASK_DEBUG_LINK */
code_server serve_name;	       /* CODE_ASK_NAME */
code_server serve_forget_names; /* CODE_FORGET_NAMES */

/* CODE_OFFER_DEBUG_FILE, whose fd is borrowed. */
int serve_debug_file(struct served_file *file, const struct code_question *question, int fd);
void served_names_free(struct served_file *file);

/*
 * Answers questions from the socket until it is closed: 0 or a negative errno.  Runs in the confined child;
 * an argument of confined_start() (host/confine/confine.h).
 */
int code_serve(void *socket, int answer);

#endif
