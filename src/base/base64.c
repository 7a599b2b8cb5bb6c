/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct base64 {
	FILE *out;
	unsigned char bytes[3]; /* that do not make up four letters yet */
	size_t count;
};

static void base64_put(struct base64 *base64)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < 3; i++)
		bits = bits << 8 | (i < base64->count ? base64->bytes[i] : 0U);
	for (size_t i = 0; i < 4; i++)
		putc_unlocked(i <= base64->count ? letters[bits >> (18 - 6 * i) & 63] : '=',
			      base64->out);
	base64->count = 0;
}

static ssize_t base64_write(void *cookie, const char *bytes, size_t size)
{
	struct base64 *base64 = cookie;

	for (size_t i = 0; i < size; i++) {
		base64->bytes[base64->count++] = (unsigned char)bytes[i];
		if (base64->count == 3)
			base64_put(base64);
	}
	return ferror(base64->out) ? 0 : (ssize_t)size;
}

static int base64_close(void *cookie)
{
	struct base64 *base64 = cookie;
	FILE *out = base64->out;

	if (base64->count)
		base64_put(base64);
	free(base64);
	return ferror(out) ? -1 : 0;
}

FILE *base64_stream(FILE *out)
{
	cookie_io_functions_t functions = { .write = base64_write, .close = base64_close };
	struct base64 *base64 = calloc(1, sizeof(*base64));
	FILE *stream;

	if (!base64)
		return NULL;
	base64->out = out;
	stream = fopencookie(base64, "w", functions);
	if (!stream)
		free(base64);
	return stream;
}

static void fill_values(int8_t values[256])
{
	memset(values, -1, 256);
	for (int i = 0; i < 64; i++)
		values[(unsigned char)letters[i]] = (int8_t)i;
}

int base64_decode(const char *text, size_t length, void **ret, size_t *ret_size)
{
	int8_t values[256];
	unsigned char *bytes;
	uint32_t bits = 0;
	size_t size = 0;

	while (length && text[length - 1] == '=')
		length--;
	if (length % 4 == 1)
		return -EBADMSG;
	bytes = malloc(length / 4 * 3 + 3);
	if (!bytes)
		return -ENOMEM;
	fill_values(values);
	for (size_t i = 0; i < length; i++) {
		int8_t value = values[(unsigned char)text[i]];

		if (value < 0) {
			free(bytes);
			return -EBADMSG;
		}
		bits = bits << 6 | (uint32_t)value;
		if (i % 4)
			bytes[size++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
	}
	*ret = bytes;
	*ret_size = size;
	return 0;
}
