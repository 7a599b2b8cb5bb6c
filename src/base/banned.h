/* SPDX-License-Identifier: MIT */
/*
 * Bans functions that lose a length or an error, are not thread-safe, or run a shell.  Every C
 * file of the project is compiled with this header in front of it, so using one is a compile
 * error.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* With clang and fortification, glibc makes macros of these; a macro cannot be poisoned. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat sprintf vsprintf strtok strncat atoi atol atoll gets
#pragma GCC poison localtime gmtime asctime ctime system popen tmpnam mktemp

#endif
