/* SPDX-License-Identifier: MIT */
/* What an ELF file says about jemalloc and TLS; files that are broken or not ours. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/elf/elf_inspect.h"
#include "objects.h"
#include "patience.h"

static struct elf_findings inspect(const char *name)
{
	struct elf_findings findings;
	int fd = object_open(name);

	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	return findings;
}

static void an_executable_tells_its_tsd_main_and_mallctl(void **state)
{
	struct elf_findings findings = inspect("plain");

	(void)state;
	assert_true(findings.is_native);
	assert_true(findings.has_interpreter);
	assert_true(findings.has_dynamic);
	assert_true(findings.has_symtab);
	assert_false(findings.has_dwarf);
	assert_true(findings.has_tsd);
	assert_int_equal(findings.tsd_value, 8);
	assert_true(findings.main != 0);
	assert_true(findings.mallctl != 0);
	assert_string_equal(findings.mallctl_name, "mallctl");
	assert_false(findings.exports_mallctl);
	assert_true(findings.entry != 0);
	assert_true(findings.dynamic_vaddr != 0);
	assert_int_equal(findings.build_id_size, 20);
}

static void the_tls_segment_is_told_with_its_address_and_alignment(void **state)
{
	struct elf_findings findings = inspect("plain");

	(void)state;
	assert_true(findings.tls.present);
	assert_true(findings.tls.memsz >= 8 + 168);
	assert_true(findings.tls.vaddr != 0);
	assert_int_equal(findings.tls.align, 8);
}

static void a_static_executable_has_no_loader_and_all_symbols(void **state)
{
	struct elf_findings findings = inspect("static");

	(void)state;
	assert_false(findings.has_interpreter);
	assert_true(findings.has_tsd);
	assert_true(findings.main != 0);
	assert_true(findings.symbols[ELF_SYMBOL__dl_stack_used] != 0);
	assert_true(findings.tls.memsz > 176);
}

static void a_stripped_executable_hides_everything_but_its_tls(void **state)
{
	struct elf_findings findings = inspect("stripped");

	(void)state;
	assert_false(findings.has_symtab);
	assert_false(findings.has_tsd);
	assert_false(findings.exports_mallctl);
	assert_int_equal(findings.main, 0);
	assert_true(findings.tls.present);
	assert_int_equal(findings.build_id_size, 20);
}

static void a_stripped_library_still_exports_mallctl_and_its_tsd(void **state)
{
	struct elf_findings findings = inspect("stripped_library");

	(void)state;
	assert_int_equal(findings.type, ET_DYN);
	assert_true(findings.exports_mallctl);
	assert_string_equal(findings.mallctl_name, "mallctl");
	assert_true(findings.has_tsd); /* not hidden in the sample */
	assert_int_equal(findings.main, 0);
}

static void debug_links_and_dwarf_are_noticed(void **state)
{
	struct elf_findings linked = inspect("linked");
	struct elf_findings inline_dwarf = inspect("dwarf5");
	struct elf_findings compressed = inspect("compressed");

	(void)state;
	assert_string_equal(linked.debuglink, "linked.debug");
	assert_true(linked.debuglink_crc != 0);
	assert_false(linked.has_dwarf);
	assert_true(inline_dwarf.has_dwarf);
	assert_string_equal(inline_dwarf.debuglink, "");
	assert_true(compressed.has_dwarf);
}

static void a_file_of_another_machine_is_told_as_such(void **state)
{
	struct elf_findings findings;
	int fd = object_copy("plain");
	uint16_t machine = EM_S390;

	(void)state;
	object_patch(fd, offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	assert_false(findings.is_native);
	assert_int_equal(findings.machine, EM_S390);
	assert_true(findings.has_tsd);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct elf_findings findings = { .entry = 77 };
	int fd = object_copy("made"); /* empty */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_inspect(fd, &findings), -EBADMSG);
	object_patch(fd, 0, "#!/bin/sh\nexit 1\n", 17);
	assert_int_equal(elf_inspect(fd, &findings), -EBADMSG);
	assert_int_equal(elf_inspect(null, &findings), -EBADMSG);
	assert_int_equal(findings.entry, 77);
	close(null);
	close(fd);
}

