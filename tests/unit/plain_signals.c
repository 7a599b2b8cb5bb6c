/* SPDX-License-Identifier: MIT */
/*
 * Part of every unit test: whoever runs it may ignore or block signals (in the background, below
 * nohup), which a test and its children would inherit.  They get none of that.
 */
#include <signal.h>

__attribute__((constructor)) static void be_plain(void)
{
	struct sigaction action;
	sigset_t none;

	for (int number = 1; number < SIGRTMIN; number++)
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
