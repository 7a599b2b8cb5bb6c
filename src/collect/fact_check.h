/* SPDX-License-Identifier: MIT */
/*
 * Whether the line of a file is what it should be: a recorded tree may have been cut
 * or altered, and a fact that is nonsense is worse than none.  Each may cut off what
 * is not kept of the line.
 */
#ifndef COLLECT_FACT_CHECK_H
#define COLLECT_FACT_CHECK_H

#include <stdbool.h>

bool fact_check_uuid(char *line);
bool fact_check_cpus(char *line);    /* a list that names some */
bool fact_check_loadavg(char *line); /* three numbers; what follows is cut off */
bool fact_check_smt(char *line);

#endif
