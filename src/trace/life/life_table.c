/* SPDX-License-Identifier: MIT */
#include "trace/life/life_table.h"

#include <string.h>

static size_t processes_max(const struct life_table *table)
{
	return table->processes_max ? table->processes_max : LIFE_PROCESSES_MAX;
}

static size_t command_bytes_max(const struct life_table *table)
{
	return table->command_bytes_max ? table->command_bytes_max : LIFE_COMMAND_BYTES_MAX;
}

void life_table_forget_command(struct life_table *table, struct life_entry *entry)
{
	struct life_command *command = entry->command;

	entry->command = NULL;
	if (!command || --command->users)
		return;
	table->command_bytes -= sizeof(*command) + command->length + 1;
	free(command);
}

void life_table_remove(struct life_table *table, struct life_entry *entry)
{
	struct life_entry *last = table->list.data[--table->list.count];

	table->list.data[entry->place] = last;
	last->place = entry->place;
	number_map_forget(&table->by_pid, entry->key.pid, entry);
	life_table_forget_command(table, entry);
	free(entry->ended);
	free(entry);
}

void life_table_clear(struct life_table *table)
{
	while (table->list.count)
		life_table_remove(table, table->list.data[table->list.count - 1]);
	array_free(&table->list);
	number_map_clear(&table->by_pid);
}

struct life_entry *life_table_find(const struct life_table *table, int32_t pid, uint64_t start_ns)
{
	struct life_entry *entry = number_map_get(&table->by_pid, pid);

	return entry && (!start_ns || entry->key.start_ns == start_ns) ? entry : NULL;
}

static struct life_entry *add(struct life_table *table, const struct task_key *key)
{
	struct life_entry *entry;

	if (table->list.count >= processes_max(table) || number_map_reserve(&table->by_pid) < 0 ||
	    array_reserve(&table->list, table->list.count + 1) < 0)
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->key = *key;
	entry->place = table->list.count;
	table->list.data[table->list.count++] = entry;
	number_map_put(&table->by_pid, key->pid, entry);
	return entry;
}

struct life_entry *life_table_add(struct life_table *table, const struct task_key *key)
{
	struct life_entry *old = life_table_find(table, key->pid, 0);
	struct life_entry *entry;

	if (old)
		life_table_remove(table, old);
	entry = add(table, key);
	if (!entry)
		table->dropped_processes++;
	return entry;
}

void life_table_set_command(struct life_table *table, struct life_entry *entry, const char *text,
			    size_t length)
{
	size_t bytes = sizeof(struct life_command) + length + 1;
	struct life_command *command = NULL;

	life_table_forget_command(table, entry);
	if (table->command_bytes + bytes <= command_bytes_max(table))
		command = malloc(bytes);
	if (!command) {
		table->dropped_commands++;
		return;
	}
	*command = (struct life_command){ .users = 1, .length = length };
	memcpy(command->text, text, length);
	command->text[length] = '\0';
	table->command_bytes += bytes;
	entry->command = command;
}

void life_table_share_command(struct life_table *table, struct life_entry *entry,
			      const struct life_entry *with)
{
	struct life_command *command = with->command;

	if (command)
		command->users++;
	life_table_forget_command(table, entry);
	entry->command = command;
}

const char *life_entry_command(const struct life_entry *entry)
{
	return entry->command ? entry->command->text : NULL;
}

void life_table_visit(struct life_table *table,
		      void visit(struct life_table *table, struct life_entry *entry, void *context),
		      void *context)
{
	for (size_t i = table->list.count; i-- > 0;)
		visit(table, table->list.data[i], context);
}
