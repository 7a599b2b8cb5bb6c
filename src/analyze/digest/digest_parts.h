/* SPDX-License-Identifier: MIT */
/*
 * What the rules of a digest (digest_rules.c) are made of.
 */
#ifndef ANALYZE_DIGEST_PARTS_H
#define ANALYZE_DIGEST_PARTS_H

#include "analyze/compare/fold/compare_work.h"
#include "analyze/digest/digest.h"

struct mann_whitney;

/* What a counter's change is, which decides how it is told. */
enum digest_form {
	DIGEST_DONE,   /* an interval: work done */
	DIGEST_RATES,  /* intervals: what is done in a second, then and now */
	DIGEST_LIVES,  /* captures, attach: the same, over the tasks' lives */
	DIGEST_TOTALS, /* runs of a command: all of it, then and now */
};

/* What the host has of it. */
enum digest_capacity {
	CAPACITY_UNKNOWN,
	CAPACITY_CPUS,
	CAPACITY_MEMORY,
};

struct digester {
	struct digest *digest;
	const struct comparison *base; /* has the groups */
	const struct comparison
		*readings; /* rows of limits, of what cgroups reached and of the host */
	const struct compare_layout *layout;
	enum digest_form form;
	double seconds; /* that the amounts are of */
	double cpus, memory;
	struct compare_work work;
	struct mann_whitney *test; /* NULL: one snapshot a side */
};

struct digest_rule {
	const char *resource;
	/* Adds the rule's lines, if any.  0 or -ENOMEM. */
	int (*apply)(struct digester *digester, const struct digest_rule *rule);
	enum metric_id metric;
	const char *reading;	/* its name; a `*` stands for any word */
	const char *past, *now; /* "used", "uses": who did it */
	const char *object;	/* "of CPU": what comes after the amount */
	enum digest_capacity capacity;
	/* The least that matters: of counters in a second, else at once. */
	double floor;
	unsigned most;	  /* lines */
	const char *noun; /* of a reading with a `*`: what the word names */
};

#define DIGEST_INTERFACE "interface"

/* Ends with a rule without a resource. */
extern const struct digest_rule digest_rules[];

/* Ways to apply a rule. */
int digest_host_changes(struct digester *digester, const struct digest_rule *rule);
int digest_limits(struct digester *digester, const struct digest_rule *rule);
int digest_reading(struct digester *digester, const struct digest_rule *rule);
int digest_host_busy(struct digester *digester, const struct digest_rule *rule);
int digest_disk_busy(struct digester *digester, const struct digest_rule *rule);
int digest_restarts(struct digester *digester, const struct digest_rule *rule);
int digest_counter(struct digester *digester, const struct digest_rule *rule);
int digest_level(struct digester *digester, const struct digest_rule *rule);
int digest_births(struct digester *digester, const struct digest_rule *rule);
int digest_deaths(struct digester *digester, const struct digest_rule *rule);

/* A group that moved, and by how much. */
struct mover {
	const char *who;
	const char *group; /* of its row; NULL: who */
	enum compare_section section;
	const struct metric *metric;
	bool has_before; /* before and after are known, else only what was done */
	double before, after;
	double moved;	 /* signed */
	double total;	 /* that moved with all others, 0: not known */
	double children; /* the part that ended children did */
};

/* Adds the sentence of a counter or a level.  0 or -ENOMEM. */
int digest_say_work(struct digester *digester, const struct digest_rule *rule,
		    const struct mover *mover);
int digest_say_level(struct digester *digester, const struct digest_rule *rule,
		     const struct mover *mover);

/* Adds a line; the sentence is `before`, who, `after`, and who is shortened to make it fit. */
int digest_say(struct digester *digester, struct digest_line line, const char *before,
	       const struct text *after);

/* Whether a reading's name has the pattern, in which `*` is one word; gives the word. */
bool digest_has_pattern(const char *name, const char *pattern, const char **word, size_t *length);

/* Whether taskscope itself is the group. */
bool digest_is_own(const struct compared_group *group);

#endif
