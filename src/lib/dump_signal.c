#include "lib/dump_signal.h"

#include <errno.h>
#include <signal.h>

#include "lib/heartbeat.h"

static void on_signal(int number)
{
	int error = errno;

	(void)number;
	heartbeat_wake();
	errno = error;
}

void dump_signal_take(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;

	if (sigaction(SIGUSR2, NULL, &before) < 0 || before.sa_flags & SA_SIGINFO ||
	    before.sa_handler != SIG_DFL)
		return;
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR2, &action, NULL);
}

void dump_signal_give_back(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, now;

	if (!sigaction(SIGUSR2, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == on_signal)
		sigaction(SIGUSR2, &standard, NULL);
}
