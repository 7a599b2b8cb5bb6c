/* SPDX-License-Identifier: MIT */
#include "host/elf/loaded_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/collection/array.h"
#include "host/elf/target_memory.h"

#define SEGMENTS_MAX 32
#define DYNAMIC_CHUNK 64 /* entries; an ordinary module has half as many */
#define DYNAMIC_SIZE_MAX ((size_t)16 * 1024)
#define NOTES_SIZE 1024 /* bytes of notes that are read */
#define CHAIN_CHUNK 8	/* hashes that are read at once */
#define CHAIN_MAX 256	/* hashes of one bucket that are compared */
#define NAME_SIZE 64	/* longer than every name that is searched for */

/* ---- segments ---- */

/* The header and what is right behind it in every module that a linker made. */
struct front {
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
};

static bool is_sound(const Elf64_Ehdr *header)
{
	return elf_is_native(header) && header->e_phoff == offsetof(struct front, segments) &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= SEGMENTS_MAX;
}

/* Linkers put the build id into the first notes that are not aligned like properties. */
static void note_notes(struct loaded_elf *elf, const Elf64_Phdr *segment)
{
	if (segment->p_type != PT_NOTE || elf->note_size || segment->p_align == 8)
		return;
	elf->note = segment->p_vaddr;
	elf->note_size = segment->p_memsz < NOTES_SIZE ? segment->p_memsz : NOTES_SIZE;
}

static void add_segments(struct loaded_elf *elf, const struct front *front)
{
	bool loads = false;

	for (size_t i = 0; i < front->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &front->segments[i];

		elf_findings_add_segment(&elf->findings, segment, &loads);
		note_notes(elf, segment);
		if (segment->p_type == PT_LOAD && segment->p_vaddr + segment->p_memsz > elf->end)
			elf->end = segment->p_vaddr + segment->p_memsz;
	}
}

int loaded_elf_read(const struct target_memory *memory, uint64_t header, struct loaded_elf *ret)
{
	struct loaded_elf elf = { .start = header };
	struct front front;
	ssize_t got = memory->read(memory->context, header, &front, sizeof(front));

	if (got < 0)
		return (int)got;
	if (got < SELFMAG || memcmp(front.header.e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if ((size_t)got < sizeof(front.header) || !is_sound(&front.header) ||
	    (size_t)got < sizeof(front.header) + front.header.e_phnum * sizeof(Elf64_Phdr))
		return -EBADMSG;
	elf.findings.machine = front.header.e_machine;
	elf.findings.type = front.header.e_type;
	elf.findings.is_native = true;
	elf.findings.entry = front.header.e_entry;
	add_segments(&elf, &front);
	if (elf.findings.load_offset || elf.end <= elf.findings.load_vaddr)
		return -EBADMSG;
	elf.bias = header - elf.findings.load_vaddr;
	elf.end += elf.bias;
	elf.note += elf.bias;
	*ret = elf;
	return elf.end > elf.start ? 0 : -EBADMSG;
}

/* ---- the build id ---- */

static size_t padded(size_t size)
{
	return (size + 3) / 4 * 4;
}

/* Parses the note at the start of the bytes.  Returns its whole size, 0 when it is not a note. */
static size_t take_note(struct elf_findings *findings, const uint8_t *bytes, size_t size)
{
	Elf64_Nhdr note;
	size_t name_size, used;

	if (size < sizeof(note))
		return 0;
	memcpy(&note, bytes, sizeof(note));
	if (note.n_namesz > size || note.n_descsz > size)
		return 0;
	name_size = padded(note.n_namesz);
	used = sizeof(note) + name_size + padded(note.n_descsz);
	if (sizeof(note) + name_size + note.n_descsz > size)
		return 0;
	if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
	    memcmp(bytes + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
	    note.n_descsz <= ELF_BUILD_ID_SIZE && !findings->build_id_size) {
		memcpy(findings->build_id, bytes + sizeof(note) + name_size, note.n_descsz);
		findings->build_id_size = note.n_descsz;
	}
	return used < size ? used : 0;
}

int loaded_elf_read_id(const struct target_memory *memory, struct loaded_elf *elf)
{
	uint8_t bytes[NOTES_SIZE];
	size_t at = 0, used;
	int status;

	if (!elf->note_size)
		return 0;
	status = target_read(memory, elf->note, bytes, elf->note_size);
	if (status < 0)
		return status;
	while ((used = take_note(&elf->findings, bytes + at, elf->note_size - at)))
		at += used;
	return 0;
}

/* ---- the dynamic section ---- */

static void take_entry(const Elf64_Dyn *entry, struct dynamic_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].tag == entry->d_tag)
			values[i].value = entry->d_un.d_ptr;
}

