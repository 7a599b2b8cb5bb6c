/* SPDX-License-Identifier: MIT */
/* Replaces the rest of this room in a build with -Djemalloc=disabled, and reports that. */
#include <stddef.h>

#include "collect/collector.h"
#include "collect/jemalloc/jemalloc.h"

int jemalloc_open(struct jemalloc_source **ret)
{
	*ret = NULL;
	return 0;
}

int jemalloc_sample(struct jemalloc_source *source, struct capture *capture)
{
	(void)source;
	source_set_missing(&capture->tallies[SOURCE_JEMALLOC], NO_JEMALLOC);
	return 0;
}

void jemalloc_close(struct jemalloc_source *source)
{
	(void)source;
}
