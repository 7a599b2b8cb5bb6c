/* SPDX-License-Identifier: MIT */
/* Messages of the kernel about sockets. */
#include "fuzz_text.h"
#include "host/wait/socket_peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *message = malloc(size ? size : 1); /* aligned, and not a byte longer */
	struct socket_end end;

	if (!message)
		return 0;
	memcpy(message, data, size);
	if (socket_diag_parse(message, size, &end))
		fuzz_require(end.kind == SOCKET_UNIX || end.kind == SOCKET_TCP);
	free(message);
	return 0;
}
