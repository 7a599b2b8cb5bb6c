/* SPDX-License-Identifier: MIT */
#include "store/compression.h"

#include <errno.h>
#include <zstd_errors.h>

#define COMPRESSION_LEVEL 3
#define OUTPUT_STEP ((size_t)128 * 1024)

uint64_t size_limit(const struct size_limit *limit, uint64_t file_size)
{
	if (file_size > (limit->ceiling - limit->floor) / limit->each)
		return limit->ceiling;
	return limit->floor + limit->each * file_size;
}

uint64_t size_limit_file(const struct size_limit *limit, uint64_t amount)
{
	if (amount <= limit->floor)
		return 0;
	return (amount - limit->floor + limit->each - 1) / limit->each;
}

void compressor_open(struct compressor *compressor, bool with_checksum)
{
	*compressor = (struct compressor){ .context = ZSTD_createCCtx() };
	if (!compressor->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_compressionLevel,
						COMPRESSION_LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_checksumFlag,
						with_checksum)))
		compressor->file.failed = true;
}

static void compress(struct compressor *compressor, const void *bytes, size_t size,
		     ZSTD_EndDirective end)
{
	ZSTD_inBuffer input = { .src = bytes, .size = size };
	size_t left;

	compressor->taken += size;
	do {
		ZSTD_outBuffer output = { .size = OUTPUT_STEP };

		output.dst = bytes_reserve(&compressor->file, OUTPUT_STEP);
		if (!output.dst)
			return;
		left = ZSTD_compressStream2(compressor->context, &output, &input, end);
		if (ZSTD_isError(left)) {
			compressor->file.failed = true;
			return;
		}
		compressor->file.size += output.pos;
	} while (input.pos < input.size || (end == ZSTD_e_end && left));
}

void compressor_put(struct compressor *compressor, const void *bytes, size_t size)
{
	compress(compressor, bytes, size, ZSTD_e_continue);
}

void compressor_finish(struct compressor *compressor)
{
	compress(compressor, NULL, 0, ZSTD_e_end);
}

void compressor_close(struct compressor *compressor)
{
	ZSTD_freeCCtx(compressor->context);
	bytes_free(&compressor->file);
}

int decompressor_open(struct decompressor *decompressor, const void *bytes, size_t size,
		      int window_log_limit)
{
	*decompressor = (struct decompressor){ .context = ZSTD_createDCtx(),
					       .input = { .src = bytes, .size = size } };
	if (!decompressor->context ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(decompressor->context, ZSTD_d_windowLogMax,
						window_log_limit)))
		return -ENOMEM;
	return 0;
}

static int fail(struct decompressor *decompressor, const char *problem)
{
	decompressor->problem = problem;
	return -EBADMSG;
}

int decompressor_get(struct decompressor *decompressor, void *room, size_t size, size_t *ret_length)
{
	ZSTD_inBuffer *input = &decompressor->input;
	ZSTD_outBuffer output = { .dst = room, .size = size };

	*ret_length = 0;
	while (output.pos == 0 && (input->pos < input->size || decompressor->frame_left)) {
		size_t before = input->pos;
		size_t left = ZSTD_decompressStream(decompressor->context, &output, input);

		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		if (ZSTD_isError(left))
			return fail(decompressor, "it cannot be decompressed");
		if (output.pos == 0 && input->pos == before)
			return fail(decompressor, "it is cut short");
		decompressor->frame_left = left;
		decompressor->frames += left == 0;
	}
	*ret_length = output.pos;
	return 0;
}

void decompressor_close(struct decompressor *decompressor)
{
	ZSTD_freeDCtx(decompressor->context);
}
