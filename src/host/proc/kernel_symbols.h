/* SPDX-License-Identifier: MIT */
/*
 * The functions of the running kernel and its modules, from proc's kallsyms.
 *
 * The file has hundreds of thousands of lines and takes a tenth of a second to make, so it is read
 * once, when the first address is to be named.  Names are kept one after the other in one text.
 */
#ifndef HOST_PROC_KERNEL_SYMBOLS_H
#define HOST_PROC_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/text.h"

struct error;
struct host;

struct kernel_symbol {
	uint64_t address;
	uint32_t name;	 /* where it starts in `names` */
	uint32_t module; /* the same for "[ext4]"; 0: the kernel itself */
};

/* All zeros is empty and valid. */
struct kernel_symbols {
	ARRAY_OF(struct kernel_symbol) list;
	struct text names; /* begins with a NUL */
	uint32_t module;   /* of the line before */
	uint64_t hidden;   /* functions whose address the kernel does not tell us */
};

void kernel_symbols_clear(struct kernel_symbols *symbols);

/*
 * Reads the file.  0, or a negative errno with a sentence: -EPERM when the kernel hides addresses,
 * -ENODATA when the file has no functions.
 */
int kernel_symbols_read(struct kernel_symbols *symbols, const struct host *host,
			struct error *error);

/* The parts of that: adds the functions of all whole lines, and returns how many bytes these are... */
size_t kernel_symbols_parse(struct kernel_symbols *symbols, const char *text, size_t length);
/* ...and makes them ready to be found. */
int kernel_symbols_finish(struct kernel_symbols *symbols, struct error *error);

/* The function that has this address; NULL when there is none. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address);
/* The module that the function at this address belongs to, "[ext4]"; NULL when there is none. */
const char *kernel_symbols_module(const struct kernel_symbols *symbols, uint64_t address);

#endif
