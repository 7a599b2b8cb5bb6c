/* SPDX-License-Identifier: MIT */
#include "host/elf/elf_inspect.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "host/elf/debug_file.h"

static const char *const symbol_names[ELF_SYMBOL_COUNT] = {
#define ELF_SYMBOL(id) #id,
#include "host/elf/elf_symbols.def"
};

#define TSD_SIZE_MIN 512 /* a thread's state in jemalloc 5 alone is larger than this */
#define SCAN_BYTES_MAX ((uint64_t)64 << 20)
#define NAME_LENGTH_MAX 255 /* of a symbol that we search for, with any prefix */

/* A symbol table that lies within the file, with the names beside it. */
struct symbol_table {
	bool is_dynamic;
	Elf_Data *symbols;
	const char *names;
	size_t names_size;
	size_t count;
};

const char *elf_symbol_name(enum elf_symbol symbol)
{
	return (unsigned)symbol < ELF_SYMBOL_COUNT ? symbol_names[symbol] : "";
}

Elf *elf_open(int fd, uint64_t *ret_size)
{
	struct stat file;

	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	*ret_size = (uint64_t)file.st_size;
	return elf_begin(fd, ELF_C_READ, NULL);
}

void elf_end_pointer(Elf **elf)
{
	elf_end(*elf);
}

static bool ends_with(const char *name, size_t length, const char *suffix)
{
	size_t wanted = strlen(suffix);

	return length >= wanted && memcmp(name + length - wanted, suffix, wanted) == 0;
}

/*
 * 0 for a name that is too long: a hostile file may give all symbols one huge name, which would
 * take for ever to measure.
 */
static size_t name_length(const char *name)
{
	size_t length = strnlen(name, NAME_LENGTH_MAX + 1);

	return length <= NAME_LENGTH_MAX ? length : 0;
}

/* The name of jemalloc's variable: "tsd_tls" behind no prefix, or behind one that ends with '_'. */
static bool is_tsd_name(const char *name, size_t length)
{
	return strcmp(name, "tsd_tls") == 0 ||
	       (length > strlen("_tsd_tls") && ends_with(name, length, "_tsd_tls"));
}

static void note_tsd(struct elf_findings *findings, const GElf_Sym *symbol)
{
	if (findings->has_tsd || symbol->st_value >= findings->tls.memsz)
		return;
	findings->has_tsd = true;
	findings->tsd_value = symbol->st_value;
}

/* The plain name is preferred to one with a prefix, which may be someone's wrapper. */
static void note_function(struct elf_findings *findings, const struct symbol_table *table,
			  const char *name, const GElf_Sym *symbol)
{
	size_t length = name_length(name);

	if (!table->is_dynamic && strcmp(name, "main") == 0)
		findings->main = symbol->st_value;
	if (!ends_with(name, length, "mallctl"))
		return;
	if (table->is_dynamic)
		findings->exports_mallctl = true;
	if (findings->mallctl && length > strlen("mallctl"))
		return;
	findings->mallctl = symbol->st_value;
	snprintf(findings->mallctl_name, sizeof(findings->mallctl_name), "%s",
		 length < sizeof(findings->mallctl_name) ? name : "");
}

static void note_object(struct elf_findings *findings, const struct symbol_table *table,
			const char *name, const GElf_Sym *symbol)
{
	if (name[0] != '_')
		return;
	for (int i = 0; i < ELF_SYMBOL_COUNT; i++)
		if (strcmp(name, symbol_names[i]) == 0 &&
		    (table->is_dynamic || !findings->symbols[i]))
			findings->symbols[i] = symbol->st_value;
}

static void note_symbol(struct elf_findings *findings, const struct symbol_table *table,
			const GElf_Sym *symbol)
{
	const char *name;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= table->names_size)
		return;
	name = table->names + symbol->st_name;
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_TLS:
		if (is_tsd_name(name, name_length(name)))
			note_tsd(findings, symbol);
		break;
	case STT_FUNC:
		note_function(findings, table, name, symbol);
		break;
	case STT_OBJECT:
		note_object(findings, table, name, symbol);
		break;
	}
}

static void search_table(struct elf_findings *findings, const struct symbol_table *table)
{
	GElf_Sym symbol;

	for (size_t i = 0; i < table->count; i++)
		if (gelf_getsym(table->symbols, (int)i, &symbol))
			note_symbol(findings, table, &symbol);
}

