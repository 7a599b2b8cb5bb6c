/* SPDX-License-Identifier: MIT */
/* The .ctprof.zst file: every field goes both ways, and its zeros are not taken for measured. */
#include <zstd.h>

#include "sample_snapshot.h"
#include "store/ctprof/ctprof.h"
#include "store/ctprof/ctprof_stream.h"

/*
 * tests/data/ctprof/full.json has every field of the format, with values that
 * differ from each other and from the defaults; defaults.json has none.  The
 * compressed files beside them were made by zstd -3.
 */
static const struct {
	enum metric_id id;
	uint64_t value;
} leader_metrics[] = {
	{ METRIC_thread_count, 1 },
	{ METRIC_policy, 1 },
	{ METRIC_nice, (uint64_t)-7 },
	{ METRIC_processor, 3 },
	{ METRIC_state, 'D' },
	{ METRIC_ext_enabled, 1 },
	{ METRIC_priority, (uint64_t)-51 },
	{ METRIC_rt_priority, 50 },
	{ METRIC_nr_threads, 2 },
	{ METRIC_run_time_ns, 1001 },
	{ METRIC_wait_time_ns, 1002 },
	{ METRIC_timeslices, 1003 },
	{ METRIC_voluntary_csw, 1004 },
	{ METRIC_nonvoluntary_csw, 1005 },
	{ METRIC_nr_wakeups, 1006 },
	{ METRIC_nr_wakeups_local, 1007 },
	{ METRIC_nr_wakeups_remote, 1008 },
	{ METRIC_nr_wakeups_sync, 1009 },
	{ METRIC_nr_wakeups_migrate, 1010 },
	{ METRIC_nr_wakeups_affine, 1011 },
	{ METRIC_nr_wakeups_affine_attempts, 1012 },
	{ METRIC_nr_migrations, 1013 },
	{ METRIC_nr_forced_migrations, 1014 },
	{ METRIC_nr_failed_migrations_affine, 1015 },
	{ METRIC_nr_failed_migrations_running, 1016 },
	{ METRIC_nr_failed_migrations_hot, 1017 },
	{ METRIC_wait_sum, 1018 },
	{ METRIC_wait_count, 1019 },
	{ METRIC_wait_max, 1020 },
	{ METRIC_voluntary_sleep_ns, 1021 },
	{ METRIC_sleep_max, 1022 },
	{ METRIC_block_sum, 1023 },
	{ METRIC_block_max, 1024 },
	{ METRIC_iowait_sum, 1025 },
	{ METRIC_iowait_count, 1026 },
	{ METRIC_exec_max, 1027 },
	{ METRIC_slice_max, 1028 },
	{ METRIC_allocated_bytes, 1029 },
	{ METRIC_deallocated_bytes, 1030 },
	{ METRIC_minflt, 1031 },
	{ METRIC_majflt, 1032 },
	{ METRIC_utime_ns, 10330000000 },
	{ METRIC_stime_ns, 10340000000 },
	{ METRIC_core_forceidle_sum, 1035 },
	{ METRIC_fair_slice_ns, 1036 },
	{ METRIC_rchar, 1037 },
	{ METRIC_wchar, 1038 },
	{ METRIC_syscr, 1039 },
	{ METRIC_syscw, 1040 },
	{ METRIC_read_bytes, 1041 },
	{ METRIC_write_bytes, 1042 },
	{ METRIC_cancelled_write_bytes, 1043 },
	{ METRIC_cpu_delay_count, 1044 },
	{ METRIC_cpu_delay_total_ns, 1045 },
	{ METRIC_cpu_delay_max_ns, 1046 },
	{ METRIC_cpu_delay_min_ns, 1047 },
	{ METRIC_blkio_delay_count, 1048 },
	{ METRIC_blkio_delay_total_ns, 1049 },
	{ METRIC_blkio_delay_max_ns, 1050 },
	{ METRIC_blkio_delay_min_ns, 1051 },
	{ METRIC_swapin_delay_count, 1052 },
	{ METRIC_swapin_delay_total_ns, 1053 },
	{ METRIC_swapin_delay_max_ns, 1054 },
	{ METRIC_swapin_delay_min_ns, 1055 },
	{ METRIC_freepages_delay_count, 1056 },
	{ METRIC_freepages_delay_total_ns, 1057 },
	{ METRIC_freepages_delay_max_ns, 1058 },
	{ METRIC_freepages_delay_min_ns, 1059 },
	{ METRIC_thrashing_delay_count, 1060 },
	{ METRIC_thrashing_delay_total_ns, 1061 },
	{ METRIC_thrashing_delay_max_ns, 1062 },
	{ METRIC_thrashing_delay_min_ns, 1063 },
	{ METRIC_compact_delay_count, 1064 },
	{ METRIC_compact_delay_total_ns, 1065 },
	{ METRIC_compact_delay_max_ns, 1066 },
	{ METRIC_compact_delay_min_ns, 1067 },
	{ METRIC_wpcopy_delay_count, 1068 },
	{ METRIC_wpcopy_delay_total_ns, 1069 },
	{ METRIC_wpcopy_delay_max_ns, 1070 },
	{ METRIC_wpcopy_delay_min_ns, 1071 },
	{ METRIC_irq_delay_count, 1072 },
	{ METRIC_irq_delay_total_ns, 1073 },
	{ METRIC_irq_delay_max_ns, 1074 },
	{ METRIC_irq_delay_min_ns, 1075 },
	{ METRIC_hiwater_rss_bytes, 1076 },
	{ METRIC_hiwater_vm_bytes, 1077 },
	{ METRIC_pss_bytes, 8 * 1024 },
	{ METRIC_uss_bytes, (16 + 20 + 24) * 1024 },
	{ METRIC_swap_bytes, 32 * 1024 },
	{ METRIC_swap_pss_bytes, 36 * 1024 },
};

