/* SPDX-License-Identifier: MIT */
/* Writes a run whoever wrote it for other programs. */
#ifndef FUZZ_EXPORT_H
#define FUZZ_EXPORT_H

#include <stdlib.h>

#include "base/error.h"
#include "export/exporter.h"
#include "model/tree/run.h"

static inline void fuzz_export(const struct run *run, FILE *out)
{
	static const char *const names[] = { "it.folded", "it.pb.gz" };
	struct error error = { 0 };

	for (size_t i = 0; run->profile && i < sizeof(names) / sizeof(*names); i++)
		if (exporter_find(names[i])->write(run, out, &error) < 0)
			abort();
}

#endif
