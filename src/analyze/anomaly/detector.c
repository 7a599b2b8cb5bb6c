/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/detector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/anomaly/rule_texts.h"
#include "analyze/anomaly/rules.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/record/life_event.h"
#include "model/snapshot/snapshot.h"

/* More at once help nobody, and must not fill the memory. */
#define EPISODES_MOST 1024

struct episode {
	struct anomaly anomaly;
	struct episode **place; /* where its subject has it */
	uint64_t opened_ns;	/* by the monotonic clock */
};

struct detector {
	struct anomaly_settings settings;
	struct followed_processes processes;
	struct episode *of_host[ANOMALY_RULE_COUNT];
	ARRAY_OF(struct episode *) open;
	uint64_t ids;
	uint64_t refused; /* episodes of this tick for which there was no room */
	char boot_id[64];
};

/* Where changes of the tick go. */
struct reporter {
	struct detector *detector;
	struct rule_subject subject;
	uint64_t unix_ns;
	anomaly_sink *sink;
	void *context;
};

int detector_new(const struct anomaly_settings *settings, struct detector **ret)
{
	struct detector *detector = calloc(1, sizeof(*detector));

	if (!detector)
		return -ENOMEM;
	detector->settings = *settings;
	*ret = detector;
	return 0;
}

void detector_free(struct detector *detector)
{
	if (!detector)
		return;
	for (size_t i = 0; i < detector->open.count; i++)
		free(detector->open.data[i]);
	array_free(&detector->open);
	followed_clear(&detector->processes);
	free(detector);
}

/* Forgets the episode before it is reported, so that an error leaves nothing half done. */
static int close_episode(struct detector *detector, struct episode *episode, uint64_t unix_ns,
			 anomaly_sink *sink, void *context)
{
	size_t i = 0;
	int status;

	while (detector->open.data[i] != episode)
		i++;
	detector->open.count--;
	memmove(&detector->open.data[i], &detector->open.data[i + 1],
		(detector->open.count - i) * sizeof(*detector->open.data));
	*episode->place = NULL;
	/* Somebody may have set the clock back meanwhile. */
	episode->anomaly.end_unix_ns =
		unix_ns > episode->anomaly.begin_unix_ns ? unix_ns : episode->anomaly.begin_unix_ns;
	status = sink(context, ANOMALY_CLOSED, &episode->anomaly);
	free(episode);
	return status;
}

static int describe(const struct reporter *reporter, const struct rule_measure *measure,
		    struct anomaly *anomaly)
{
	CLEANUP(text_free) struct text details = { 0 };

	rules[anomaly->rule].describe(&reporter->subject, measure, &details);
	if (details.failed)
		return -ENOMEM;
	snprintf(anomaly->details, sizeof(anomaly->details), "%s", text_string(&details));
	anomaly->task_count = 0;
	rules[anomaly->rule].concern(&reporter->subject, anomaly);
	return 0;
}

static void name_process(struct anomaly *anomaly, const struct followed *process)
{
	anomaly->task = process->key;
	memcpy(anomaly->comm, process->comm, sizeof(anomaly->comm));
	anomaly->has_uid = process->uid.is_known;
	anomaly->uid = (uint32_t)process->uid.value;
}

static int open_episode(const struct reporter *reporter, enum anomaly_rule rule,
			const struct rule_measure *measure, struct episode **place)
{
	struct detector *detector = reporter->detector;
	struct episode *episode;
	int status;

	if (detector->open.count == EPISODES_MOST) {
		detector->refused++;
		return 0;
	}
	episode = calloc(1, sizeof(*episode));
	if (!episode)
		return -ENOMEM;
	episode->anomaly =
		(struct anomaly){ .id = ++detector->ids,
				  .rule = rule,
				  .severity = rule_severity(&rules[rule], measure->far, 0),
				  .begin_unix_ns = reporter->unix_ns,
				  .value = measure->value,
				  .peak = measure->value,
				  .threshold = measure->threshold };
	episode->opened_ns = detector->processes.ns;
	episode->place = place;
	if (reporter->subject.process)
		name_process(&episode->anomaly, reporter->subject.process);
	status = describe(reporter, measure, &episode->anomaly);
	if (status == 0)
		status = array_append(&detector->open, episode);
	if (status < 0) {
		free(episode);
		return status;
	}
	*place = episode;
	return reporter->sink(reporter->context, ANOMALY_OPENED, &episode->anomaly);
}

