/* SPDX-License-Identifier: MIT */
/*
 * Tables that tell BPF programs about system calls: a byte for each number, of native calls first.
 */
#ifndef TRACE_CALL_RULES_H
#define TRACE_CALL_RULES_H

#include <stdint.h>

#include "bpf/tree/tree.h"
#include "model/syscall/syscall.h"

void call_table_fill(uint8_t table[2 * TREE_CALL_NUMBERS],
		     uint8_t byte_of(enum syscall_abi abi, uint32_t number));
/* Fills `rules` of bpf/call.bpf.h: what a thread that is in the call waits for, with flags. */
void call_rules_fill(uint8_t table[2 * TREE_CALL_NUMBERS]);

#endif