/* Most tables have none of the names: one search through their text saves a walk. */
static bool may_have_names(const struct symbol_table *table)
{
	static const char *const parts[] = { "mallctl",	     "tsd_tls",	     "_thread_db_",
					     "_rtld_global", "_dl_stack_us", "_r_debug" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (memmem(table->names, table->names_size, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* A table is used only if its names end within their section. */
static bool find_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		       struct symbol_table *ret)
{
	Elf_Data *names = NULL;
	GElf_Shdr names_header;
	Elf_Scn *strings = elf_getscn(elf, header->sh_link);

	*ret = (struct symbol_table){ .is_dynamic = header->sh_type == SHT_DYNSYM };
	if (!strings || !gelf_getshdr(strings, &names_header) ||
	    names_header.sh_type != SHT_STRTAB || header->sh_size == 0)
		return false;
	ret->count = header->sh_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	if (ret->count > ELF_SYMBOLS_MAX)
		return false;
	names = elf_getdata(strings, NULL);
	if (!names || !names->d_buf || !names->d_size)
		return false;
	ret->names = names->d_buf;
	ret->names_size = names->d_size;
	if (ret->names[ret->names_size - 1] != '\0' || !may_have_names(ret))
		return false;
	ret->symbols = elf_getdata(section, NULL);
	return ret->symbols && ret->symbols->d_buf;
}

/* A file normally has one table of a type; if it has more, only the first is used. */
static void search_symbols(Elf *elf, uint32_t type, struct elf_findings *findings)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	struct symbol_table table;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		findings->has_symtab |= type == SHT_SYMTAB;
		if (find_table(elf, section, &header, &table))
			search_table(findings, &table);
		return;
	}
}

/* The messages that jemalloc prints start with its name. */
static bool has_message(Elf_Scn *section)
{
	static const char word[] = "<jemalloc>";
	Elf_Data *data = elf_rawdata(section, NULL);

	return data && data->d_buf && memmem(data->d_buf, data->d_size, word, strlen(word));
}

/*
 * Searches constants, where text is kept: sections in memory that are neither writable nor
 * executable.
 */
static bool scan_constants(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t scanned = 0;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    (header.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) != SHF_ALLOC ||
		    header.sh_size > SCAN_BYTES_MAX - scanned)
			continue;
		scanned += header.sh_size;
		if (has_message(section))
			return true;
	}
	return false;
}

void elf_findings_add_segment(struct elf_findings *findings, const Elf64_Phdr *segment, bool *loads)
{
	switch (segment->p_type) {
	case PT_LOAD:
		if (!*loads || segment->p_vaddr < findings->load_vaddr) {
			findings->load_vaddr = segment->p_vaddr;
			findings->load_offset = segment->p_offset;
		}
		*loads = true;
		break;
	case PT_TLS:
		findings->tls = (struct elf_tls){
			.present = true,
			.vaddr = segment->p_vaddr,
			.memsz = segment->p_memsz,
			.align = segment->p_align,
		};
		break;
	case PT_DYNAMIC:
		findings->has_dynamic = true;
		findings->dynamic_vaddr = segment->p_vaddr;
		findings->dynamic_size = segment->p_memsz;
		break;
	case PT_INTERP:
		findings->has_interpreter = true;
		break;
	}
}

static int read_segments(Elf *elf, struct elf_findings *findings)
{
	bool loads = false;
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(elf, &count) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < count && i <= PN_XNUM; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return -EBADMSG;
		elf_findings_add_segment(findings, &segment, &loads);
	}
	return 0;
}

static bool has_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, header.sh_name);
		if (found && strcmp(found, name) == 0)
			return header.sh_size > 0;
	}
	return false;
}

static void read_debug_links(Elf *elf, struct elf_findings *findings)
{
	const void *build_id = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &build_id);
	GElf_Word crc = 0;
	const char *link = dwelf_elf_gnu_debuglink(elf, &crc);

	if (size > 0 && size <= ELF_BUILD_ID_SIZE) {
		memcpy(findings->build_id, build_id, (size_t)size);
		findings->build_id_size = (uint32_t)size;
	}
	if (link && debug_file_name_is_plain(link)) {
		snprintf(findings->debuglink, sizeof(findings->debuglink), "%s", link);
		findings->debuglink_crc = crc;
	}
	findings->has_dwarf = has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
}

static int inspect(Elf *elf, struct elf_findings *findings)
{
	GElf_Ehdr header;
	int status;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -EBADMSG;
	findings->machine = header.e_machine;
	findings->type = header.e_type;
	findings->is_native = elf_is_native(&header);
	findings->entry = header.e_entry;
	status = read_segments(elf, findings);
	if (status < 0)
		return status;
	search_symbols(elf, SHT_SYMTAB, findings);
	search_symbols(elf, SHT_DYNSYM, findings);
	if (!findings->has_tsd && !findings->mallctl && findings->tls.memsz >= TSD_SIZE_MIN)
		findings->mentions_jemalloc = scan_constants(elf);
	read_debug_links(elf, findings);
	return 0;
}

int elf_inspect(int fd, struct elf_findings *ret)
{
	uint64_t size;
	CLEANUP(elf_end_pointer) Elf *elf = elf_open(fd, &size);
	struct elf_findings findings;
	int status;

	/* Also clears the padding, since the whole struct is written to the pipe. */
	memset(&findings, 0, sizeof(findings));
	status = elf ? inspect(elf, &findings) : -EBADMSG;
	if (status == 0)
		memcpy(ret, &findings, sizeof(findings));
	return status;
}