int dynamic_section_read(const struct target_memory *memory, uint64_t address, size_t size,
			 struct dynamic_value *values, size_t count)
{
	Elf64_Dyn entries[DYNAMIC_CHUNK];

	for (size_t done = 0; done < size && done < DYNAMIC_SIZE_MAX; done += sizeof(entries)) {
		size_t part = size - done < sizeof(entries) ? size - done : sizeof(entries);
		ssize_t got = memory->read(memory->context, address + done, entries, part);

		if (got < 0)
			return (int)got;
		for (size_t i = 0; i < (size_t)got / sizeof(entries[0]); i++) {
			if (entries[i].d_tag == DT_NULL)
				return 0;
			take_entry(&entries[i], values, count);
		}
		if ((size_t)got < sizeof(entries))
			return 0;
	}
	return 0;
}

/* ---- symbols ---- */

struct hash_header {
	uint32_t bucket_count;
	uint32_t first_symbol; /* symbols before it are not in any bucket */
	uint32_t filter_words; /* a power of two */
	uint32_t filter_shift;
};

/* Addresses. */
struct symbol_tables {
	struct hash_header header;
	uint64_t hash, filter, buckets, chains;
	uint64_t symbols, names;
};

/* The loader has changed these pointers to addresses, except in the kernel's own module (vdso). */
static uint64_t address_in(const struct loaded_elf *elf, uint64_t pointer)
{
	return pointer < elf->start ? pointer + elf->bias : pointer;
}

static int find_tables(const struct target_memory *memory, const struct loaded_elf *elf,
		       struct symbol_tables *tables)
{
	struct dynamic_value values[] = { { DT_GNU_HASH, 0 }, { DT_SYMTAB, 0 }, { DT_STRTAB, 0 } };
	int status;

	if (!elf->findings.has_dynamic)
		return -ENODATA;
	status = dynamic_section_read(memory, elf->bias + elf->findings.dynamic_vaddr,
				      elf->findings.dynamic_size, values, ARRAY_SIZE(values));
	if (status < 0)
		return status;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (!values[i].value)
			return -ENODATA;
	tables->hash = address_in(elf, values[0].value);
	tables->symbols = address_in(elf, values[1].value);
	tables->names = address_in(elf, values[2].value);
	return 0;
}

static int open_tables(const struct target_memory *memory, const struct loaded_elf *elf,
		       struct symbol_tables *tables)
{
	struct hash_header *header = &tables->header;
	int status = find_tables(memory, elf, tables);

