/* SPDX-License-Identifier: MIT */
/*
 * Checks that the line of a file is what it should be.  A recorded tree may have been cut or
 * altered, and a nonsensical fact is worse than none.  Each function may also cut off the part of
 * the line that is not kept.
 */
#ifndef COLLECT_FACT_CHECK_H
#define COLLECT_FACT_CHECK_H

#include <stdbool.h>

bool fact_check_uuid(char *line);
bool fact_check_cpus(char *line);    /* a list of at least one CPU */
bool fact_check_loadavg(char *line); /* three numbers; what follows is cut off */
bool fact_check_smt(char *line);

#endif
