#include "trace/tracer.h"

#include <errno.h>

#include "base/error.h"

int tracer_open(const struct host *host, const char *name, const struct tracer_options *options,
		struct tracer **ret, struct error *error)
{
	(void)host;
	(void)name;
	(void)options;
	(void)ret;
	return error_set(error, -ENOSYS, "no tracer");
}

int tracer_report(const struct tracer *tracer, struct run *run)
{
	(void)tracer;
	(void)run;
	return -ENOSYS;
}

void tracer_close(struct tracer *tracer)
{
	(void)tracer;
}

void tracer_close_pointer(struct tracer **tracer)
{
	tracer_close(*tracer);
}
