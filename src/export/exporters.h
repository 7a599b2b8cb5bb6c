/* SPDX-License-Identifier: MIT */
/* All exporters, and what they call stacks that are not there.  Private to src/export. */
#ifndef EXPORT_EXPORTERS_H
#define EXPORT_EXPORTERS_H

#include "export/exporter.h"

extern const struct exporter exporter_folded, exporter_html, exporter_pprof;

/*
 * The only frame of a sample without a stack, and the outermost of one whose outermost frames are
 * missing.
 */
#define EXPORT_NOT_CAPTURED "[not captured]"
#define EXPORT_TRUNCATED "[truncated]"
/* The name of a process or thread that is not known. */
#define EXPORT_UNKNOWN "[unknown]"

#endif
