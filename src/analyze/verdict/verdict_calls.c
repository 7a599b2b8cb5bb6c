/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	enum call_list list;
} listed[] = {
	{ "read", LIST_READ },	       { "readv", LIST_READ },
	{ "pread64", LIST_READ },      { "preadv", LIST_READ },
	{ "preadv2", LIST_READ },      { "write", LIST_WRITE },
	{ "writev", LIST_WRITE },      { "pwrite64", LIST_WRITE },
	{ "pwritev", LIST_WRITE },     { "pwritev2", LIST_WRITE },
	{ "fsync", LIST_SYNC },	       { "fdatasync", LIST_SYNC },
	{ "sync", LIST_SYNC },	       { "syncfs", LIST_SYNC },
	{ "msync", LIST_SYNC },	       { "sync_file_range", LIST_SYNC },
	{ "poll", LIST_POLL },	       { "ppoll", LIST_POLL },
	{ "select", LIST_POLL },       { "pselect6", LIST_POLL },
	{ "epoll_wait", LIST_POLL },   { "epoll_pwait", LIST_POLL },
	{ "epoll_pwait2", LIST_POLL }, { "connect", LIST_CONNECT },
	{ "accept", LIST_ACCEPT },     { "accept4", LIST_ACCEPT },
};

enum call_list call_list_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (strcmp(listed[i].name, name) == 0)
			return listed[i].list;
	return LIST_REST;
}

static void sum_call(struct call_sum *sum, const struct syscall_stats *stats)
{
	sum->count += (double)stats->count;
	sum->ns += (double)stats->total_ns;
}

static double failed_for_descriptors(const struct syscall_stats *stats)
{
	double failed = 0;

	for (size_t i = 0; i < SYSCALL_ERRORS; i++)
		if (stats->by_error[i].number == EMFILE || stats->by_error[i].number == ENFILE)
			failed += (double)stats->by_error[i].count;
	return failed;
}

void verdict_calls_gather(struct verdict_facts *facts, struct call_sum lists[LIST_COUNT])
{
	const struct syscall_table *table = &facts->run->tree->syscalls;

	for (size_t i = 0; i < table->count; i++) {
		const struct syscall_row *row = &table->rows[i];
		enum call_list list = call_list_of(row->name);

		sum_call(&facts->calls, &row->stats);
		sum_call(&lists[list], &row->stats);
		if (row->category == SYSCALL_MEMORY && list != LIST_SYNC)
			sum_call(&facts->mappings, &row->stats);
		facts->no_descriptor += failed_for_descriptors(&row->stats);
	}
	facts->moves.count = lists[LIST_READ].count + lists[LIST_WRITE].count;
	facts->moves.ns = lists[LIST_READ].ns + lists[LIST_WRITE].ns;
	facts->syncs = lists[LIST_SYNC];
	facts->polls = lists[LIST_POLL];
	facts->connects = lists[LIST_CONNECT].count;
	facts->accepts = lists[LIST_ACCEPT].count;
	facts->network_calls = (double)table->by_category[SYSCALL_NETWORK];
	facts->has_calls =
		facts->calls.count > 0 || run_source_works(run_source(facts->run, "syscalls"));
}
