/* SPDX-License-Identifier: MIT */
#include "host/code/service/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/array.h"
#include "host/elf/debug_sections.h"

#define UNITS_MAX 200000
#define SPANS_MAX 2000000    /* of units and functions together */
#define ENTRIES_MAX 4000000  /* that are looked at to find the functions of one unit */
#define SCOPE_ENTRIES 200000 /* that are looked at within one function */
#define NAMESPACES_MAX 32    /* within each other */
#define SCOPES_MAX 256	     /* within each other: blocks and inlined functions */
#define LINE_EXPANSION 12    /* about how much larger a table of lines is once it is read */
#define NESTED_MAX 64 /* how many spans before an address may be shorter than one around it */

/* Addresses of a unit or of a function: one of several ranges. */
struct span {
	uint64_t start, end;
	uint64_t entry; /* offset in the debug information */
};

struct spans {
	ARRAY_OF(struct span) list;
};

struct unit {
	uint64_t entry;
	bool is_read;
	struct spans functions;
};

struct source_lines {
	Dwarf *dwarf;
	struct debug_texts texts;
	bool has_units;
	struct spans unit_spans; /* `entry` is the index of the unit */
	ARRAY_OF(struct unit) units;
	size_t span_count;
	uint64_t budget;		    /* entries that may still be looked at */
	uint64_t section_bytes, line_bytes; /* of all sections, and of those with lines */
	uint64_t units_read;
};

/* Follows dwarf_begin_elf(), which unpacks the sections. */
static void measure(struct source_lines *lines, Elf *elf)
{
	struct named_section section = { 0 };

	while (named_section_next(elf, &section)) {
		if (strncmp(section.name, ".debug_", 7) != 0)
			continue;
		lines->section_bytes += section.header.sh_size;
		if (strcmp(section.name, ".debug_line") == 0)
			lines->line_bytes = section.header.sh_size;
	}
}

int source_lines_open(Elf *elf, uint64_t file_size, struct source_lines **ret)
{
	struct named_section section;
	struct source_lines *lines;
	int status;

	if (!named_section_find(elf, ".debug_info", &section) &&
	    !named_section_find(elf, ".zdebug_info", &section))
		return -ENODATA;
	status = debug_sections_check(elf, file_size, SOURCE_BYTES_MAX, SOURCE_PACKED_MAX);
	if (status < 0)
		return status;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	lines->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!lines->dwarf) {
		free(lines);
		return -EBADMSG;
	}
	debug_texts_find(elf, &lines->texts);
	measure(lines, elf);
	*ret = lines;
	return 0;
}

uint64_t source_lines_bytes(const struct source_lines *lines)
{
	uint64_t units = lines->units.count ? lines->units.count : 1;

	return lines->section_bytes + lines->span_count * sizeof(struct span) +
	       lines->line_bytes * LINE_EXPANSION / units * lines->units_read;
}

void source_lines_free(struct source_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->units.count; i++)
		array_free(&lines->units.data[i].functions.list);
	array_free(&lines->units);
	array_free(&lines->unit_spans.list);
	dwarf_end(lines->dwarf);
	free(lines);
}

/* All ranges of an entry.  False when there is no room for more. */
static bool add_spans(struct source_lines *lines, struct spans *spans, Dwarf_Die *die,
		      uint64_t entry)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		if (++lines->span_count > SPANS_MAX)
			return false;
		if (start < end && array_append(&spans->list, ((struct span){ start, end, entry })))
			return false;
	}
	return true;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	return (first->end < second->end) - (first->end > second->end);
}

static void sort_spans(struct spans *spans)
{
	array_sort(&spans->list, compare_spans);
}

/* The span with the address that starts last, which is the innermost. */
static const struct span *find_span(const struct spans *spans, uint64_t address)
{
	size_t below = array_bisect(spans->list.data, spans->list.count, item->start <= address);

	for (size_t i = 0; i < below && i < NESTED_MAX; i++)
		if (address < spans->list.data[below - 1 - i].end)
			return &spans->list.data[below - 1 - i];
	return NULL;
}

/* A broken unit ends the list: those before it are valid. */
static void read_units(struct source_lines *lines)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	lines->has_units = true;
	while (lines->units.count < UNITS_MAX &&
	       dwarf_get_units(lines->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (!add_spans(lines, &lines->unit_spans, &die, lines->units.count) ||
		    array_append(&lines->units,
				 ((struct unit){ dwarf_dieoffset(&die), false, {} })))
			break;
	}
	sort_spans(&lines->unit_spans);
}

static bool spend(struct source_lines *lines)
{
	if (!lines->budget)
		return false;
	lines->budget--;
	return true;
}