static const struct {
	enum fact_id id;
	uint64_t number;
	const char *text;
} host_facts[] = {
	{ FACT_captured_at_unix_ns, 1700000000123456789, NULL },
	{ FACT_cpu_model, 0, "A CPU" },
	{ FACT_cpu_vendor, 0, "A vendor" },
	{ FACT_total_memory_bytes, 5001 * 1024, NULL },
	{ FACT_hugepages_total, 5002, NULL },
	{ FACT_hugepages_free, 5003, NULL },
	{ FACT_hugepage_size_bytes, 2048 * 1024, NULL },
	{ FACT_thp_enabled, 0, "always [madvise] never" },
	{ FACT_thp_defrag, 0, "[defer] never" },
	{ FACT_numa_nodes, 2, NULL },
	{ FACT_kernel_name, 0, "Linux" },
	{ FACT_kernel_release, 0, "6.12.1" },
	{ FACT_arch, 0, "x86_64" },
	{ FACT_kernel_cmdline, 0, "quiet delayacct" },
	{ FACT_task_delayacct, 0, "runtime-off" },
	{ FACT_config_task_xacct, 0, "unknown" },
	{ FACT_task_source, 0, "ctprof" },
};

static const struct {
	enum sheet_id sheet;
	const char *name;
	uint64_t number;
	const char *text; /* instead of the number */
} cells[] = {
	{ SHEET_PROCESSES, "smaps Anonymous", 4 * 1024, NULL },
	{ SHEET_PROCESSES, "smaps Rss", 28 * 1024, NULL },
	{ SHEET_PROCESSES, "smaps SwapPss", 36 * 1024, NULL },
	{ SHEET_CGROUPS, "cpu.stat usage_usec", 3001, NULL },
	{ SHEET_CGROUPS, "cpu.stat nr_throttled", 3002, NULL },
	{ SHEET_CGROUPS, "cpu.stat throttled_usec", 3003, NULL },
	{ SHEET_CGROUPS, "cpu.max quota_usec", 3004, NULL },
	{ SHEET_CGROUPS, "cpu.max period_usec", 3005, NULL },
	{ SHEET_CGROUPS, "cpu.weight", 3006, NULL },
	{ SHEET_CGROUPS, "cpu.weight.nice", (uint64_t)-8, NULL },
	{ SHEET_CGROUPS, "memory.current", 3011, NULL },
	{ SHEET_CGROUPS, "memory.max", 3012, NULL },
	{ SHEET_CGROUPS, "memory.high", 3013, NULL },
	{ SHEET_CGROUPS, "memory.low", 3014, NULL },
	{ SHEET_CGROUPS, "memory.stat anon", 3021, NULL },
	{ SHEET_CGROUPS, "memory.stat pgfault", 3022, NULL },
	{ SHEET_CGROUPS, "memory.events high", 3031, NULL },
	{ SHEET_CGROUPS, "memory.events oom_kill", 0, NULL },
	{ SHEET_CGROUPS, "pids.current", 3041, NULL },
	{ SHEET_CGROUPS, "pids.max", 3042, NULL },
	{ SHEET_CGROUPS, "cpu.pressure some avg10", 4001, NULL },
	{ SHEET_CGROUPS, "memory.pressure full avg60", 4014, NULL },
	{ SHEET_CGROUPS, "io.pressure some avg300", 4019, NULL },
	{ SHEET_CGROUPS, "irq.pressure full total", 4032, NULL },
	{ SHEET_HOST, "pressure cpu some avg10", 7001, NULL },
	{ SHEET_HOST, "pressure cpu full total", 7008, NULL },
	{ SHEET_HOST, "pressure memory some avg60", 7010, NULL },
	{ SHEET_HOST, "pressure io full avg300", 7023, NULL },
	{ SHEET_HOST, "pressure irq full total", 7032, NULL },
	{ SHEET_HOST, "sched_ext state", 0, "enabled" },
	{ SHEET_HOST, "sched_ext switch_all", 1, NULL },
	{ SHEET_HOST, "sched_ext nr_rejected", 8001, NULL },
	{ SHEET_HOST, "sched_ext hotplug_seq", 8002, NULL },
	{ SHEET_HOST, "sched_ext enable_seq", 8003, NULL },
	{ SHEET_HOST, "sched_tunables sched_rt_runtime_us", 0, "950000" },
	{ SHEET_HOST, "cpufreq_governor 8", 0, "powersave" },
	{ SHEET_HOST, "online_cpu_count", 9, NULL },
	{ SHEET_CAPTURE, "jemalloc walked", 6001, NULL },
	{ SHEET_CAPTURE, "jemalloc detected", 6002, NULL },
	{ SHEET_CAPTURE, "jemalloc threads_read", 6003, NULL },
	{ SHEET_CAPTURE, "jemalloc failed", 6004, NULL },
	{ SHEET_CAPTURE, "jemalloc dominant_failure", 0, "ptrace-seize" },
	{ SHEET_CAPTURE, "jemalloc privilege_dominant", 1, NULL },
	{ SHEET_CAPTURE, "taskstats ok", 6021, NULL },
	{ SHEET_CAPTURE, "taskstats eperm", 6022, NULL },
	{ SHEET_CAPTURE, "taskstats esrch", 6023, NULL },
	{ SHEET_CAPTURE, "taskstats other", 6024, NULL },
	{ SHEET_CAPTURE, "failed_reads io", 4, NULL },
	{ SHEET_CAPTURE, "failed_reads schedstat", 3, NULL },
};

