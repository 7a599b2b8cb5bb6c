/* SPDX-License-Identifier: MIT */
/*
 * GPUs of a recorder: their figures come with each sample; why there are none is said and kept here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "record/recorder_state.h"
#include "store/history/history.h"

static const char *find_absence(struct snapshot *snapshot)
{
	const struct source_report *source = snapshot_source(snapshot, "gpu");

	if (!source)
		return "not enough memory";
	if (source->state == SOURCE_OK || source->state == SOURCE_PARTIAL)
		return "";
	return source->reason ? source->reason : "there is none";
}

/* A driver may answer later, or no longer: the store has what is so now, a person is told the first. */
void recorder_note_gpu(struct recorder *recorder)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	struct error ignored = { 0 };
	const char *absent;

	if (!recorder->options->gpu)
		return;
	absent = find_absence(recorder->last.snapshot);
	if (recorder->gpu_lacks && strcmp(recorder->gpu_lacks, absent) == 0)
		return;
	if (!recorder->gpu_lacks && absent[0]) {
		text_format(&sentence, "no figures of GPUs (%s)", absent);
		recorder->options->note(text_string(&sentence));
	}
	free(recorder->gpu_lacks);
	recorder->gpu_lacks = strdup(absent);
	(void)history_set_meta(recorder->history, "gpu", absent, &ignored);
}
