/* SPDX-License-Identifier: MIT */
#include "host/code/service/function_table.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/collection/order.h"
#include "host/elf/elf_inspect.h"

#define START_MAX ((UINT64_C(1) << 56) - 1)
#define SAME_START_NAME 64 /* bytes that are compared to choose between two names */
#define NESTED_MAX 64 /* how many symbols before an address may be shorter than one around it */

/* What makes a symbol the worse choice, the worst last. */
#define RANK_LOCAL 1u
#define RANK_RESOLVER 2u /* STT_GNU_IFUNC: chooses a function and is none itself */
#define RANK_LABEL 4u	 /* STT_NOTYPE */
#define RANK_UNSIZED 8u
#define RANK_MADE_UP 16u

/* .eh_frame_hdr: four bytes, two numbers, then pairs of offsets from its own address. */
#define STARTS_ENCODING 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
#define STARTS_HEADER 12

void function_table_clear(struct function_table *table)
{
	array_free(&table->symbols);
	array_free(&table->starts);
	*table = (struct function_table){ 0 };
}

static const struct address_range *segment_of(const struct function_table *table, uint64_t address)
{
	for (size_t i = 0; i < table->segment_count; i++)
		if (address >= table->segments[i].start && address < table->segments[i].end)
			return &table->segments[i];
	return NULL;
}

static void add_segment(struct function_table *table, const GElf_Phdr *header)
{
	uint64_t end;

	if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
	    table->segment_count == FUNCTION_SEGMENTS ||
	    __builtin_add_overflow(header->p_vaddr, header->p_memsz, &end) || end > START_MAX)
		return;
	table->segments[table->segment_count++] = (struct address_range){ header->p_vaddr, end };
}

static int add_starts(struct function_table *table, const GElf_Phdr *header, const uint8_t *bytes,
		      size_t size)
{
	uint32_t count;
	int32_t offset;

	if (size < STARTS_HEADER || bytes[0] != 1 || bytes[3] != STARTS_ENCODING)
		return 0;
	memcpy(&count, bytes + 8, sizeof(count));
	if (count > FUNCTION_STARTS_MAX || count > (size - STARTS_HEADER) / 8)
		return 0;
	if (array_reserve(&table->starts, count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t start;

		memcpy(&offset, bytes + STARTS_HEADER + (size_t)8 * i, sizeof(offset));
		start = header->p_vaddr + (uint64_t)(int64_t)offset;
		if (segment_of(table, start))
			table->starts.data[table->starts.count++] = start;
	}
	array_sort(&table->starts, compare_u64);
	return 0;
}

static int read_starts(struct function_table *table, Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data;

	if (header->p_filesz > (uint64_t)8 * FUNCTION_STARTS_MAX + STARTS_HEADER)
		return 0;
	data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset, header->p_filesz, ELF_T_BYTE);
	return data && data->d_buf ? add_starts(table, header, data->d_buf, data->d_size) : 0;
}

int function_table_begin(struct function_table *table, Elf *elf)
{
	GElf_Phdr header, starts = { 0 };
	GElf_Ehdr file;
	size_t count;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &file) || !elf_is_native(&file) ||
	    elf_getphdrnum(elf, &count) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < count && i <= PN_XNUM; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			return -EBADMSG;
		add_segment(table, &header);
		if (header.p_type == PT_GNU_EH_FRAME)
			starts = header;
	}
	return starts.p_type == PT_GNU_EH_FRAME ? read_starts(table, elf, &starts) : 0;
}

/* Labels of assemblers are left out: ".L1", and on arm64 "$x" and "$d", which mark code and data. */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return name[0] != '\0';
	case STT_NOTYPE:
		return name[0] != '\0' && name[0] != '$' && name[0] != '.';
	default:
		return false;
	}
}