/* Puts a text at `place`, which has room for it, and gives its length. */
static size_t put(char *place, const char *text)
{
	memcpy(place, text, strlen(text));
	return strlen(text);
}

static char *read_data(const char *name, size_t *ret_size)
{
	char path[512];
	char *bytes = malloc(1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), "%s/ctprof/%s", getenv("TASKSCOPE_TEST_DATA"), name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_non_null(bytes);
	*ret_size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static int decode_json(const char *json, size_t size, struct snapshot **ret, struct error *error)
{
	size_t bound = ZSTD_compressBound(size);
	void *bytes = malloc(bound);
	int status;

	assert_non_null(bytes);
	status = ctprof_decode("the input", bytes, ZSTD_compress(bytes, bound, json, size, 1), ret,
			       error);
	free(bytes);
	return status;
}

static struct snapshot *read_json(const char *json)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	if (decode_json(json, strlen(json), &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	return snapshot;
}

static struct snapshot *read_file(const char *name)
{
	size_t size;
	char *json = read_data(name, &size);
	struct snapshot *snapshot;

	json[size] = '\0';
	snapshot = read_json(json);
	free(json);
	return snapshot;
}

static void assert_cell(const struct snapshot *snapshot, enum metric_id id, uint32_t row,
			uint64_t expected)
{
	uint64_t value = 0;

	if (!snapshot_get(snapshot, id, row, &value) || value != expected)
		fail_msg("%s is %ju, not %ju", metrics[id].name, (uintmax_t)value,
			 (uintmax_t)expected);
}

static void assert_absent(const struct snapshot *snapshot, enum metric_id id, uint32_t row,
			  const char *reason)
{
	uint64_t value;

	if (snapshot_get(snapshot, id, row, &value))
		fail_msg("%s of row %u is %ju", metrics[id].name, row, (uintmax_t)value);
	assert_non_null(snapshot->columns[id].absent);
	assert_non_null(strstr(snapshot->columns[id].absent, reason));
}

static void every_metric_of_a_thread_is_read(void **state)
{
	struct snapshot *snapshot = read_file("full.json");
	uint64_t value;

	(void)state;
	assert_int_equal(snapshot->task_count, 2);
	for (size_t i = 0; i < sizeof(leader_metrics) / sizeof(leader_metrics[0]); i++)
		assert_cell(snapshot, leader_metrics[i].id, 0, leader_metrics[i].value);
	assert_true(snapshot_get(snapshot, METRIC_cpu_affinity, 0, &value));
	assert_string_equal(snapshot_text(snapshot, (uint32_t)value), "0-3,8");
	assert_cell(snapshot, METRIC_policy, 1, 9);
	assert_cell(snapshot, METRIC_irq_delay_min_ns, 1, 2075);
	for (int id = 0; id < METRIC_STORED; id++)
		if (metric_is_only_traced(id))
			assert_null(snapshot->columns[id].absent);
		else if (snapshot_measured(snapshot, id) < snapshot_rows(snapshot, id))
			assert_string_equal(snapshot->columns[id].absent,
					    "a ctprof file has no place for it");
	snapshot_free(snapshot);
}

static void identity_and_names_are_read(void **state)
{
	struct snapshot *snapshot = read_file("full.json");

	(void)state;
	assert_int_equal(snapshot->process_count, 1);
	assert_int_equal(snapshot->processes[0].tgid, 4242);
	assert_int_equal(snapshot->processes[0].start_time_ns, 123450000000);
	assert_string_equal(snapshot_text(snapshot, snapshot->processes[0].pcomm), "engine");
	assert_int_equal(snapshot->tasks[1].tid, 4243);
	assert_int_equal(snapshot->tasks[1].start_time_ns, 123990000000);
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[1].comm), "w\xc3\xb6rker-1");
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[1].cgroup), "/services/engine");
	snapshot_free(snapshot);
}

