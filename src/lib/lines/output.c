/* SPDX-License-Identifier: MIT */
#include "lib/lines/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/control.h"
#include "lib/scope/ticks.h"

/* How often to try a descriptor that claims to have room but takes nothing. */
enum { WRITE_TRIES = 64 };

/* Refuses a link, and a pipe without a reader, that somebody may have put there. */
static int open_file(const char *path, int *ret_fd)
{
	int fd =
		open(path,
		     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK,
		     0600);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/* Whether the file ends in the middle of a line, as after a writer that ran out of space. */
static bool has_torn_end(const char *path, int fd)
{
	struct stat status;
	char last = '\n';
	int reader;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return false;
	reader = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (reader < 0)
		return false;
	if (pread(reader, &last, 1, status.st_size - 1) != 1)
		last = '\n';
	close(reader);
	return last != '\n';
}

int output_open(struct output *output, const struct control *options, uint64_t *lost_lines)
{
	int error = 0;

	*output = (struct output){ .fd = STDERR_FILENO,
				   .is_json = options->is_json,
				   .patience_ms = OUTPUT_PATIENCE_MS,
				   .lost_lines = lost_lines,
				   .log = options->log,
				   .log_context = options->log_context };
	if (!options->output)
		return 0;
	/* The file in the environment wins over the program's log function. */
	output->log = NULL;
	error = open_file(options->output, &output->fd);
	output->is_own_fd = error == 0;
	if (!error)
		output->is_torn = has_torn_end(options->output, output->fd);
	return error;
}

void output_close(struct output *output)
{
	if (output->is_own_fd)
		close(output->fd);
	output->is_own_fd = false;
}

/* Returns whether the descriptor has room before the patience ends. */
static bool wait_for_room(struct output *output)
{
	struct pollfd poll_fd = { .fd = output->fd, .events = POLLOUT };
	uint64_t start = ticks_monotonic_ns(), waited_ms;
	int ready = poll(&poll_fd, 1, output->patience_ms);

	waited_ms = (ticks_monotonic_ns() - start) / 1000000;
	output->patience_ms = waited_ms < (uint64_t)output->patience_ms ?
				      output->patience_ms - (int)waited_ms :
				      0;
	return ready > 0 && !(poll_fd.revents & (POLLERR | POLLNVAL));
}

/*
 * Another writer may have filled the pipe since it had room, so ask the kernel not to wait.  Plain
 * files are written as usual: for them, "do not wait" often means that nothing is written.
 */
static ssize_t write_some(int fd, const char *bytes, size_t length)
{
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = length };
	struct stat status;
	ssize_t written;

	if (fstat(fd, &status) < 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
		return write(fd, bytes, length);
	written = pwritev2(fd, &part, 1, -1, RWF_NOWAIT);
	if (written < 0 && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS))
		written = write(fd, bytes, length);
	return written;
}

/* Returns how many bytes were written. */
static size_t write_all(struct output *output, const char *bytes, size_t length)
{
	unsigned int tries = WRITE_TRIES;
	size_t done = 0;

	while (done < length && tries-- && wait_for_room(output)) {
		ssize_t written = write_some(output->fd, bytes + done, length - done);

		if (written > 0)
			done += (size_t)written;
		else if (written == 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return done;
}

/* A line whose last bytes are missing counts as lost, too. */
static unsigned int lines_in(const char *bytes, size_t length)
{
	unsigned int count = 0;

	for (size_t i = 0; i < length; i++)
		count += bytes[i] == '\n';
	return count;
}

void output_flush(struct output *output)
{
	size_t done;
	unsigned int lost;

	if (!output->length)
		return;
	if (output->is_torn && write_all(output, "\n", 1) == 1)
		output->is_torn = false;
	done = output->is_torn ? 0 : write_all(output, output->buffer, output->length);
	if (done && output->buffer[done - 1] != '\n')
		output->is_torn = true;
	lost = output->line_count - lines_in(output->buffer, done);
	if (lost)
		__atomic_fetch_add(output->lost_lines, lost, __ATOMIC_RELAXED);
	output->length = 0;
	output->line_count = 0;
}

void output_line(struct output *output, const struct line *line)
{
	char text[LINE_SIZE];
	size_t length = line_render(line, output->is_json, text, sizeof(text));

	if (output->log) {
		output->log(output->log_context, line_level(line->kind), text);
		return;
	}
	if (output->length + length + 1 > sizeof(output->buffer))
		output_flush(output);
	memcpy(output->buffer + output->length, text, length);
	output->buffer[output->length + length] = '\n';
	output->length += length + 1;
	output->line_count++;
}

void output_left(struct output *output, enum line_kind kind, const char *form, uint64_t count)
{
	struct line line;

	line_begin(&line, kind, getpid());
	line_add_as(&line, "left", form, NULL, line_amount(LINE_COUNT, amount_of(count)));
	output_line(output, &line);
}
