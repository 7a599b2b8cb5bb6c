/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_absence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "collect/gate.h"
#include "collect/host/pressure.h"
#include "metric/reading.h"
#include "model/snapshot/sheet.h"

/* The detail is put between the two texts. */
static const struct {
	const char *before;
	const char *after;
} texts[ABSENCE_COUNT] = {
	[ABSENCE_NOT_ENABLED] = { "the ", " controller is not enabled" },
	[ABSENCE_NO_CONTROLLER] = { "the host has no ", " controller" },
	[ABSENCE_NO_V2] = { "only cgroup v2 has it, and the host has no v2 tree", "" },
	[ABSENCE_V1_LACKS] = { "the ",
			       " controller is on cgroup v1, which has no file that means the same" },
	[ABSENCE_ELSEWHERE] = { "in the ", " hierarchy its tasks are elsewhere" },
	[ABSENCE_KERNEL] = { "this kernel has no ", "" },
	[ABSENCE_PRESSURE_OFF] = { PRESSURE_OFF, "" },
	[ABSENCE_NOT_RECORDED] = { NOT_RECORDED, "" },
	[ABSENCE_GONE] = { "the cgroup is gone, or not visible from here", "" },
	[ABSENCE_OUTSIDE] = { "outside of our cgroup namespace", "" },
	[ABSENCE_REFUSED] = { "", "" },
	[ABSENCE_BROKEN] = { "the file makes no sense", "" },
	[ABSENCE_NO_LINE] = { "", "" },
	[ABSENCE_ROOT] = { "the root cgroup does not have it", "" },
};

void cgroup_absences_add(struct cgroup_absences *absences, enum cgroup_absence absence,
			 const char *detail)
{
	absences->counts[absence]++;
	if (!absences->details[absence])
		absences->details[absence] = detail;
}

static uint32_t count_rows(const struct cgroup_absences *absences)
{
	uint32_t total = 0;

	for (int absence = ABSENCE_NONE + 1; absence < ABSENCE_COUNT; absence++)
		total += absences->counts[absence];
	return total;
}

static unsigned count_kinds(const struct cgroup_absences *absences)
{
	unsigned kinds = 0;

	for (int absence = ABSENCE_NONE + 1; absence < ABSENCE_COUNT; absence++)
		kinds += absences->counts[absence] > 0;
	return kinds;
}

static void append_reasons(const struct cgroup_absences *absences, size_t rows, struct text *out)
{
	bool has_numbers = count_kinds(absences) > 1 || count_rows(absences) < rows;
	const char *separator = "";

	for (int absence = ABSENCE_NONE + 1; absence < ABSENCE_COUNT; absence++) {
		const char *detail = absences->details[absence];

		if (!absences->counts[absence])
			continue;
		text_format(out, "%s%s%s%s", separator, texts[absence].before, detail ? detail : "",
			    texts[absence].after);
		if (has_numbers && absence != ABSENCE_ROOT)
			text_format(out, " (%" PRIu32 " of %zu cgroups)", absences->counts[absence],
				    rows);
		separator = "; ";
	}
}

static int set_absent(struct sheet *sheet, const char *name, const struct cgroup_absences *absences)
{
	CLEANUP(text_free) struct text reason = { 0 };

	append_reasons(absences, sheet->row_count, &reason);
	if (reason.failed || sheet_set_absent(sheet, name, text_string(&reason)) == -ENOMEM)
		return -ENOMEM;
	return 0;
}

/* The file that a column's values come from, or CGROUP_FILE_COUNT. */
static enum cgroup_file_id file_of(const char *name)
{
	size_t length = strcspn(name, " ");
	int file = 0;

	while (file < CGROUP_FILE_COUNT && (strncmp(cgroup_files[file].name, name, length) != 0 ||
					    cgroup_files[file].name[length] != '\0'))
		file++;
	return file;
}

/* Why a file that was read may lack a column's value. */
static const char *missing_line(enum cgroup_file_id file, const char *name)
{
	if (file == CGROUP_FILE_CPU_PRESSURE && strstr(name, " full "))
		return PRESSURE_NO_CPU_FULL;
	if (file == CGROUP_FILE_CPU_STAT)
		return "its file has no such line: the cpu controller is not enabled for it, or it "
		       "is the root cgroup";
	if (file == CGROUP_FILE_IO_STAT)
		return "the kernel did not count any";
	return "its file has no such line";
}

static int explain_column(const struct cgroup_absences *absences, struct sheet *sheet,
			  const struct column *column, enum cgroup_file_id file)
{
	struct cgroup_absences reasons = *absences;
	size_t missing = sheet->row_count - column_measured(column, sheet->row_count);
	uint32_t explained = count_rows(absences);

	if (missing == 0)
		return 0;
	if (missing > explained) {
		reasons.counts[ABSENCE_NO_LINE] = (uint32_t)missing - explained;
		reasons.details[ABSENCE_NO_LINE] = missing_line(file, column->metric->name);
	}
	return set_absent(sheet, column->metric->name, &reasons);
}

/*
 * The absences that explain a column's missing cells: those of the v1 file for it where v1 is in
 * use, else of v2's.
 */