static void facts_of_the_host_are_read(void **state)
{
	struct snapshot *snapshot = read_file("full.json");

	(void)state;
	for (size_t i = 0; i < sizeof(host_facts) / sizeof(host_facts[0]); i++) {
		const struct fact *fact = &snapshot->facts[host_facts[i].id];

		assert_true(fact->present);
		if (host_facts[i].text)
			assert_string_equal(fact->text, host_facts[i].text);
		else
			assert_int_equal(fact->number, host_facts[i].number);
	}
	assert_false(snapshot->facts[FACT_boot_id].present);
	assert_false(snapshot->facts[FACT_online_cpus].present);
	snapshot_free(snapshot);
}

static void readings_of_every_kind_are_read(void **state)
{
	struct snapshot *snapshot = read_file("full.json");
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		const struct sheet *sheet = &snapshot->sheets[cells[i].sheet];
		const struct column *column = sheet_find(sheet, cells[i].name);

		if (!column || column_get(column, 0, &value) == CELL_ABSENT)
			fail_msg("%s is not there", cells[i].name);
		if (cells[i].text)
			assert_string_equal(snapshot_text(snapshot, (uint32_t)value),
					    cells[i].text);
		else
			assert_int_equal(value, cells[i].number);
	}
	assert_int_equal(
		column_get(sheet_find(&snapshot->sheets[SHEET_CGROUPS], "memory.min"), 0, &value),
		CELL_UNLIMITED);
	assert_int_equal(snapshot->sheets[SHEET_PROCESSES].keys[0], 0);
	snapshot_free(snapshot);
}

static void failures_that_a_file_tells_are_the_sources(void **state)
{
	struct snapshot *snapshot = read_file("full.json");

	(void)state;
	assert_int_equal(snapshot->tally.tids_walked, 6011);
	assert_int_equal(snapshot->tally.negative_dotted_values, 6012);
	assert_int_equal(snapshot->source_count, 1);
	assert_string_equal(snapshot->sources[0].name, "ctprof");
	assert_int_equal(snapshot->sources[0].state, SOURCE_PARTIAL);
	assert_int_equal(snapshot->sources[0].failed, 7);
	assert_non_null(strstr(snapshot->sources[0].reason, "most often of io"));
	snapshot_free(snapshot);
}

