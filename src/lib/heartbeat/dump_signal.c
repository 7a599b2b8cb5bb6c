/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/dump_signal.h"

#include <errno.h>
#include <signal.h>

#include "lib/heartbeat/heartbeat.h"
#include "lib/scope/block.h"

static bool is_wanted;

static void on_signal(int number)
{
	int error = errno;

	(void)number;
	if (LOAD(is_wanted))
		heartbeat_wake();
	errno = error;
}

static void take(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;

	if (sigaction(SIGUSR2, NULL, &before) < 0 || before.sa_flags & SA_SIGINFO ||
	    before.sa_handler != SIG_DFL)
		return;
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR2, &action, NULL);
}

void dump_signal_choose(bool is_wanted_now)
{
	STORE(is_wanted, is_wanted_now);
	if (is_wanted_now)
		take();
}