	if (status == 0)
		status = target_read(memory, tables->hash, header, sizeof(*header));
	if (status < 0)
		return status;
	if (!header->bucket_count || !header->filter_words ||
	    (header->filter_words & (header->filter_words - 1)) || header->filter_shift > 31)
		return -EBADMSG;
	tables->filter = tables->hash + sizeof(*header);
	tables->buckets = tables->filter + (uint64_t)header->filter_words * sizeof(uint64_t);
	tables->chains = tables->buckets + (uint64_t)header->bucket_count * sizeof(uint32_t);
	return 0;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Checks the Bloom filter: a name that does not pass it is not in the table. */
static int may_be_there(const struct target_memory *memory, const struct symbol_tables *tables,
			uint32_t hash)
{
	const struct hash_header *header = &tables->header;
	uint64_t word = hash / 64 & (header->filter_words - 1);
	uint64_t wanted = 1ull << hash % 64 | 1ull << (hash >> header->filter_shift) % 64;
	uint64_t bits;
	int status = target_read(memory, tables->filter + word * sizeof(bits), &bits, sizeof(bits));

	return status < 0 ? status : (bits & wanted) == wanted;
}

/*
 * Returns 1 and the value when the symbol of that number has that name; else 0; or a negative
 * errno.
 */
static int take_symbol(const struct target_memory *memory, const struct symbol_tables *tables,
		       uint64_t number, const char *name, uint64_t *ret)
{
	char found[NAME_SIZE];
	size_t size = strlen(name) + 1;
	Elf64_Sym symbol;
	int status = target_read(memory, tables->symbols + number * sizeof(symbol), &symbol,
				 sizeof(symbol));

	if (status < 0)
		return status;
	if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT ||
	    size > sizeof(found))
		return 0;
	status = target_read(memory, tables->names + symbol.st_name, found, size);
	if (status < 0 || memcmp(found, name, size) != 0)
		return status;
	*ret = symbol.st_value;
	return 1;
}

/* The lowest bit of a hash is not part of the name's hash: it marks the last one of a bucket. */
static int search_bucket(const struct target_memory *memory, const struct symbol_tables *tables,
			 uint64_t index, uint32_t hash, const char *name, uint64_t *ret)
{
	uint32_t hashes[CHAIN_CHUNK];

	for (size_t done = 0; done < CHAIN_MAX; done += CHAIN_CHUNK) {
		ssize_t got = memory->read(memory->context,
					   tables->chains + (index + done) * sizeof(hashes[0]),
					   hashes, sizeof(hashes));

		if (got < (ssize_t)sizeof(hashes[0]))
			return got < 0 ? (int)got : -EFAULT;
		for (size_t i = 0; i < (size_t)got / sizeof(hashes[0]); i++) {
			int status = 0;

			if ((hashes[i] | 1) == (hash | 1))
				status = take_symbol(memory, tables,
						     tables->header.first_symbol + index + done + i,
						     name, ret);
			if (status != 0 || hashes[i] & 1)
				return status;
		}
	}
	return -EBADMSG;
}

/* Returns 1 and the value, 0 when there is no symbol of that name, or a negative errno. */
static int find_symbol(const struct target_memory *memory, const struct symbol_tables *tables,
		       const char *name, uint64_t *ret)
{
	uint32_t hash = hash_name(name);
	uint32_t bucket = hash % tables->header.bucket_count;
	uint32_t first;
	int status = may_be_there(memory, tables, hash);

	if (status <= 0)
		return status;
	status = target_read(memory, tables->buckets + (uint64_t)bucket * sizeof(first), &first,
			     sizeof(first));
	if (status < 0 || first < tables->header.first_symbol)
		return status;
	return search_bucket(memory, tables, first - tables->header.first_symbol, hash, name, ret);
}

static int read_symbols(const struct target_memory *memory, struct loaded_elf *elf, int first,
			int end)
{
	struct symbol_tables tables = { 0 };
	int status = open_tables(memory, elf, &tables);

	for (int i = first; i < end && status >= 0; i++)
		status =
			find_symbol(memory, &tables, elf_symbol_name(i), &elf->findings.symbols[i]);
	return status < 0 ? status : 0;
}

int loaded_elf_read_symbol(const struct target_memory *memory, struct loaded_elf *elf,
			   enum elf_symbol symbol)
{
	return read_symbols(memory, elf, symbol, symbol + 1);
}

int loaded_elf_read_symbols(const struct target_memory *memory, struct loaded_elf *elf)
{
	return read_symbols(memory, elf, 0, ELF_SYMBOL_COUNT);
}