static unsigned rank_of(const GElf_Sym *symbol)
{
	unsigned rank = symbol->st_size ? 0 : RANK_UNSIZED;

	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		rank |= RANK_LABEL;
	if (GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		rank |= RANK_RESOLVER;
	if (GELF_ST_BIND(symbol->st_info) == STB_LOCAL)
		rank |= RANK_LOCAL;
	return rank;
}

static int add_symbol(struct function_table *table, const GElf_Sym *symbol)
{
	const struct address_range *segment = segment_of(table, symbol->st_value);
	size_t names = table->name_tables - 1;
	uint64_t size = symbol->st_size;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= table->names[names].size ||
	    !segment || !is_function(symbol, table->names[names].bytes + symbol->st_name))
		return 0;
	if (size > segment->end - symbol->st_value)
		size = segment->end - symbol->st_value;
	return array_append(&table->symbols,
			    ((struct function_symbol){
				    .start = symbol->st_value,
				    .table = names,
				    .rank = rank_of(symbol),
				    .size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
				    .name = symbol->st_name,
			    }));
}

int function_table_add_names(struct function_table *table, const char *names, size_t size)
{
	if (table->name_tables == FUNCTION_NAME_TABLES)
		return -E2BIG;
	table->names[table->name_tables].bytes = names;
	table->names[table->name_tables].size = size;
	return (int)table->name_tables++;
}

int function_table_add(struct function_table *table, uint64_t start, int names, uint32_t name)
{
	if (!segment_of(table, start))
		return 0;
	return array_append(&table->symbols, ((struct function_symbol){
						     .start = start,
						     .table = (unsigned)names & 7,
						     .rank = RANK_UNSIZED | RANK_MADE_UP,
						     .name = name,
					     }));
}

/* A table is used only if its names end within their section. */
static Elf_Data *names_of(Elf *elf, const GElf_Shdr *header)
{
	Elf_Scn *strings = elf_getscn(elf, header->sh_link);
	GElf_Shdr strings_header;
	Elf_Data *names;

	if (!strings || !gelf_getshdr(strings, &strings_header) ||
	    strings_header.sh_type != SHT_STRTAB)
		return NULL;
	names = elf_getdata(strings, NULL);
	if (!names || !names->d_buf || !names->d_size ||
	    ((const char *)names->d_buf)[names->d_size - 1] != '\0')
		return NULL;
	return names;
}

static int add_section(struct function_table *table, Elf *elf, Elf_Scn *section,
		       const GElf_Shdr *header)
{
	size_t count = header->sh_size / sizeof(Elf64_Sym);
	Elf_Data *names = count && count <= ELF_SYMBOLS_MAX ? names_of(elf, header) : NULL;
	Elf_Data *symbols = names ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;
	int status = 0;

	if (!symbols || !symbols->d_buf || table->symbols.count > ELF_SYMBOLS_MAX - count ||
	    function_table_add_names(table, names->d_buf, names->d_size) < 0)
		return 0;
	for (size_t i = 0; i < count && status == 0; i++)
		if (gelf_getsym(symbols, (int)i, &symbol))
			status = add_symbol(table, &symbol);
	return status;
}

/* A file has one table of a type; if it has more, FUNCTION_NAME_TABLES ends it. */
int function_table_add_symbols(struct function_table *table, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	GElf_Shdr header;
	int status = 0;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &file) || !elf_is_native(&file))
		return 0;
	while (status == 0 && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			status = add_section(table, elf, section, &header);
	return status;
}

static const char *name_of(const struct function_table *table, const struct function_symbol *symbol)
{
	return table->names[symbol->table].bytes + symbol->name;
}

/* Where a function has several names, users of the library know the one with the fewest underscores. */
static int compare_names(const char *first, const char *second)
{
	size_t underscores = strspn(first, "_"), others = strspn(second, "_");

	if (underscores != others)
		return underscores < others ? -1 : 1;
	return strncmp(first, second, SAME_START_NAME);
}

static int compare_symbols(const void *a, const void *b, void *argument)
{
	const struct function_symbol *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	if (first->rank != second->rank)
		return first->rank < second->rank ? -1 : 1;
	return compare_names(name_of(argument, first), name_of(argument, second));
}

