/* SPDX-License-Identifier: MIT */
/*
 * Reads what an ELF file says about jemalloc and about thread-local storage.
 *
 * The file may be hostile, and every size in it is checked against the size of the file.  Callers
 * run this in a confined child (host/confine/confine.h), since the ELF library was not made for
 * hostile files.
 */
#ifndef HOST_ELF_INSPECT_H
#define HOST_ELF_INSPECT_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define ELF_BUILD_ID_SIZE 64	/* bytes; a longer one is ignored */
#define ELF_SYMBOLS_MAX 4000000 /* of one table; a table with more is not searched */

#if defined(__x86_64__)
#define ELF_OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_OUR_MACHINE EM_AARCH64
#else
#define ELF_OUR_MACHINE EM_NONE
#endif

/* Whether class, byte order and machine are ours. */
static inline bool elf_is_native(const Elf64_Ehdr *header)
{
	return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == ELF_OUR_MACHINE;
}

/* PT_TLS: the image of a module's thread-local block. */
struct elf_tls {
	bool present;
	uint64_t vaddr, memsz, align;
};

/* Symbols that the file may define: elf_symbols.def. */
enum elf_symbol {
#define ELF_SYMBOL(id) ELF_SYMBOL_##id,
#include "host/elf/elf_symbols.def"
	ELF_SYMBOL_COUNT
};

/* Has no pointers, since it is sent through a pipe. */
struct elf_findings {
	uint16_t machine, type;
	bool is_native; /* class, byte order and machine are ours; else addresses are useless */
	bool has_interpreter;
	bool has_dynamic;

	uint64_t entry;
	uint64_t load_offset, load_vaddr; /* of the PT_LOAD with the lowest address */
	uint64_t dynamic_vaddr, dynamic_size;
	struct elf_tls tls;

	uint8_t build_id[ELF_BUILD_ID_SIZE];
	uint32_t build_id_size; /* 0: none */
	char debuglink[256];	/* a plain file name; "": none */
	uint32_t debuglink_crc;
	bool has_dwarf; /* a .debug_info section with bytes in it */
	bool has_symtab;

	/* jemalloc: its thread-local variable, and its control function */
	bool has_tsd;
	uint64_t tsd_value;	/* from the start of the module's TLS block */
	bool exports_mallctl;	/* in .dynsym */
	char mallctl_name[64];	/* "" when it is longer */
	bool mentions_jemalloc; /* only the text of its messages is there: it was stripped */
	uint64_t main, mallctl; /* from .symtab (mallctl also from .dynsym); 0: none */

	/* The symbols' values from .dynsym, else from .symtab; 0: not defined here. */
	uint64_t symbols[ELF_SYMBOL_COUNT];
};

typedef struct Elf Elf;

/*
 * Starts to read an ELF file with plain reads, never by mapping it: a file that shrinks must not
 * kill the reader.  NULL when it is not a plain file.  End it with elf_end().
 */
Elf *elf_open(int fd, uint64_t *ret_size);
void elf_end_pointer(Elf **elf);

/*
 * Reads the file of an fd that is open for reading; its offset is ignored and changes.  Returns 0,
 * -EBADMSG for a file that is not a valid ELF file, or -ENOMEM.  A file for another machine is not
 * an error.
 */
int elf_inspect(int fd, struct elf_findings *ret);

/* Notes what a program header says; set *loads to false before the first. */
void elf_findings_add_segment(struct elf_findings *findings, const Elf64_Phdr *segment,
			      bool *loads);

/* The name of a symbol. */
const char *elf_symbol_name(enum elf_symbol symbol);

#endif
