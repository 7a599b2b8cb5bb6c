/* SPDX-License-Identifier: MIT */
/* Prints the stacks and mappings of a tracer, a line of key=value pairs for each. */
#ifndef TESTS_INTEGRATION_STACK_PRINT_H
#define TESTS_INTEGRATION_STACK_PRINT_H

struct tracer;

int stacks_print(
	const struct tracer *tracer); /* those since the last call; 0 or a negative errno */
void stack_losses_print(const struct tracer *tracer);

#endif
