/* SPDX-License-Identifier: MIT */
#include "collect/kernel_parse.h"
#include "collect/cgroup/cgroup_v1.h"
#include "fuzz_text.h"

struct checker {
	struct kernel_sink sink;
	const struct cgroup_v1_file *v1;
	const char *start, *end;
};

static void check_value(const struct checker *checker, const struct kernel_value *value)
{
	fuzz_require(value->state > CELL_ABSENT && value->state < CELL_STATE_COUNT);
	fuzz_require(memchr(value->key, '\0', sizeof(value->key)));
	if (value->state == CELL_TEXT)
		fuzz_require(value->text >= checker->start &&
			     value->text + value->length <= checker->end);
	for (const char *byte = value->key; *byte; byte++)
		fuzz_require(*byte >= ' ' && *byte <= '~');
}

static int take(struct kernel_sink *sink, const struct kernel_value *value)
{
	const struct checker *checker = (const struct checker *)sink;
	struct cgroup_reading readings[V1_READINGS_MAX];
	size_t count;

	check_value(checker, value);
	if (!checker->v1)
		return 0;
	count = cgroup_v1_translate(checker->v1, 10000000, value, readings);
	fuzz_require(count <= V1_READINGS_MAX);
	for (size_t i = 0; i < count; i++) {
		fuzz_require(memchr(readings[i].name, '\0', sizeof(readings[i].name)));
		fuzz_require(readings[i].name[0] &&
			     readings[i].name[strlen(readings[i].name) - 1] != ' ');
		check_value(checker, &readings[i].value);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct checker checker = { .sink = { take }, .start = text, .end = text + size };

	for (int format = 0; format < KERNEL_FORMAT_COUNT; format++)
		fuzz_require(kernel_parse(format, text, &checker.sink) >= 0);
	for (size_t i = 0; i < cgroup_v1_file_count; i++) {
		checker.v1 = &cgroup_v1_files[i];
		fuzz_require(kernel_parse(checker.v1->format, text, &checker.sink) >= 0);
	}
	free(text);
	return 0;
}
