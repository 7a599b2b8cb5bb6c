/* SPDX-License-Identifier: MIT */
#include "collect/host/fact_check.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/cpulist.h"
#include "base/text.h"

bool fact_check_uuid(char *line)
{
	static const char form[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

	if (strlen(line) != strlen(form))
		return false;
	for (size_t i = 0; line[i]; i++)
		if (form[i] == '-' ? line[i] != '-' : !isxdigit((unsigned char)line[i]))
			return false;
	return true;
}

bool fact_check_cpus(char *line)
{
	return cpulist_count(line) > 0;
}

/* The length of a number such as "0.58"; 0 when there is none. */
static size_t load_length(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	size_t decimals = text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;

	return digits && decimals ? digits + 1 + decimals : 0;
}

bool fact_check_loadavg(char *line)
{
	for (int i = 0; i < 3; i++) {
		size_t length;

		if (i > 0 && *line++ != ' ')
			return false;
		length = load_length(line);
		if (!length)
			return false;
		line += length;
	}
	if (*line != ' ' && *line != '\0')
		return false;
	*line = '\0';
	return true;
}

/* A word, or the number of threads per core that are in use. */
bool fact_check_smt(char *line)
{
	static const char *const words[] = { "on", "off", "forceoff", "notsupported",
					     "notimplemented" };
	uint64_t threads;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(line, words[i]) == 0)
			return true;
	return parse_u64(line, &threads);
}
