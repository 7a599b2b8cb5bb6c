/* SPDX-License-Identifier: MIT */
#include "model/wait/sampled_waits.h"

#include <math.h>
#include <string.h>

#define SURE_95 1.96
/* When all of n samples agree, the other outcomes have at most 3/n of the time, with 95 %. */
#define AGREED 3.0

void sampled_waits_note(struct sampled_waits *sampled, enum wait_reason reason)
{
	sampled->is_sampled = true;
	sampled->found[reason]++;
	sampled->uncredited[reason]++;
}

void sampled_waits_note_running(struct sampled_waits *sampled)
{
	sampled->is_sampled = true;
	sampled->running++;
}

static uint64_t sum_of(const uint32_t counts[WAIT_REASON_COUNT])
{
	uint64_t sum = 0;

	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		sum += counts[i];
	return sum;
}

/* whole * part / all, without overflow for counts of 32 bits. */
static uint64_t fraction(uint64_t whole, uint64_t part, uint64_t all)
{
	return whole / all * part + whole % all * part / all;
}

/* The last reason gets what rounding left, so that all of the time is credited. */
static void divide(struct sampled_waits *sampled, uint64_t due,
		   const uint32_t counts[WAIT_REASON_COUNT])
{
	uint64_t rest = sum_of(counts);

	for (int i = 0; i < WAIT_REASON_COUNT && rest; i++) {
		uint64_t part = fraction(due, counts[i], rest);

		sampled->ns[i] += part;
		due -= part;
		rest -= counts[i];
	}
	sampled->ns[WAIT_OTHER] += due;
}

static uint64_t growth(const struct sampled_waits *sampled, uint64_t blocked_ns)
{
	uint64_t credited = 0;

	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		credited += sampled->ns[i];
	return blocked_ns > credited ? blocked_ns - credited : 0;
}

void sampled_waits_credit(struct sampled_waits *sampled, uint64_t blocked_ns, bool ended)
{
	if (!ended && !sum_of(sampled->found))
		return;
	divide(sampled, growth(sampled, blocked_ns),
	       sum_of(sampled->uncredited) ? sampled->uncredited : sampled->found);
	memset(sampled->uncredited, 0, sizeof(sampled->uncredited));
	sampled->running = 0;
}

void sampled_waits_credit_unseen(struct sampled_waits *sampled, uint64_t off_ns)
{
	uint64_t blocked = sum_of(sampled->uncredited);

	if (blocked)
		divide(sampled,
		       fraction(growth(sampled, off_ns), blocked, blocked + sampled->running),
		       sampled->uncredited);
}

void sampled_waits_fill(const struct sampled_waits *sampled, struct amounts *amounts)
{
	for (int i = 0; sampled->is_sampled && i < WAIT_REASON_COUNT; i++)
		amounts_set_waited_ns(amounts, i, sampled->ns[i]);
}

double sampled_waits_error(const struct amounts *amounts, uint64_t samples)
{
	double blocked = (double)amounts_blocked_ns(amounts), count = (double)samples;
	double error = samples ? AGREED / count : 1;

	for (int i = 0; i < WAIT_REASON_COUNT && blocked > 0 && samples; i++) {
		double share = (double)amounts_waited(amounts, i).ns / blocked;

		error = fmax(error, SURE_95 * sqrt(share * (1 - share) / count));
	}
	return fmin(error, 1);
}
