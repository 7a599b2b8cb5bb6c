/* SPDX-License-Identifier: MIT */
#include "base/output/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_BYTES (64 * 1024)
/* At most this much waits for a reader. */
#define BACKLOG_BYTES ((size_t)8 * 1024 * 1024)
/* Room for the last line, which also has a short form.  Less on a small disk. */
#define KEPT_BYTES (64 * 1024)
#define KEPT_LEAST (4 * 1024)

static bool is_regular(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
}

/* Reserves bytes behind the end.  False only when the disk is known to be full. */
static bool file_has_room(const struct lines *lines, size_t bytes)
{
	struct stat file;

	return fstat(lines->fd, &file) < 0 ||
	       fallocate(lines->fd, FALLOC_FL_KEEP_SIZE, file.st_size, (off_t)bytes) == 0 ||
	       (errno != ENOSPC && errno != EDQUOT);
}

/* Reserves room, but not if others may append: giving it back would cut off what they wrote. */
static size_t keep_room(const struct lines *lines)
{
	size_t bytes = KEPT_BYTES;

	if (!lines->is_file || fcntl(lines->fd, F_GETFL) & O_APPEND)
		return 0;
	while (bytes >= KEPT_LEAST && !file_has_room(lines, bytes))
		bytes /= 2;
	return bytes >= KEPT_LEAST ? bytes : 0;
}

static void give_room_back(const struct lines *lines)
{
	struct stat file;

	if (lines->kept && fstat(lines->fd, &file) == 0)
		(void)!ftruncate(lines->fd, file.st_size);
}

/* Once there is no memory, nothing more is appended: a line has no gaps. */
static ssize_t take(void *cookie, const char *bytes, size_t length)
{
	struct lines *lines = cookie;

	text_append(&lines->text, bytes, length);
	return (ssize_t)length;
}

int lines_open(struct lines *lines, FILE *out)
{
	*lines = (struct lines){ .out = out, .fd = -1 };
	if (!out)
		return 0;
	lines->memory = fopencookie(lines, "w", (cookie_io_functions_t){ .write = take });
	if (!lines->memory)
		return -ENOMEM;
	(void)setvbuf(lines->memory, lines->buffer, _IOFBF, sizeof(lines->buffer));
	lines->fd = fileno(out);
	lines->is_file = is_regular(lines->fd);
	lines->kept = keep_room(lines);
	return 0;
}

void lines_close(struct lines *lines)
{
	give_room_back(lines);
	if (lines->memory)
		fclose(lines->memory);
	text_free(&lines->text);
	text_free(&lines->backlog);
	*lines = (struct lines){ .fd = -1 };
}

FILE *lines_begin(struct lines *lines)
{
	return lines->memory;
}

/* Whether all that was printed is in the text. */
static bool is_whole(struct lines *lines)
{
	return fflush(lines->memory) == 0 && !lines->text.failed;
}

size_t lines_printed(struct lines *lines)
{
	(void)fflush(lines->memory);
	return lines->text.length - lines->begun;
}

void lines_withdraw(struct lines *lines)
{
	(void)fflush(lines->memory);
	lines->text.length = lines->begun;
	lines->text.failed = false;
}

void lines_end(struct lines *lines)
{
	if (is_whole(lines)) {
		lines->pending++;
		lines->begun = lines->text.length;
	} else {
		lines_withdraw(lines);
		lines->lost++;
		lines->error = lines->error ? lines->error : -ENOMEM;
	}
	if (lines->text.length >= FLUSH_BYTES)
		lines_flush(lines);
}

