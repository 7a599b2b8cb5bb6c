/* SPDX-License-Identifier: MIT */
#include "tui/screen/keys.h"

#include <curses.h>
#include <string.h>

#include "base/collection/array.h"

const struct key_info key_table[KEY_ID_COUNT] = {
#define KEY(id, keys, label, help) [KEY_OF_##id] = { keys, label, help },
#include "tui/screen/keys.def"
};

/* Names of more than one letter. */
static const struct {
	const char *name;
	int code;
	bool is_special;
} names[] = {
	{ "Up", KEY_UP, true },	       { "Down", KEY_DOWN, true },
	{ "Left", KEY_LEFT, true },    { "Right", KEY_RIGHT, true },
	{ "PageUp", KEY_PPAGE, true }, { "PageDown", KEY_NPAGE, true },
	{ "Home", KEY_HOME, true },    { "End", KEY_END, true },
	{ "Enter", '\n', false },      { "Enter", '\r', false },
	{ "Enter", KEY_ENTER, true },  { "Space", ' ', false },
	{ "Escape", 27, false },
};

static bool is_name_of(const char *name, size_t length, wint_t code, bool is_special)
{
	if (length == 1)
		return !is_special && code == (wint_t)(unsigned char)name[0];
	if (name[0] == 'F' && strspn(name + 1, "0123456789") >= length - 1)
		return is_special && code == (wint_t)KEY_F(name[1] - '0' + (length > 2 ? 9 : 0));
	if (strncmp(name, "Ctrl-", 5) == 0)
		return !is_special && code == (wint_t)(name[5] - '@');
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0 &&
		    names[i].is_special == is_special && code == (wint_t)names[i].code)
			return true;
	return false;
}

int key_find(wint_t code, bool is_special)
{
	for (int id = 0; id < KEY_ID_COUNT; id++) {
		const char *name = key_table[id].keys;

		while (*name) {
			size_t length = strcspn(name, " ");

			if (is_name_of(name, length, code, is_special))
				return id;
			name += length + (name[length] == ' ');
		}
	}
	return -1;
}

int key_first_length(const struct key_info *key)
{
	return (int)strcspn(key->keys, " ");
}
