/* SPDX-License-Identifier: MIT */
/* Stretches of runs whose phases are known because they were made up, with noise. */
#include <stdlib.h>

#include "hand_run.h"

#include "analyze/segment/segment.h"

#define SECOND (1000 * MS)

/* What a made-up program does from here on. */
struct phase_made {
	double seconds;
	double cores, rss_mib, grows_mib; /* grows: over the phase */
	double read_mb, write_mb;	  /* a second */
	uint64_t threads;
};

/* A number from -1 to 1 that is the same in each run of the test. */
static double noise(void)
{
	static uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	return (double)state / 2147483648.0 - 1;
}

struct maker {
	struct run *run;
	double time_s, cpu_s, read_mb, write_mb;
	double noise; /* share of each value */
};

static void make_sample(struct maker *maker, const struct phase_made *phase, double done)
{
	struct run_sample sample = { .time_ns =
					     maker->run->begin_ns + (uint64_t)(maker->time_s * 1e9),
				     .threads = phase->threads,
				     .has_rss = true };
	double rss = phase->rss_mib + done * phase->grows_mib;

	amounts_set(&sample.amounts, AMOUNT_utime_ns, (uint64_t)(maker->cpu_s * 1e9));
	amounts_set(&sample.amounts, AMOUNT_stime_ns, 0);
	amounts_set(&sample.amounts, AMOUNT_read_bytes, (uint64_t)(maker->read_mb * 1e6));
	amounts_set(&sample.amounts, AMOUNT_write_bytes, (uint64_t)(maker->write_mb * 1e6));
	sample.rss_bytes = (uint64_t)(rss * (1 + maker->noise * noise() / 10) * (1 << 20));
	run_past_sample(&maker->run->past, &sample);
}

static void make_phase(struct maker *maker, const struct phase_made *phase)
{
	const double step = 0.1;
	int count = (int)(phase->seconds / step + 0.5);

	for (int i = 1; i <= count; i++) {
		maker->time_s += step;
		maker->cpu_s += step * phase->cores * (1 + maker->noise * noise());
		maker->read_mb += step * phase->read_mb * (1 + maker->noise * noise());
		maker->write_mb += step * phase->write_mb * (1 + maker->noise * noise());
		make_sample(maker, phase, (double)i / count);
	}
}

static struct run *make_run(const struct phase_made *phases, size_t count, double share)
{
	struct maker maker = { .run = hand_run(1000), .noise = share };

	for (size_t i = 0; i < count; i++)
		make_phase(&maker, &phases[i]);
	return maker.run;
}

static struct run_segments segments_of(struct run *run)
{
	struct run_segments segments;

	assert_int_equal(segments_find(run, &segments), 0);
	run_free(run);
	return segments;
}

static void assert_near(uint64_t got_ns, double seconds, double within)
{
	assert_true((double)got_ns >= (seconds - within) * 1e9);
	assert_true((double)got_ns <= (seconds + within) * 1e9);
}

static void a_steady_run_has_one_stretch(void **state)
{
	static const struct phase_made steady[] = { { 60, 1.9, 300, 0, 0, 0, 4 } };
	static const double shares[] = { 0, 0.05, 0.3, 0.9 };

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct run_segments segments = segments_of(make_run(steady, 1, shares[i]));

		assert_int_equal(segments.count, 1);
		assert_string_equal(segments.list[0].what, "computing");
		assert_int_equal(segments.list[0].begin_ns, 0);
		assert_near(segments.list[0].end_ns, 60, 0.01);
		assert_true(segments.list[0].cores.value > 1.6 &&
			    segments.list[0].cores.value < 2.2);
		assert_int_equal(segments.list[0].threads.value, 4);
	}
}

/* Work that comes in bursts, each as short as a few samples, is one kind of thing. */
static void bursts_are_one_stretch(void **state)
{
	struct phase_made bursts[100];
	struct run_segments segments;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		bursts[i] = (struct phase_made){ 0.3, i % 2 ? 2 : 0, 100, 0, 0, 0, 2 };
	segments = segments_of(make_run(bursts, 100, 0.1));
	assert_int_equal(segments.count, 1);
}

/* What changes by chance all the time, and a lot, is one stretch as well. */
static void chance_is_one_stretch(void **state)
{
	static struct phase_made moments[240];
	size_t cut = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 240; i++)
			moments[i] = (struct phase_made){
				0.1, 0.1, 100, 0, noise() > 0.5 ? 400 : 20 * (1 + noise()), 0, 2
			};
		cut += segments_of(make_run(moments, 240, 0)).count > 1;
	}
	assert_true(cut <= 2);
}

