/* SPDX-License-Identifier: MIT */
#include "collect/process/cmdline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/process/reader_pool.h"

#define WAIT_NS 500000000ll
#define HELP_NS 50000000ll /* when a reader takes longer, another one helps */
#define QUEUE_MAX 256	   /* fds that may wait in the queue; at most a quarter of our limit */

/* The end of a command line that was cut. */
static const char cut[] = "...";

static const char late_reason[] =
	"deadline passed while another thread held the process's memory map";

size_t cmdline_join(char *bytes, size_t length)
{
	bool is_cut = length == CMDLINE_MAX;
	size_t joined = text_words(bytes, length, &is_cut);

	for (size_t i = 0; i < joined; i++)
		if (bytes[i] == '\0')
			bytes[i] = ' ';
	if (!is_cut)
		return joined;
	memcpy(bytes + CMDLINE_MAX - strlen(cut), cut, strlen(cut));
	return CMDLINE_MAX;
}

static ssize_t read_open(int fd, char *buffer)
{
	ssize_t length = read(fd, buffer, CMDLINE_MAX);

	return length < 0 ? -errno : (ssize_t)cmdline_join(buffer, (size_t)length);
}

static ssize_t read_file(const struct pool_request *request, char *buffer)
{
	CLEANUP(close_fd)
	int fd = file_open_below(request->dir, "cmdline", O_RDONLY | request->flags);

	return fd < 0 ? fd : read_open(fd, buffer);
}

static ssize_t read_cmdline(const struct pool_request *request, char buffer[POOL_BYTES])
{
	_Static_assert(CMDLINE_MAX < POOL_BYTES, "an answer has room for a command line");
	return request->pid ? read_open(request->dir, buffer) : read_file(request, buffer);
}

static int take_answer(void *context, const struct pool_answer *answer)
{
	struct capture *capture = context;
	struct source_tally *tally = &capture->tallies[SOURCE_CMDLINE];

	source_count_file(capture, tally, answer->length);
	if (answer->length == -ETIMEDOUT)
		tally->reason = late_reason;
	if (answer->length <= 0)
		return 0;
	return snapshot_intern(capture->snapshot, answer->text, (size_t)answer->length,
			       &capture->snapshot->processes[answer->tag].cmdline);
}

/* Leaves room for our other fds. */
static unsigned find_room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 4 > QUEUE_MAX)
		return QUEUE_MAX;
	return limit.rlim_cur >= 4 ? (unsigned)limit.rlim_cur / 4 : 1;
}

int cmdline_start(struct capture *capture, struct reader_pool **ret)
{
	const struct pool_options options = {
		.read = read_cmdline,
		.is_direct = !capture->host->live,
		.at_once = 1,
		.room = find_room(),
		.help_ns = HELP_NS,
		.budget_ns = WAIT_NS,
		.answer = take_answer,
		.context = capture,
	};

	return reader_pool_new(&options, ret);
}

void cmdline_add(struct reader_pool *pool, uint32_t process_row, int dir)
{
	const struct pool_request request = { .tag = process_row,
					      .dir = dir,
					      .patience_ns = WAIT_NS };

	reader_pool_read(pool, &request);
}

void cmdline_add_number(struct reader_pool *pool, struct capture *capture, uint32_t process_row)
{
	struct pool_request request = {
		.tag = process_row,
		.pid = capture->snapshot->processes[process_row].tgid,
		.patience_ns = WAIT_NS,
	};
	char path[32];

	snprintf(path, sizeof(path), "%" PRId32 "/cmdline", request.pid);
	request.dir = file_open_below(capture->host->proc, path, O_RDONLY);
	if (request.dir >= 0)
		reader_pool_read(pool, &request);
	else
		source_count(&capture->tallies[SOURCE_CMDLINE], request.dir);
}
