#include "store/run_file.h"

#include <errno.h>

#include "base/error.h"

int run_file_read(const char *path, struct run **ret, struct error *error)
{
	(void)ret;
	return error_set(error, -EBADMSG, "%s has no run", path);
}
