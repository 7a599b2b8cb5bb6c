/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/group/name_pattern.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"

#define HEX64 "4fa6c1d0e2b39788a5c4d3e2f10a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f21"

struct example {
	const char *name;
	const char *pattern;
};

static void assert_patterns(const struct example *examples, size_t count, unsigned rules)
{
	CLEANUP(text_free) struct text out = { 0 };

	for (size_t i = 0; i < count; i++) {
		text_clear(&out);
		name_pattern(examples[i].name, rules, &out);
		assert_string_equal(text_string(&out), examples[i].pattern);
	}
}

static void numbers_and_hex_tokens_become_placeholders(void **state)
{
	static const struct example examples[] = {
		{ "kworker/u8:7", "kworker/u{N}:{N}" },
		{ "kworker/0:1H-wq", "kworker/{N}:{N}H-wq" },
		{ "a0", "a{N}" },
		{ "42abc", "{N}abc" },
		{ "cc1", "cc{N}" },
		{ "cafe12", "cafe{N}" },
		{ "e1000e", "e1000e" },
		{ "1a2b3c4", "1a2b3c4" },
		{ "1a2b3c4d", "{H}" },
		{ "1aZ", "{N}aZ" },
		{ "proto303handler", "proto303handler" },
		{ "worker-", "worker-" },
		{ "0", "{N}" },
		{ "pool-2-thread-7", "pool-{N}-thread-{N}" },
		{ "dev[1ab]", "dev[{N}ab]" },
		{ "", "" },
		{ "abc", "abc" },
		{ "a", "a" },
		{ "GC Thread#3", "GC Thread#{N}" },
		{ "worker\xe3\x80\x80"
		  "7",
		  "worker\xe3\x80\x80{N}" },
		{ "\xe5\xb7\xa5\xe4\xba\xba"
		  "12",
		  "\xe5\xb7\xa5\xe4\xba\xba{N}" },
		{ "\x1b[31m7", "\x1b[31m7" },
		{ "bad\xff"
		  "9",
		  "bad\xff{N}" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), 0);
}

static void by_the_rule_of_ctprof_two_digits_are_hexadecimal(void **state)
{
	static const struct example examples[] = {
		{ "a0", "{H}" },    { "42abc", "{H}" },
		{ "1aZ", "{N}aZ" }, { "dev[1ab]", "dev[{H}]" },
		{ "abc", "abc" },   { "job-1A2B", "job-{H}" },
	};
	static const struct example paths[] = { { "/run-1f", "/run-{H}" } };

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), NAME_BY_CTPROF);
	assert_patterns(paths, ARRAY_SIZE(paths), NAME_IS_PATH | NAME_BY_CTPROF);
}

static void upper_case_hex_is_hex_and_mixed_case_is_a_word(void **state)
{
	static const struct example examples[] = {
		{ "job-1A2B3C4D", "job-{H}" },	    { "job-1a2b3c4d", "job-{H}" },
		{ "job-1a2b3C4D", "job-1a2b3C4D" }, { "DEAD", "DEAD" },
		{ "run-deadbeef", "run-{H}" },	    { "run-DEADBEEF", "run-{H}" },
		{ "run-DeadBeef", "run-DeadBeef" }, { "run-decade", "run-decade" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), 0);
}

static void a_busy_and_an_idle_kworker_have_one_pattern(void **state)
{
	static const struct example examples[] = {
		{ "kworker/0:1+events", "kworker/{N}:{N}-events" },
		{ "kworker/0:1-events", "kworker/{N}:{N}-events" },
		{ "kworker/u4:2+flush-8:0", "kworker/u{N}:{N}-flush-{N}:{N}" },
		{ "kworker/R-mm_percpu_wq", "kworker/R-mm_percpu_wq" },
		{ "gcc+x", "gcc+x" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), 0);
}

static void a_uuid_is_one_id_whatever_its_digits_are(void **state)
{
	static const struct example examples[] = {
		{ "vm-0f6c1d2e-3b4a-4c5d-8e9f-0a1b2c3d4e5f", "vm-{I}" },
		{ "vm-12345678-1234-1234-1234-123456789012", "vm-{I}" },
		{ "vm-abcdefab-abcd-abcd-abcd-abcdefabcdef", "vm-{I}" },
		{ "vm-0F6C1D2E-3B4A-4C5D-8E9F-0A1B2C3D4E5F", "vm-{I}" },
		{ "0f6c1d2e_3b4a_4c5d_8e9f_0a1b2c3d4e5f", "{I}" },
		{ "0f6c1d2e-3b4a_4c5d-8e9f_0a1b2c3d4e5f", "{H}-3b4a_4c5d-8e9f_{I}" },
		{ "0f6c1d2e-3b4a-4c5d-8e9f-0a1b2c3d4e5fx", "{H}-3b4a-4c5d-8e9f-0a1b2c3d4e5fx" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), 0);
}

