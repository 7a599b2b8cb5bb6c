/* SPDX-License-Identifier: MIT */
#include "lib/scope/fork.h"

#include <errno.h>

#include "lib/heartbeat/heartbeat.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/locks.h"
#include "lib/scope/threads.h"
#include "lib/start.h"

pthread_mutex_t locks[LOCKS] = {
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
};

static struct scope_thread copy; /* the forking thread's block; written while holding all locks */
static bool was_changing;	 /* of the forking thread, before the fork; likewise */

void fork_rejoin(void)
{
	self.block = self.kept;
	self.kept = NULL;
}

void fork_end_kept(void)
{
	lock_take(LOCK_START);
	fork_rejoin();
	thread_release();
	lock_release(LOCK_START);
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
	for (unsigned int i = 0; i < LOCKS; i++)
		lock_take(i);
	was_changing = is_changing;
	if (self_block())
		words_copy(&copy, self_block(), sizeof(copy));
}

static void after(void)
{
	bool goes_on = was_changing;

	for (unsigned int i = LOCKS; i > 0; i--)
		lock_release(i - 1);
	if (!goes_on)
		self_end_change();
}

static void part(void)
{
	struct scope_thread *own = self_block();
	bool has_parted = area_part(own ? &copy : NULL, own ? copy.slot : 0);

	self.kept = has_parted ? own : NULL;
	self.block = NULL;
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
