/* SPDX-License-Identifier: MIT */
#include "collect/process/cmdline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/process/reader_pool.h"

#define WAIT_NS 500000000ll
#define AT_ONCE 2	   /* half the time on two CPUs, and no more work */
#define HELP_NS 50000000ll /* when a reader takes longer, another one helps */
#define QUEUE_MAX 256	   /* fds that may wait in the queue; at most a quarter of our limit */

static const char late_reason[] =
	"deadline passed while another thread held the process's memory map";

size_t cmdline_join(char *bytes, size_t length)
{
	return text_join_words(bytes, length, length == CMDLINE_MAX);
}

static ssize_t read_cmdline(const struct pool_request *request, char buffer[POOL_BYTES])
{
	_Static_assert(CMDLINE_MAX < POOL_BYTES, "an answer has room for a command line");
	CLEANUP(close_fd) int fd = -1;
	char path[32] = "cmdline";
	ssize_t length;

	if (request->pid)
		snprintf(path, sizeof(path), "%" PRId32 "/cmdline", request->pid);
	fd = file_open_below(request->dir, path, O_RDONLY | request->flags);
	if (fd < 0)
		return fd;
	length = read(fd, buffer, CMDLINE_MAX);
	return length < 0 ? -errno : (ssize_t)cmdline_join(buffer, (size_t)length);
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
		.dir = capture->host->proc,
		.is_direct = !capture->host->live,
		.at_once = AT_ONCE,
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

void cmdline_add_number(struct reader_pool *pool, const struct capture *capture,
			uint32_t process_row)
{
	const struct pool_request request = {
		.tag = process_row,
		.dir = -1,
		.pid = capture->snapshot->processes[process_row].tgid,
		.patience_ns = WAIT_NS,
	};

	reader_pool_read(pool, &request);
}
