/* SPDX-License-Identifier: MIT */
#include "collect/task/task_record.h"

#include <errno.h>
#include <stdbool.h>

#define REQUIRED (1ull << TASK_BIT_pid | 1ull << TASK_BIT_tgid | 1ull << TASK_BIT_start_boottime)

/* Size of each section; that of the affinity mask is agreed with the program. */
static const size_t section_sizes[TASK_SECTION_COUNT] = {
	[TASK_SECTION_TASK] = sizeof(struct task_fields),
	[TASK_SECTION_GROUP] = sizeof(struct group_fields),
	[TASK_SECTION_DELAY] = sizeof(struct delay_fields),
	[TASK_SECTION_STATS] = sizeof(struct stats_fields),
	[TASK_SECTION_NAME] = sizeof(struct name_fields),
	[TASK_SECTION_ACTIVITY] = sizeof(struct activity_fields),
};

/* Finds where the sections are, and the size of it all. */
static size_t find_sections(const struct task_record_head *head, size_t affinity_words,
			    const void *sections[TASK_SECTION_COUNT])
{
	size_t size = sizeof(*head);

	for (int i = 0; i < TASK_SECTION_COUNT; i++) {
		sections[i] = NULL;
		if (!(head->sections >> i & 1))
			continue;
		sections[i] = (const char *)head + size;
		size += i == TASK_SECTION_CPUS ? affinity_words * sizeof(uint64_t) :
						 section_sizes[i];
	}
	return size;
}

static bool is_sound(const struct task_fields *fields)
{
	return (fields->present & REQUIRED) == REQUIRED && fields->pid <= INT32_MAX &&
	       fields->tgid <= INT32_MAX;
}

int task_record_parse(const void *bytes, size_t length, size_t affinity_words,
		      struct task_record *ret)
{
	const struct task_record_head *head = bytes;
	const void *sections[TASK_SECTION_COUNT];
	size_t size;

	if (length < sizeof(*head))
		return 0;
	size = find_sections(head, affinity_words, sections);
	if (head->size != size || head->sections >> TASK_SECTION_COUNT ||
	    !sections[TASK_SECTION_TASK] || !sections[TASK_SECTION_CPUS])
		return -EBADMSG;
	if (length < size)
		return 0;
	if (!is_sound(sections[TASK_SECTION_TASK]))
		return -EBADMSG;
	*ret = (struct task_record){
		.task = sections[TASK_SECTION_TASK],
		.cpus = sections[TASK_SECTION_CPUS],
		.group = sections[TASK_SECTION_GROUP],
		.delay = sections[TASK_SECTION_DELAY],
		.stats = sections[TASK_SECTION_STATS],
		.name = sections[TASK_SECTION_NAME],
		.activity = sections[TASK_SECTION_ACTIVITY],
	};
	return (int)size;
}
