/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "collect/scope/scope_decode.h"
#include "collect/scope/scope_reader.h"

/* A source whose bytes are all in memory. */
struct bytes {
	const char *data;
	size_t length;
};

static ssize_t read_bytes(void *context, uint64_t offset, void *buffer, size_t size)
{
	const struct bytes *bytes = context;

	if (offset >= bytes->length)
		return 0;
	if (size > bytes->length - offset)
		size = bytes->length - offset;
	memcpy(buffer, bytes->data + offset, size);
	return (ssize_t)size;
}

int scopes_decode(const void *bytes, size_t length, uint64_t now_ticks, uint64_t now_ns,
		  bool with_statistics, struct scopes *ret, struct error *error)
{
	struct bytes whole = { bytes, length };
	struct scope_source source = { .read = read_bytes, .context = &whole, .size = length };
	struct scope_moment moment = { .ticks = now_ticks, .ns = now_ns, .has_ticks = true };
	struct scope_workspace workspace = { 0 };
	struct scope_header header;
	int status = scope_header_read(&source, &header, error);

	if (status == 0)
		status = scope_source_decode(&source, &header, &moment, with_statistics, &workspace,
					     ret);
	scope_workspace_clear(&workspace);
	return status;
}
