/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_find.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/path/path_index.h"
#include "analyze/path/path_tally.h"
#include "base/cleanup.h"

/* So many moves are made at most: a timeline that contradicts itself can make the way long. */
#define MOVES_MAX 10000000

/* A thread on the path until end_ns.  Each but the outermost is what the one before waits for. */
struct frame {
	uint32_t thread; /* its place */
	uint32_t at;	 /* its step in the index */
	uint64_t end_ns;
	uint8_t via;
	uint64_t object;
};

struct walk {
	const struct timeline *timeline;
	struct path_index index;
	struct path_tally tally;
	ARRAY_OF(struct frame) frames;
	bool *on_path; /* by place: whether a frame has the thread */
	uint64_t moves;
};

static uint64_t earlier(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static void add(struct walk *walk, const struct frame *frame, uint64_t until_ns, uint8_t kind)
{
	struct path_piece piece = {
		.thread = frame->thread,
		.kind = kind,
		.via = frame->via,
		.object = frame->object,
	};

	path_tally_add(&walk->tally, until_ns, &piece);
}

static int enter(struct walk *walk, const struct timeline_thread *thread, uint64_t end_ns,
		 uint8_t via, uint64_t object)
{
	uint32_t place = (uint32_t)(thread - walk->timeline->threads);
	struct frame frame = {
		.thread = place,
		.at = path_index_find(&walk->index, place, walk->tally.now_ns),
		.end_ns = end_ns,
		.via = via,
		.object = object,
	};

	walk->on_path[place] = true;
	return array_append(&walk->frames, frame);
}

/* Follows the path to another thread, or says why not. */
static int follow(struct walk *walk, const struct frame *from, const struct timeline_thread *thread,
		  const struct frame *to)
{
	if (!thread || walk->moves > MOVES_MAX) {
		add(walk, from, to->end_ns, PATH_NOT_SEEN);
		return 0;
	}
	if (walk->on_path[thread - walk->timeline->threads]) {
		add(walk, from, to->end_ns, PATH_MUTUAL);
		return 0;
	}
	walk->tally.edges++;
	return enter(walk, thread, to->end_ns, to->via, to->object);
}

static uint64_t share_of(uint64_t sum_ns, uint64_t piece_ns, uint64_t whole_ns)
{
	if (piece_ns >= whole_ns)
		return earlier(sum_ns, piece_ns);
	return (uint64_t)((double)sum_ns * ((double)piece_ns / (double)whole_ns));
}

/*
 * The thread ran until then, but for times below the threshold.  `shorts` has their sums since
 * from_ns, until whole_end_ns.
 */
static void add_stretch(struct walk *walk, const struct frame *frame, uint64_t until_ns,
			const struct timeline_shorts *shorts, uint64_t from_ns,
			uint64_t whole_end_ns)
{
	uint64_t ns = until_ns - walk->tally.now_ns;
	uint64_t whole_ns = whole_end_ns > from_ns ? whole_end_ns - from_ns : 0;
	uint64_t blocked_ns = share_of(shorts->blocked_ns, ns, whole_ns);
	uint64_t queued_ns = share_of(shorts->queued_ns, ns, whole_ns);

	if (shorts->gap) {
		add(walk, frame, until_ns, PATH_NOT_SEEN);
		return;
	}
	blocked_ns = earlier(blocked_ns, ns);
	queued_ns = earlier(queued_ns, ns - blocked_ns);
	if (whole_ns)
		walk->tally.edges += shorts->count * ((double)ns / (double)later(ns, whole_ns));
	add(walk, frame, until_ns - blocked_ns - queued_ns, PATH_CPU);
	add(walk, frame, until_ns - blocked_ns, PATH_RUN_QUEUE);
	add(walk, frame, until_ns, shorts->reason);
}

static void add_queued(struct walk *walk, const struct frame *frame,
		       const struct timeline_step *step, uint64_t until_ns)
{
	struct path_piece piece = {
		.thread = frame->thread,
		.kind = PATH_RUN_QUEUE,
		.via = frame->via,
		.object = frame->object,
		.peer = step->queue_peer,
		.by_tree = step->by_tree,
		.by_outside = step->by_outside,
	};

	path_tally_add(&walk->tally, until_ns, &piece);
}

/* A wait that is a part of its own, or that of a program whose threads are folded. */
static void add_wait(struct walk *walk, const struct frame *frame, const struct timeline_step *step,
		     uint64_t until_ns)
{
	bool is_folded = step->waker_class == WAKER_FOLDED;
	struct path_piece piece = {
		.thread = is_folded ? PATH_FOLDED : frame->thread,
		.program = is_folded ? folded_program(step) : 0,
		.peer = step->waker_class == WAKER_OUTSIDE ? step->waker : 0,
		.kind = is_folded ? folded_kind(step) : step->reason,
		.via = is_folded ? step->reason : frame->via,
		.object = step->object ? step->object : frame->object,
	};

	walk->tally.edges += is_folded;
	path_tally_add(&walk->tally, until_ns, &piece);
}

static int pass_wait(struct walk *walk, const struct frame *frame)
{
	const struct timeline_step *step = path_step(&walk->index, frame->at);
	const struct timeline_step *source = path_step(&walk->index, walk->index.source[frame->at]);
	uint64_t until_ns = earlier(step_wake_ns(step), frame->end_ns);
	struct frame to = { .end_ns = until_ns,
			    .via = path_step_reason(&walk->index, step),
			    .object = step->object };

	if (source->waker_class == WAKER_MEMBER &&
	    source->waker != walk->timeline->threads[frame->thread].serial)
		return follow(walk, frame, timeline_thread(walk->timeline, source->waker), &to);
	add_wait(walk, frame, step, until_ns);
	return 0;
}

/* Before a thread began, its creator did what led to it. */
static int pass_before(struct walk *walk, const struct frame *frame, uint64_t begin_ns)
{
	const struct timeline_thread *thread = &walk->timeline->threads[frame->thread];
	struct frame to = *frame;

	to.end_ns = earlier(begin_ns, frame->end_ns);
	return follow(walk, frame, timeline_thread(walk->timeline, thread->creator), &to);
}

static bool can_go_on(const struct walk *walk, const struct timeline_thread *thread)
{
	return thread && !walk->on_path[thread - walk->timeline->threads];
}

/* The other thread of the same process that lives longest; NULL if all have ended. */
static const struct timeline_thread *last_thread(const struct walk *walk,
						 const struct timeline_thread *own)
{
	const struct timeline_thread *best = NULL;
	uint64_t latest_ns = walk->tally.now_ns;

	for (uint32_t i = 0; i < walk->timeline->thread_places; i++) {
		const struct timeline_thread *thread = &walk->timeline->threads[i];
		uint64_t end_ns = timeline_end_ns(walk->timeline, thread);

		if (!thread->serial || thread->process != own->process || end_ns <= latest_ns ||
		    !can_go_on(walk, thread))
			continue;
		latest_ns = end_ns;
		best = thread;
	}
	return best;
}

/*
 * The thread whose path it is ended before its process, which ends with its last thread: the main
 * thread goes on if it is another one, or who keeps the process alive, or else the one that made it.
 */
static int pass_after_end(struct walk *walk, const struct frame *frame)
{
	const struct timeline_thread *own = &walk->timeline->threads[frame->thread];
	const struct timeline_thread *next = number_map_get(&walk->timeline->by_tid, own->task.pid);

	if (!can_go_on(walk, next))
		next = last_thread(walk, own);
	if (!next)
		next = timeline_thread(walk->timeline, own->creator);
	if (walk->frames.count == 1 && can_go_on(walk, next))
		return enter(walk, next, frame->end_ns, PATH_DIRECT, 0);
	add(walk, frame, frame->end_ns, PATH_NOT_SEEN);
	return 0;
}

/* After its last step the thread runs, until its end and a little longer. */
static int pass_rest(struct walk *walk, const struct frame *frame)
{
	const struct timeline_thread *thread = &walk->timeline->threads[frame->thread];
	uint64_t end_ns = timeline_end_ns(walk->timeline, thread);
	uint64_t until_ns = earlier(end_ns, frame->end_ns);
	uint64_t from_ns = later(thread->last_ns, thread->watched_ns);

	if (walk->tally.now_ns < until_ns)
		add_stretch(walk, frame, until_ns, &thread->rest, from_ns,
			    end_ns == UINT64_MAX ? frame->end_ns : end_ns);
	if (end_ns < frame->end_ns && frame->end_ns - end_ns > PATH_EXIT_NS)
		return pass_after_end(walk, frame);
	add(walk, frame, frame->end_ns, PATH_CPU);
	return 0;
}

/* When the stretch before this step began. */
static uint64_t stretch_begin(const struct walk *walk, const struct frame *frame)
{
	const struct timeline_thread *thread = &walk->timeline->threads[frame->thread];

	if (frame->at > walk->index.first[frame->thread])
		return step_run_ns(path_step(&walk->index, frame->at - 1));
	return thread->watched_ns;
}

/* Nobody knows who made the thread, or when. */
static bool is_unknown_beginning(const struct walk *walk, const struct frame *frame)
{
	return !walk->timeline->threads[frame->thread].has_begun &&
	       frame->at == walk->index.first[frame->thread];
}

static int pass_steps(struct walk *walk, struct frame *frame)
{
	uint32_t end = walk->index.first[frame->thread + 1];
	const struct timeline_step *step;
	uint64_t now_ns = walk->tally.now_ns;

	while (frame->at < end && step_run_ns(path_step(&walk->index, frame->at)) <= now_ns)
		frame->at++;
	if (frame->at == end)
		return pass_rest(walk, frame);
	step = path_step(&walk->index, frame->at);
	if (now_ns < step->block_ns && is_unknown_beginning(walk, frame)) {
		add(walk, frame, earlier(step->block_ns, frame->end_ns), PATH_NOT_SEEN);
		return 0;
	}
	if (now_ns < step->block_ns) {
		struct timeline_shorts shorts = step_shorts(step);

		add_stretch(walk, frame, earlier(step->block_ns, frame->end_ns), &shorts,
			    stretch_begin(walk, frame), step->block_ns);
		return 0;
	}
	if (now_ns < step_wake_ns(step))
		return pass_wait(walk, frame);
	add_queued(walk, frame, step, earlier(step_run_ns(step), frame->end_ns));
	return 0;
}

/* Each move adds to the path, or enters or leaves a thread. */
static int move(struct walk *walk)
{
	size_t innermost = walk->frames.count - 1;
	struct frame frame = walk->frames.data[innermost];
	uint64_t begin_ns = walk->timeline->threads[frame.thread].begin_ns;
	int status;

	walk->moves++;
	if (walk->tally.now_ns >= frame.end_ns) {
		walk->on_path[frame.thread] = false;
		walk->frames.count--;
		return 0;
	}
	if (walk->tally.now_ns < begin_ns)
		return pass_before(walk, &frame, begin_ns);
	status = pass_steps(walk, &frame);
	walk->frames.data[innermost].at = frame.at;
	return status;
}

static int walk_all(struct walk *walk, const struct timeline_thread *thread, uint64_t end_ns)
{
	int status = enter(walk, thread, end_ns, PATH_DIRECT, 0);

	while (status == 0 && walk->frames.count)
		status = move(walk);
	return status < 0 ? status : walk->tally.status;
}

/* That the parts add up is what the path promises. */
static int check_sum(struct critical_path *path)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < path->parts.count; i++) {
		sum += path->parts.data[i].ns;
		if (path->parts.data[i].kind == PATH_NOT_SEEN)
			path->not_seen_ns += path->parts.data[i].ns;
	}
	return sum == path->total_ns ? 0 : -EPROTO;
}

