/* SPDX-License-Identifier: MIT */
/* A line of the recorder's socket, read as each kind of mark, and as the answer to one. */
#include "record/job/mark/job_mark.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "fuzz_text.h"
#include "record/socket/server_request.h"

static void check_mark(const struct job_mark *mark)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&bytes, &length);
	struct json json = json_line_writer(out);

	fuzz_require(strlen(mark->name) < JOB_NAME_SIZE);
	fuzz_require(!mark->step || strlen(mark->step) < JOB_NAME_SIZE);
	fuzz_require(mark->root.pid >= 0);
	fuzz_require(mark->kind != JOB_MARK_END || mark->outcome != JOB_RUNNING);
	fuzz_require(mark->measured.syscall_count <= JOB_SYSCALLS_MOST);
	job_mark_write(&json, mark);
	fclose(out);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct job_mark mark;
	char *text = fuzz_text(data, size), store[PATH_MAX];
	struct server_request *request = NULL;
	struct job_marked marked;

	for (int kind = 0; kind < JOB_MARK_KIND_COUNT; kind++) {
		struct error error = { 0 };

		if (server_request_parse(text, strlen(text), &request) < 0)
			break;
		if (job_mark_read(request, (enum job_mark_kind)kind, &mark, &error) == 0)
			check_mark(&mark);
		else
			fuzz_require(error.message[0]);
		server_request_free(request);
	}
	(void)job_marked_read(text, strlen(text), &marked, store, &(struct error){ 0 });
	free(text);
	return 0;
}
