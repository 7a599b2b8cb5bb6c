/* SPDX-License-Identifier: MIT */
/* The functions of programs in every shape, with their lines; and files that mean harm. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/code/service/elf_names.h"
#include "named_programs.h"

/* What one question needs. */
struct question {
	struct program program, debug;
	struct elf_names *names;
	struct elf_answer answer;
};

static int begin(struct question *question, const char *program, const char *debug)
{
	*question = (struct question){ .program = program_open(program) };
	if (debug)
		question->debug = program_open(debug);
	return elf_names_open(question->program.elf, question->program.size, question->debug.elf,
			      question->debug.size, &question->names);
}

static void end(struct question *question)
{
	elf_names_free(question->names);
	elf_answer_free(&question->answer);
	program_close(&question->program);
	if (question->debug.elf)
		program_close(&question->debug);
}

static const char *text(const struct question *question, uint32_t offset)
{
	return question->answer.texts.data + offset;
}

static const char *function(const struct question *question, size_t index)
{
	assert_true(index < question->answer.count);
	return text(question, question->answer.names[index].function);
}

static void assert_function(const char *program, const char *debug, uint64_t address,
			    const char *wanted)
{
	struct question question;

	assert_int_equal(begin(&question, program, debug), 0);
	assert_int_equal(elf_names_find(question.names, address, &question.answer), 0);
	assert_string_equal(function(&question, question.answer.count - 1), wanted);
	assert_true(question.answer.start <= address && address < question.answer.end);
	end(&question);
}

static void every_kind_of_program_names_its_functions(void **state)
{
	static const char *const programs[] = { "pie",	  "fixed", "static",
						"packed", "plain", "library" };
	struct program_mark mark;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		uint64_t address = program_mark(programs[i], MARK_STATIC, &mark);

		assert_function(programs[i], NULL, address, "static_function");
		address = program_symbol(programs[i], "hidden_caller");
		assert_function(programs[i], NULL, address, "hidden_caller");
		assert_function(programs[i], NULL, address + 1, "hidden_caller");
	}
}

static void assert_frame(const struct question *question, size_t index, const char *name, int line)
{
	const struct elf_name *found = &question->answer.names[index];

	assert_string_equal(function(question, index), name);
	assert_int_equal(found->line, line);
	assert_non_null(strstr(text(question, found->source), "names/program.c"));
	assert_int_equal(found->is_inlined, index + 1 < question->answer.count);
}

static void assert_chain(const char *name, const char *debug, const char *unstripped)
{
	struct program_mark mark;
	struct question question;
	uint64_t address = program_mark(unstripped, MARK_CHAIN, &mark);

	assert_int_equal(begin(&question, name, debug), 0);
	assert_int_equal(elf_names_find(question.names, address, &question.answer), 0);
	assert_int_equal(question.answer.count, 3);
	assert_frame(&question, 0, "innermost", mark.lines[0]);
	assert_frame(&question, 1, "in_between", mark.lines[1]);
	assert_frame(&question, 2, "chain_function", mark.lines[2]);
	end(&question);
}

static void inlined_functions_are_named_with_the_lines_of_their_calls(void **state)
{
	(void)state;
	assert_chain("pie", NULL, "pie");
	assert_chain("fixed", NULL, "fixed");
	assert_chain("static", NULL, "static");
	assert_chain("packed", NULL, "packed");
}

static void a_debug_file_names_what_was_stripped(void **state)
{
	struct program_mark mark;

	(void)state;
	assert_chain("stripped", "pie.debug", "pie");
	assert_chain("stripped_fixed", "fixed.debug", "fixed");
	assert_function("stripped", "pie.debug", program_mark("pie", MARK_STATIC, &mark),
			"static_function");
}

static void mini_debug_information_names_what_was_stripped(void **state)
{
	struct program_mark mark;

	(void)state;
	assert_function("mini", NULL, program_mark("plain", MARK_STATIC, &mark), "static_function");
}

static void a_stripped_program_has_its_start_main_and_bounds(void **state)
{
	static const struct {
		const char *stripped, *unstripped;
	} pairs[] = { { "stripped", "pie" }, { "stripped_fixed", "fixed" } };
	struct program_mark mark;
	struct question question;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *name = pairs[i].unstripped;
		uint64_t address = program_mark(name, MARK_STATIC, &mark);

		assert_function(pairs[i].stripped, NULL, program_symbol(name, "main"), "main");
		assert_function(pairs[i].stripped, NULL, program_symbol(name, "_start") + 8,
				"_start");
		assert_int_equal(begin(&question, pairs[i].stripped, NULL), 0);
		assert_int_equal(elf_names_find(question.names, address, &question.answer), 0);
		assert_int_equal(question.answer.names[0].function, 0);
		assert_int_equal(question.answer.function_start,
				 program_symbol(name, "static_function"));
		assert_true(question.answer.end > address);
		end(&question);
	}
}