static void a_default_alone_is_not_taken_for_measured(void **state)
{
	struct snapshot *snapshot = read_file("defaults.json");

	(void)state;
	for (int id = 0; id < METRIC_STORED; id++)
		if (id != METRIC_thread_count && !metric_is_only_traced(id))
			assert_absent(snapshot, id, 0, "");
	assert_absent(snapshot, METRIC_run_time_ns, 0, "0 in a ctprof file");
	assert_absent(snapshot, METRIC_state, 0, "empty in a ctprof file");
	assert_absent(snapshot, METRIC_cpu_affinity, 0, "empty in a ctprof file");
	assert_absent(snapshot, METRIC_blkio_delay_count, 0, "as the ctprof file says");
	assert_absent(snapshot, METRIC_allocated_bytes, 0, "as the ctprof file says");
	assert_absent(snapshot, METRIC_rss_bytes, 0, "no place");
	snapshot_free(snapshot);
}

static void what_the_flags_vouch_for_is_a_measured_0(void **state)
{
	struct snapshot *snapshot = read_file("defaults.json");

	(void)state;
	for (int id = METRIC_cpu_delay_count; id <= METRIC_irq_delay_min_ns; id++)
		assert_cell(snapshot, id, 1, 0);
	assert_cell(snapshot, METRIC_allocated_bytes, 1, 0);
	assert_cell(snapshot, METRIC_deallocated_bytes, 1, 0);
	assert_absent(snapshot, METRIC_hiwater_rss_bytes, 1, "");
	assert_absent(snapshot, METRIC_minflt, 1, "");
	snapshot_free(snapshot);
}

static void a_value_proves_those_of_the_same_file(void **state)
{
	struct snapshot *snapshot = read_file("defaults.json");

	(void)state;
	assert_cell(snapshot, METRIC_nice, 2, 0);
	assert_cell(snapshot, METRIC_utime_ns, 2, 0);
	assert_cell(snapshot, METRIC_voluntary_csw, 2, 0);
	assert_cell(snapshot, METRIC_timeslices, 2, 0);
	assert_cell(snapshot, METRIC_write_bytes, 2, 0);
	assert_cell(snapshot, METRIC_nr_migrations, 2, 1);
	assert_absent(snapshot, METRIC_nr_wakeups, 2, "0 in a ctprof file");
	assert_absent(snapshot, METRIC_ext_enabled, 2, "the default");
	snapshot_free(snapshot);
}

static void assert_no_reading(const struct snapshot *snapshot, enum sheet_id id, const char *name,
			      const char *reason)
{
	const struct column *column = sheet_find(&snapshot->sheets[id], name);
	uint64_t value;

	assert_non_null(column);
	assert_int_equal(column_get(column, 0, &value), CELL_ABSENT);
	assert_non_null(strstr(column->absent, reason));
}

static void defaults_of_a_cgroup_are_absent_with_the_reason(void **state)
{
	struct snapshot *snapshot = read_file("defaults.json");

	(void)state;
	assert_no_reading(snapshot, SHEET_CGROUPS, "cpu.stat usage_usec", "0 in a ctprof");
	assert_no_reading(snapshot, SHEET_CGROUPS, "memory.current", "0 in a ctprof");
	assert_no_reading(snapshot, SHEET_CGROUPS, "memory.max", "unlimited or not measured");
	assert_no_reading(snapshot, SHEET_CGROUPS, "pids.max", "unlimited or not measured");
	assert_no_reading(snapshot, SHEET_CGROUPS, "cpu.max quota_usec", "unlimited or not");
	assert_no_reading(snapshot, SHEET_CGROUPS, "cpu.max period_usec", "the default");
	assert_no_reading(snapshot, SHEET_CGROUPS, "memory.low", "not in this");
	assert_no_reading(snapshot, SHEET_CGROUPS, "cpu.pressure some total", "0 in a ctprof");
	assert_no_reading(snapshot, SHEET_HOST, "pressure io full total", "0 in a ctprof");
	assert_null(sheet_find(&snapshot->sheets[SHEET_HOST], "pressure irq some total"));
	assert_null(sheet_find(&snapshot->sheets[SHEET_HOST], "sched_ext state"));
	snapshot_free(snapshot);
}

static void a_line_of_pressure_is_measured_as_a_whole(void **state)
{
	struct snapshot *snapshot =
		read_json("{\"threads\":[],\"psi\":{\"cpu\":{\"some\":{\"avg10\":0,\"total_usec\":"
			  "5},\"full\":{\"avg10\":0,\"total_usec\":0}}}}");
	const struct sheet *host = &snapshot->sheets[SHEET_HOST];
	uint64_t value = 1;

	(void)state;
	assert_int_equal(column_get(sheet_find(host, "pressure cpu some avg10"), 0, &value),
			 CELL_NUMBER);
	assert_int_equal(value, 0);
	assert_no_reading(snapshot, SHEET_HOST, "pressure cpu full total", "0 in a ctprof");
	snapshot_free(snapshot);
}

