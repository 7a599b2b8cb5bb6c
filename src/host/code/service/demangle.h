/* SPDX-License-Identifier: MIT */
/*
 * Turns the names that compilers of C++ and Rust give to functions into those that people wrote.
 *
 * The name may be hostile: a short one can describe an endless text.  So only a bounded part of
 * that text is ever made.  Only in a confined child.
 */
#ifndef HOST_CODE_DEMANGLE_H
#define HOST_CODE_DEMANGLE_H

#include <stddef.h>

#define DEMANGLED_MAX 1024 /* bytes, with the NUL; the rest of a longer text is cut */

/*
 * Writes the text for `name`, or the name itself where it is not mangled; either is cut to
 * DEMANGLED_MAX.  A Rust name loses the hash at its end.  Returns the length.
 */
size_t demangle(const char *name, char ret[DEMANGLED_MAX]);

#endif