static void a_stripped_library_names_what_it_exports(void **state)
{
	struct program_mark mark;

	(void)state;
	assert_function("stripped_library", NULL, program_mark("library", MARK_PLAIN, &mark),
			"plain_function");
}

static void names_of_cplusplus_are_demangled(void **state)
{
	(void)state;
	assert_function("cplusplus", NULL,
			program_symbol("cplusplus", "_ZN6shapes6squareIlE4areaEl"),
			"shapes::square<long>::area(long)");
	assert_function("cplusplus", NULL,
			program_symbol("cplusplus", "_ZN6shapes13operator_freeEiPKc"),
			"shapes::operator_free(int, char const*)");
}

static void assert_range(struct question *question, uint64_t address, uint64_t start, uint64_t end_)
{
	assert_int_equal(elf_names_find(question->names, address, &question->answer), 0);
	assert_int_equal(question->answer.start, start);
	assert_int_equal(question->answer.end, end_);
}

/* An answer for the outer function must not be used for the inner one. */
static void a_function_within_another_has_its_own_addresses(void **state)
{
	uint64_t outer = program_symbol("plain", "outer_assembly");
	uint64_t inner = program_symbol("plain", "inner_assembly");
	uint64_t unsized = program_symbol("plain", "unsized_assembly");
	uint64_t inner_end = inner + (inner - outer);
	struct question question;

	(void)state;
	assert_function("plain", NULL, outer + 1, "outer_assembly");
	assert_function("plain", NULL, inner + 1, "inner_assembly");
	assert_function("plain", NULL, inner_end + 1, "outer_assembly");
	assert_function("plain", NULL, unsized + 1, "unsized_assembly");
	assert_int_equal(begin(&question, "plain", NULL), 0);
	assert_range(&question, outer + 1, outer, inner);
	assert_range(&question, inner + 1, inner, inner_end);
	assert_range(&question, inner_end + 1, inner_end, unsized);
	end(&question);
}

static void where_there_is_no_code_there_is_no_name(void **state)
{
	struct question question;

	(void)state;
	assert_int_equal(begin(&question, "pie", NULL), 0);
	assert_int_equal(elf_names_find(question.names, 0, &question.answer), -ENOENT);
	assert_int_equal(
		elf_names_find(question.names, program_symbol("pie", "sink"), &question.answer),
		-ENOENT);
	assert_int_equal(elf_names_find(question.names, UINT64_MAX, &question.answer), -ENOENT);
	end(&question);
}

/* A copy in memory of a program, to be changed. */
static struct program program_copy(const char *name, uint8_t **ret_bytes)
{
	struct program program = program_open(name);
	uint8_t *bytes = malloc(program.size);

	assert_non_null(bytes);
	assert_int_equal(pread(program.fd, bytes, program.size, 0), program.size);
	*ret_bytes = bytes;
	return program;
}

/* Asks about every marked place; what comes out must hold together. */
static void ask_everything(uint8_t *bytes, size_t size, const uint64_t addresses[PROGRAM_MARKS])
{
	struct elf_answer answer = { 0 };
	struct elf_names *names;
	Elf *elf = elf_memory((char *)bytes, size);

	if (elf && elf_names_open(elf, size, NULL, 0, &names) == 0) {
		for (int i = 0; i < PROGRAM_MARKS; i++) {
			if (elf_names_find(names, addresses[i], &answer) < 0)
				continue;
			assert_in_range(answer.count, 1, ELF_NAMES_MAX);
			assert_true(answer.start <= addresses[i] && addresses[i] < answer.end);
			for (uint32_t j = 0; j < answer.count; j++)
				assert_true(answer.names[j].function < answer.texts.length &&
					    answer.names[j].source < answer.texts.length);
		}
		elf_names_free(names);
	}
	elf_answer_free(&answer);
	elf_end(elf);
}

static void find_marks(const char *name, uint64_t addresses[PROGRAM_MARKS])
{
	struct program_mark mark;

	for (int i = 0; i < PROGRAM_MARKS; i++)
		addresses[i] = program_mark(name, (enum program_mark_place)i, &mark);
}

static void a_file_that_was_cut_has_fewer_names(void **state)
{
	uint64_t addresses[PROGRAM_MARKS];
	uint8_t *bytes;
	struct program program = program_copy("pie", &bytes);

	(void)state;
	find_marks("pie", addresses);
	for (size_t size = 0; size < program.size; size += 97) {
		uint8_t *cut =
			malloc(size + 1); /* of its own size, so that a look beyond it is seen */

		assert_non_null(cut);
		memcpy(cut, bytes, size);
		ask_everything(cut, size, addresses);
		free(cut);
	}
	free(bytes);
	program_close(&program);
}

