/* SPDX-License-Identifier: MIT */
/*
 * Names of programs and peers.  A program is one text in the dictionary: label, name and command
 * line, with a newline between two of them.
 */
#include <string.h>

#include "base/cleanup.h"
#include "model/path/timeline_room.h"
#include "model/run/words.h"

#define TEXT_OVERHEAD 32 /* of one text in a dictionary, about */

/* Their first argument that is no option says what they do.  A name may go on with a version. */
static const char *const interpreters[] = { "python", "perl",	 "ruby", "node",  "lua",
					    "php",    "sh",	 "bash", "dash",  "zsh",
					    "ksh",    "Rscript", "java", "tclsh", "guile" };

/* After these there is a text of a program, not the name of a file. */
static const char *const inline_options[] = { "-c", "-e", "-E", "-r", "-cp", "-classpath" };

struct cursor {
	const char *next;
	size_t left;
};

/* The next word, or NULL; the last one may lack its NUL. */
static const char *next_word(struct cursor *cursor, size_t *ret_length)
{
	const char *word = cursor->next;

	if (!cursor->left)
		return NULL;
	*ret_length = strnlen(word, cursor->left);
	if (*ret_length == cursor->left) {
		cursor->left = 0;
	} else {
		cursor->next += *ret_length + 1;
		cursor->left -= *ret_length + 1;
	}
	return word;
}

static const char *base_name(const char *word, size_t *length)
{
	for (size_t i = *length; i > 0; i--) {
		if (word[i - 1] != '/')
			continue;
		*length -= i;
		return word + i;
	}
	return word;
}

static bool is_interpreter(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		size_t known = strlen(interpreters[i]);

		if (length < known || memcmp(name, interpreters[i], known) != 0)
			continue;
		while (known < length && strchr("0123456789.", name[known]))
			known++;
		if (known == length)
			return true;
	}
	return false;
}

static bool is_inline(const char *word, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(inline_options); i++)
		if (strlen(inline_options[i]) == length &&
		    memcmp(inline_options[i], word, length) == 0)
			return true;
	return false;
}

static const char *script_of(struct cursor *cursor, size_t *ret_length)
{
	const char *word;

	while ((word = next_word(cursor, ret_length))) {
		if (is_inline(word, *ret_length))
			return NULL;
		if (*ret_length && word[0] != '-')
			return base_name(word, ret_length);
	}
	return NULL;
}

/* Appends a name on one line, at most `room` bytes. */
static void append_name(struct text *out, const char *name, size_t length, size_t room)
{
	size_t from = out->length;

	text_append(out, name, length < room ? length : room);
	for (size_t i = from; i < out->length; i++)
		if (out->data[i] == '\n')
			out->data[i] = '?';
}

static void append_label(struct text *out, const struct tree_exec *exec)
{
	struct cursor cursor = { exec->arguments, exec->arguments ? exec->length : 0 };
	size_t length = 0, script_length = 0;
	const char *name = next_word(&cursor, &length);
	const char *script = NULL;

	if (name)
		name = base_name(name, &length);
	if (!name || !length) {
		append_name(out, exec->comm, strnlen(exec->comm, TREE_COMM_SIZE - 1),
			    TREE_COMM_SIZE);
		return;
	}
	/* A login shell has a dash in front of its name. */
	if (length > 1 && name[0] == '-') {
		name++;
		length--;
	}
	if (is_interpreter(name, length))
		script = script_of(&cursor, &script_length);
	append_name(out, name, length, PATH_LABEL_SIZE - 1);
	if (!script || out->length + 2 >= PATH_LABEL_SIZE)
		return;
	text_append(out, " ", 1);
	append_name(out, script, script_length, PATH_LABEL_SIZE - 1 - out->length);
}

static void append_command(struct text *out, const struct tree_exec *exec)
{
	size_t from = out->length;

	if (!exec->arguments)
		return;
	words_join(out, exec->arguments, exec->length);
	if (!out->failed && out->length - from >= PATH_COMMAND_SIZE)
		out->length = from + PATH_COMMAND_SIZE - 1;
}

static void free_text(struct text *text)
{
	text_free(text);
}

uint32_t timeline_add_program(struct timeline *timeline, const struct tree_exec *exec)
{
	CLEANUP(free_text) struct text text = { 0 };
	uint32_t known = dictionary_count(timeline->programs), program;
	size_t short_length;

	append_label(&text, exec);
	text_append(&text, "\n", 1);
	append_name(&text, exec->comm, strnlen(exec->comm, TREE_COMM_SIZE - 1), TREE_COMM_SIZE);
	text_append(&text, "\n", 1);
	short_length = text.length;
	append_command(&text, exec);
	if (text.failed)
		return 0;
	if (timeline->text_bytes + text.length > TIMELINE_TEXT_BYTES)
		text.length = short_length;
	if (timeline->text_bytes > TIMELINE_TEXT_BYTES + TIMELINE_TEXT_BYTES / 8)
		return dictionary_find(timeline->programs, text.data, text.length);
	if (dictionary_add(timeline->programs, text.data, text.length, &program) < 0)
		return 0;
	if (dictionary_count(timeline->programs) > known)
		timeline->text_bytes += text.length + TEXT_OVERHEAD;
	return program;
}

static const char *copy_line(const char *line, char *to, size_t size)
{
	size_t length = strcspn(line, "\n");
	size_t kept = length < size - 1 ? length : size - 1;

	memcpy(to, line, kept);
	to[kept] = '\0';
	return line[length] ? line + length + 1 : line + length;
}

void timeline_program(const struct timeline *timeline, uint32_t program, struct program_texts *ret)
{
	const char *text = dictionary_text(timeline->programs, program);

	text = copy_line(text, ret->label, sizeof(ret->label));
	ret->command = copy_line(text, ret->comm, sizeof(ret->comm));
}

uint32_t timeline_program_at(const struct timeline_process *process, uint64_t time_ns)
{
	uint32_t at = process->execs;

	while (at && process->exec_ns[at - 1] > time_ns)
		at--;
	/* A process that was found ran before what it runs now; as far as is known, the same. */
	if (!at && !process->programs[0] && process->execs)
		at = 1;
	return process->programs[at];
}

uint32_t timeline_add_peer(struct timeline *timeline, const char comm[TREE_COMM_SIZE])
{
	size_t length = strnlen(comm, TREE_COMM_SIZE - 1);
	uint32_t peer = dictionary_find(timeline->peers, comm, length);

	if (peer || !length)
		return peer;
	if (dictionary_count(timeline->peers) >= TIMELINE_PEERS - 1) {
		comm = PATH_OTHERS;
		length = strlen(comm);
	}
	return dictionary_add(timeline->peers, comm, length, &peer) < 0 ? 0 : peer;
}

const char *timeline_peer(const struct timeline *timeline, uint32_t peer)
{
	return dictionary_text(timeline->peers, peer);
}
