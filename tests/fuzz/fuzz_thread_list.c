/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "fuzz_target.h"
#include "host/elf/elf_inspect.h"
#include "host/elf/thread_list.h"

/* Where the symbols are: descriptors one after the other, then the variables. */
#define DESCRIPTORS 16
#define DESCRIPTOR_SIZE 12
#define LINK_MAP (DESCRIPTORS + ELF_SYMBOL_COUNT * DESCRIPTOR_SIZE)
#define THREADS_MAX 200
#define READS_MAX 4000

static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };

static void read_module(const struct target_memory *memory, const struct thread_layout *layout,
			const struct thread_list *list)
{
	struct tls_module module;
	uint64_t block;

	if (tls_module_read(memory, layout, LINK_MAP, &module) < 0)
		return;
	fuzz_require(module.id != 0);
	for (size_t i = 0; i < list->threads.count; i++)
		tls_block_read(memory, layout, &module, list->threads.data[i].pointer, &block);
}

static void read_threads(const struct target_memory *memory, const struct elf_findings *library,
			 const struct elf_findings *loader)
{
	struct thread_symbols symbols[2] = { { library, 0 }, { loader, 0 } };
	struct thread_list list = { 0 };
	struct thread_layout layout;

	if (thread_layout_read(memory, &symbols[0], &symbols[1], &layout) < 0)
		return;
	if (thread_list_read(memory, &layout, THREADS_MAX, &list) == 0) {
		fuzz_require(list.threads.count <= THREADS_MAX);
		for (size_t i = 0; i < list.threads.count; i++)
			fuzz_require(list.threads.data[i].tid > 0);
	}
	read_module(memory, &layout, &list);
	thread_list_clear(&list);
}

/* As a dynamic program, whose lists are in the loader's variable, and as a static one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; size && i < 4; i++) {
		struct fuzz_target target = { .data = data, .size = size, .limit = READS_MAX };
		struct target_memory memory = fuzz_target_memory(&target);
		struct elf_findings library = { .machine = machines[i % 2] };
		struct elf_findings loader = { .machine = machines[i % 2] };

		for (size_t symbol = 0; symbol < ELF_SYMBOL_COUNT; symbol++)
			library.symbols[symbol] = DESCRIPTORS + symbol * DESCRIPTOR_SIZE;
		if (i / 2 == 0)
			loader.symbols[ELF_SYMBOL__rtld_global] = LINK_MAP + 64;
		read_threads(&memory, &library, &loader);
	}
	return 0;
}