static void extremes_of_events_cannot_be_0(void **state)
{
	struct snapshot *snapshot = read_json(
		"{\"threads\":[{\"tid\":1,\"tgid\":1,\"taskstats_measured\":true,"
		"\"cpu_delay_active\":true,\"cpu_delay_count\":3,\"cpu_delay_total_ns\":9,"
		"\"cpu_delay_max_ns\":0,\"cpu_delay_min_ns\":0}]}");

	(void)state;
	assert_cell(snapshot, METRIC_cpu_delay_count, 0, 3);
	assert_absent(snapshot, METRIC_cpu_delay_max_ns, 0, "keeps no extremes");
	assert_absent(snapshot, METRIC_cpu_delay_min_ns, 0, "keeps no extremes");
	snapshot_free(snapshot);
}

static void an_older_file_lacks_fields_and_a_newer_one_has_more(void **state)
{
	struct snapshot *snapshot = read_json(
		" { \"future\" : {\"a\":[1,2.5e3,\"]\\\"}\"]} , \"threads\" : [ {\"tid\":7,"
		"\"tgid\":7,\"future\":[[]],\"minflt\":3,\"cpu_delay_count\":0,"
		"\"blkio_delay_count\":4} ] } \n");

	(void)state;
	assert_cell(snapshot, METRIC_minflt, 0, 3);
	assert_cell(snapshot, METRIC_blkio_delay_count, 0, 4);
	assert_absent(snapshot, METRIC_majflt, 0, "not in this ctprof file");
	assert_absent(snapshot, METRIC_cpu_delay_count, 0, "0 in a ctprof file");
	assert_int_equal(snapshot->sources[0].state, SOURCE_OK);
	snapshot_free(snapshot);
}

static void numbers_up_to_the_last_of_64_bits_are_exact(void **state)
{
	struct snapshot *snapshot = read_json(
		"{\"threads\":[{\"tid\":1,\"tgid\":1,\"comm\":\"1 18446744073709551615 \\\\\","
		"\"run_time_ns\":18446744073709551615,\"wait_time_ns\":9223372036854775808,"
		"\"timeslices\":9223372036854775807,\"rchar\":1000000000000000001}]}");

	(void)state;
	assert_cell(snapshot, METRIC_run_time_ns, 0, UINT64_MAX);
	assert_cell(snapshot, METRIC_wait_time_ns, 0, (uint64_t)1 << 63);
	assert_cell(snapshot, METRIC_timeslices, 0, INT64_MAX);
	assert_cell(snapshot, METRIC_rchar, 0, 1000000000000000001);
	assert_string_equal(snapshot_text(snapshot, snapshot->tasks[0].comm),
			    "1 18446744073709551615 \\");
	snapshot_free(snapshot);
}

static void threads_are_put_in_order(void **state)
{
	struct snapshot *snapshot = read_json(
		"{\"threads\":[{\"tid\":9,\"tgid\":9,\"smaps_rollup_kib\":{\"Rss\":4}},"
		"{\"tid\":3,\"tgid\":2},{\"tid\":2,\"tgid\":2,\"smaps_rollup_kib\":{\"Rss\":8}}]}");
	const struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];

	(void)state;
	assert_int_equal(snapshot->tasks[0].tid, 2);
	assert_int_equal(snapshot->tasks[2].tid, 9);
	assert_int_equal(sheet->keys[0], 1);
	assert_int_equal(sheet->keys[1], 0);
	snapshot_free(snapshot);
}

#define THREAD(fields) "{\"threads\":[{\"tid\":1,\"tgid\":1," fields "}]}"

