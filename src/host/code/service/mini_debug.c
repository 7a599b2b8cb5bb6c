/* SPDX-License-Identifier: MIT */
#include "host/code/service/mini_debug.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdint.h>
#include <string.h>

#include "base/collection/array.h"
#include "host/elf/debug_sections.h"

#define DECODER_MEMORY_MAX ((uint64_t)32 << 20)
#define FIRST_BYTES ((size_t)64 << 10)

/* Doubles the room for what is unpacked.  0, -EFBIG or -ENOMEM. */
static int grow(lzma_stream *stream, char **bytes, size_t *size)
{
	size_t wanted = *size ? *size * 2 : FIRST_BYTES;
	char *moved;

	if (wanted > MINI_DEBUG_MAX)
		return -EFBIG;
	moved = realloc(*bytes, wanted);
	if (!moved)
		return -ENOMEM;
	stream->next_out = (uint8_t *)moved + *size;
	stream->avail_out = wanted - *size;
	*bytes = moved;
	*size = wanted;
	return 0;
}

static int unpack(lzma_stream *stream, char **ret, size_t *ret_size)
{
	size_t size = 0;
	int status = lzma_stream_decoder(stream, DECODER_MEMORY_MAX, 0) == LZMA_OK ? 0 : -ENOMEM;

	while (status == 0) {
		lzma_ret result;

		status = grow(stream, ret, &size);
		if (status < 0)
			break;
		result = lzma_code(stream, LZMA_FINISH);
		if (result == LZMA_STREAM_END) {
			*ret_size = (size_t)stream->total_out;
			return 0;
		}
		/* With room left, the input ended too early. */
		if (result != LZMA_OK || stream->avail_out)
			status = -EBADMSG;
	}
	return status;
}

int mini_debug_unpack(Elf *elf, char **ret, size_t *ret_size)
{
	struct named_section section = { 0 };
	lzma_stream stream = LZMA_STREAM_INIT;
	Elf_Data *data;
	int status;

	if (!named_section_find(elf, ".gnu_debugdata", &section))
		return -ENODATA;
	data = elf_rawdata(section.section, NULL);
	if (!data || !data->d_buf)
		return -EBADMSG;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	*ret = NULL;
	status = unpack(&stream, ret, ret_size);
	lzma_end(&stream);
	if (status < 0) {
		free(*ret);
		*ret = NULL;
	}
	return status;
}
