/* SPDX-License-Identifier: MIT */
/* Any file as a program with symbols and debug information: whatever it names, the answer holds together. */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_text.h"
#include "host/code/service/elf_names.h"

/* The first and last addresses of each segment, its middle, and the entry. */
#define SEGMENTS 8

static void ask(struct elf_names *names, uint64_t address, struct elf_answer *answer)
{
	if (elf_names_find(names, address, answer) < 0)
		return;
	fuzz_require(answer->count >= 1 && answer->count <= ELF_NAMES_MAX);
	fuzz_require(answer->start <= address && address < answer->end);
	fuzz_require(answer->texts.data[0] == '\0');
	for (uint32_t i = 0; i < answer->count; i++) {
		fuzz_require(answer->names[i].function < answer->texts.length);
		fuzz_require(answer->names[i].source < answer->texts.length);
		fuzz_require(answer->names[i].is_inlined == (i + 1 < answer->count));
	}
}

static void ask_all(struct elf_names *names, Elf *elf)
{
	struct elf_answer answer = { 0 };
	GElf_Phdr header;
	GElf_Ehdr file;

	if (gelf_getehdr(elf, &file))
		ask(names, file.e_entry, &answer);
	for (int i = 0; i < SEGMENTS && gelf_getphdr(elf, i, &header); i++) {
		ask(names, header.p_vaddr, &answer);
		ask(names, header.p_vaddr + header.p_memsz - 1, &answer);
		for (uint64_t offset = 0; offset < 0x400; offset += 7)
			ask(names, header.p_vaddr + offset, &answer);
	}
	elf_answer_free(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_text(data, size);
	struct elf_names *names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(bytes, size);
	if (elf && elf_names_open(elf, size, NULL, 0, &names) == 0) {
		ask_all(names, elf);
		elf_names_free(names);
	}
	elf_end(elf);
	free(bytes);
	return 0;
}