static void three_phases_are_found_where_they_begin(void **state)
{
	static const struct phase_made phases[] = {
		{ 5, 0.2, 50, 0, 80, 0, 1 },
		{ 10, 1.8, 60, 0, 0, 0, 4 },
		{ 5, 0.01, 60, 0, 0, 0, 4 },
	};
	static const double shares[] = { 0, 0.1, 0.3 };

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct run_segments segments = segments_of(make_run(phases, 3, shares[i]));

		assert_int_equal(segments.count, 3);
		assert_string_equal(segments.list[0].what, "reading");
		assert_string_equal(segments.list[1].what, "computing");
		assert_string_equal(segments.list[2].what, "idle");
		assert_near(segments.list[0].end_ns, 5, 0.25);
		assert_int_equal(segments.list[1].begin_ns, segments.list[0].end_ns);
		assert_near(segments.list[1].end_ns, 15, 0.25);
		assert_true(segments.list[0].read_bytes_per_s.value > 70000000);
		assert_true(segments.list[1].read_bytes_per_s.value < 5000000);
		assert_int_equal(segments.list[1].threads.value, 4);
	}
}

/* Memory that grows steadily is one stretch, not a staircase. */
static void growing_memory_is_one_stretch(void **state)
{
	static const struct phase_made phases[] = {
		{ 10, 1, 100, 900, 0, 0, 1 },
		{ 10, 1, 1000, 0, 0, 0, 1 },
	};
	struct run_segments segments = segments_of(make_run(phases, 2, 0.05));

	(void)state;
	assert_int_equal(segments.count, 2);
	assert_string_equal(segments.list[0].what, "computing, growing memory");
	assert_string_equal(segments.list[1].what, "computing");
	assert_near(segments.list[0].end_ns, 10, 0.6);
}

static void there_are_never_more_than_six(void **state)
{
	struct phase_made phases[20];
	struct run_segments segments;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		phases[i] = (struct phase_made){ 5, (double)(i * 7 % 8), 100, 0, 0, 0, 1 + i % 3 };
	segments = segments_of(make_run(phases, 20, 0.05));
	assert_true(segments.count > 1 && segments.count <= RUN_SEGMENTS_MAX);
	for (uint32_t i = 1; i < segments.count; i++) {
		assert_int_equal(segments.list[i].begin_ns, segments.list[i - 1].end_ns);
		assert_true(segments.list[i].end_ns > segments.list[i].begin_ns);
	}
}

/* As a long run has it: more samples than the grid has times, and every second one dropped. */
static void a_long_run_is_cut_as_well(void **state)
{
	static const struct phase_made phases[] = {
		{ 400, 0.5, 50, 0, 0, 0, 1 },
		{ 600, 2, 50, 0, 0, 50, 1 },
	};
	struct run_segments segments = segments_of(make_run(phases, 2, 0.2));

	(void)state;
	assert_int_equal(segments.count, 2);
	assert_near(segments.list[0].end_ns, 400, 5);
	assert_string_equal(segments.list[1].what, "computing, writing");
}

static void without_samples_there_is_nothing_to_say(void **state)
{
	struct run *run = hand_run(1000);
	struct run_sample sample = { .time_ns = run->begin_ns + SECOND };
	struct run_segments segments;

	(void)state;
	assert_int_equal(segments_find(run, &segments), 0);
	assert_int_equal(segments.count, 0);
	run_past_sample(&run->past, &sample);
	assert_int_equal(segments_find(run, &segments), 0);
	assert_int_equal(segments.count, 0);
	run_free(run);
}

/*
 * Neither time nor CPU time nor memory is known in each sample; times go back, as in a file of a
 * stranger.
 */
static void samples_that_cannot_be_are_left_out(void **state)
{
	struct run *run = hand_run(1000);
	struct run_segments segments;

	(void)state;
	for (uint64_t i = 0; i < 50; i++) {
		struct run_sample sample = { .time_ns = run->begin_ns + (i * 31 % 50) * SECOND };

		if (i % 3)
			amounts_set(&sample.amounts, AMOUNT_utime_ns, i * 17 % 50 * SECOND);
		run_past_sample(&run->past, &sample);
	}
	assert_int_equal(segments_find(run, &segments), 0);
	assert_true(segments.count <= RUN_SEGMENTS_MAX);
	for (uint32_t i = 0; i < segments.count; i++)
		assert_false(segments.list[i].rss_bytes.present);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_run_has_one_stretch),
		cmocka_unit_test(bursts_are_one_stretch),
		cmocka_unit_test(chance_is_one_stretch),
		cmocka_unit_test(three_phases_are_found_where_they_begin),
		cmocka_unit_test(growing_memory_is_one_stretch),
		cmocka_unit_test(there_are_never_more_than_six),
		cmocka_unit_test(a_long_run_is_cut_as_well),
		cmocka_unit_test(without_samples_there_is_nothing_to_say),
		cmocka_unit_test(samples_that_cannot_be_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
