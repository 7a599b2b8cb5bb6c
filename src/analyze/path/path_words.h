/* SPDX-License-Identifier: MIT */
/* What a part of a critical path is called.  The texts are as their owners wrote them: not escaped. */
#ifndef ANALYZE_PATH_WORDS_H
#define ANALYZE_PATH_WORDS_H

#include "base/text.h"
#include "model/path/critical_path.h"

/* "solver", or "heavy of solver": a thread is named where it has a name of its own. */
void path_part_name(const struct path_part *part, struct text *out);

/*
 * The same with its command line, on one line: "sort -k3 big", without the folder of the program;
 * "heavy of solver x3 (run --all)", where the command is that of the one with the longest part.
 */
void path_part_command(const struct path_part *part, struct text *out);

#endif
