/* SPDX-License-Identifier: MIT */
/*
 * A random number of this process, for hashes: nobody can write a file whose keys all meet in one
 * slot of a table.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdint.h>

uint64_t process_secret(void);

#endif