static const struct cgroup_absences *responsible(const struct cgroup_lacks *lacks, const char *name,
						 enum cgroup_file_id file)
{
	for (size_t i = 0; i < cgroup_v1_file_count; i++)
		if (cgroup_v1_files[i].file == file && lacks->v1_trees >> i & 1 &&
		    cgroup_v1_gives(&cgroup_v1_files[i], name))
			return &lacks->v1[i];
	return &lacks->v2[file];
}

/* The absences of a file as a whole: of the last v1 file for it where v1 is in use, else of v2's. */
static const struct cgroup_absences *of_file(const struct cgroup_lacks *lacks,
					     enum cgroup_file_id file)
{
	for (size_t i = cgroup_v1_file_count; i-- > 0;)
		if (cgroup_v1_files[i].file == file && lacks->v1_trees >> i & 1)
			return &lacks->v1[i];
	return &lacks->v2[file];
}

/* Sets the reason in a column that does not exist yet, since no cgroup has the value. */
static int explain_missing(const struct cgroup_absences *absences, struct sheet *sheet,
			   const char *name, enum cgroup_file_id file)
{
	struct metric metric = reading_metric(name);
	struct column nothing = { .metric = &metric };

	return sheet_find(sheet, name) ? 0 : explain_column(absences, sheet, &nothing, file);
}

/* The name of the column for the reason when no cgroup has the file. */
static const char *const stars[KERNEL_FORMAT_COUNT] = {
	[KERNEL_PAIR] = " *",
	[KERNEL_KEYS] = " *",
	[KERNEL_NESTED] = " * *",
};

static int explain_file(const struct cgroup_absences *absences, struct sheet *sheet,
			enum cgroup_file_id file)
{
	const char *star = stars[cgroup_files[file].format];
	char name[SHEET_NAME_SIZE];

	snprintf(name, sizeof(name), "%s%s", cgroup_files[file].name, star ? star : "");
	return explain_missing(absences, sheet, name, file);
}

/* The columns of a pressure file are known in advance; the file of interrupts has half of them. */
static int explain_pressure(const struct cgroup_absences *absences, struct sheet *sheet,
			    enum cgroup_file_id file)
{
	char name[SHEET_NAME_SIZE];
	int status = 0;

	for (int key = file == CGROUP_FILE_IRQ_PRESSURE ? PRESSURE_FULL : 0;
	     status == 0 && key < PRESSURE_KEYS; key++) {
		snprintf(name, sizeof(name), "%s %s", cgroup_files[file].name, pressure_keys[key]);
		status = explain_missing(absences, sheet, name, file);
	}
	return status;
}

/* Sets reasons for the readings of one v1 file, when other v1 files have given the rest. */
static int explain_v1(const struct cgroup_absences *absences, struct sheet *sheet,
		      const struct cgroup_v1_file *v1)
{
	const char *name;
	int status = 0;

	for (size_t i = 0; status == 0 && (name = cgroup_v1_reading(v1, i)); i++)
		status = explain_missing(absences, sheet, name, v1->file);
	return status;
}

/*
 * Lines that a file need not have.  Where the file `explained_by` is known to be missing, its
 * reason is used.
 */
static const struct {
	const char *name;
	enum cgroup_file_id file;
	enum cgroup_file_id explained_by;
} lines[] = {
	{ "cpu.stat nr_periods", CGROUP_FILE_CPU_STAT, CGROUP_FILE_CPU_MAX },
	{ "cpu.stat nr_throttled", CGROUP_FILE_CPU_STAT, CGROUP_FILE_CPU_MAX },
	{ "cpu.stat throttled_usec", CGROUP_FILE_CPU_STAT, CGROUP_FILE_CPU_MAX },
};

static int explain_line(const struct cgroup_lacks *lacks, struct sheet *sheet, size_t line)
{
	const struct cgroup_absences *absences =
		responsible(lacks, lines[line].name, lines[line].file);

	if (absences == &lacks->v2[lines[line].file])
		absences = of_file(lacks, lines[line].explained_by);
	return explain_missing(absences, sheet, lines[line].name, lines[line].file);
}

static int explain_columns(const struct cgroup_lacks *lacks, struct sheet *sheet,
			   bool has_columns[CGROUP_FILE_COUNT])
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];
		enum cgroup_file_id file = file_of(column->metric->name);

		if (file == CGROUP_FILE_COUNT)
			continue;
		has_columns[file] = true;
		status = explain_column(responsible(lacks, column->metric->name, file), sheet,
					column, file);
	}
	return status;
}

int cgroup_lacks_explain(const struct cgroup_lacks *lacks, struct sheet *sheet)
{
	bool has_columns[CGROUP_FILE_COUNT] = { 0 };
	int status = explain_columns(lacks, sheet, has_columns);

	for (int file = 0; status == 0 && file < CGROUP_FILE_COUNT; file++)
		if (cgroup_files[file].format == KERNEL_PRESSURE)
			status = explain_pressure(of_file(lacks, file), sheet, file);
		else if (!has_columns[file])
			status = explain_file(of_file(lacks, file), sheet, file);
	for (size_t i = 0; status == 0 && i < cgroup_v1_file_count; i++)
		if (has_columns[cgroup_v1_files[i].file] && count_rows(&lacks->v1[i]))
			status = explain_v1(&lacks->v1[i], sheet, &cgroup_v1_files[i]);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(lines); i++)
		status = explain_line(lacks, sheet, i);
	return status;
}
