/* SPDX-License-Identifier: MIT */
#include "host/gpu/drm_fdinfo.h"

#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"

#define REGIONS_MAX 16

/* Words for what a region has, from the best on: older drivers have the others. */
static const char *const memory_words[] = { "drm-resident-", "drm-memory-", "drm-total-" };

/* Regions that have been seen, each with the best word for it. */
struct regions {
	struct {
		const char *name;
		size_t length, word;
		uint64_t bytes;
	} list[REGIONS_MAX];
	size_t count;
};

static void copy(char to[DRM_NAME_SIZE], const char *value, size_t length)
{
	length = length < DRM_NAME_SIZE ? length : DRM_NAME_SIZE - 1;
	memcpy(to, value, length);
	to[length] = '\0';
}

static bool scan_bytes(const char *value, uint64_t *ret)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = { { " KiB", 10 }, { " MiB", 20 }, { " GiB", 30 } };
	unsigned shift = 0;

	if (!scan_u64(&value, ret))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strncmp(value, units[i].unit, strlen(units[i].unit)) == 0)
			shift = units[i].shift;
	if (*ret > UINT64_MAX >> shift)
		return false;
	*ret <<= shift;
	return true;
}

static void add_region(struct regions *regions, const char *name, size_t length, size_t word,
		       uint64_t bytes)
{
	size_t i = 0;

	while (i < regions->count && (regions->list[i].length != length ||
				      memcmp(regions->list[i].name, name, length) != 0))
		i++;
	if (i == REGIONS_MAX || (i < regions->count && regions->list[i].word <= word))
		return;
	regions->count += i == regions->count;
	regions->list[i].name = name;
	regions->list[i].length = length;
	regions->list[i].word = word;
	regions->list[i].bytes = bytes;
}

static void add_saturated(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static bool begins_with(const char *key, size_t length, const char *word)
{
	return length > strlen(word) && strncmp(key, word, strlen(word)) == 0;
}

/* How many engines of a kind there are is no time. */
static bool is_engine(const char *key, size_t length)
{
	return begins_with(key, length, "drm-engine-") &&
	       !begins_with(key, length, "drm-engine-capacity-");
}

static void take_line(const char *key, size_t length, const char *value, size_t value_length,
		      struct drm_client *client, struct regions *regions)
{
	uint64_t number;

	for (size_t word = 0; word < ARRAY_SIZE(memory_words); word++)
		if (begins_with(key, length, memory_words[word]) &&
		    !begins_with(key, length, "drm-total-cycles-") && scan_bytes(value, &number))
			add_region(regions, key + strlen(memory_words[word]),
				   length - strlen(memory_words[word]), word, number);
	if (is_engine(key, length) && scan_u64(&value, &number)) {
		client->has_time = true;
		add_saturated(&client->time_ns, number);
	} else if (length == strlen("drm-driver") && strncmp(key, "drm-driver", length) == 0) {
		copy(client->driver, value, value_length);
	} else if (length == strlen("drm-pdev") && strncmp(key, "drm-pdev", length) == 0) {
		copy(client->device, value, value_length);
	}
}

static bool is_id(const char *key, size_t length)
{
	return length == strlen("drm-client-id") && strncmp(key, "drm-client-id", length) == 0;
}

bool drm_fdinfo_parse(const char *text, struct drm_client *ret)
{
	struct regions regions = { .count = 0 };
	bool has_id = false;

	*ret = (struct drm_client){ .id = 0 };
	while (*text) {
		size_t line = strcspn(text, "\n"), key = strcspn(text, ":\n");
		const char *value = text + key + (key < line);
		size_t blanks = strspn(value, " \t");

		value += blanks;
		if (key < line && is_id(text, key)) {
			const char *cursor = value;

			has_id = scan_u64(&cursor, &ret->id);
		} else if (key < line) {
			take_line(text, key, value, strcspn(value, "\n"), ret, &regions);
		}
		text += line + (text[line] == '\n');
	}
	for (size_t i = 0; i < regions.count; i++)
		add_saturated(&ret->memory_bytes, regions.list[i].bytes);
	ret->has_memory = regions.count > 0;
	if (!ret->device[0])
		copy(ret->device, ret->driver, strlen(ret->driver));
	return ret->driver[0] && has_id;
}
