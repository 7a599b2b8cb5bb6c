/* SPDX-License-Identifier: MIT */
/*
 * A text of one side next to that of the other: for people a long one, such as
 * the list of the scheduler's features, is shortened to what differs.
 */
#ifndef RENDER_COMPARE_WORDS_H
#define RENDER_COMPARE_WORDS_H

struct table;

/*
 * Appends it to the text of the next cell; whole for programs.  `other` is NULL
 * when there is none.
 */
void compare_words(struct table *table, const char *words, const char *other);

#endif
