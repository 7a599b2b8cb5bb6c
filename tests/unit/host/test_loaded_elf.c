/* SPDX-License-Identifier: MIT */
/* Modules in memory: they say what their files say, and those that lie are caught. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fake_memory.h"
#include "host/elf/loaded_elf.h"

/* ---- this very program ---- */

static void assert_same(const struct elf_findings *loaded, const struct elf_findings *file)
{
	assert_int_equal(loaded->machine, file->machine);
	assert_int_equal(loaded->type, file->type);
	assert_true(loaded->is_native);
	assert_int_equal(loaded->has_interpreter, file->has_interpreter);
	assert_int_equal(loaded->entry, file->entry);
	assert_int_equal(loaded->load_vaddr, file->load_vaddr);
	assert_int_equal(loaded->dynamic_vaddr, file->dynamic_vaddr);
	assert_int_equal(loaded->tls.present, file->tls.present);
	assert_int_equal(loaded->tls.memsz, file->tls.memsz);
	assert_int_equal(loaded->tls.align, file->tls.align);
	assert_int_equal(loaded->build_id_size, file->build_id_size);
	assert_memory_equal(loaded->build_id, file->build_id, sizeof(file->build_id));
}

/* Of the module with a name like that. */
struct wanted {
	const char *name;
	uint64_t base;
	char path[4096];
};

static int find_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct wanted *wanted = context;

	(void)size;
	if (!strstr(info->dlpi_name, wanted->name))
		return 0;
	wanted->base = info->dlpi_addr;
	snprintf(wanted->path, sizeof(wanted->path), "%s", info->dlpi_name);
	return 1;
}

static void inspect(const char *path, struct elf_findings *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_inspect(fd, ret), 0);
	close(fd);
}

static void check_module(uint64_t header, const char *path, bool has_symbols)
{
	pid_t self = getpid();
	struct target_memory memory = target_memory_of(&self);
	struct elf_findings file;
	struct loaded_elf elf;

	inspect(path, &file);
	assert_int_equal(loaded_elf_read(&memory, header, &elf), 0);
	assert_int_equal(loaded_elf_read_id(&memory, &elf), 0);
	assert_int_equal(elf.start, header);
	assert_true(elf.end > header);
	assert_same(&elf.findings, &file);
	if (!has_symbols)
		return;
	assert_int_equal(loaded_elf_read_symbols(&memory, &elf), 0);
	assert_memory_equal(elf.findings.symbols, file.symbols, sizeof(file.symbols));
}

static void a_module_in_memory_says_what_its_file_says(void **state)
{
	struct wanted library = { .name = "libc.so" }, loader = { .name = "ld-linux" };

	(void)state;
	assert_int_equal(dl_iterate_phdr(find_module, &library), 1);
	assert_int_equal(dl_iterate_phdr(find_module, &loader), 1);
	check_module(library.base, library.path, true);
	check_module(loader.base, loader.path, false);
	check_module(getauxval(AT_PHDR) - sizeof(Elf64_Ehdr), "/proc/self/exe", false);
}

static void the_loader_and_the_library_are_told_by_their_symbols(void **state)
{
	struct wanted library = { .name = "libc.so" }, loader = { .name = "ld-linux" };
	pid_t self = getpid();
	struct target_memory memory = target_memory_of(&self);
	struct loaded_elf elf;

	(void)state;
	dl_iterate_phdr(find_module, &library);
	dl_iterate_phdr(find_module, &loader);
	assert_int_equal(loaded_elf_read(&memory, loader.base, &elf), 0);
	assert_int_equal(loaded_elf_read_symbols(&memory, &elf), 0);
	assert_true(elf.findings.symbols[ELF_SYMBOL__rtld_global]);
	assert_false(elf.findings.symbols[ELF_SYMBOL__thread_db_pthread_tid]);
	assert_int_equal(loaded_elf_read(&memory, library.base, &elf), 0);
	assert_int_equal(loaded_elf_read_symbols(&memory, &elf), 0);
	assert_true(elf.findings.symbols[ELF_SYMBOL__thread_db_pthread_tid]);
}

/* ---- modules that a test plays ---- */

#define SEGMENTS (FAKE_BASE + sizeof(Elf64_Ehdr))
#define NOTES 0x800
#define DYNAMIC 0x1000
#define HASH 0x2000
#define SYMBOLS 0x3000
#define NAMES 0x4000
#define NAME "_r_debug"
#define VALUE 0x1234
#define FIRST_SYMBOL 1

