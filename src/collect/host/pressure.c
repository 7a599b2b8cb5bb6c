/* SPDX-License-Identifier: MIT */
#include "collect/host/pressure.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "collect/collector.h"
#include "collect/kernel_parse.h"

/* Larger than any file of two lines. */
#define FILE_SIZE 1024

struct resource {
	const char *path;
	const char *prefix;
	int first;	     /* the first key that its file has */
	const char *missing; /* why a kernel with pressure accounting may not have it */
	const char *off;
	bool is_optional;    /* it is normal that it is off */
	const char *no_full; /* why its "full" line has no meaning, or NULL */
};

static const struct resource resources[] = {
	{ "cpu", "pressure cpu", 0, "this kernel does not report it", PRESSURE_OFF, false,
	  PRESSURE_NO_CPU_FULL },
	{ "memory", "pressure memory", 0, "this kernel does not report it", PRESSURE_OFF, false,
	  NULL },
	{ "io", "pressure io", 0, "this kernel does not report it", PRESSURE_OFF, false, NULL },
	{ "irq", "pressure irq", PRESSURE_FULL,
	  "this kernel does not report it, which takes CONFIG_IRQ_TIME_ACCOUNTING at least",
	  "this kernel does not account the time of interrupts", true, NULL },
};

static void name_column(const struct resource *resource, const char *key, char ret[SHEET_NAME_SIZE])
{
	snprintf(ret, SHEET_NAME_SIZE, "%s %s", resource->prefix, key);
}

/* Sets the reason of all columns from key `first` on. */
static int set_absent(struct capture *capture, const struct resource *resource, int first,
		      const char *reason)
{
	struct sheet *sheet = &capture->snapshot->sheets[SHEET_HOST];
	char name[SHEET_NAME_SIZE];
	int status = 0;

	for (int key = first; status == 0 && key < PRESSURE_KEYS; key++) {
		name_column(resource, pressure_keys[key], name);
		status = sheet_set_absent(sheet, name, reason);
	}
	return status;
}

static const char *refusal(const struct host *host, const struct resource *resource, int status)
{
	if (status == -EOPNOTSUPP)
		return resource->off;
	if (status == -EBADMSG)
		return "the file does not say it in a form that is known";
	if (status != -ENOENT)
		return strerror(-status);
	return host->live ? resource->missing : NOT_RECORDED;
}

static int note_refused(struct capture *capture, const struct resource *resource, int status)
{
	struct source_tally *tally = &capture->tallies[SOURCE_PRESSURE];

	if (status != -EOPNOTSUPP || !resource->is_optional)
		source_count(tally, status);
	if (status == -EOPNOTSUPP && !resource->is_optional)
		tally->reason = resource->off;
	return set_absent(capture, resource, resource->first,
			  refusal(capture->host, resource, status));
}

/* The sink of a resource's file. */
struct resource_sink {
	struct kernel_sink sink; /* must be first: it is cast back */
	struct capture *capture;
	const struct resource *resource;
};

static int take_value(struct kernel_sink *sink, const struct kernel_value *value)
{
	const struct resource_sink *own = (const struct resource_sink *)sink;
	char name[SHEET_NAME_SIZE];

	if (own->resource->no_full && strncmp(value->key, "full", 4) == 0)
		return 0;
	name_column(own->resource, value->key, name);
	return snapshot_note_number(own->capture->snapshot, SHEET_HOST, name, value->number);
}

static int note_resource(struct capture *capture, int dir, const struct resource *resource)
{
	struct resource_sink sink = { { take_value }, capture, resource };
	char text[FILE_SIZE];
	ssize_t length = file_read(dir, resource->path, text, sizeof(text));
	int status = length < 0 ? 0 : kernel_parse(KERNEL_PRESSURE, text, &sink.sink);

	if (length < 0 || status > 0)
		return note_refused(capture, resource, length < 0 ? (int)length : -EBADMSG);
	source_count(&capture->tallies[SOURCE_PRESSURE], length);
	if (status == 0 && resource->no_full)
		status = set_absent(capture, resource, PRESSURE_FULL, resource->no_full);
	return status;
}

/* Why there is no directory of pressure files.  The kernel's options may not be known. */
static const char *no_pressure(const struct host *host)
{
	bool built;

	if (!host->live || !host_kernel_option(host, "CONFIG_PSI", &built))
		return missing_reason(host,
				      "this kernel was built without CONFIG_PSI, or " PRESSURE_OFF);
	return missing_reason(host,
			      built ? PRESSURE_OFF : "this kernel was built without CONFIG_PSI");
}

static int note_no_directory(struct capture *capture, int error)
{
	struct source_tally *tally = &capture->tallies[SOURCE_PRESSURE];
	int status = 0;

	source_count(tally, error);
	if (error == -ENOENT)
		source_set_unseen(capture->host, tally, no_pressure(capture->host));
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(resources); i++)
		status = set_absent(capture, &resources[i], resources[i].first,
				    tally->reason ? tally->reason : strerror(-error));
	return status;
}

int pressure_collect(struct capture *capture)
{
	CLEANUP(close_fd) int dir = -1;
	int status = 0;

	if (!source_wanted(capture, SOURCE_PRESSURE))
		return 0;
	dir = host_open_directory(capture->host->proc, "pressure");
	if (dir < 0)
		return note_no_directory(capture, dir);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(resources); i++)
		status = note_resource(capture, dir, &resources[i]);
	return status;
}

int pressure_read(const struct host *host, struct snapshot *snapshot)
{
	const struct capture_options all = { 0 };
	struct capture capture = { .host = host, .options = &all, .snapshot = snapshot };

	return pressure_collect(&capture);
}
