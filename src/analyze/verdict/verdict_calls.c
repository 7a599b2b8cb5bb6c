/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_facts.h"

#include <errno.h>
#include <string.h>

#include "analyze/verdict/verdict_numbers.h"

/* Calls of one kind ask in vain if all but so many of them failed, for the same reason. */
#define FAILING_SHARE 0.98
/*
 * A process with more connections than this is a server, whoever connected.  A download manager
 * or a browser has a handful.
 */
#define CLIENT_CONNECTIONS 8

static const struct {
	const char *name;
	enum call_list list;
} listed[] = {
	{ "read", LIST_READ },		 { "readv", LIST_READ },
	{ "pread64", LIST_READ },	 { "preadv", LIST_READ },
	{ "preadv2", LIST_READ },	 { "write", LIST_WRITE },
	{ "writev", LIST_WRITE },	 { "pwrite64", LIST_WRITE },
	{ "pwritev", LIST_WRITE },	 { "pwritev2", LIST_WRITE },
	{ "io_submit", LIST_ASYNC },	 { "io_getevents", LIST_ASYNC },
	{ "io_pgetevents", LIST_ASYNC }, { "io_uring_enter", LIST_ASYNC },
	{ "fsync", LIST_SYNC },		 { "fdatasync", LIST_SYNC },
	{ "sync", LIST_SYNC },		 { "syncfs", LIST_SYNC },
	{ "msync", LIST_SYNC },		 { "sync_file_range", LIST_SYNC },
	{ "poll", LIST_POLL },		 { "ppoll", LIST_POLL },
	{ "select", LIST_POLL },	 { "pselect6", LIST_POLL },
	{ "epoll_wait", LIST_POLL },	 { "epoll_pwait", LIST_POLL },
	{ "epoll_pwait2", LIST_POLL },	 { "sched_yield", LIST_YIELD },
	{ "connect", LIST_CONNECT },	 { "accept", LIST_ACCEPT },
	{ "accept4", LIST_ACCEPT },	 { "wait4", LIST_WAIT },
	{ "waitid", LIST_WAIT },	 { "waitpid", LIST_WAIT },
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

static double failed_with(const struct syscall_stats *stats, uint32_t one, uint32_t other)
{
	double failed = 0;

	for (size_t i = 0; i < SYSCALL_ERRORS; i++)
		if (stats->by_error[i].number == one || stats->by_error[i].number == other)
			failed += (double)stats->by_error[i].count;
	return failed;
}

/* The most frequent call that nearly always failed; what had nothing to give is counted already. */
static void take_vain(struct tree_sums *sums, const struct syscall_row *row)
{
	double count = (double)row->stats.count;

	for (size_t i = 0; i < SYSCALL_ERRORS; i++) {
		double failed = (double)row->stats.by_error[i].count;

		if (row->stats.by_error[i].number == EAGAIN || count <= sums->vain.count ||
		    failed < FAILING_SHARE * count)
			continue;
		sums->vain = (struct call_sum){ count, (double)row->stats.total_ns };
		sums->vain_name = row->name;
	}
}

bool verdict_is_client(const struct verdict_facts *facts, bool *ret_sure)
{
	const struct run_sockets *sockets = &facts->run->sockets;

	*ret_sure = sockets->connected.present && sockets->connected.value > 0;
	if (facts->sums.lists[LIST_ACCEPT].count > 0 ||
	    (sockets->listening.present && sockets->listening.value > 0) ||
	    (*ret_sure && sockets->connected.value > CLIENT_CONNECTIONS))
		return false;
	return *ret_sure || facts->sums.connected >= 1;
}

void verdict_calls_gather(struct verdict_facts *facts)
{
	const struct syscall_table *table = &facts->run->tree->syscalls;
	struct tree_sums *sums = &facts->sums;

	for (size_t i = 0; i < table->count; i++) {
		const struct syscall_row *row = &table->rows[i];
		enum call_list list = call_list_of(row->name);

		sum_call(&sums->calls, &row->stats);
		sum_call(&sums->lists[list], &row->stats);
		if (row->category == SYSCALL_MEMORY && list != LIST_SYNC)
			sum_call(&sums->mappings, &row->stats);
		if (list == LIST_CONNECT)
			sums->connected += (double)(row->stats.count - row->stats.errors) +
					   failed_with(&row->stats, EINPROGRESS, EINPROGRESS);
		sums->again += failed_with(&row->stats, EAGAIN, EAGAIN);
		take_vain(sums, row);
		sums->no_descriptor += failed_with(&row->stats, EMFILE, ENFILE);
	}
	sums->received = at_least_0((double)table->by_category[SYSCALL_NETWORK] -
				    sums->lists[LIST_CONNECT].count);
	facts->has_calls =
		sums->calls.count > 0 || run_source_works(run_source(facts->run, "syscalls"));
}
