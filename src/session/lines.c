#include "session/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_NS UINT64_C(1000000000)
#define FLUSH_BYTES (64 * 1024)

static bool is_regular(FILE *out, off_t *ret_end)
{
	struct stat file;
	int fd = fileno(out);

	if (fd < 0 || fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
		return false;
	*ret_end = lseek(fd, 0, SEEK_CUR);
	return *ret_end >= 0;
}

int lines_open(struct lines *lines, FILE *out)
{
	*lines = (struct lines){ .out = out };
	if (!out)
		return 0;
	lines->memory = open_memstream(&lines->buffer, &lines->length);
	if (!lines->memory)
		return -ENOMEM;
	/* The buffer is ours, so that what failed is known by the line. */
	setvbuf(out, NULL, _IONBF, 0);
	lines->is_file = is_regular(out, &lines->good);
	return 0;
}

void lines_close(struct lines *lines)
{
	if (lines->memory)
		fclose(lines->memory);
	free(lines->buffer);
	*lines = (struct lines){ 0 };
}

FILE *lines_begin(struct lines *lines)
{
	return lines->memory;
}

void lines_end(struct lines *lines)
{
	lines->pending++;
	if (ftello(lines->memory) >= FLUSH_BYTES)
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

static void note_failure(struct lines *lines, int error)
{
	if (lines->error == 0)
		lines->error = -error;
	if (!lines->is_file)
		lines->broken = true;
	clearerr(lines->out);
}

/* Keeps whole lines; the file ends where they do. */
static void cut_back(struct lines *lines, const char *bytes, size_t written)
{
	const char *last = memrchr(bytes, '\n', written);
	int fd = fileno(lines->out);

	if (last)
		lines->good += last + 1 - bytes;
	if (ftruncate(fd, lines->good) < 0 || lseek(fd, lines->good, SEEK_SET) < 0)
		lines->broken = true;
}

static void write_out(struct lines *lines, const char *bytes, size_t length)
{
	size_t written = 0;
	int error;

	if (!lines->broken) {
		errno = 0;
		written = fwrite(bytes, 1, length, lines->out);
		error = errno;
	}
	if (written == length) {
		lines->good += (off_t)length;
		return;
	}
	lines->lost += lines->pending - count_lines(bytes, written);
	if (lines->broken)
		return;
	note_failure(lines, error ? error : EIO);
	if (lines->is_file)
		cut_back(lines, bytes, written);
}

int lines_flush(struct lines *lines)
{
	if (!lines->memory || lines->pending == 0)
		return lines->error;
	if (fflush(lines->memory) == 0) {
		write_out(lines, lines->buffer, lines->length);
	} else {
		lines->lost += lines->pending;
		lines->error = lines->error ? lines->error : -ENOMEM;
	}
	lines->pending = 0;
	rewind(lines->memory);
	return lines->error;
}

void lines_tick(struct lines *lines, uint64_t now_ns)
{
	if (lines->pending == 0) {
		lines->flushed_ns = now_ns;
		return;
	}
	if (now_ns < lines->flushed_ns + FLUSH_NS)
		return;
	lines_flush(lines);
	lines->flushed_ns = now_ns;
}
