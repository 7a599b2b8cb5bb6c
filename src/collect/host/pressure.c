/* SPDX-License-Identifier: MIT */
#include "collect/host/pressure.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "collect/collector.h"

/* Larger than any file of two lines. */
#define FILE_SIZE 1024

static const char *const line_names[PRESSURE_LINE_COUNT] = {
	[PRESSURE_SOME] = "some",
	[PRESSURE_FULL] = "full",
};

struct key_info {
	const char *name;
	bool is_percent;
};

static const struct key_info keys[PRESSURE_KEY_COUNT] = {
	[PRESSURE_AVG10] = { "avg10", true },
	[PRESSURE_AVG60] = { "avg60", true },
	[PRESSURE_AVG300] = { "avg300", true },
	[PRESSURE_TOTAL] = { "total", false },
};

/* A word: bytes up to a blank or the end of the line. */
struct word {
	const char *start;
	const char *end;
};

static struct word next_word(const char *cursor, const char *end)
{
	struct word word;

	while (cursor < end && (*cursor == ' ' || *cursor == '\t'))
		cursor++;
	word.start = cursor;
	while (cursor < end && *cursor != ' ' && *cursor != '\t')
		cursor++;
	word.end = cursor;
	return word;
}

static bool word_is(struct word word, const char *name)
{
	size_t length = (size_t)(word.end - word.start);

	return length == strlen(name) && memcmp(word.start, name, length) == 0;
}

static void add_digit(uint64_t *number, unsigned digit)
{
	if (__builtin_mul_overflow(*number, 10, number) ||
	    __builtin_add_overflow(*number, digit, number))
		*number = UINT64_MAX;
}

/* Reads digits; returns how many there were. */
static size_t scan_digits(const char **cursor, const char *end, size_t most, uint64_t *number)
{
	const char *start = *cursor;

	for (; *cursor < end && **cursor >= '0' && **cursor <= '9'; ++*cursor)
		if ((size_t)(*cursor - start) < most)
			add_digit(number, (unsigned)(**cursor - '0'));
	return (size_t)(*cursor - start);
}

/* A number with `decimals` digits after the point: fewer are filled up, more are cut off. */
static bool parse_number(struct word word, size_t decimals, uint64_t *ret)
{
	const char *cursor = word.start;
	uint64_t number = 0;
	size_t found = 0;

	if (!scan_digits(&cursor, word.end, SIZE_MAX, &number))
		return false;
	if (decimals && cursor < word.end && *cursor == '.') {
		cursor++;
		found = scan_digits(&cursor, word.end, decimals, &number);
		if (!found)
			return false;
	}
	for (; found < decimals; found++)
		add_digit(&number, 0);
	*ret = number;
	return cursor == word.end;
}

static void parse_pair(struct word word, enum pressure_line line, struct pressure *ret)
{
	const char *sign = memchr(word.start, '=', (size_t)(word.end - word.start));
	struct word name = { word.start, sign };

	for (int key = 0; sign && key < PRESSURE_KEY_COUNT; key++)
		if (word_is(name, keys[key].name))
			ret->present[line][key] =
				parse_number((struct word){ sign + 1, word.end },
					     keys[key].is_percent ? 2 : 0, &ret->values[line][key]);
}

static void parse_line(const char *start, const char *end, struct pressure *ret)
{
	struct word word = next_word(start, end);

	for (int line = 0; line < PRESSURE_LINE_COUNT; line++) {
		if (!word_is(word, line_names[line]))
			continue;
		while (word.end < end) {
			word = next_word(word.end, end);
			parse_pair(word, line, ret);
		}
		return;
	}
}

void pressure_parse(const char *text, struct pressure *ret)
{
	*ret = (struct pressure){ 0 };
	while (*text) {
		size_t length = strcspn(text, "\n");

		parse_line(text, text + length, ret);
		text += length + (text[length] == '\n');
	}
}

bool pressure_any(const struct pressure *pressure)
{
	for (int line = 0; line < PRESSURE_LINE_COUNT; line++)
		for (int key = 0; key < PRESSURE_KEY_COUNT; key++)
			if (pressure->present[line][key])
				return true;
	return false;
}

void pressure_drop_line(struct pressure *pressure, enum pressure_line line)
{
	memset(pressure->present[line], 0, sizeof(pressure->present[line]));
}

void pressure_name(const char *prefix, enum pressure_line line, enum pressure_key key,
		   char ret[SHEET_NAME_SIZE])
{
	snprintf(ret, SHEET_NAME_SIZE, "%s %s %s", prefix, line_names[line], keys[key].name);
}

static int store_cell(struct sheet *sheet, uint32_t row, const char *prefix, int line, int key,
		      uint64_t value)
{
	char name[SHEET_NAME_SIZE];

	pressure_name(prefix, line, key, name);
	return sheet_set(sheet, row, name, CELL_NUMBER, value);
}

int pressure_store(const struct pressure *pressure, struct sheet *sheet, uint32_t row,
		   const char *prefix)
{
	int status = 0;

	for (int line = 0; line < PRESSURE_LINE_COUNT; line++)
		for (int key = 0; status == 0 && key < PRESSURE_KEY_COUNT; key++)
			if (pressure->present[line][key])
				status = store_cell(sheet, row, prefix, line, key,
						    pressure->values[line][key]);
	return status;
}