static const struct {
	const char *json;
	const char *says;
} refused[] = {
	{ "", "cut short" },
	{ "[]", "JSON is wrong" },
	{ "{", "cut short" },
	{ "{}", "no threads" },
	{ "{\"threads\":[]", "cut short" },
	{ "{\"threads\":[]} x", "follows after its end" },
	{ "{\"threads\":[],}", "JSON is wrong" },
	{ "{\"threads\":[],\"threads\":[]}", "in threads, it is there twice" },
	{ "{\"threads\":{}}", "no list" },
	{ "{\"threads\":[5]}", "in thread 1, it is no object" },
	{ "{\"threads\":[{\"tid\":1}]}", "tgid is no id" },
	{ "{\"threads\":[{\"tid\":0,\"tgid\":1}]}", "tid is no id" },
	{ "{\"threads\":[{\"tid\":2147483648,\"tgid\":1}]}", "tid is no whole number of 32 bits" },
	{ "{\"threads\":[{\"tid\":1,\"tgid\":1},{\"tid\":1,\"tgid\":1}]}",
	  "thread is there twice" },
	{ THREAD("\"comm\":\"a\",\"comm\":\"b\""), "a key is there twice" },
	{ THREAD("\"comm\":\"a\\u0000b\""), "NUL" },
	{ THREAD("\"comm\":\"\xff\""), "not UTF-8" },
	{ THREAD("\"comm\":\"\\ud800\""), "JSON is wrong" },
	{ THREAD("\"comm\":5"), "comm is no text" },
	{ THREAD("\"minflt\":-1"), "minflt is no whole number" },
	{ THREAD("\"minflt\":1.5"), "minflt is no whole number" },
	{ THREAD("\"minflt\":18446744073709551616"), "minflt is no whole number" },
	{ THREAD("\"minflt\":-99999999999999999999"), "too large" },
	{ THREAD("\"minflt\":1e999"), "too large" },
	{ THREAD("\"nice\":99999999999"), "nice is no whole number of 32 bits" },
	{ THREAD("\"state\":\"SD\""), "state is no letter" },
	{ THREAD("\"state\":\"\xc3\xa4\""), "state is no letter" },
	{ THREAD("\"policy\":\"SCHED_\""), "no policy" },
	{ THREAD("\"ext_enabled\":1"), "neither true nor false" },
	{ THREAD("\"cpu_affinity\":{}"), "no list" },
	{ THREAD("\"cpu_affinity\":[65536]"), "no CPU" },
	{ THREAD("\"cpu_affinity\":[-1]"), "no CPU" },
	{ THREAD("\"smaps_rollup_kib\":{\"\":1}"), "names" },
	{ THREAD("\"smaps_rollup_kib\":{\"Rss\":\"x\"}"), "no whole number" },
	{ "{\"threads\":[],\"cgroup_stats\":{\"/\":{},\"\\/\":{}}}", "cgroup is there twice" },
	{ "{\"threads\":[],\"cgroup_stats\":[]}", "in cgroup_stats, it is no object" },
	{ "{\"threads\":[{\"tid\":1,\"tgid\":1}],\"cgroup_stats\":[]}",
	  "in cgroup_stats, it is no object" },
	{ "{\"threads\":[],\"host\":5}", "in host, it is no object" },
	{ "{\"threads\":[],\"psi\":{\"cpu\":5}}", "in psi, cpu is no object" },
};

static void refuse_json(const char *json, size_t size, const char *says)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	if (decode_json(json, size, &snapshot, &error) != -EBADMSG || !strstr(error.message, says))
		fail_msg("'%.60s' gives: %s", json, error.message);
	assert_null(snapshot);
}

static void what_is_wrong_is_refused_in_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		refuse_json(refused[i].json, strlen(refused[i].json), refused[i].says);
	refuse_json("{\"threads\":[\0]}", 15, "NUL byte");
	refuse_json("{\0}", 3, "NUL byte");
}

static void deep_nesting_is_refused(void **state)
{
	size_t depth = 100000;
	char *json = malloc(2 * depth + 64);
	size_t length = put(json, "{\"threads\":[],\"x\":");

	(void)state;
	memset(json + length, '[', depth);
	memset(json + length + depth, ']', depth);
	json[length + 2 * depth] = '}';
	refuse_json(json, length + 2 * depth + 1, "nested too deeply");
	free(json);
}

static void a_value_that_is_too_large_is_refused(void **state)
{
	size_t size = CTPROF_VALUE_MAX + 64;
	char *json = malloc(size);
	size_t length = put(json, "{\"threads\":[\"");

	(void)state;
	memset(json + length, 'x', size - length);
	memcpy(json + size - 3, "\"]}", 3);
	refuse_json(json, size, "larger than any can be");
	free(json);
}

static void a_compressed_file_is_read_like_its_json(void **state)
{
	size_t size;
	char *bytes = read_data("full.ctprof.zst", &size);
	struct snapshot *plain = read_file("full.json"), *unpacked = NULL;
	struct error error = { 0 };

	(void)state;
	assert_true(ctprof_is_likely(bytes, size));
	assert_int_equal(ctprof_decode("the file", bytes, size, &unpacked, &error), 0);
	assert_same_snapshot(plain, unpacked);
	snapshot_free(plain);
	snapshot_free(unpacked);
	free(bytes);
}

