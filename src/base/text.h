/* SPDX-License-Identifier: MIT */
/*
 * Text: a growable buffer, and functions to read numbers that every parser needs.
 *
 * Appending returns no error: when memory runs out the buffer remembers it in `failed`.  So a
 * caller checks once, at the end, or leaves that to the end of the program (base/memory.h).  A
 * struct text that is all zeros is empty and valid; text_free() ends it.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NUL-terminated once something was appended */
	size_t length;
	size_t capacity;
	bool failed;
};

void text_append(struct text *text, const char *bytes, size_t length);
void text_append_string(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Appends bytes that come from strangers so that a terminal, a log or a file can show them:
 * control characters and bytes that are not UTF-8 become \xNN.
 */
void text_append_escaped(struct text *text, const char *bytes, size_t length);

void text_clear(struct text *text); /* empty, memory kept */
void text_free(struct text *text);
const char *text_string(const struct text *text); /* never NULL */

/* How many bytes the character at `bytes` takes; 0 when it is not UTF-8. */
size_t text_character(const char *bytes, size_t length);

/*
 * How many bytes the character at `bytes` takes when it is printable UTF-8;
 * 0 when it is a control character (C0, DEL, C1, or one that reorders or hides
 * the text around it) or not UTF-8.
 */
size_t text_printable(const char *bytes, size_t length);

/*
 * The length of a command line from /proc, without the NULs and blanks at its end that a program
 * leaves when it sets a title shorter than its arguments were.  `*cut` says whether the bytes were
 * cut off.  It becomes false where they end in such NULs and blanks: only more of them would
 * follow.
 */
size_t text_words(const char *bytes, size_t length, bool *cut);

/*
 * Makes one text of the words of a command line, in place, with blanks between them; one that was
 * cut ends in "...".  Returns its length.
 */
size_t text_join_words(char *bytes, size_t length, bool cut);

/* How many terminal columns a UTF-8 text takes: wide characters two, combining ones none. */
size_t text_width(const char *string);
size_t text_columns(const char *character); /* of the first character only */

/*
 * Append at most `width` columns of a UTF-8 text, and return how many they took: its start, or both
 * ends of it with "…" between them, since those of a name say more than its middle.
 */
size_t text_append_start(struct text *out, const char *string, size_t width);
size_t text_append_cut(struct text *out, const char *string, size_t width);

/* The same as the second, with at most `head` columns, fewer than `width`, of its beginning. */
size_t text_append_cut_at(struct text *out, const char *string, size_t width, size_t head);

/*
 * Reads an unsigned decimal number at *cursor and moves past it.  Returns false, and does not move
 * the cursor, where there is no number or it does not fit in 64 bits.
 */
bool scan_u64(const char **cursor, uint64_t *ret);
bool scan_i64(const char **cursor, int64_t *ret);

/* Reads the whole string as a number: no blanks, nothing left over. */
bool parse_u64(const char *string, uint64_t *ret);

/*
 * Reads durations as people write them: 250ms, 5s, 10min, 1h30m, 1.5s, 2d; a plain number is
 * seconds.  Units are d, h, m, s, ms, us and ns, each at most once and the largest first; also day,
 * hour, min and sec, with or without an s.
 */
#define DURATION_FORMS "250ms, 5s, 10min or 1h30m"
bool parse_duration_ns(const char *string, uint64_t *ret);

#endif
