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

struct cmdline_queue {
	struct capture *capture;
	struct reader_pool *pool;
	size_t room, held; /* fds that may wait in the queue, and that do at most */
};

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
	struct cmdline_queue *queue = context;
	struct capture *capture = queue->capture;
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
static size_t find_room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 4 > QUEUE_MAX)
		return QUEUE_MAX;
	return limit.rlim_cur >= 4 ? limit.rlim_cur / 4 : 1;
}

int cmdline_start(struct capture *capture, struct cmdline_queue **ret)
{
	struct cmdline_queue *queue = calloc(1, sizeof(*queue));
	const struct pool_options options = {
		.read = read_cmdline,
		.is_direct = !capture->host->live,
		.at_once = 1,
		.room = UINT_MAX, /* see add_file() */
		.help_ns = HELP_NS,
		.budget_ns = WAIT_NS,
		.answer = take_answer,
		.context = queue,
	};
	int status;

	if (!queue)
		return -ENOMEM;
	queue->capture = capture;
	queue->room = find_room();
	status = reader_pool_new(&options, &queue->pool);
	if (status < 0)
		free(queue);
	else
		*ret = queue;
	return status;
}

/* A directory, or the open file of process `pid`. */
static void add_file(struct cmdline_queue *queue, uint32_t row, int fd, int32_t pid)
{
	if (queue->held == queue->room) {
		reader_pool_wait(queue->pool);
		queue->held = 0;
	}
	queue->held++;
	reader_pool_read(queue->pool,
			 &(struct pool_request){
				 .tag = row, .dir = fd, .pid = pid, .patience_ns = WAIT_NS });
}

void cmdline_add_number(struct cmdline_queue *queue, uint32_t process_row)
{
	struct capture *capture = queue->capture;
	int32_t tgid = capture->snapshot->processes[process_row].tgid;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "%" PRId32 "/cmdline", tgid);
	fd = file_open_below(capture->host->proc, path, O_RDONLY);
	if (fd >= 0)
		add_file(queue, process_row, fd, tgid);
	else
		source_count(&capture->tallies[SOURCE_CMDLINE], fd);
}

void cmdline_add(struct cmdline_queue *queue, uint32_t process_row, int dir)
{
	add_file(queue, process_row, dir, 0);
}

int cmdline_finish(struct cmdline_queue *queue)
{
	int status = reader_pool_finish(queue->pool);

	free(queue);
	return status;
}