static void hex_ids_of_known_lengths_are_ids_even_without_letters(void **state)
{
	static const struct example examples[] = {
		{ "c-4fa6c1d0e2b3", "c-{I}" },
		{ "c-123456789012", "c-{I}" },
		{ "c-4FA6C1D0E2B3", "c-{I}" },
		{ "c-abcdefabcdef", "c-{I}" },
		{ "c-AbcdefAbcdef", "c-AbcdefAbcdef" },
		{ "c-0123456789abcdef0123456789abcdef", "c-{I}" },
		{ "c-0123456789abcdef0123456789abcdef01234567", "c-{I}" },
		{ "c-" HEX64, "c-{I}" },
		{ "c-" HEX64 "0", "c-{H}" },
		{ "c-4fa6c1d0e2b", "c-{H}" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), 0);
}

static void cgroups_of_one_template_have_one_pattern(void **state)
{
	static const struct example examples[] = {
		{ "/system.slice/docker-" HEX64 ".scope", "/system.slice/docker-{I}.scope" },
		{ "/docker/" HEX64, "/docker/{I}" },
		{ "/machine.slice/libpod-" HEX64 ".scope/container",
		  "/machine.slice/libpod-{I}.scope/container" },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod0f6c1d2e_3b4a_4c5d_8e9f_0a1b2c3d4e5f.slice/crio-" HEX64
		  ".scope",
		  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{I}.slice/"
		  "crio-{I}.scope" },
		{ "/kubepods/besteffort/pod12345678-1234-1234-1234-123456789012/" HEX64,
		  "/kubepods/besteffort/pod{I}/{I}" },
		{ "/kubepods/pod0123456789abcdef0123456789abcdef", "/kubepods/pod{I}" },
		{ "/kubepods-pod0f6c1d2e_3b4a_4c5d_8e9f_0a1b2c3d4e5f.slice:cri-containerd:" HEX64,
		  "/kubepods-pod{I}.slice:cri-containerd:{I}" },
		{ "/system.slice/run-r0123456789abcdef0123456789abcdef.scope",
		  "/system.slice/run-r{I}.scope" },
		{ "/system.slice/run-u123.service", "/system.slice/run-u{N}.service" },
		{ "/user.slice/user-1000.slice/session-4.scope",
		  "/user.slice/user-{N}.slice/session-{N}.scope" },
		{ "/run-17", "/run-{N}" },
		{ "/machine.slice/libpod-conmon-" HEX64 ".scope",
		  "/machine.slice/libpod-conmon-{I}.scope" },
		{ "/system.slice/crio-conmon-" HEX64 ".scope",
		  "/system.slice/crio-conmon-{I}.scope" },
		{ "/system.slice/cri-containerd-" HEX64 ".scope",
		  "/system.slice/cri-containerd-{I}.scope" },
		{ "/ecs/0123456789abcdef0123456789abcdef/" HEX64, "/ecs/{I}/{I}" },
		{ "/user.slice/run-p1234-i5678.scope", "/user.slice/run-p{N}-i{N}.scope" },
		{ "/app.slice/vte-spawn-0f6c1d2e-3b4a-4c5d-8e9f-0a1b2c3d4e5f.scope",
		  "/app.slice/vte-spawn-{I}.scope" },
		{ "/lxc.payload.web/init.scope", "/lxc.payload.web/init.scope" },
		{ "/machine.slice/machine-qemu\\x2d12\\x2dvm.scope",
		  "/machine.slice/machine-qemu\\x2d{N}\\x2dvm.scope" },
		{ "/a b:c", "/a b:c" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), NAME_IS_PATH);
}

static void a_service_instance_is_an_id_unless_it_has_several_words(void **state)
{
	static const struct example examples[] = {
		{ "/user@1000.service/app.slice", "/user@{I}.service/app.slice" },
		{ "/system.slice/getty@tty1.service", "/system.slice/getty@{I}.service" },
		{ "/backup@db-main.service", "/backup@db-main.service" },
		{ "/backup@.service", "/backup@.service" },
		{ "/@x.service", "/@x.service" },
		{ "/x@inst.scope", "/x@inst.scope" },
		{ "/x@inst.services", "/x@inst.services" },
	};

	(void)state;
	assert_patterns(examples, ARRAY_SIZE(examples), NAME_IS_PATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_hex_tokens_become_placeholders),
		cmocka_unit_test(by_the_rule_of_ctprof_two_digits_are_hexadecimal),
		cmocka_unit_test(upper_case_hex_is_hex_and_mixed_case_is_a_word),
		cmocka_unit_test(a_busy_and_an_idle_kworker_have_one_pattern),
		cmocka_unit_test(a_uuid_is_one_id_whatever_its_digits_are),
		cmocka_unit_test(hex_ids_of_known_lengths_are_ids_even_without_letters),
		cmocka_unit_test(cgroups_of_one_template_have_one_pattern),
		cmocka_unit_test(a_service_instance_is_an_id_unless_it_has_several_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
