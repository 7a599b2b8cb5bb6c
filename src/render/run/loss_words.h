/* SPDX-License-Identifier: MIT */
/* Says in words what a run lost: "threads without a last account". */
#ifndef RENDER_LOSS_WORDS_H
#define RENDER_LOSS_WORDS_H

#include <stdint.h>

/* `key` is that of the JSON object `losses`; one without words is its own word. */
const char *loss_words(const char *key, uint64_t count);

#endif
