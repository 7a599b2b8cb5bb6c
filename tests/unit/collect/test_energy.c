/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "collect/hardware/energy.h"
#include "host/host.h"
#include "model/tree/run_numbers.h"
#include "scene.h"

#define RANGE 262143328850 /* of a Xeon, in uJ */

static void write_energy(const struct scene *scene, const char *zone, uint64_t energy_uj)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "sys/class/powercap/%s/energy_uj", zone);
	snprintf(text, sizeof(text), "%" PRIu64 "\n", energy_uj);
	tree_text(&scene->tree, path, text);
}

static void write_zone(const struct scene *scene, const char *zone, const char *name,
		       uint64_t energy_uj)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "sys/class/powercap/%s/name", zone);
	snprintf(text, sizeof(text), "%s\n", name);
	tree_text(&scene->tree, path, text);
	snprintf(path, sizeof(path), "sys/class/powercap/%s/max_energy_range_uj", zone);
	snprintf(text, sizeof(text), "%" PRIu64 "\n", (uint64_t)RANGE);
	tree_text(&scene->tree, path, text);
	write_energy(scene, zone, energy_uj);
}

static void open_host(struct scene *scene)
{
	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
}

/* A host with two sockets, as powercap shows it. */
static void write_two_sockets(struct scene *scene)
{
	write_zone(scene, "intel-rapl:0", "package-0", 1000);
	write_zone(scene, "intel-rapl:0:0", "dram", 50);
	write_zone(scene, "intel-rapl:0:1", "core", 700);
	write_zone(scene, "intel-rapl:1", "package-1", RANGE - 100);
	write_zone(scene, "intel-rapl:1:0", "dram", 60);
	write_zone(scene, "intel-rapl:2", "psys", 5);
	write_zone(scene, "intel-rapl-mmio:0", "package-0", 1000);
	open_host(scene);
}

static void a_counter_wraps_at_its_range(void **state)
{
	(void)state;
	assert_int_equal(energy_between(10, 25, RANGE), 15);
	assert_int_equal(energy_between(25, 25, RANGE), 0);
	assert_int_equal(energy_between(RANGE - 100, 40, RANGE), 140);
	assert_int_equal(energy_between(RANGE, 0, RANGE), 0);
	assert_int_equal(energy_between(RANGE + 5, 7, RANGE), 7);
}

static void sockets_add_up_and_parts_do_not(void **state)
{
	struct scene *scene = *state;
	struct run_hardware result = { 0 };
	struct energy energy;

	write_two_sockets(scene);
	energy_open(&energy, scene->host, 0);
	assert_null(energy.reason);
	write_energy(scene, "intel-rapl:0", 3000);
	write_energy(scene, "intel-rapl:1", 900);
	write_energy(scene, "intel-rapl:0:0", 51);
	write_energy(scene, "intel-rapl:1:0", 62);
	write_energy(scene, "intel-rapl:0:1", 9999);
	write_energy(scene, "intel-rapl:2", 4005);
	write_energy(scene, "intel-rapl-mmio:0", 3000);
	energy_result(&energy, scene->host, &result);
	assert_true(result.package_uj.present && result.dram_uj.present);
	assert_int_equal(result.package_uj.value, 2000 + 1000);
	assert_int_equal(result.dram_uj.value, 1 + 2);
	assert_int_equal(result.platform_uj.value, 4000);
}

static void samples_see_every_wrap(void **state)
{
	struct scene *scene = *state;
	struct run_hardware result = { 0 };
	struct energy energy;

	write_two_sockets(scene);
	energy_open(&energy, scene->host, 0);
	write_energy(scene, "intel-rapl:1", 0);
	energy_sample(&energy, scene->host, ENERGY_SAMPLE_NS - 1);
	assert_int_equal(energy.sampled_ns, 0);
	energy_sample(&energy, scene->host, ENERGY_SAMPLE_NS);
	write_energy(scene, "intel-rapl:1", RANGE - 1);
	energy_sample(&energy, scene->host, 2 * ENERGY_SAMPLE_NS);
	write_energy(scene, "intel-rapl:1", 9);
	energy_result(&energy, scene->host, &result);
	assert_int_equal(result.package_uj.value, 100 + (RANGE - 1) + 10);
}

static void a_sum_that_lacks_a_zone_is_absent(void **state)
{
	struct scene *scene = *state;
	struct run_hardware result = { 0 };
	struct energy energy;

	write_two_sockets(scene);
	energy_open(&energy, scene->host, 0);
	tree_text(&scene->tree, "sys/class/powercap/intel-rapl:1/energy_uj", "?\n");
	energy_result(&energy, scene->host, &result);
	assert_false(result.package_uj.present);
	assert_true(result.dram_uj.present && result.platform_uj.present);
	assert_non_null(energy.reason);
}

static void a_zone_that_cannot_be_read_makes_its_sum_absent(void **state)
{
	struct scene *scene = *state;
	struct run_hardware result = { 0 };
	struct energy energy;

	write_two_sockets(scene);
	tree_text(&scene->tree, "sys/class/powercap/intel-rapl:0/energy_uj", "\n");
	energy_open(&energy, scene->host, 0);
	energy_result(&energy, scene->host, &result);
	assert_false(result.package_uj.present);
	assert_true(result.dram_uj.present);
	assert_non_null(energy.reason);
}

static void without_zones_there_is_a_reason(void **state)
{
	struct scene *scene = *state;
	struct run_hardware result = { 0 };
	struct energy energy;

	open_host(scene);
	energy_open(&energy, scene->host, 0);
	assert_int_equal(energy.count, 0);
	assert_non_null(strstr(energy.reason, "no energy counters"));
	energy_result(&energy, scene->host, &result);
	assert_false(result.package_uj.present);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_wraps_at_its_range),
		SCENE_TEST(sockets_add_up_and_parts_do_not),
		SCENE_TEST(samples_see_every_wrap),
		SCENE_TEST(a_sum_that_lacks_a_zone_is_absent),
		SCENE_TEST(a_zone_that_cannot_be_read_makes_its_sum_absent),
		SCENE_TEST(without_zones_there_is_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
