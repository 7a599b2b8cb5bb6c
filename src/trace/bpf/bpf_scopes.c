/* SPDX-License-Identifier: MIT */
/* Waits in scopes of libtaskscope, which the BPF programs keep by the labels of these scopes. */
#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "base/cleanup.h"
#include "base/scope_layout.h"
#include "trace/bpf/bpf_tracer.h"
#include "trace/bpf/tree_program.h"

#define BATCH 512

static_assert(offsetof(struct scope_header, anchor_ns) == TREE_SCOPE_ANCHOR &&
		      offsetof(struct scope_thread, depth) == TREE_SCOPE_DEPTH &&
		      offsetof(struct scope_thread, path) == TREE_SCOPE_PATH &&
		      SCOPE_ANNOUNCE == TREE_SCOPE_ANNOUNCE &&
		      (int)SCOPE_FRAMES == TREE_SCOPE_FRAMES,
	      "the layout is as the BPF programs know it");

static bool is_alive(const struct host *host, const struct task_key *process)
{
	CLEANUP(close_fd) int directory = process_directory(host, process->pid, process->start_ns);

	return directory >= 0;
}

static int note_use(struct tree_program *program, int32_t pid)
{
	static const struct tree_scope_use unused;
	int status =
		bpf_map_update_elem(program->maps.scope_uses.map_fd, &pid, &unused, BPF_NOEXIST);

	return status == -EEXIST ? 0 : status;
}

/* A program that announced its scopes is followed already. */
enum phase_following bpf_follow_scopes(void *context, const struct tracer_scopes *scopes)
{
	struct bpf_state *state = context;
	int map = state->program->maps.scope_places.map_fd;
	const int32_t *pid = &scopes->process.pid;
	struct tree_scope_place place;

	if (!is_alive(state->host, &scopes->process))
		return PHASE_NOT_FOLLOWED;
	if (bpf_map_lookup_elem(map, pid, &place) == 0 && place.area_ns == scopes->area_ns)
		return place.is_announced ? PHASE_FOLLOWED : PHASE_FOLLOWED_LATE;
	place = (struct tree_scope_place){
		.area_ns = scopes->area_ns,
		.self_offset = (uint64_t)scopes->self_offset,
	};
	if (note_use(state->program, scopes->process.pid) < 0 ||
	    bpf_map_update_elem(map, pid, &place, BPF_ANY) < 0)
		return PHASE_NOT_FOLLOWED;
	state->program->bss->scopes_used = 1;
	return PHASE_FOLLOWED_LATE;
}

/* One batch of sums, and where it ends. */
struct batch {
	struct tree_scope_key keys[BATCH];
	uint64_t sums[BATCH];
	uint32_t count;
	uint32_t position;
};

typedef int batch_visitor(int map, const struct batch *batch, void *context);

/* Visits all sums.  0, or a negative errno, or what the visitor returns if that is not 0. */
static int visit_sums(const struct bpf_state *state, batch_visitor *visitor, void *context)
{
	int map = state->program->maps.scope_sums.map_fd;
	static struct batch batch;
	int status = 0, found = 0;

	for (bool is_first = true; status == 0 && found == 0; is_first = false) {
		batch.count = BATCH;
		found = bpf_map_lookup_batch(map, is_first ? NULL : &batch.position,
					     &batch.position, batch.keys, batch.sums, &batch.count,
					     NULL);
		if (found < 0 && found != -ENOENT)
			return found;
		status = visitor(map, &batch, context);
	}
	return status;
}

/* Whose waits are sent, and where. */
struct wait_sending {
	const struct tracer_scopes *scopes;
	scope_wait_sink *sink;
	void *context;
};

static bool is_of(const struct tree_scope_key *key, const struct tracer_scopes *scopes)
{
	return key->pid == scopes->process.pid && key->area_ns == scopes->area_ns &&
	       key->depth <= TREE_SCOPE_FRAMES;
}

static int send_batch(int map, const struct batch *batch, void *context)
{
	const struct wait_sending *sending = context;
	int status = 0;

	(void)map;
	for (uint32_t i = 0; i < batch->count && status == 0; i++)
		if (is_of(&batch->keys[i], sending->scopes))
			status = sending->sink(sending->context, batch->keys[i].labels,
					       batch->keys[i].depth, batch->sums[i]);
	return status;
}

int bpf_scope_waits(void *context, const struct tracer_scopes *scopes, scope_wait_sink *sink,
		    void *sink_context)
{
	struct bpf_state *state = context;
	struct wait_sending sending = { scopes, sink, sink_context };
	struct tree_scope_use use;
	int status = visit_sums(state, send_batch, &sending);

	if (status == 0 && (bpf_map_lookup_elem(state->program->maps.scope_uses.map_fd,
						&scopes->process.pid, &use) < 0 ||
			    use.lost))
		return -ENODATA;
	return status;
}

static int forget_batch(int map, const struct batch *batch, void *context)
{
	const int32_t *pid = context;

	for (uint32_t i = 0; i < batch->count; i++)
		if (batch->keys[i].pid == *pid)
			bpf_map_delete_elem(map, &batch->keys[i]);
	return 0;
}

/* No sum is added to a process whose use is not known. */
void bpf_forget_scopes(void *context, int32_t pid)
{
	struct bpf_state *state = context;
	int map = state->program->maps.scope_uses.map_fd;
	struct tree_scope_use use;

	if (!state->program->bss->scopes_used)
		return;
	bpf_map_delete_elem(state->program->maps.scope_places.map_fd, &pid);
	if (bpf_map_lookup_elem(map, &pid, &use) < 0)
		return;
	bpf_map_delete_elem(map, &pid);
	if (use.paths)
		visit_sums(state, forget_batch, &pid);
}