static int make_result(struct walk *walk, struct critical_path *path)
{
	int status = path_tally_parts(&walk->tally, path);

	if (status == 0)
		status = path_tally_segments(&walk->tally, path);
	path->total_ns = walk->tally.now_ns - walk->tally.begin_ns;
	path->threshold_ns = walk->timeline->threshold_ns;
	path->edges = (uint64_t)walk->tally.edges;
	return status < 0 ? status : check_sum(path);
}

static int walk_init(struct walk *walk, const struct timeline *timeline, uint64_t begin_ns)
{
	int status = path_index_init(&walk->index, timeline);

	if (status == 0)
		status = path_tally_init(&walk->tally, timeline, begin_ns);
	walk->on_path = calloc((size_t)timeline->thread_places + 1, sizeof(*walk->on_path));
	return walk->on_path ? status : -ENOMEM;
}

static void walk_free(struct walk *walk)
{
	path_index_free(&walk->index);
	path_tally_free(&walk->tally);
	array_free(&walk->frames);
	free(walk->on_path);
}

int critical_path_find(const struct timeline *timeline, uint32_t serial, uint64_t begin_ns,
		       uint64_t end_ns, struct critical_path *ret)
{
	const struct timeline_thread *thread = timeline_thread(timeline, serial);
	CLEANUP(walk_free) struct walk walk = { .timeline = timeline };
	struct critical_path path = { 0 };
	int status;

	if (!thread)
		return -ESRCH;
	if (end_ns <= begin_ns)
		return -EINVAL;
	status = walk_init(&walk, timeline, begin_ns);
	if (status == 0)
		status = walk_all(&walk, thread, end_ns);
	if (status == 0)
		status = make_result(&walk, &path);
	if (status < 0) {
		critical_path_free(&path);
		return status;
	}
	path.thread = thread->task;
	path.is_known = true;
	*ret = path;
	return 0;
}