int pressure_set_absent(struct sheet *sheet, const char *prefix, enum pressure_line line,
			const char *reason)
{
	char name[SHEET_NAME_SIZE];
	int status = 0;

	for (int key = 0; status == 0 && key < PRESSURE_KEY_COUNT; key++) {
		pressure_name(prefix, line, key, name);
		status = sheet_set_absent(sheet, name, reason);
	}
	return status;
}

struct resource {
	const char *path;
	const char *prefix;
	enum pressure_line first; /* the first line that its file has */
	const char *missing;	  /* why a kernel with pressure accounting may not have it */
	const char *off;
	bool is_optional;    /* it is normal that it is off */
	const char *no_full; /* why its "full" line has no meaning, or NULL */
};

static const struct resource resources[] = {
	{ "cpu", "pressure cpu", PRESSURE_SOME, "this kernel does not report it", PRESSURE_OFF,
	  false, PRESSURE_NO_CPU_FULL },
	{ "memory", "pressure memory", PRESSURE_SOME, "this kernel does not report it",
	  PRESSURE_OFF, false, NULL },
	{ "io", "pressure io", PRESSURE_SOME, "this kernel does not report it", PRESSURE_OFF, false,
	  NULL },
	{ "irq", "pressure irq", PRESSURE_FULL,
	  "this kernel does not report it, which takes CONFIG_IRQ_TIME_ACCOUNTING at least",
	  "this kernel does not account the time of interrupts", true, NULL },
};

static int set_resource_absent(struct capture *capture, const struct resource *resource,
			       const char *reason)
{
	struct sheet *sheet = &capture->snapshot->sheets[SHEET_HOST];
	int status = 0;

	for (int line = resource->first; status == 0 && line < PRESSURE_LINE_COUNT; line++)
		status = pressure_set_absent(sheet, resource->prefix, line, reason);
	return status;
}

static const char *refusal(const struct host *host, const struct resource *resource, int status)
{
	if (status == -EOPNOTSUPP)
		return resource->off;
	if (status == -EBADMSG)
		return "the file does not say it in a form that is known";
	if (status != -ENOENT)
		return strerror(-status);
	return host->live ? resource->missing : NOT_RECORDED;
}

static int note_refused(struct capture *capture, const struct resource *resource, int status)
{
	struct source_tally *tally = &capture->tallies[SOURCE_PRESSURE];

	if (status != -EOPNOTSUPP || !resource->is_optional)
		source_count(tally, status);
	if (status == -EOPNOTSUPP && !resource->is_optional)
		tally->reason = resource->off;
	return set_resource_absent(capture, resource, refusal(capture->host, resource, status));
}

static int host_row(struct sheet *sheet, uint32_t *ret)
{
	*ret = 0;
	return sheet->row_count ? 0 : sheet_add_row(sheet, 0, ret);
}

static int note_resource(struct capture *capture, int dir, const struct resource *resource)
{
	struct sheet *sheet = &capture->snapshot->sheets[SHEET_HOST];
	struct pressure pressure = { 0 };
	char text[FILE_SIZE];
	ssize_t length = file_read(dir, resource->path, text, sizeof(text));
	uint32_t row;
	int status;

	if (length >= 0)
		pressure_parse(text, &pressure);
	if (!pressure_any(&pressure))
		return note_refused(capture, resource, length < 0 ? (int)length : -EBADMSG);
	source_count(&capture->tallies[SOURCE_PRESSURE], length);
	status = host_row(sheet, &row);
	if (status == 0 && resource->no_full) {
		pressure_drop_line(&pressure, PRESSURE_FULL);
		status = pressure_set_absent(sheet, resource->prefix, PRESSURE_FULL,
					     resource->no_full);
	}
	return status < 0 ? status : pressure_store(&pressure, sheet, row, resource->prefix);
}

/* Why there is no directory of pressure files.  The kernel's options may not be known. */
static const char *no_pressure(const struct host *host)
{
	bool built;

	if (!host->live || !host_kernel_option(host, "CONFIG_PSI", &built))
		return missing_reason(host,
				      "this kernel was built without CONFIG_PSI, or " PRESSURE_OFF);
	return missing_reason(host,
			      built ? PRESSURE_OFF : "this kernel was built without CONFIG_PSI");
}

static int note_no_directory(struct capture *capture, int error)
{
	struct source_tally *tally = &capture->tallies[SOURCE_PRESSURE];
	int status = 0;

	source_count(tally, error);
	if (error == -ENOENT)
		source_set_unseen(capture->host, tally, no_pressure(capture->host));
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(resources); i++)
		status = set_resource_absent(capture, &resources[i],
					     tally->reason ? tally->reason : strerror(-error));
	return status;
}

int pressure_collect(struct capture *capture)
{
	CLEANUP(close_fd) int dir = -1;
	int status = 0;

	if (!source_wanted(capture, SOURCE_PRESSURE))
		return 0;
	dir = host_open_directory(capture->host->proc, "pressure");
	if (dir < 0)
		return note_no_directory(capture, dir);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(resources); i++)
		status = note_resource(capture, dir, &resources[i]);
	return status;
}

int pressure_read(const struct host *host, struct snapshot *snapshot)
{
	const struct capture_options all = { 0 };
	struct capture capture = { .host = host, .options = &all, .snapshot = snapshot };

	return pressure_collect(&capture);
}