void function_table_finish(struct function_table *table)
{
	struct function_symbol *symbols = table->symbols.data;
	size_t kept = 0;

	if (table->symbols.count == 0)
		return;
	qsort_r(symbols, table->symbols.count, sizeof(*symbols), compare_symbols, table);
	for (size_t i = 1; i < table->symbols.count; i++)
		if (symbols[i].start != symbols[kept].start)
			symbols[++kept] = symbols[i];
	table->symbols.count = kept + 1;
}

/* How many symbols, or starts, are at or below the address. */
static size_t symbols_below(const struct function_table *table, uint64_t address)
{
	return array_bisect(table->symbols.data, table->symbols.count, item->start <= address);
}

static size_t starts_below(const struct function_table *table, uint64_t address)
{
	return array_bisect(table->starts.data, table->starts.count, *item <= address);
}

/* Where the next symbol or start behind the address is, or the end of the segment. */
static uint64_t next_boundary(const struct function_table *table, uint64_t address,
			      const struct address_range *segment)
{
	size_t symbol = symbols_below(table, address);
	size_t start = starts_below(table, address);
	uint64_t end = segment->end;

	if (symbol < table->symbols.count && table->symbols.data[symbol].start < end)
		end = table->symbols.data[symbol].start;
	if (start < table->starts.count && table->starts.data[start] < end)
		end = table->starts.data[start];
	return end;
}

/*
 * A symbol of unknown size reaches to the next boundary.  Without .eh_frame_hdr, and in a file that
 * names only what it exports, functions without a name would count as part of it; such files are
 * rare, and so are exported symbols without a size.
 */
static bool has_address(const struct function_table *table, const struct function_symbol *symbol,
			uint64_t address, struct function *ret)
{
	const struct address_range *segment = segment_of(table, symbol->start);
	uint64_t end = symbol->size ? symbol->start + symbol->size :
				      next_boundary(table, symbol->start, segment);

	if (address >= end)
		return false;
	*ret = (struct function){
		.range = { symbol->start, end },
		.same = { symbol->start, end },
		.name = name_of(table, symbol),
		.is_resolver = symbol->rank & RANK_RESOLVER,
	};
	return true;
}

/*
 * A shorter function may lie within a longer one: then it has its addresses.  A symbol without a
 * size within a function is a label of it.
 */
static bool find_symbol(const struct function_table *table, uint64_t address, struct function *ret)
{
	size_t below = symbols_below(table, address);
	const struct function_symbol *symbols = table->symbols.data;
	uint64_t inner_end = 0;
	bool found = false;

	for (size_t i = 0; i < NESTED_MAX && i < below; i++) {
		const struct function_symbol *symbol = &symbols[below - 1 - i];

		if ((symbol->size || !found) && has_address(table, symbol, address, ret)) {
			found = true;
			if (inner_end > ret->same.start)
				ret->same.start = inner_end;
			if (symbol->size)
				break;
		}
		if (symbol->size && symbol->start + symbol->size > inner_end)
			inner_end = symbol->start + symbol->size;
	}
	if (found && below < table->symbols.count && symbols[below].start < ret->same.end)
		ret->same.end = symbols[below].start;
	return found;
}

bool function_table_find(const struct function_table *table, uint64_t address, struct function *ret)
{
	const struct address_range *segment = segment_of(table, address);
	size_t start;

	if (!segment)
		return false;
	if (find_symbol(table, address, ret))
		return true;
	*ret = (struct function){ .range = { address, address + 1 } };
	start = starts_below(table, address);
	if (start && table->starts.data[start - 1] >= segment->start &&
	    symbols_below(table, table->starts.data[start - 1] - 1) ==
		    symbols_below(table, address))
		ret->range = (struct address_range){ table->starts.data[start - 1],
						     next_boundary(table, address, segment) };
	ret->same = ret->range;
	return true;
}

bool function_table_find_name(const struct function_table *table, const char *name,
			      struct function *ret)
{
	for (size_t i = 0; i < table->symbols.count; i++) {
		const struct function_symbol *symbol = &table->symbols.data[i];

		if (strcmp(name_of(table, symbol), name) == 0)
			return has_address(table, symbol, symbol->start, ret);
	}
	return false;
}
