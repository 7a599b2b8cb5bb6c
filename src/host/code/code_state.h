/* SPDX-License-Identifier: MIT */
/*
 * What the parts of this room share: the files that are known, and how to ask the service about one.
 */
#ifndef HOST_CODE_STATE_H
#define HOST_CODE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"
#include "host/code/address_space.h"
#include "host/code/code.h"
#include "host/code/service/code_protocol.h"
#include "host/code/code_rules.h"
#include "host/code/code_user.h"
#include "host/code/service/code_service.h"

struct code_naming;
struct dictionary;
struct stat;
struct file_names;

enum code_file_state {
	CODE_FILE_MISSING, /* could not be opened; tried again when the next process maps it */
	CODE_FILE_NEW,	   /* open, and not looked at yet */
	CODE_FILE_KNOWN,   /* its segments are valid */
	CODE_FILE_OTHER,   /* no ELF file of this machine: code of a JIT compiler or an emulator */
	CODE_FILE_BAD,	   /* could not be parsed: the service is never asked about it again */
};

/*
 * Whose file it is.  A stranger's file may take over the service that parses it, and may have any build id.  So it has
 * another service than trusted files, and is never used for a file of someone else.
 */
#define CODE_OWNER_TRUSTED 0
#define CODE_OWNER_UNKNOWN UINT32_MAX /* or one that the file system is not believed about */

/* A file that is or was mapped somewhere.  Lives until code_close(). */
struct code_file {
	uint32_t number; /* by which the service knows it */
	enum code_file_state state;
	uint32_t owner;		/* the stranger whose file it is; CODE_OWNER_TRUSTED */
	struct code_user *user; /* whose share it uses up */
	uint64_t waited_ns;	/* for answers about it */
	struct code_service *service;
	struct code_file *same; /* has the same build id and is used instead; NULL */
	int fd;			/* -1: the service alone has it, or nobody */
	uint32_t sent_to;	/* the start of the service that has it; 0: none has */
	uint8_t tries;		/* to open it */
	bool is_counted;	/* as bad */
	char *path;		/* as the process that mapped it first saw it */
	uint8_t build_id[CODE_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none, or not known yet */
	uint64_t entry;	       /* CODE_FILE_KNOWN only, from here on */
	struct code_segment *segments;
	size_t segment_count;
	struct code_rows rows;
	struct file_names *names; /* code_name.c keeps them; NULL: none yet */
};

struct code {
	const struct host *host;
	struct code_limits limits;
	struct code_service service;   /* parses files of root and our own */
	struct code_service strangers; /* parses all others; started when there is one */
	struct dictionary *keys;       /* of files: what they are recognized by */
	ARRAY_OF(struct code_file *) by_key;
	ARRAY_OF(struct code_file *) files; /* by number */
	struct code_rules rules;
	size_t mapped; /* in all address spaces */
	size_t open_fds;
	struct code_users users;
	uint64_t programs; /* address spaces so far */
	uint64_t opened, bad;
	struct code_naming *naming; /* code_name.c keeps it; NULL: nothing was named yet */
	struct code_answer answer;  /* the last one */
};

/*
 * Finds the file of a mapping of process `pid`, which started at start_ns (CLOCK_BOOTTIME; 0: not known): one that
 * is known already, or a new one, which is opened now if it can be.  NULL when nothing is mapped there that
 * could be a file, or when there is no memory.
 */
struct code_file *code_file_find(struct code *code, const struct code_mapping *mapping, int32_t pid,
				 uint64_t start_ns);

/*
 * Makes sure that the file's segments are known.  Returns the file to use instead of this, which may be the same;
 * its state says whether that worked.
 */
struct code_file *code_file_learn(struct code *code, struct code_file *file);

/*
 * Asks the service about a file; the caller sets kind, address and other.  Returns the number of bytes in
 * code->answer.bytes, which the caller must check; -ENODATA when the file is not one to be asked about; -EBUSY when
 * its user's share is used up; or what the service says went wrong.  A service that fails is ended, and the file is bad from then on.
 */
ssize_t code_file_ask(struct code *code, struct code_file *file, struct code_question *question);

/* The answer made no sense: the file is bad, and the service is not trusted any more. */
void code_file_distrust(struct code *code, struct code_file *file);

/*
 * The directory of process `pid` in the proc tree, if it started at start_ns: an fd, or a negative errno, -ESRCH when
 * it is gone.
 */
int code_open_process(const struct code *code, int32_t pid, uint64_t start_ns);

/* ---- for code_file.c only ---- */

/*
 * Opens the file of a mapping: where the process has it, or else by its path, in the root of the process or in ours.  Found
 * by its path it must have the device and inode of the mapping, unless the build id is known, which who asks
 * must compare.  Returns an fd and the owner, or a negative errno.  Never waits long.
 */
int code_open_mapping(struct code *code, const struct code_mapping *mapping, int32_t pid,
		      uint64_t start_ns, uint32_t *ret_owner);

/*
 * The status of that file and its owner, as far as the kernel knows them without asking its file system; all
 * zeros and CODE_OWNER_UNKNOWN when it does not.
 */
uint32_t code_stat_mapping(const struct code *code, const struct code_mapping *mapping, int32_t pid,
			   uint64_t start_ns, struct stat *ret);

/* A copy of the code that the kernel maps into each process: an fd or a negative errno. */
int code_open_vdso(void);

#endif
