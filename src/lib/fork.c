/* SPDX-License-Identifier: MIT */
#include "lib/fork.h"

#include <errno.h>
#include <pthread.h>

#include "lib/area.h"
#include "lib/block.h"
#include "lib/heartbeat/heartbeat.h"
#include "lib/sites.h"
#include "lib/start.h"
#include "lib/threads.h"

static struct scope_thread copy; /* the forking thread's block; written while holding all locks */
static bool is_pending;
static bool was_changing; /* of the forking thread, before the fork; likewise */

bool fork_is_pending(void)
{
	return LOAD(is_pending);
}

void fork_end_pending(void)
{
	STORE(is_pending, false);
}

void fork_lock(void)
{
	start_lock();
}

void fork_unlock(void)
{
	start_unlock();
}

void fork_rejoin(void)
{
	self.block = self.kept;
	self.kept = NULL;
}

void fork_end_kept(void)
{
	fork_lock();
	fork_rejoin();
	thread_release();
	fork_unlock();
}

/*
 * Takes all locks, so that no other thread is in the middle of anything, and copies the block that
 * the child will use.  From here on a handler of this thread, for a signal or for the fork, must
 * not use scopes: it would wait for locks that its own thread holds.  It sees that by
 * self.is_changing.
 */
static void before(void)
{
	bool is_changing = self.is_changing;

	self_begin_change();
	start_lock();
	sites_lock();
	threads_lock();
	was_changing = is_changing;
	if (self_block())
		words_copy(&copy, self_block(), sizeof(copy));
}

static void after(void)
{
	bool goes_on = was_changing;

	threads_unlock();
	sites_unlock();
	start_unlock();
	if (!goes_on)
		self_end_change();
}

static void part(void)
{
	struct scope_thread *own = self_block();
	bool has_parted = area_part(own ? &copy : NULL, own ? copy.slot : 0);

	self.kept = has_parted ? own : NULL;
	self.block = NULL;
	STORE(is_pending, has_parted);
	start_forget(has_parted);
	heartbeat_forget();
}

static void in_child(void)
{
	if (area.header)
		part();
	after();
}

int fork_prepare(void)
{
	static bool is_prepared;

	if (!is_prepared && pthread_atfork(before, after, in_child) != 0)
		return -ENOMEM;
	is_prepared = true;
	return 0;
}
