/* SPDX-License-Identifier: MIT */
/*
 * What code_name.c shares with the rest of this room.
 */
#ifndef HOST_CODE_NAMING_H
#define HOST_CODE_NAMING_H

#include <stdint.h>

struct address_space;
struct code;
struct code_file;
struct code_naming;
struct file_names;

void code_naming_free(struct code_naming *naming); /* NULL is allowed */
void file_names_free(struct file_names *names);	   /* NULL is allowed */

/* Names that could not be kept. */
uint64_t code_naming_lost(const struct code_naming *naming);

/*
 * Finds the debug file of a file, below the root of the process and on the host, and lets the
 * service have it.
 * Returns 0, whether there is one or not; -EPROTO or -ETIMEDOUT when a candidate made the service
 * fail; or another negative errno.
 */
int code_offer_debug_files(struct code *code, struct code_file *file, struct address_space *space);

#endif
