#include <errno.h>

#include "trace/tracer.h"

int process_facts_read(const struct host *host, int32_t pid, struct tree_process_facts *ret)
{
	(void)host;
	(void)pid;
	(void)ret;
	return -ENOSYS;
}
