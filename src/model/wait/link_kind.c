/* SPDX-License-Identifier: MIT */
#include "model/wait/link_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/collection/array.h"
#include "metric/wait.h"

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

const struct link_kind *link_kind_of(const char *link)
{
	static const struct link_kind kinds[] = {
		{ "pipe:", "pipe", WAIT_PIPE },
		{ "socket:", "socket", -1 },
		{ "anon_inode:", "event", WAIT_POLL },
		{ "/dev/pts/", "terminal", WAIT_POLL },
		{ "/dev/tty", "terminal", WAIT_POLL },
		{ "/dev/ptmx", "terminal", WAIT_POLL },
		{ "/dev/", "device", -1 },
		{ "/", "file", WAIT_DISK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (begins_with(link, kinds[i].begin))
			return &kinds[i];
	return NULL;
}

int channel_reason(const char *channel)
{
	static const struct {
		const char *begin;
		enum wait_reason reason;
	} channels[] = {
		/* clang-format off */
		{ "io_schedule", WAIT_DISK },         { "folio_wait", WAIT_DISK },
		{ "wait_on_page", WAIT_DISK },        { "bit_wait_io", WAIT_DISK },
		{ "blk_", WAIT_DISK },                { "submit_bio", WAIT_DISK },
		{ "rq_qos_wait", WAIT_DISK },         { "jbd2_", WAIT_DISK },
		{ "ext4_", WAIT_DISK },               { "xfs_", WAIT_DISK },
		{ "btrfs_", WAIT_DISK },              { "nfs_", WAIT_DISK },
		{ "request_wait_answer", WAIT_DISK }, { "balance_dirty_pages", WAIT_DISK },
		{ "hrtimer_nanosleep", WAIT_TIMER },  { "do_nanosleep", WAIT_TIMER },
		{ "anon_pipe_", WAIT_PIPE },          { "fifo_pipe_", WAIT_PIPE },
		{ "pipe_", WAIT_PIPE },               { "wait_for_partner", WAIT_PIPE },
		{ "unix_", WAIT_PIPE },               { "inet_", WAIT_NETWORK },
		{ "tcp_", WAIT_NETWORK },             { "sk_", WAIT_NETWORK },
		{ "do_wait", WAIT_CHILD },            { "__do_wait", WAIT_CHILD },
		{ "kernel_clone", WAIT_CHILD },       { "poll_schedule_timeout", WAIT_POLL },
		{ "do_sys_poll", WAIT_POLL },         { "do_poll", WAIT_POLL },
		{ "do_select", WAIT_POLL },           { "ep_poll", WAIT_POLL },
		{ "do_epoll_wait", WAIT_POLL },       { "do_sigtimedwait", WAIT_POLL },
		{ "sigsuspend", WAIT_POLL },          { "do_pause", WAIT_POLL },
		{ "eventfd_", WAIT_POLL },            { "n_tty_read", WAIT_POLL },
		{ "futex_", WAIT_CONDITION },         { "do_signal_stop", WAIT_STOPPED },
		{ "ptrace_stop", WAIT_STOPPED },      { "flock_lock", WAIT_LOCK },
		{ "fcntl_setlk", WAIT_LOCK },         { "locks_lock", WAIT_LOCK },
		{ "shrink_", WAIT_MEMORY },           { "try_to_free", WAIT_MEMORY },
		{ "mem_cgroup_", WAIT_MEMORY },       { "throttle_direct_reclaim", WAIT_MEMORY },
		/* clang-format on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(channels); i++)
		if (begins_with(channel, channels[i].begin))
			return channels[i].reason;
	return -1;
}
