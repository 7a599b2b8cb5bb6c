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
	const char *name; /* "find_next" */
	const char *keys, *label, *help;
};

/* The rows of the table, with other keys where some were chosen. */
extern struct key_info key_table[KEY_ID_COUNT];

struct error;

/*
 * Other keys than those of the table: "quit=Q tree=x,F8", in `text`, which is changed and must last.  A key that
 * had another meaning has the new one.  0, or -EINVAL with a sentence.
 */
int keys_choose(char *text, struct error *error);

/* What a key means; -1: nothing.  `is_special` is for the codes of curses. */
int key_find(wint_t code, bool is_special);
/* Whether it is the key with this name, such as "Enter", whatever that means. */
bool key_is(const char *name, wint_t code, bool is_special);

/* The first name of a key, for the footer. */
int key_first_length(const struct key_info *key);

#endif
