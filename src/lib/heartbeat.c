#include "lib/heartbeat.h"

int heartbeat_start(void)
{
	return 0;
}

void heartbeat_stop(void)
{
}

void heartbeat_wake(void)
{
}

void heartbeat_forget(void)
{
}

void heartbeat_notice_limit(uint32_t milliseconds)
{
	(void)milliseconds;
}