/* Every length that a file may be cut to gives an answer, whatever it is. */
static void a_file_that_was_cut_never_crashes(void **state)
{
	struct elf_findings findings;
	int fd = object_copy("linked");
	struct stat file;

	(void)state;
	assert_int_equal(fstat(fd, &file), 0);
	for (off_t size = file.st_size; size >= 0; size -= 61) {
		int status;

		assert_int_equal(ftruncate(fd, size), 0);
		status = elf_inspect(fd, &findings);
		assert_true(status == 0 || status == -EBADMSG);
	}
	close(fd);
}

static void a_symbol_beyond_the_tls_block_is_not_taken(void **state)
{
	struct elf_findings findings;
	int fd = object_copy("plain");
	Elf64_Ehdr header;

	(void)state;
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)header.e_phoff + i * (off_t)sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		assert_int_equal(pread(fd, &segment, sizeof(segment), at), sizeof(segment));
		if (segment.p_type != PT_TLS)
			continue;
		segment.p_memsz = 8;
		object_patch(fd, at, &segment, sizeof(segment));
	}
	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	assert_int_equal(findings.tls.memsz, 8);
	assert_false(findings.has_tsd);
}

/* What was stripped of its symbols still has the texts that jemalloc prints. */
/* A file whose symbols are all functions of one long name, in as many tables as are asked for. */
static int make_tedious_file(size_t symbols, size_t name_size, uint16_t tables)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(tables + 2),
	};
	size_t names_at = sizeof(header) + header.e_shnum * sizeof(Elf64_Shdr);
	Elf64_Shdr section = { .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = name_size };
	const Elf64_Sym symbol = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1 };
	char *file = calloc(1, names_at + name_size + symbols * sizeof(symbol));
	int fd = memfd_create("tedious", MFD_CLOEXEC);

	assert_non_null(file);
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header) + sizeof(section), &section, sizeof(section));
	memset(file + names_at, 'x', name_size - 1);
	memcpy(file + names_at + name_size - 8, "mallctl", 8);
	section = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				.sh_offset = names_at + name_size,
				.sh_size = symbols * sizeof(symbol),
				.sh_link = 1,
				.sh_entsize = sizeof(symbol),
				.sh_addralign = 8 };
	for (size_t i = 0; i < tables; i++)
		memcpy(file + sizeof(header) + (i + 2) * sizeof(section), &section,
		       sizeof(section));
	for (size_t i = 0; i < symbols; i++)
		memcpy(file + names_at + name_size + i * sizeof(symbol), &symbol, sizeof(symbol));
	assert_int_equal(write(fd, file, names_at + name_size + symbols * sizeof(symbol)),
			 names_at + name_size + symbols * sizeof(symbol));
	free(file);
	return fd;
}

static void a_tedious_file_does_not_hold_up_others(void **state)
{
	struct elf_findings findings;
	int fd = make_tedious_file(200000, 8 << 20, 1);

	(void)state;
	alarm(HANG_SECONDS);
	assert_int_equal(elf_inspect(fd, &findings), 0);
	assert_true(findings.has_symtab);
	assert_int_equal(findings.mallctl, 0);
	close(fd);
	fd = make_tedious_file(1000, 1 << 20, 60000);
	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	alarm(0);
}

static void a_stripped_jemalloc_is_known_by_its_messages(void **state)
{
	(void)state;
	assert_true(inspect("stripped_large").mentions_jemalloc);
	assert_false(inspect("stripped").mentions_jemalloc);
	assert_false(inspect("plain").mentions_jemalloc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_executable_tells_its_tsd_main_and_mallctl),
		cmocka_unit_test(the_tls_segment_is_told_with_its_address_and_alignment),
		cmocka_unit_test(a_static_executable_has_no_loader_and_all_symbols),
		cmocka_unit_test(a_stripped_executable_hides_everything_but_its_tls),
		cmocka_unit_test(a_stripped_library_still_exports_mallctl_and_its_tsd),
		cmocka_unit_test(debug_links_and_dwarf_are_noticed),
		cmocka_unit_test(a_file_of_another_machine_is_told_as_such),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(a_file_that_was_cut_never_crashes),
		cmocka_unit_test(a_symbol_beyond_the_tls_block_is_not_taken),
		cmocka_unit_test(a_tedious_file_does_not_hold_up_others),
		cmocka_unit_test(a_stripped_jemalloc_is_known_by_its_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
