#include "render/run_json.h"

#include "base/json.h"

static void write_kind(FILE *out, const char *kind)
{
	struct json json = json_line_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "kind", kind);
	json_end_object(&json);
}

void run_json_env(FILE *out, const struct snapshot *host)
{
	(void)host;
	write_kind(out, "env");
}

void run_json_metadata(FILE *out, const struct run *run)
{
	(void)run;
	write_kind(out, "metadata");
}

void run_json_sample(FILE *out, const struct run *run)
{
	(void)run;
	write_kind(out, "sample");
}

void run_json_tree(FILE *out, const struct run *run, size_t limit)
{
	(void)run;
	(void)limit;
	write_kind(out, "tree");
}

void run_json_event(FILE *out, const struct run *run, const struct tree_event *event)
{
	(void)run;
	(void)event;
	write_kind(out, "event");
}

void run_json_exit(FILE *out, const struct run *run, const struct tree_process *process)
{
	(void)run;
	(void)process;
	write_kind(out, "exit");
}

void run_json_summary(FILE *out, const struct run *run, const struct diagnosis *diagnosis)
{
	(void)run;
	(void)diagnosis;
	write_kind(out, "summary");
}
