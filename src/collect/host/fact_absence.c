/* SPDX-License-Identifier: MIT */
#include "collect/host/fact_absence.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"

_Static_assert(FACT_COUNT <= 64, "each fact has a bit");

static const char *const tree_names[] = {
	[TREE_PROC] = "proc",
	[TREE_SYS] = "sys",
	[TREE_ETC] = "etc",
};

/* A missing fact counts as lost only if the host should have it (is_lost). */
static void set_absent(struct capture *capture, enum fact_id id, const char *reason, bool is_lost)
{
	if (is_lost)
		capture->lost_facts |= 1ull << id;
	(void)sheet_set_absent(&capture->snapshot->sheets[SHEET_HOST], facts[id].name, reason);
}

void fact_set_absent(struct capture *capture, enum fact_id id, const char *reason)
{
	set_absent(capture, id, reason,
		   !capture->host->live || proc_has_only_processes(capture->host));
}

static void append_reason(const struct fact_place *place, int status, struct text *out)
{
	if (status == -EBADMSG)
		text_append_string(out, "its file makes no sense");
	else if (status == -ENODATA)
		text_append_string(out, "its file is empty");
	else if (status == -ENOKEY)
		text_format(out, "%s/%s does not have it", tree_names[place->tree], place->path);
	else if (status == -ENOENT)
		text_format(out, "there is no %s/%s here", tree_names[place->tree], place->path);
	else
		text_format(out, "%s/%s: %s", tree_names[place->tree], place->path,
			    strerror(-status));
}

void fact_set_unread(struct capture *capture, enum fact_id id, const struct fact_place *place,
		     int status)
{
	const struct host *host = capture->host;
	bool is_hidden = place->tree == TREE_PROC && proc_has_only_processes(host);
	CLEANUP(text_free) struct text reason = { 0 };

	append_reason(place, status, &reason);
	if (status == -ENOENT && (is_hidden || !host->live))
		set_absent(capture, id, missing_reason(host, ""), true);
	else if (!reason.failed)
		set_absent(capture, id, text_string(&reason),
			   status != -ENOENT && status != -ENODATA && status != -ENOKEY);
}

int facts_note_lost(struct capture *capture)
{
	struct source_tally *tally = &capture->tallies[SOURCE_HOST_CONTEXT];
	CLEANUP(text_free) struct text reason = { 0 };
	const char *before = "could not be learned: ";

	if (!capture->lost_facts || !source_wanted(capture, SOURCE_HOST_CONTEXT))
		return 0;
	if (tally->reason)
		text_format(&reason, "%s; ", tally->reason);
	for (int id = 0; id < FACT_COUNT; id++) {
		if (!(capture->lost_facts >> id & 1))
			continue;
		text_format(&reason, "%s%s", before, facts[id].name);
		before = ", ";
	}
	tally->is_partial = true;
	tally->reason = arena_copy(&capture->snapshot->arena, text_string(&reason), reason.length);
	return reason.failed || !tally->reason ? -ENOMEM : 0;
}
