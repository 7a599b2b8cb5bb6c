/* SPDX-License-Identifier: MIT */
#include "host/elf/debug_sections.h"

#include <errno.h>
#include <libelf.h>
#include <string.h>

/* The most bytes that zlib can make out of one, and some slack for short sections. */
#define EXPANSION_MAX 1032
#define EXPANSION_SLACK 65536

bool named_section_next(Elf *elf, struct named_section *section)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((section->section = elf_nextscn(elf, section->section))) {
		if (!gelf_getshdr(section->section, &section->header) ||
		    section->header.sh_type == SHT_NOBITS)
			continue;
		section->name = elf_strptr(elf, names, section->header.sh_name);
		if (section->name)
			return true;
	}
	return false;
}

bool named_section_find(Elf *elf, const char *name, struct named_section *ret)
{
	*ret = (struct named_section){ 0 };
	while (named_section_next(elf, ret))
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

static bool is_debug(const struct named_section *section)
{
	return strncmp(section->name, ".debug_", 7) == 0 ||
	       strncmp(section->name, ".zdebug_", 8) == 0;
}

/* The size that an old-style compressed section claims: big-endian, behind four letters. */
static uint64_t old_style_size(Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	uint64_t size = 0;

	if (!bytes || data->d_size < 12)
		return 0;
	for (int i = 4; i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

static bool is_packed(const struct named_section *section)
{
	return section->header.sh_flags & SHF_COMPRESSED || section->name[1] == 'z';
}

static uint64_t unpacked_size(const struct named_section *section)
{
	GElf_Chdr compression;

	if (section->header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section->section, &compression) ? compression.ch_size : 0;
	if (section->name[1] == 'z')
		return old_style_size(section->section);
	return section->header.sh_size;
}

int debug_sections_check(Elf *elf, uint64_t file_size, uint64_t limit, uint64_t packed_limit)
{
	struct named_section section = { 0 };
	uint64_t total = 0, packed = 0;

	while (named_section_next(elf, &section)) {
		uint64_t stored = section.header.sh_size;
		uint64_t unpacked;

		if (!is_debug(&section))
			continue;
		unpacked = unpacked_size(&section);
		if (stored > file_size)
			return -EBADMSG;
		if (unpacked > stored * EXPANSION_MAX + EXPANSION_SLACK)
			return -EBADMSG;
		total += unpacked;
		if (is_packed(&section))
			packed += unpacked;
		if (total > limit || packed > packed_limit)
			return -EFBIG;
	}
	return 0;
}

void debug_texts_find(Elf *elf, struct debug_texts *ret)
{
	struct named_section section = { 0 };

	*ret = (struct debug_texts){ 0 };
	while (ret->count < DEBUG_TEXT_RANGES && named_section_next(elf, &section)) {
		Elf_Data *data;

		if (!is_debug(&section) ||
		    (!strstr(section.name, "debug_info") && !strstr(section.name, "debug_types") &&
		     !strstr(section.name, "_str")))
			continue;
		data = elf_rawdata(section.section, NULL);
		if (data && data->d_buf)
			ret->ranges[ret->count++] =
				(struct debug_text_range){ data->d_buf, (const char *)data->d_buf +
										data->d_size };
	}
}

bool debug_text_has_end(const struct debug_texts *texts, const char *text)
{
	for (size_t i = 0; text && i < texts->count; i++) {
		const struct debug_text_range *range = &texts->ranges[i];

		if (text >= range->start && text < range->end)
			return memchr(text, '\0', (size_t)(range->end - text));
	}
	return false;
}
