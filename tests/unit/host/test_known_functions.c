/* SPDX-License-Identifier: MIT */
/* Functions of the C library that nearly every stack has, as this very process runs them. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/code/service/function_table.h"
#include "host/code/service/known_functions.h"
#include "named_programs.h"
#include "sanitized.h"

/* The C library's table, with the names that were found. */
struct library {
	struct link_map *map;
	struct program program;
	struct function_table table;
	struct text names;
};

static uintptr_t caller_of_main;

static int open_library(void **state)
{
	static struct library library;
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	assert_non_null(handle);
	assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &library.map), 0);
	library.program = program_of(open(library.map->l_name, O_RDONLY | O_CLOEXEC));
	assert_int_equal(function_table_begin(&library.table, library.program.elf), 0);
	assert_int_equal(function_table_add_symbols(&library.table, library.program.elf), 0);
	function_table_finish(&library.table);
	assert_int_equal(known_functions_add(&library.table, library.program.elf, &library.names),
			 0);
	*state = &library;
	return 0;
}

static int close_library(void **state)
{
	struct library *library = *state;

	function_table_clear(&library->table);
	text_free(&library->names);
	program_close(&library->program);
	return 0;
}

static const char *name_at(const struct library *library, uintptr_t address)
{
	struct function function;

	assert_true(
		function_table_find(&library->table, address - library->map->l_addr, &function));
	return function.name ? function.name : "";
}

static void what_calls_main_is_named(void **state)
{
	assert_string_equal(name_at(*state, caller_of_main), "__libc_start_call_main");
}

static void what_a_resolver_chooses_has_its_name(void **state)
{
	static const char *const names[] = { "strlen", "strcmp", "strcat" };
	struct library *library = *state;
	void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	for (size_t i = 0; i < 3; i++) {
		const char *found = name_at(library, (uintptr_t)dlsym(handle, names[i]));

		assert_non_null(strstr(found, names[i]));
	}
}

#ifndef ADDRESS_SPACE_IS_RESERVED /* a sanitizer calls the thread's function itself */
static void *note_caller(void *argument)
{
	*(uintptr_t *)argument = (uintptr_t)__builtin_return_address(0);
	return NULL;
}

static void what_calls_the_function_of_a_thread_is_named(void **state)
{
	uintptr_t caller = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, note_caller, &caller), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(name_at(*state, caller), "start_thread");
}
#endif

static size_t count_named(const struct function_table *table, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < table->symbols.count; i++) {
		const struct function_symbol *symbol = &table->symbols.data[i];

		count += strcmp(table->names[symbol->table].bytes + symbol->name, name) == 0;
	}
	return count;
}

/* Neighbours, and others that make the same calls, are something else. */
static void each_name_is_given_to_one_function(void **state)
{
	const struct library *library = *state;

	assert_int_equal(count_named(&library->table, "__libc_start_call_main"), 1);
	assert_int_equal(count_named(&library->table, "start_thread"), 1);
	assert_in_range(count_named(&library->table, "clone3"), 1, 2); /* it may have two parts */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_calls_main_is_named),
		cmocka_unit_test(what_a_resolver_chooses_has_its_name),
#ifndef ADDRESS_SPACE_IS_RESERVED
		cmocka_unit_test(what_calls_the_function_of_a_thread_is_named),
#endif
		cmocka_unit_test(each_name_is_given_to_one_function),
	};

	caller_of_main = (uintptr_t)__builtin_return_address(0);
	return cmocka_run_group_tests(tests, open_library, close_library);
}