/* Names an address of a changed copy. */
static void name_copy(uint8_t *bytes, size_t size, uint64_t address, struct elf_answer *answer)
{
	struct elf_names *names;
	Elf *elf = elf_memory((char *)bytes, size);

	assert_int_equal(elf_names_open(elf, size, NULL, 0, &names), 0);
	assert_int_equal(elf_names_find(names, address, answer), 0);
	elf_names_free(names);
	elf_end(elf);
}

static void a_symbol_that_is_larger_than_its_file_ends_with_it(void **state)
{
	uint64_t address = program_symbol("plain", "hidden_caller");
	struct elf_answer answer = { 0 };
	uint8_t *bytes;
	struct program program = program_copy("plain", &bytes);
	Elf64_Sym *symbols;
	GElf_Shdr header;

	(void)state;
	program_section(&program, ".symtab", &header);
	symbols = (Elf64_Sym *)(bytes + header.sh_offset);
	for (size_t i = 0; i < header.sh_size / sizeof(*symbols); i++)
		if (symbols[i].st_value == address)
			symbols[i].st_size = UINT64_MAX - 1;
	name_copy(bytes, program.size, address, &answer);
	assert_string_equal(answer.texts.data + answer.names[0].function, "hidden_caller");
	assert_true(answer.end > address && answer.end < program.size + address);
	elf_answer_free(&answer);
	free(bytes);
	program_close(&program);
}

/* The innermost function that was inlined at the marked place. */
static bool find_inlined(Dwarf *dwarf, Dwarf_Die *ret)
{
	struct program_mark mark;
	uint64_t address = program_mark("fixed", MARK_CHAIN, &mark);
	Dwarf_Die unit, *scopes;
	int count;

	if (!dwarf_addrdie(dwarf, address, &unit))
		return false;
	count = dwarf_getscopes(&unit, address, &scopes);
	for (int i = 0; i < count; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
			*ret = scopes[i];
			free(scopes);
			return true;
		}
	return false;
}

static void debug_information_that_refers_to_itself_has_an_end(void **state)
{
	struct elf_answer answer = { 0 };
	struct program_mark mark;
	uint64_t address = program_mark("fixed", MARK_CHAIN, &mark);
	uint8_t *bytes;
	struct program program = program_copy("fixed", &bytes);
	Dwarf *dwarf = dwarf_begin_elf(program.elf, DWARF_C_READ, NULL);
	Dwarf_Attribute origin;
	GElf_Shdr header;
	Elf_Data *data;
	Dwarf_Die die;
	uint32_t itself;

	(void)state;
	assert_true(find_inlined(dwarf, &die));
	assert_non_null(dwarf_attr(&die, DW_AT_abstract_origin, &origin));
	assert_int_equal(dwarf_whatform(&origin), DW_FORM_ref4);
	data = elf_rawdata(program_section(&program, ".debug_info", &header), NULL);
	itself = (uint32_t)dwarf_cuoffset(&die);
	memcpy(bytes + header.sh_offset + (origin.valp - (uint8_t *)data->d_buf), &itself,
	       sizeof(itself));
	name_copy(bytes, program.size, address, &answer);
	assert_int_equal(answer.count, 2); /* without the innermost, which has no name */
	assert_string_equal(answer.texts.data + answer.names[0].function, "in_between");
	assert_string_equal(answer.texts.data + answer.names[1].function, "chain_function");
	elf_answer_free(&answer);
	dwarf_end(dwarf);
	free(bytes);
	program_close(&program);
}

/* Symbols only: broken DWARF may crash the library, so test_code_name.c gives it to the service. */
static void flipped_symbols_stay_within_the_file(void **state)
{
	uint64_t addresses[PROGRAM_MARKS];
	uint8_t *bytes;
	struct program program = program_copy("plain", &bytes);
	GElf_Shdr header;

	(void)state;
	find_marks("plain", addresses);
	program_section(&program, ".symtab", &header);
	for (size_t i = 0; i < header.sh_size; i++) {
		bytes[header.sh_offset + i] ^= 0xff;
		if (i % 7 == 0)
			ask_everything(bytes, program.size, addresses);
	}
	free(bytes);
	program_close(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_program_names_its_functions),
		cmocka_unit_test(inlined_functions_are_named_with_the_lines_of_their_calls),
		cmocka_unit_test(a_debug_file_names_what_was_stripped),
		cmocka_unit_test(mini_debug_information_names_what_was_stripped),
		cmocka_unit_test(a_stripped_program_has_its_start_main_and_bounds),
		cmocka_unit_test(a_stripped_library_names_what_it_exports),
		cmocka_unit_test(names_of_cplusplus_are_demangled),
		cmocka_unit_test(a_function_within_another_has_its_own_addresses),
		cmocka_unit_test(where_there_is_no_code_there_is_no_name),
		cmocka_unit_test(a_file_that_was_cut_has_fewer_names),
		cmocka_unit_test(a_symbol_that_is_larger_than_its_file_ends_with_it),
		cmocka_unit_test(debug_information_that_refers_to_itself_has_an_end),
		cmocka_unit_test(flipped_symbols_stay_within_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