struct hash_table {
	uint32_t buckets, first, words, shift;
	uint64_t filter;
	uint32_t bucket;
	uint32_t chain[3]; /* the last is behind the end */
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static struct hash_table make_table(void)
{
	return (struct hash_table){
		1, FIRST_SYMBOL, 1, 6, UINT64_MAX, FIRST_SYMBOL, { 0, hash_of(NAME) | 1 }
	};
}

static void put_segment(struct fake_memory *fake, size_t i, Elf64_Phdr segment)
{
	fake_put(fake, SEGMENTS + i * sizeof(segment), &segment, sizeof(segment));
}

static Elf64_Ehdr make_header(void)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_type = ET_DYN,
		.e_machine = ELF_OUR_MACHINE,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 4,
	};

	return header;
}

/* A second symbol of two, of an address that the loader has not touched. */
static void put_symbols(struct fake_memory *fake)
{
	const Elf64_Dyn dynamic[] = {
		{ .d_tag = DT_GNU_HASH, .d_un.d_ptr = HASH },
		{ .d_tag = DT_SYMTAB, .d_un.d_ptr = FAKE_BASE + SYMBOLS },
		{ .d_tag = DT_STRTAB, .d_un.d_ptr = FAKE_BASE + NAMES },
		{ .d_tag = DT_NULL },
	};
	const Elf64_Sym symbol = { .st_name = 3,
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				   .st_shndx = 1,
				   .st_value = VALUE };
	struct hash_table table = make_table();

	fake_put(fake, FAKE_BASE + DYNAMIC, dynamic, sizeof(dynamic));
	fake_put(fake, FAKE_BASE + HASH, &table, sizeof(table));
	fake_put(fake, FAKE_BASE + SYMBOLS + (FIRST_SYMBOL + 1) * sizeof(symbol), &symbol,
		 sizeof(symbol));
	fake_put(fake, FAKE_BASE + NAMES + 3, NAME, sizeof(NAME));
}

static struct target_memory make_module(struct fake_memory *fake)
{
	Elf64_Ehdr header = make_header();

	memset(fake, 0, sizeof(*fake));
	fake_put(fake, FAKE_BASE, &header, sizeof(header));
	put_segment(fake, 0, (Elf64_Phdr){ .p_type = PT_LOAD, .p_memsz = 0x8000 });
	put_segment(fake, 1, (Elf64_Phdr){ .p_type = PT_TLS, .p_memsz = 640, .p_align = 16 });
	put_segment(fake, 2,
		    (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC, .p_memsz = 0x100 });
	put_segment(
		fake, 3,
		(Elf64_Phdr){ .p_type = PT_NOTE, .p_vaddr = NOTES, .p_memsz = 64, .p_align = 4 });
	put_symbols(fake);
	return fake_target(fake);
}

static void put_note(struct fake_memory *fake, uint64_t at, uint32_t name_size, uint32_t size)
{
	const uint32_t note[] = { name_size, size, NT_GNU_BUILD_ID };

	fake_put(fake, FAKE_BASE + at, note, sizeof(note));
	fake_put(fake, FAKE_BASE + at + sizeof(note), "GNU\0ABCDEFGHIJKLMNOPQRST", 24);
}

static struct fake_memory fake;

static void segments_symbols_and_id_are_found(void **state)
{
	struct target_memory memory = make_module(&fake);
	struct loaded_elf elf;

	(void)state;
	put_note(&fake, NOTES, 4, 20);
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), 0);
	assert_int_equal(elf.bias, FAKE_BASE);
	assert_int_equal(elf.end, FAKE_BASE + 0x8000);
	assert_int_equal(elf.findings.tls.memsz, 640);
	assert_int_equal(loaded_elf_read_symbol(&memory, &elf, ELF_SYMBOL__rtld_global), 0);
	assert_int_equal(elf.findings.symbols[ELF_SYMBOL__r_debug], 0);
	assert_int_equal(loaded_elf_read_symbol(&memory, &elf, ELF_SYMBOL__r_debug), 0);
	assert_int_equal(elf.findings.symbols[ELF_SYMBOL__r_debug], VALUE);
	elf.findings.symbols[ELF_SYMBOL__r_debug] = 0;
	assert_int_equal(loaded_elf_read_symbols(&memory, &elf), 0);
	assert_int_equal(elf.findings.symbols[ELF_SYMBOL__r_debug], VALUE);
	assert_int_equal(elf.findings.symbols[ELF_SYMBOL__rtld_global], 0);
	assert_int_equal(loaded_elf_read_id(&memory, &elf), 0);
	assert_int_equal(elf.findings.build_id_size, 20);
	assert_memory_equal(elf.findings.build_id, "ABCDEFGHIJKLMNOPQRST", 20);
}

static int read_with(Elf64_Ehdr header)
{
	struct target_memory memory = make_module(&fake);
	struct loaded_elf elf;

	fake_put(&fake, FAKE_BASE, &header, sizeof(header));
	return loaded_elf_read(&memory, FAKE_BASE, &elf);
}

