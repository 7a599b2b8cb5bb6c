/* SPDX-License-Identifier: MIT */
/*
 * Which recording is meant where none is named: that of the caller's own recorder, which may write
 * to another file than the usual one; the usual one where no recorder answers.
 */
#ifndef RECORD_CURRENT_STORE_H
#define RECORD_CURRENT_STORE_H

#include <limits.h>

/* As record_store_path() does. */
int record_current_store(char ret[PATH_MAX]);

#endif
