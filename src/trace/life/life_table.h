/* SPDX-License-Identifier: MIT */
/*
 * What is known of the processes that live, so that events about them have a name, a command line
 * and a parent.  Bounded: what does not fit is counted.
 */
#ifndef TRACE_LIFE_TABLE_H
#define TRACE_LIFE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "model/tree/tree_event.h"

#define LIFE_PROCESSES_MAX 65536
#define LIFE_COMMAND_BYTES_MAX (8 << 20)

/* A command line, shared by a process and those that it made until they execute. */
struct life_command {
	size_t users;
	size_t length;
	char text[];
};

struct life_entry {
	struct task_key key;
	size_t place;	    /* in the table's list */
	int32_t parent_pid; /* 0: not known */
	uint32_t uid;
	bool has_uid;
	bool is_member;	   /* of the tree or cgroup that is followed */
	bool has_baseline; /* the next member is known: it was seen when it began or executed */
	bool is_oom_victim;
	uint8_t absences;	 /* how many snapshots in a row did not have it */
	uint64_t baseline_bytes; /* peak RSS of all programs before the one that it runs */
	char comm[TREE_COMM_SIZE];
	struct life_command *command; /* NULL: not known */
	uint64_t exe;		      /* polling: a hash of its program's path; 0: not known */
	struct amounts *ended;	      /* connector: of threads that have ended; NULL: none */
	uint32_t threads;	      /* connector: that live; 0: not known */
	int signal;		      /* the last deadly one that was sent; 0: none */
	int32_t sender_pid;
	char sender_comm[TREE_COMM_SIZE];
};

/* All zeros is an empty table. */
struct life_table {
	struct number_map by_pid;
	ARRAY_OF(struct life_entry *) list;
	size_t command_bytes;
	size_t processes_max, command_bytes_max; /* 0: the constants above; tests set less */
	uint64_t dropped_processes, dropped_commands;
};

void life_table_clear(struct life_table *table);

/* The process, or NULL; `start_ns` 0 finds any of that number. */
struct life_entry *life_table_find(const struct life_table *table, int32_t pid, uint64_t start_ns);
/*
 * A new entry, in place of any of that number.  NULL when the table is full, which is counted, or
 * memory ran out, which counts as full.
 */
struct life_entry *life_table_add(struct life_table *table, const struct task_key *key);
void life_table_remove(struct life_table *table, struct life_entry *entry);

/* Copies a command line; it stays unknown where there is no room. */
void life_table_set_command(struct life_table *table, struct life_entry *entry, const char *text,
			    size_t length);
void life_table_share_command(struct life_table *table, struct life_entry *entry,
			      const struct life_entry *with);
void life_table_forget_command(struct life_table *table, struct life_entry *entry);
const char *life_entry_command(const struct life_entry *entry); /* or NULL */

/* Calls `visit` for each entry; it may remove that entry only. */
void life_table_visit(struct life_table *table,
		      void visit(struct life_table *table, struct life_entry *entry, void *context),
		      void *context);

#endif
