/* SPDX-License-Identifier: MIT */
/*
 * What the files and file systems of one user cost us.
 *
 * Files of a stranger may be slow to parse, end the service that does, or be endless in number; so may his file systems.
 * Each stranger has a share of our time, of the services and of what is kept, so that all this costs his own names and
 * nobody else's.  Files of root and our own have no share.
 */
#ifndef HOST_CODE_USER_H
#define HOST_CODE_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CODE_USERS_MAX 64 /* the last is for all others, too */

struct code;
struct code_file;

struct code_user {
	uint32_t uid;
	uint32_t files;
	uint32_t failures;   /* of the service, over its files */
	uint32_t late_opens; /* by threads that are still waiting, or did for long */
	uint64_t waited_ns;  /* for answers about its files, and for its file systems */
	uint64_t name_bytes; /* that are kept of its names */
};

struct code_users {
	struct code_user list[CODE_USERS_MAX];
	size_t count;
	uint64_t begin_ns; /* when the first had his share */
	uint64_t refused;  /* questions that were not asked, since a share was used up */
};

/* CODE_OWNER_TRUSTED and CODE_OWNER_UNKNOWN have rows, too. */
struct code_user *code_user_find(struct code *code, uint32_t uid);
/* Whose process that is, a directory in the proc tree; negative: it is gone. */
struct code_user *code_user_of_process(struct code *code, int process);

/* Whether one more file of his may be known, one more thread wait for him, so many more bytes be kept of his names. */
bool code_user_may_add(const struct code_user *user);
bool code_user_may_open(const struct code *code, const struct code_user *user);
bool code_user_may_keep(const struct code_user *user, uint64_t bytes, uint64_t all);

/* Whether the service may be asked about the file.  A slow one is given up before its owner's share is. */
bool code_user_may_ask(struct code *code, const struct code_file *file);
/* An answer about the file was waited for since then. */
void code_user_charge(struct code_file *file, uint64_t since_ns, ssize_t answer);

#endif