static void what_is_no_module_of_ours_is_refused(void **state)
{
	Elf64_Ehdr header = make_header();

	(void)state;
	assert_int_equal(read_with(header), 0);
	header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(read_with(header), -EBADMSG);
	header = make_header();
	header.e_machine = EM_386;
	assert_int_equal(read_with(header), -EBADMSG);
	header = make_header();
	header.e_phoff = 4096;
	assert_int_equal(read_with(header), -EBADMSG);
	header = make_header();
	header.e_phnum = UINT16_MAX;
	assert_int_equal(read_with(header), -EBADMSG);
	header = make_header();
	header.e_ident[0] = 0;
	assert_int_equal(read_with(header), -ENOEXEC);
}

static void segments_without_an_extent_are_refused(void **state)
{
	struct target_memory memory = make_module(&fake);
	struct loaded_elf elf;

	(void)state;
	put_segment(&fake, 0, (Elf64_Phdr){ .p_type = PT_LOAD, .p_memsz = UINT64_MAX });
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), -EBADMSG);
	put_segment(&fake, 0, (Elf64_Phdr){ .p_type = PT_LOAD, .p_memsz = 1, .p_offset = 4096 });
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), -EBADMSG);
	put_segment(&fake, 0, (Elf64_Phdr){ .p_type = PT_NULL });
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), -EBADMSG);
}

static uint32_t id_size_with(uint32_t name_size, uint32_t size)
{
	struct target_memory memory = make_module(&fake);
	struct loaded_elf elf;

	put_note(&fake, NOTES, name_size, size);
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), 0);
	assert_int_equal(loaded_elf_read_id(&memory, &elf), 0);
	return elf.findings.build_id_size;
}

static void a_note_beyond_its_segment_is_no_id(void **state)
{
	(void)state;
	assert_int_equal(id_size_with(4, 48), 48);
	assert_int_equal(id_size_with(4, 49), 0);
	assert_int_equal(id_size_with(4, UINT32_MAX), 0);
	assert_int_equal(id_size_with(UINT32_MAX, 20), 0);
	assert_int_equal(id_size_with(UINT32_MAX - 3, UINT32_MAX - 3), 0);
}

static int symbols_with(struct hash_table table)
{
	struct target_memory memory = make_module(&fake);
	struct loaded_elf elf;
	int status;

	fake_put(&fake, FAKE_BASE + HASH, &table, sizeof(table));
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), 0);
	fake.reads = 0;
	status = loaded_elf_read_symbols(&memory, &elf);
	assert_true(fake.reads < 3000);
	return status;
}

static void a_hash_table_that_lies_is_refused(void **state)
{
	struct hash_table table = make_table();

	(void)state;
	assert_int_equal(symbols_with(table), 0);
	table.buckets = 0;
	assert_int_equal(symbols_with(table), -EBADMSG);
	table = make_table();
	table.words = 0;
	assert_int_equal(symbols_with(table), -EBADMSG);
	table.words = 3;
	assert_int_equal(symbols_with(table), -EBADMSG);
	table = make_table();
	table.shift = 64;
	assert_int_equal(symbols_with(table), -EBADMSG);
	table = make_table();
	table.words = 1u << 31;
	assert_int_equal(symbols_with(table), -EFAULT);
	table = make_table();
	table.bucket = UINT32_MAX;
	assert_int_equal(symbols_with(table), -EFAULT);
	table = make_table();
	table.chain[1] = 0; /* nor is what is behind it odd */
	assert_int_equal(symbols_with(table), -EBADMSG);
}

static void a_module_without_a_table_has_no_symbols(void **state)
{
	struct target_memory memory = make_module(&fake);
	struct loaded_elf elf;

	(void)state;
	fake_word(&fake, FAKE_BASE + DYNAMIC, DT_NULL);
	assert_int_equal(loaded_elf_read(&memory, FAKE_BASE, &elf), 0);
	assert_int_equal(loaded_elf_read_symbols(&memory, &elf), -ENODATA);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_in_memory_says_what_its_file_says),
		cmocka_unit_test(the_loader_and_the_library_are_told_by_their_symbols),
		cmocka_unit_test(segments_symbols_and_id_are_found),
		cmocka_unit_test(what_is_no_module_of_ours_is_refused),
		cmocka_unit_test(segments_without_an_extent_are_refused),
		cmocka_unit_test(a_note_beyond_its_segment_is_no_id),
		cmocka_unit_test(a_hash_table_that_lies_is_refused),
		cmocka_unit_test(a_module_without_a_table_has_no_symbols),
	};

	return cmocka_run_group_tests_name("loaded_elf", tests, NULL, NULL);
}
