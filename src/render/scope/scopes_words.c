/* SPDX-License-Identifier: MIT */
#include "render/scope/scopes_view.h"

#include <string.h>

#include "model/scope/scopes.h"

const char *const scope_stall_words[] = {
	[SCOPE_STALL_NONE] = "none",	   [SCOPE_STALL_BUSY] = "busy",
	[SCOPE_STALL_WAITING] = "waiting", [SCOPE_STALL_STARVED] = "starved",
	[SCOPE_STALL_STOPPED] = "stopped",
};

#define LOSS(key, one, many)                                                                       \
	{                                                                                          \
#key, one, many, offsetof(struct scope_losses, key)                                \
	}

const struct scope_loss_word scope_loss_words[SCOPE_LOSS_COUNT] = {
	LOSS(threads, "thread without room", "threads without room"),
	LOSS(scopes, "scope of such threads", "scopes of such threads"),
	LOSS(labels, "label without room", "labels without room"),
	LOSS(lines, "line that nobody took", "lines that nobody took"),
	LOSS(depth, "scope too deep", "scopes too deep"),
	LOSS(texts, "text without room", "texts without room"),
	LOSS(misplaced, "close on another thread or twice", "closes on another thread or twice"),
	LOSS(unwound, "scope closed by one around it", "scopes closed by one around them"),
	LOSS(interrupted, "scope in an interrupted change", "scopes in an interrupted change"),
	LOSS(unnumbered, "scope that counts as <other>", "scopes that count as <other>"),
};

uint64_t scope_loss_count(const struct scope_losses *losses, size_t which)
{
	uint64_t count;

	memcpy(&count, (const char *)losses + scope_loss_words[which].offset, sizeof(count));
	return count;
}
