/* SPDX-License-Identifier: MIT */
/*
 * This room names the code at an address: functions of ELF files (symbol tables, separate debug files, mini
 * debug information), of the vDSO, of JIT compilers (perf-PID.map) and of the kernel.  C++ and Rust
 * names are demangled.  With debug information an address also has a line, and the functions
 * inlined there.
 *
 * Code of a JIT compiler can be named for the first time only while its process lives.  The debug
 * file of a program in a container is found only then, too.
 *
 * Texts belong to `code` and stay valid until code_close().
 */
#ifndef HOST_CODE_NAME_H
#define HOST_CODE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_space;
struct code;
struct code_frame;

#define CODE_INLINES_MAX 16

struct code_name {
	const char *function; /* NULL: not known */
	/* Path of the file, as its process saw it; "[vdso]", "[jit]", "[kernel]", "[ext4]"; NULL */
	const char *module;
	const char *build_id; /* hexadecimal digits, or NULL */
	const char *source;   /* NULL: not known */
	uint32_t line;
	bool is_inlined; /* into the next name */
	/*
	 * Where the function begins, as addresses of its file; 0: not known.  Also of a function
	 * without a name, so that its addresses can be shown as one function.  Not of inlined ones.
	 */
	uint64_t start;
};

/*
 * Names a frame: the innermost inlined function first, the function itself last.  Returns how many
 * names there are, at least one.  The outermost frame of a program is "_start" and that of a thread
 * "clone3", also where the file does not name them.
 */
size_t code_name(struct code *code, struct address_space *space, const struct code_frame *frame,
		 struct code_name names[CODE_INLINES_MAX]);

/*
 * Names an address of the kernel: the function is NULL where kallsyms hides it.  The module is
 * "[kernel]", or a module of the kernel.
 */
void code_kernel_name(struct code *code, uint64_t address, struct code_name *ret);
/* Why the kernel's functions have no names: a sentence; NULL while they have, or nobody asked. */
const char *code_kernel_reason(const struct code *code);

#endif