static uint64_t count_lines(const char *bytes, size_t length)
{
	const char *end = bytes + length;
	uint64_t count = 0;

	while (bytes < end && (bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		count++;
		bytes++;
	}
	return count;
}

/* The length of the whole lines in it. */
static size_t whole_lines(const char *bytes, size_t length)
{
	const char *last = length ? memrchr(bytes, '\n', length) : NULL;

	return last ? (size_t)(last + 1 - bytes) : 0;
}

static void lose(struct lines *lines, const char *bytes, size_t length, int error)
{
	lines->lost += count_lines(bytes, length);
	if (lines->error == 0)
		lines->error = -error;
}

/*
 * Cuts off the incomplete line at the end of the file, but not if others wrote behind it.
 */
static void cut_back(struct lines *lines, off_t length)
{
	off_t end = lseek(lines->fd, 0, SEEK_CUR);
	struct stat file;

	if (length == 0)
		return;
	if (end < length || fstat(lines->fd, &file) < 0 || file.st_size != end ||
	    ftruncate(lines->fd, end - length) < 0 || lseek(lines->fd, end - length, SEEK_SET) < 0)
		lines->broken = true;
}

static void write_file(struct lines *lines, const char *bytes, size_t length)
{
	size_t written = 0, whole;
	ssize_t step = 1;

	if (lines->kept && !lines->is_last && !file_has_room(lines, length + lines->kept)) {
		lose(lines, bytes, length, ENOSPC);
		return;
	}
	while (written < length && (step > 0 || (step < 0 && errno == EINTR))) {
		step = write(lines->fd, bytes + written, length - written);
		written += step > 0 ? (size_t)step : 0;
	}
	if (written == length)
		return;
	lose(lines, bytes + written, length - written, errno);
	whole = whole_lines(bytes, written);
	cut_back(lines, (off_t)(written - whole));
}

static void forget_backlog(struct lines *lines)
{
	text_clear(&lines->backlog);
	lines->sent = 0;
}

static void give_up(struct lines *lines, int error)
{
	lose(lines, lines->backlog.data + lines->sent, lines->backlog.length - lines->sent, error);
	lines->broken = true;
	forget_backlog(lines);
}

int lines_awaited_fd(const struct lines *lines)
{
	return lines->sent < lines->backlog.length ? lines->fd : -1;
}

static bool has_room(const struct lines *lines, int timeout_ms)
{
	struct pollfd room = { .fd = lines_awaited_fd(lines), .events = POLLOUT };

	return poll(&room, 1, timeout_ms) > 0;
}

/* Writes in pieces that a pipe with any room takes at once. */
static void hand_over(struct lines *lines)
{
	while (has_room(lines, 0)) {
		size_t left = lines->backlog.length - lines->sent;
		ssize_t step = write(lines->fd, lines->backlog.data + lines->sent,
				     left < PIPE_BUF ? left : PIPE_BUF);

		if (step < 0 && errno != EINTR && errno != EAGAIN)
			give_up(lines, errno);
		if (step < 0)
			return;
		lines->sent += (size_t)step;
	}
	if (lines->sent == lines->backlog.length)
		forget_backlog(lines);
}

static void drop_sent(struct lines *lines)
{
	if (lines->sent == 0)
		return;
	lines->backlog.length -= lines->sent;
	memmove(lines->backlog.data, lines->backlog.data + lines->sent, lines->backlog.length);
	lines->sent = 0;
}

static void write_pipe(struct lines *lines, const char *bytes, size_t length)
{
	size_t kept = length, room;

	drop_sent(lines);
	room = BACKLOG_BYTES - lines->backlog.length;
	if (length > room)
		kept = whole_lines(bytes, room);
	text_append(&lines->backlog, bytes, kept);
	if (lines->backlog.failed)
		kept = 0;
	if (kept < length)
		lose(lines, bytes + kept, length - kept, lines->backlog.failed ? ENOMEM : ENOBUFS);
	lines->backlog.failed = false;
	hand_over(lines);
}

static void write_out(struct lines *lines, const char *bytes, size_t length)
{
	if (lines->broken)
		lose(lines, bytes, length, EIO);
	else if (lines->is_file)
		write_file(lines, bytes, length);
	else
		write_pipe(lines, bytes, length);
}

int lines_flush(struct lines *lines)
{
	if (!lines->memory || lines->pending == 0)
		return lines->error;
	write_out(lines, lines->text.data, lines->text.length);
	text_clear(&lines->text);
	lines->pending = lines->begun = 0;
	return lines->error;
}

void lines_use_room(struct lines *lines)
{
	lines->is_last = true;
}

bool lines_fit(struct lines *lines)
{
	return is_whole(lines) && (!lines->is_file || file_has_room(lines, lines->text.length));
}

int lines_finish(struct lines *lines, int patience_ms)
{
	lines_flush(lines);
	while (lines_awaited_fd(lines) >= 0 && has_room(lines, patience_ms))
		hand_over(lines);
	if (lines_awaited_fd(lines) >= 0)
		give_up(lines, ETIMEDOUT);
	return lines->error;
}

/* After a pause a line is written at once; then lines are written at most every LINES_WAIT_NS. */
uint64_t lines_due_ns(const struct lines *lines)
{
	return lines->pending ? lines->flushed_ns + LINES_WAIT_NS : UINT64_MAX;
}

void lines_tick(struct lines *lines, uint64_t now_ns)
{
	if (lines_awaited_fd(lines) >= 0)
		hand_over(lines);
	if (now_ns < lines_due_ns(lines))
		return;
	lines_flush(lines);
	lines->flushed_ns = now_ns;
}