static int update_episode(const struct reporter *reporter, const struct rule_measure *measure,
			  struct episode *episode)
{
	struct anomaly *anomaly = &episode->anomaly;
	const struct rule *rule = &rules[anomaly->rule];
	double open = (double)(reporter->detector->processes.ns - episode->opened_ns) / 1e9;
	enum anomaly_severity severity = rule_severity(rule, measure->far, open);
	bool has_changed = measure->value != anomaly->value;
	bool has_grown = severity > anomaly->severity, is_peak = measure->value > anomaly->peak;
	int status = 0;

	anomaly->value = measure->value;
	if (is_peak)
		anomaly->peak = measure->value;
	if (measure->far < rule->closes_below)
		return close_episode(reporter->detector, episode, reporter->unix_ns, reporter->sink,
				     reporter->context);
	if (has_grown)
		anomaly->severity = severity;
	/* What people read is of the worst instant, as the peak is. */
	if (has_grown || is_peak)
		status = describe(reporter, measure, anomaly);
	if (status < 0 || !(has_grown || has_changed))
		return status;
	return reporter->sink(reporter->context, has_grown ? ANOMALY_GREW : ANOMALY_CHANGED,
			      anomaly);
}

/* What is not known opens nothing and closes nothing. */
static int apply_rule(const struct reporter *reporter, enum anomaly_rule id, struct episode **place)
{
	struct rule_measure measure = { 0 };

	rules[id].measure(&reporter->subject, &measure);
	if (!measure.is_known)
		return 0;
	if (*place)
		return update_episode(reporter, &measure, *place);
	return measure.far >= 1 && measure.has_lasted ?
		       open_episode(reporter, id, &measure, place) :
		       0;
}

static int apply_rules(const struct reporter *reporter, struct episode **places)
{
	bool is_host = !reporter->subject.process;
	int status = 0;

	for (int id = 0; id < ANOMALY_RULE_COUNT && status == 0; id++)
		if (rules[id].measure && rules[id].is_of_host == is_host)
			status = apply_rule(reporter, (enum anomaly_rule)id, &places[id]);
	return status;
}

static int close_all(struct detector *detector, struct episode **places, uint64_t unix_ns,
		     anomaly_sink *sink, void *context)
{
	int status = 0;

	for (int id = 0; id < ANOMALY_RULE_COUNT && status == 0; id++)
		if (places[id])
			status = close_episode(detector, places[id], unix_ns, sink, context);
	return status;
}

static int apply_to_processes(struct reporter *reporter)
{
	struct detector *detector = reporter->detector;
	struct followed_processes *processes = &detector->processes;
	int status = 0;

	for (size_t i = 0; i < processes->list.count && status == 0; i++) {
		struct followed *process = processes->list.data[i];

		reporter->subject.process = process;
		status = followed_has_ended(processes, process) ?
				 close_all(detector, process->episodes, reporter->unix_ns,
					   reporter->sink, reporter->context) :
				 apply_rules(reporter, process->episodes);
	}
	if (status == 0)
		followed_forget(processes);
	reporter->subject.process = NULL;
	return status;
}

int detector_finish(struct detector *detector, uint64_t unix_ns, anomaly_sink *sink, void *context)
{
	int status = 0;

	while (detector->open.count && status == 0)
		status = close_episode(detector, detector->open.data[0], unix_ns, sink, context);
	return status;
}

