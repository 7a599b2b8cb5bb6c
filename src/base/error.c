/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (!error || error->message[0])
		return code;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return code;
}

/* The most bytes of an excerpt before the mistake. */
#define EXCERPT_BEFORE 48

static size_t character_number(const char *text, size_t position)
{
	size_t number = 1;

	for (size_t i = 0; i < position; i++)
		number += ((unsigned char)text[i] & 0xc0) != 0x80;
	return number;
}

/* Puts the place in front of the sentence, which may end with a question or a list. */
static void say_place(struct error *error, size_t number)
{
	char place[48];
	size_t length = (size_t)snprintf(place, sizeof(place), "at character %zu: ", number);
	size_t said = strnlen(error->message, sizeof(error->message) - 1 - length);

	memmove(error->message + length, error->message, said);
	memcpy(error->message, place, length);
	error->message[length + said] = '\0';
}

int error_mark(struct error *error, int code, const char *text, size_t position)
{
	size_t start = position > EXCERPT_BEFORE ? position - EXCERPT_BEFORE : 0;
	size_t length;

	if (!error || error->excerpt[0])
		return code;
	length = strnlen(text + start, sizeof(error->excerpt) - 1);
	memcpy(error->excerpt, text + start, length);
	error->excerpt[length] = '\0';
	error->caret = position - start;
	say_place(error, character_number(text, position));
	return code;
}
