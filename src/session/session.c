#include "session/session.h"

#include <errno.h>

#include "base/error.h"

int session_run(const struct session_options *options, char **command, struct run **ret,
		struct error *error)
{
	(void)options;
	(void)command;
	(void)ret;
	error_set(error, -ENOSYS, "not built");
	return SESSION_FAILED;
}

int session_attach(const struct session_options *options, const int32_t *pids, size_t count,
		   struct run **ret, struct error *error)
{
	(void)options;
	(void)pids;
	(void)count;
	(void)ret;
	return error_set(error, -ENOSYS, "not built");
}
