/* SPDX-License-Identifier: MIT */
#include "tui/screen/keys.h"

#include <curses.h>
#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/error.h"

struct key_info key_table[KEY_ID_COUNT] = {
#define KEY(id, keys, label, help) [KEY_OF_##id] = { #id, keys, label, help },
#include "tui/screen/keys.def"
};

static bool is_chosen[KEY_ID_COUNT];

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

#define F_KEYS 12

/* The number of a key such as F5; 0: it is another one. */
static int f_number(const char *name, size_t length)
{
	int number = 0;

	if (name[0] != 'F' || length > 3)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (name[i] < '0' || name[i] > '9' || (i == 1 && name[i] == '0'))
			return 0;
		number = 10 * number + name[i] - '0';
	}
	return number <= F_KEYS ? number : 0;
}

static bool is_name_of(const char *name, size_t length, wint_t code, bool is_special)
{
	if (length == 1)
		return !is_special && code == (wint_t)(unsigned char)name[0];
	if (f_number(name, length))
		return is_special && code == (wint_t)KEY_F(f_number(name, length));
	if (strncmp(name, "Ctrl-", 5) == 0)
		return !is_special && code == (wint_t)(name[5] - '@');
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0 &&
		    names[i].is_special == is_special && code == (wint_t)names[i].code)
			return true;
	return false;
}

static bool means(int id, wint_t code, bool is_special)
{
	const char *name = key_table[id].keys;

	while (*name) {
		size_t length = strcspn(name, " ");

		if (is_name_of(name, length, code, is_special))
			return true;
		name += length + (name[length] == ' ');
	}
	return false;
}

int key_find(wint_t code, bool is_special)
{
	/* What somebody chose comes before the table. */
	for (int pass = 1; pass >= 0; pass--)
		for (int id = 0; id < KEY_ID_COUNT; id++)
			if (is_chosen[id] == pass && means(id, code, is_special))
				return id;
	return -1;
}

/* A letter, or a name of a key of the terminal. */
static bool is_key(const char *name, size_t length)
{
	if (length == 1)
		return name[0] > ' ' && name[0] < 127;
	if (f_number(name, length))
		return true;
	if (strncmp(name, "Ctrl-", 5) == 0)
		return length == 6 && name[5] >= 'A' && name[5] <= 'Z';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0)
			return true;
	return false;
}

/* "x,F8": the keys become names with blanks between them. */
static int choose_keys(int id, char *keys, struct error *error)
{
	for (char *name = keys; *name;) {
		size_t length = strcspn(name, ",");

		if (!is_key(name, length))
			return error_set(
				error, -EINVAL,
				"'%.*s' is no key: give a letter, or a name such as F5, Ctrl-T "
				"or PageUp",
				(int)length, name);
		name += length;
		if (*name == ',')
			*name++ = ' ';
	}
	key_table[id].keys = keys;
	is_chosen[id] = true;
	return 0;
}

int keys_choose(char *text, struct error *error)
{
	char *rest = NULL;

	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *keys = strchr(word, '=');
		int id = 0, status;

		if (!keys || !keys[1])
			return error_set(error, -EINVAL, "--keys takes NAME=KEY, not '%s'", word);
		*keys++ = '\0';
		while (id < KEY_ID_COUNT && strcasecmp(key_table[id].name, word) != 0)
			id++;
		if (id == KEY_ID_COUNT)
			return error_set(error, -EINVAL,
					 "no key has the name '%s': `?` in the screen lists them",
					 word);
		status = choose_keys(id, keys, error);
		if (status < 0)
			return status;
	}
	return 0;
}

bool key_is(const char *name, wint_t code, bool is_special)
{
	return is_name_of(name, strlen(name), code, is_special);
}

int key_first_length(const struct key_info *key)
{
	return (int)strcspn(key->keys, " ");
}
