/* SPDX-License-Identifier: MIT */
#include "host/oracle/dwarf_layout.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "host/elf/debug_sections.h"
#include "host/elf/elf_inspect.h"

#define MEMBER_PREFIX "cant_access_tsd_items_directly_use_a_getter_or_setter_"

struct walk {
	uint64_t units, entries;
	struct debug_texts texts;
};

static void end_dwarf(Dwarf **dwarf)
{
	dwarf_end(*dwarf);
}

static bool mentions_member(Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);

	return data && data->d_buf &&
	       memmem(data->d_buf, data->d_size, MEMBER_PREFIX, strlen(MEMBER_PREFIX));
}

/*
 * Most programs do not contain jemalloc: searching the sections of names for one long word saves
 * the walk.
 */
static bool may_have_layout(Elf *elf)
{
	struct named_section section = { 0 };

	while (named_section_next(elf, &section)) {
		if (strncmp(section.name, ".zdebug_", 8) == 0)
			return true;
		if (strncmp(section.name, ".debug_", 7) != 0)
			continue;
		if (section.header.sh_flags & SHF_COMPRESSED)
			return true;
		if (strcmp(section.name, ".debug_str") != 0 &&
		    strcmp(section.name, ".debug_info") != 0)
			continue;
		if (mentions_member(section.section))
			return true;
	}
	return false;
}

/* A name whose text is in this file. */
static const char *entry_name(const struct walk *walk, Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	const char *text;

	if (!dwarf_attr(entry, DW_AT_name, &attribute))
		return NULL;
	switch (dwarf_whatform(&attribute)) {
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return NULL;
	default:
		text = dwarf_formstring(&attribute);
		return debug_text_has_end(&walk->texts, text) ? text : NULL;
	}
}

static bool find_offset(Dwarf_Die *member, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
		return false;
	switch (dwarf_whatform(&attribute)) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		break;
	default:
		return false;
	}
	if (dwarf_formudata(&attribute, &offset) < 0)
		return false;
	*ret = offset;
	return true;
}

static bool fits(uint64_t offset, Dwarf_Die *structure)
{
	int size = dwarf_bytesize(structure);

	return size >= 8 && offset % 8 == 0 && offset <= (uint64_t)size - 8;
}

/* Returns 0, -ENODATA when a counter is missing, or -EBADMSG when one is not in the struct. */
static int read_members(struct walk *walk, Dwarf_Die *structure, struct tsd_layout *ret)
{
	const struct {
		const char *name;
		uint64_t *offset;
	} wanted[] = {
		{ MEMBER_PREFIX "thread_allocated", &ret->allocated },
		{ MEMBER_PREFIX "thread_deallocated", &ret->deallocated },
	};
	unsigned found = 0;
	Dwarf_Die member;
	int status = dwarf_child(structure, &member);

	for (; status == 0; status = dwarf_siblingof(&member, &member)) {
		const char *name = entry_name(walk, &member);

		if (++walk->entries > DWARF_ENTRIES_MAX)
			return -EFBIG;
		if (dwarf_tag(&member) != DW_TAG_member || !name)
			continue;
		for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
			if (strcmp(name, wanted[i].name) != 0)
				continue;
			if (!find_offset(&member, wanted[i].offset) ||
			    !fits(*wanted[i].offset, structure))
				return -EBADMSG;
			found |= 1u << i;
		}
	}
	return found == 3 && ret->allocated != ret->deallocated ? 0 : -ENODATA;
}

static bool is_tsd_struct(const struct walk *walk, Dwarf_Die *entry)
{
	const char *name;

	if (dwarf_tag(entry) != DW_TAG_structure_type || !dwarf_haschildren(entry))
		return false;
	name = entry_name(walk, entry);
	return name && strcmp(name, "tsd_s") == 0;
}

static int search_unit(struct walk *walk, Dwarf_Die *unit, struct tsd_layout *ret)
{
	Dwarf_Die entry;
	int status = dwarf_child(unit, &entry);
	int found;

	for (; status == 0; status = dwarf_siblingof(&entry, &entry)) {
		if (++walk->entries > DWARF_ENTRIES_MAX)
			return -EFBIG;
		if (!is_tsd_struct(walk, &entry))
			continue;
		found = read_members(walk, &entry, ret);
		if (found != -ENODATA)
			return found;
	}
	return status < 0 ? -EBADMSG : -ENODATA;
}

/* jemalloc is written in C, so units of other languages are skipped. */
static bool may_be_c(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word language;

	if (!dwarf_attr(unit, DW_AT_language, &attribute) ||
	    dwarf_formudata(&attribute, &language) < 0)
		return true;
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return language > DW_LANG_BLISS; /* a language newer than this table */
	}
}

/* Goes on after a broken unit: a later one may be valid. */
static int search_units(Elf *elf, Dwarf *dwarf, struct tsd_layout *ret)
{
	struct walk walk = { 0 };
	Dwarf_CU *unit = NULL;
	Dwarf_Die entry;
	int missing = -ENODATA;
	int status;

	debug_texts_find(elf, &walk.texts);
	while ((status = dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &entry, NULL)) == 0) {
		int found;

		if (++walk.units > DWARF_UNITS_MAX)
			return -EFBIG;
		if (!may_be_c(&entry))
			continue;
		found = search_unit(&walk, &entry, ret);
		if (found == 0 || found == -EFBIG)
			return found;
		if (found == -EBADMSG)
			missing = found;
	}
	return status < 0 ? -EBADMSG : missing;
}

static int search_elf(Elf *elf, uint64_t file_size, struct tsd_layout *ret)
{
	CLEANUP(end_dwarf) Dwarf *dwarf = NULL;
	struct tsd_layout layout;
	int status;

	if (elf_kind(elf) != ELF_K_ELF)
		return -EBADMSG;
	status = debug_sections_check(elf, file_size, DWARF_BYTES_MAX, DWARF_BYTES_MAX);
	if (status < 0)
		return status;
	if (!may_have_layout(elf))
		return -ENODATA;
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!dwarf)
		return -EBADMSG;
	status = search_units(elf, dwarf, &layout);
	if (status == 0)
		*ret = layout;
	return status;
}

int dwarf_tsd_layout(int fd, struct tsd_layout *ret)
{
	uint64_t size;
	CLEANUP(elf_end_pointer) Elf *elf = elf_open(fd, &size);

	return elf ? search_elf(elf, size, ret) : -EBADMSG;
}
