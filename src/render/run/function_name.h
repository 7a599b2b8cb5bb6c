/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ functions for a narrow column: "void std::sort<int*, less>(int*, int*, less)" is
 * "std::sort".  What tells functions apart is rarely at the ends of a long signature, which is all
 * that a name keeps when it is cut in the middle.
 */
#ifndef RENDER_FUNCTION_NAME_H
#define RENDER_FUNCTION_NAME_H

struct text;

/*
 * Appends a demangled name without its result, its parameters and the arguments of templates.
 * What is not a whole signature is appended as it is.  Unprintable bytes are escaped.
 */
void function_name_append(struct text *out, const char *name);

#endif
