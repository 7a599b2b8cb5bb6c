/* SPDX-License-Identifier: MIT */
#include "trace/calls/call_rules.h"

#include <assert.h>
#include <string.h>

static_assert((int)WAIT_RULE_BY_FD == TREE_RULE_BY_FD && (int)WAIT_RULE_FUTEX == TREE_RULE_FUTEX &&
		      (int)WAIT_RULE_FCNTL == TREE_RULE_FCNTL &&
		      (int)WAIT_RULE_RESTART == TREE_RULE_RESTART &&
		      (int)WAIT_RULE_POLL == TREE_RULE_POLL &&
		      (int)WAIT_RULE_OPEN == TREE_RULE_OPEN,
	      "rules have the same numbers");

static const struct {
	const char *name;
	uint8_t flag;
} call_flags[] = {
	{ "exit", TREE_RULE_ENDLESS },
	{ "exit_group", TREE_RULE_ENDLESS },
	{ "rt_sigreturn", TREE_RULE_NO_RESULT },
	{ "sigreturn", TREE_RULE_NO_RESULT },
};

static uint8_t call_rule(enum syscall_abi abi, uint32_t number)
{
	char buffer[SYSCALL_NAME_SIZE];
	const char *name = syscall_name(abi, number, buffer);
	uint8_t rule = (uint8_t)(syscall_wait_rule(abi, number) & TREE_RULE_MASK);

	for (size_t i = 0; i < sizeof(call_flags) / sizeof(call_flags[0]); i++)
		if (strcmp(name, call_flags[i].name) == 0)
			rule |= call_flags[i].flag;
	return rule;
}

void call_table_fill(uint8_t table[2 * TREE_CALL_NUMBERS],
		     uint8_t byte_of(enum syscall_abi abi, uint32_t number))
{
	for (uint32_t number = 0; number < TREE_CALL_NUMBERS; number++) {
		table[number] = byte_of(SYSCALL_NATIVE, number);
		table[TREE_CALL_NUMBERS + number] = byte_of(SYSCALL_COMPAT, number);
	}
}

void call_rules_fill(uint8_t table[2 * TREE_CALL_NUMBERS])
{
	call_table_fill(table, call_rule);
}