/* Compilers put functions of C++ and Rust into the namespaces and types that they belong to. */
static bool may_have_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type;
}

/* Goes through the tree without recursion: `path` is where to go on. */
static void read_functions(struct source_lines *lines, struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Die path[NAMESPACES_MAX];
	size_t depth = 1;

	lines->budget = ENTRIES_MAX;
	if (dwarf_child(die, &path[0]) != 0)
		return;
	while (depth && spend(lines)) {
		Dwarf_Die entry = path[depth - 1];
		int tag = dwarf_tag(&entry);

		if (tag == DW_TAG_subprogram &&
		    !add_spans(lines, &unit->functions, &entry, dwarf_dieoffset(&entry)))
			break;
		/* The place to return to is set first. */
		if (dwarf_siblingof(&entry, &path[depth - 1]) != 0)
			depth--;
		if (may_have_functions(tag) && depth < NAMESPACES_MAX &&
		    dwarf_child(&entry, &path[depth]) == 0)
			depth++;
	}
	sort_spans(&unit->functions);
}

static struct unit *find_unit(struct source_lines *lines, uint64_t address, Dwarf_Die *ret)
{
	const struct span *span;
	struct unit *unit;

	if (!lines->has_units)
		read_units(lines);
	span = find_span(&lines->unit_spans, address);
	unit = span ? &lines->units.data[span->entry] : NULL;
	if (!unit || !dwarf_offdie(lines->dwarf, unit->entry, ret))
		return NULL;
	if (!unit->is_read) {
		unit->is_read = true;
		lines->units_read++;
		read_functions(lines, unit, ret);
	}
	return unit;
}

static const char *checked_text(const struct source_lines *lines, Dwarf_Attribute *attribute)
{
	const char *text = attribute ? dwarf_formstring(attribute) : NULL;

	return debug_text_has_end(&lines->texts, text) ? text : NULL;
}

/* The library follows a chain of references only so far, so a cycle ends. */
static const char *function_name(const struct source_lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name =
		checked_text(lines, dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (!name)
		name = checked_text(lines,
				    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
	return name ? name : checked_text(lines, dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static void read_call(Dwarf_Die *unit, Dwarf_Die *die, struct source_frame *caller)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0 &&
	    number <= UINT32_MAX)
		caller->line = (uint32_t)number;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
		caller->source = dwarf_filesrc(files, number, NULL, NULL);
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Moves on to the scope within this one that has the address. */
static bool enter(struct source_lines *lines, Dwarf_Die *scope, uint64_t address)
{
	Dwarf_Die child;
	int status = dwarf_child(scope, &child);

	for (; status == 0 && spend(lines); status = dwarf_siblingof(&child, &child))
		if (is_scope(dwarf_tag(&child)) && dwarf_haspc(&child, address) > 0) {
			*scope = child;
			return true;
		}
	return false;
}

static void reverse(struct source_frame *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct source_frame frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

static size_t read_frames(struct source_lines *lines, Dwarf_Die *unit, Dwarf_Die *scope,
			  uint64_t address, struct source_frame *frames, size_t capacity)
{
	size_t count = 1;

	lines->budget = SCOPE_ENTRIES;
	frames[0] = (struct source_frame){ .function = function_name(lines, scope) };
	for (int depth = 0; depth < SCOPES_MAX && enter(lines, scope, address); depth++) {
		if (dwarf_tag(scope) != DW_TAG_inlined_subroutine)
			continue;
		read_call(unit, scope, &frames[count - 1]);
		if (count == capacity)
			break;
		frames[count++] = (struct source_frame){ .function = function_name(lines, scope) };
	}
	reverse(frames, count);
	return count;
}

static void read_line(Dwarf_Die *unit, uint64_t address, struct source_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number;

	if (!line || frame->line || dwarf_lineno(line, &number) < 0 || number <= 0)
		return;
	frame->line = (uint32_t)number;
	frame->source = dwarf_linesrc(line, NULL, NULL);
}

size_t source_lines_find(struct source_lines *lines, uint64_t address, struct source_frame *frames,
			 size_t capacity)
{
	Dwarf_Die die, scope;
	struct unit *unit = find_unit(lines, address, &die);
	const struct span *function = unit ? find_span(&unit->functions, address) : NULL;
	size_t count = 1;

	if (!unit || !capacity)
		return 0;
	frames[0] = (struct source_frame){ 0 };
	if (function && dwarf_offdie(lines->dwarf, function->entry, &scope))
		count = read_frames(lines, &die, &scope, address, frames, capacity);
	read_line(&die, address, &frames[0]);
	return count;
}
