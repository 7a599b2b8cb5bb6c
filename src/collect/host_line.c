#include "collect/host_line.h"

#include <string.h>

#include "base/file.h"
#include "collect/collector.h"

bool host_line_read(struct source_tally *tally, int dir, const char *path, char ret[HOST_LINE_SIZE])
{
	ssize_t length;

	if (dir < 0)
		return false;
	length = file_read(dir, path, ret, HOST_LINE_SIZE);
	if (tally)
		source_count(tally, length);
	if (length < 0)
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return ret[0] != '\0';
}
