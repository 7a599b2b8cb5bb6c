/* SPDX-License-Identifier: MIT */
/*
 * The keys of the screen, from keys.def.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stdbool.h>
#include <wchar.h>

enum key_id {
#define KEY(id, ...) KEY_OF_##id,
#include "tui/screen/keys.def"
	KEY_ID_COUNT,
};

struct key_info {
	const char *keys, *label, *help;
};

extern const struct key_info key_table[KEY_ID_COUNT];

/* What a key means; -1: nothing.  `is_special` is for the codes of curses. */
int key_find(wint_t code, bool is_special);

/* The first name of a key, for the footer. */
int key_first_length(const struct key_info *key);

#endif