static void a_compressed_file_that_is_damaged_is_refused(void **state)
{
	size_t size;
	char *bytes = read_data("full.ctprof.zst", &size);
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	(void)state;
	for (size_t length = 4; length < size; length += 7) {
		assert_int_equal(ctprof_decode("the file", bytes, length, &snapshot, &error),
				 -EBADMSG);
		assert_null(snapshot);
	}
	assert_non_null(strstr(error.message, "the file is not a ctprof file, or damaged"));
	free(bytes);
}

/* So many blanks in an object. */
static void *make_blanks(size_t count, size_t *ret_size)
{
	char *json = malloc(count);
	size_t bound = ZSTD_compressBound(count);
	void *bytes = malloc(bound);

	assert_non_null(json);
	assert_non_null(bytes);
	memset(json, ' ', count);
	json[0] = '{';
	*ret_size = ZSTD_compress(bytes, bound, json, count, 3);
	free(json);
	return bytes;
}

static void a_small_file_cannot_unfold_to_much(void **state)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	size_t size;
	void *bytes = make_blanks((size_t)64 << 20, &size);

	(void)state;
	assert_true(size < 100000);
	assert_int_equal(ctprof_decode("the file", bytes, size, &snapshot, &error), -EFBIG);
	assert_non_null(strstr(error.message, "more than a file of its size can hold"));
	free(bytes);
}

static void what_may_come_out_grows_with_the_file(void **state)
{
	(void)state;
	assert_int_equal(size_limit(&ctprof_limit, 0), 16 << 20);
	assert_int_equal(size_limit(&ctprof_limit, 1 << 20), (16 << 20) + (256 << 20));
	assert_int_equal(size_limit(&ctprof_limit, 1 << 30), (uint64_t)4 << 30);
	assert_int_equal(size_limit(&ctprof_limit, UINT64_MAX), (uint64_t)4 << 30);
}

/* Each thread takes few bytes of JSON, but a row of every metric. */
static void many_small_threads_are_refused_before_they_cost_much(void **state)
{
	size_t capacity = (size_t)2 << 20, bound = ZSTD_compressBound(capacity), size, length;
	char *json = malloc(capacity);
	void *bytes = malloc(bound);
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	(void)state;
	length = put(json, "{\"threads\":[{\"tid\":1,\"tgid\":1}");
	for (int tid = 2; length < capacity - 64; tid++)
		length += (size_t)snprintf(json + length, 64, ",{\"tid\":%d,\"tgid\":1}", tid);
	length += put(json + length, "]}");
	size = ZSTD_compress(bytes, bound, json, length, 3);
	assert_true(length < size_limit(&ctprof_limit, size) / 10);
	assert_int_equal(ctprof_decode("the file", bytes, size, &snapshot, &error), -EFBIG);
	free(json);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_of_a_thread_is_read),
		cmocka_unit_test(identity_and_names_are_read),
		cmocka_unit_test(facts_of_the_host_are_read),
		cmocka_unit_test(readings_of_every_kind_are_read),
		cmocka_unit_test(failures_that_a_file_tells_are_the_sources),
		cmocka_unit_test(a_default_alone_is_not_taken_for_measured),
		cmocka_unit_test(what_the_flags_vouch_for_is_a_measured_0),
		cmocka_unit_test(a_value_proves_those_of_the_same_file),
		cmocka_unit_test(defaults_of_a_cgroup_are_absent_with_the_reason),
		cmocka_unit_test(a_line_of_pressure_is_measured_as_a_whole),
		cmocka_unit_test(extremes_of_events_cannot_be_0),
		cmocka_unit_test(an_older_file_lacks_fields_and_a_newer_one_has_more),
		cmocka_unit_test(numbers_up_to_the_last_of_64_bits_are_exact),
		cmocka_unit_test(threads_are_put_in_order),
		cmocka_unit_test(what_is_wrong_is_refused_in_a_sentence),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(a_value_that_is_too_large_is_refused),
		cmocka_unit_test(a_compressed_file_is_read_like_its_json),
		cmocka_unit_test(a_compressed_file_that_is_damaged_is_refused),
		cmocka_unit_test(a_small_file_cannot_unfold_to_much),
		cmocka_unit_test(what_may_come_out_grows_with_the_file),
		cmocka_unit_test(many_small_threads_are_refused_before_they_cost_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