/* Nothing of another boot can go on, and without a clock nothing can be measured. */
static int begin_tick(struct detector *detector, const struct snapshot *now,
		      const struct reporter *reporter)
{
	const struct fact *boot = &now->facts[FACT_boot_id];
	const struct fact *clock = &now->facts[FACT_monotonic_ns];
	struct followed_processes *processes = &detector->processes;
	const char *boot_id = boot->present ? boot->text : "";
	uint64_t ns = clock->present ? clock->number : reporter->unix_ns;
	int status = 0;

	if (processes->tick && (strcmp(boot_id, detector->boot_id) != 0 || ns < processes->ns)) {
		status = detector_finish(detector, reporter->unix_ns, reporter->sink,
					 reporter->context);
		if (status < 0)
			return status;
		followed_clear(processes);
		*processes = (struct followed_processes){ 0 };
	}
	snprintf(detector->boot_id, sizeof(detector->boot_id), "%s", boot_id);
	processes->before_ns = processes->tick ? processes->ns : 0;
	processes->ns = ns;
	processes->tick++;
	detector->refused = 0;
	return status;
}

int detector_take(struct detector *detector, const struct snapshot *now,
		  const struct host_sample *host, anomaly_sink *sink, void *context)
{
	struct reporter reporter = {
		.detector = detector,
		.subject = { .processes = &detector->processes,
			     .now = now,
			     .host = host,
			     .settings = detector->settings.values },
		.unix_ns = host->unix_ns,
		.sink = sink,
		.context = context,
	};
	int status = begin_tick(detector, now, &reporter);

	if (status == 0)
		status = followed_take(&detector->processes, now, &detector->settings);
	if (status == 0)
		status = apply_to_processes(&reporter);
	return status < 0 ? status : apply_rules(&reporter, detector->of_host);
}

int detector_take_event(struct detector *detector, const struct life_event *event,
			anomaly_sink *sink, void *context)
{
	CLEANUP(text_free) struct text details = { 0 };
	struct anomaly anomaly = { .rule = ANOMALY_OOM,
				   .severity = rules[ANOMALY_OOM].severity,
				   .begin_unix_ns = event->unix_ns,
				   .task = event->task,
				   .uid = event->uid,
				   .has_uid = event->present & LIFE_HAS_UID,
				   .value = 1,
				   .peak = 1,
				   .threshold = 1,
				   .tasks = { event->task },
				   .task_count = 1 };
	int status;

	if (event->kind != LIFE_OOM)
		return 0;
	anomaly.id = ++detector->ids;
	memcpy(anomaly.comm, event->comm, sizeof(anomaly.comm));
	describe_oom(&detector->processes, event, &details);
	if (details.failed)
		return -ENOMEM;
	snprintf(anomaly.details, sizeof(anomaly.details), "%s", text_string(&details));
	status = sink(context, ANOMALY_OPENED, &anomaly);
	anomaly.end_unix_ns = event->unix_ns;
	return status < 0 ? status : sink(context, ANOMALY_CLOSED, &anomaly);
}

void detector_describe_oom(const struct detector *detector, const struct life_event *event,
			   struct text *out)
{
	describe_oom(&detector->processes, event, out);
}

size_t detector_open_count(const struct detector *detector)
{
	return detector->open.count;
}

const struct anomaly *detector_open(const struct detector *detector, size_t index)
{
	return &detector->open.data[index]->anomaly;
}

static bool is_of(const struct task_key *key, int32_t pid, uint64_t start_ns)
{
	/* The start time of a thread is not that of its process. */
	return key->pid == pid && (key->tid != key->pid || key->start_ns == start_ns);
}

bool detector_concerns(const struct detector *detector, int32_t pid, uint64_t start_ns)
{
	for (size_t i = 0; i < detector->open.count; i++) {
		const struct anomaly *anomaly = &detector->open.data[i]->anomaly;

		if (is_of(&anomaly->task, pid, start_ns))
			return true;
		for (size_t task = 0; task < anomaly->task_count; task++)
			if (is_of(&anomaly->tasks[task], pid, start_ns))
				return true;
	}
	return false;
}

uint64_t detector_lost(const struct detector *detector)
{
	return detector->processes.lost + detector->refused;
}
