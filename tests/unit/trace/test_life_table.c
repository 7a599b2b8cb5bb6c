/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "trace/life/life_table.h"

static struct life_entry *add(struct life_table *table, int32_t pid, uint64_t start_ns)
{
	const struct task_key key = { pid, pid, start_ns };

	return life_table_add(table, &key);
}

static void an_identity_is_more_than_a_number(void **state)
{
	struct life_table table = { 0 };
	struct life_entry *first = add(&table, 7, 100), *second;

	(void)state;
	assert_ptr_equal(life_table_find(&table, 7, 100), first);
	assert_ptr_equal(life_table_find(&table, 7, 0), first);
	assert_null(life_table_find(&table, 7, 200));
	second = add(&table, 7, 200);
	assert_ptr_equal(life_table_find(&table, 7, 0), second);
	assert_null(life_table_find(&table, 7, 100));
	assert_int_equal(table.list.count, 1);
	life_table_remove(&table, second);
	assert_null(life_table_find(&table, 7, 0));
	life_table_clear(&table);
}

static void it_is_bounded_and_counts_what_does_not_fit(void **state)
{
	struct life_table table = { .processes_max = 2, .command_bytes_max = 64 };
	struct life_entry *entry;
	char long_text[100];

	(void)state;
	add(&table, 1, 1);
	entry = add(&table, 2, 1);
	assert_null(add(&table, 3, 1));
	assert_int_equal(table.dropped_processes, 1);
	life_table_set_command(&table, entry, "short", 5);
	assert_string_equal(life_entry_command(entry), "short");
	memset(long_text, 'x', sizeof(long_text));
	life_table_set_command(&table, entry, long_text, sizeof(long_text));
	assert_null(life_entry_command(entry));
	assert_int_equal(table.dropped_commands, 1);
	assert_int_equal(table.command_bytes, 0);
	/* One that takes the place of another fits. */
	assert_non_null(add(&table, 1, 2));
	life_table_clear(&table);
}

static void children_share_a_command_line(void **state)
{
	struct life_table table = { 0 };
	struct life_entry *parent = add(&table, 1, 1), *child = add(&table, 2, 2);
	size_t bytes;

	(void)state;
	life_table_set_command(&table, parent, "a b", 3);
	bytes = table.command_bytes;
	life_table_share_command(&table, child, parent);
	life_table_share_command(&table, child, child);
	assert_int_equal(table.command_bytes, bytes);
	life_table_remove(&table, parent);
	assert_string_equal(life_entry_command(child), "a b");
	life_table_remove(&table, child);
	assert_int_equal(table.command_bytes, 0);
	life_table_clear(&table);
}

static void remove_odd(struct life_table *table, struct life_entry *entry, void *seen)
{
	(*(int *)seen)++;
	if (entry->key.pid % 2)
		life_table_remove(table, entry);
}

static void a_visitor_may_remove_what_it_visits(void **state)
{
	struct life_table table = { 0 };
	int seen = 0;

	(void)state;
	for (int32_t pid = 1; pid <= 100; pid++)
		add(&table, pid, 1);
	life_table_visit(&table, remove_odd, &seen);
	assert_int_equal(seen, 100);
	assert_int_equal(table.list.count, 50);
	for (int32_t pid = 1; pid <= 100; pid++)
		assert_int_equal(!life_table_find(&table, pid, 1), pid % 2);
	life_table_clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_identity_is_more_than_a_number),
		cmocka_unit_test(it_is_bounded_and_counts_what_does_not_fit),
		cmocka_unit_test(children_share_a_command_line),
		cmocka_unit_test(a_visitor_may_remove_what_it_visits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
