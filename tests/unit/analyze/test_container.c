/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/group/container.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"

#define ID "4fa6c1d0e2b39788a5c4d3e2f10a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f21"
#define OTHER "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define UID "d9ee8a7b-0b3e-4bd8-9a1d-9a9e1c9f7b11"
#define UID_ "d9ee8a7b_0b3e_4bd8_9a1d_9a9e1c9f7b11"
#define STATIC_UID "0a1b2c3d4e5f60718293a4b5c6d7e8f9"

struct example {
	const char *path;
	const char *runtime; /* NULL for none */
	const char *id;
	const char *unit;
	const char *pod;
};

static void check(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct example *example = &examples[i];
		struct container container;

		print_message("# %s\n", example->path);
		memset(&container, 0x55, sizeof(container));
		container_find(example->path, &container);
		if (example->runtime)
			assert_string_equal(container.runtime ? container.runtime : "none",
					    example->runtime);
		else
			assert_null(container.runtime);
		assert_string_equal(container.id, example->id ? example->id : "");
		assert_string_equal(container.unit, example->unit ? example->unit : "");
		assert_string_equal(container.pod, example->pod ? example->pod : "");
	}
}

#define CHECK(examples) check(examples, ARRAY_SIZE(examples))

/* clang-format off */
static void docker_by_either_driver(void **state)
{
	static const struct example examples[] = {
		{ "/docker/" ID, "docker", ID, NULL, NULL },
		{ "/system.slice/docker-" ID ".scope", "docker", ID, NULL, NULL },
		{ "/docker/" ID "/system.slice/nginx.service", "docker", ID, "nginx.service", NULL },
		{ "/docker/" ID "/init.scope", "docker", ID, NULL, NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", "docker", ID, NULL, NULL },
		{ "/actions_job/docker/" ID, "docker", ID, NULL, NULL },
		{ "/system.slice/docker.service/system.slice:docker:" ID, "docker", ID, NULL, NULL },
		{ "/ecs/9781c248-0edd-4cdb-9a93-f63cb662a5d3/" ID, "docker", ID, NULL, NULL },
		{ "/moby/" ID, "docker", ID, NULL, NULL },
		{ "/../../docker/" ID, "docker", ID, NULL, NULL },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID ".scope", "docker", ID, NULL, UID },
	};

	(void)state;
	CHECK(examples);
}

static void what_only_looks_like_docker_is_none(void **state)
{
	static const struct example examples[] = {
		{ "/system.slice/docker.service", NULL, NULL, "docker.service", NULL },
		{ "/docker", NULL, NULL, NULL, NULL },
		{ "/docker/", NULL, NULL, NULL, NULL },
		{ "/docker/buildkit", NULL, NULL, NULL, NULL },
		{ "/docker/" ID "00", NULL, NULL, NULL, NULL },
		{ "/docker/4fa6c1d0", NULL, NULL, NULL, NULL },
		{ "/system.slice/docker-.scope", NULL, NULL, "docker-.scope", NULL },
		{ "/system.slice/docker-registry.scope", NULL, NULL, "docker-registry.scope", NULL },
		{ "/mydocker/" ID, NULL, NULL, NULL, NULL },
		{ "docker/" ID, NULL, NULL, NULL, NULL },
		{ "/system.slice/system-docker\\x2dproxy.slice/docker-proxy@1.service", NULL, NULL, "docker-proxy@1.service", NULL },
	};

	(void)state;
	CHECK(examples);
}

static void podman_but_not_its_monitor(void **state)
{
	static const struct example examples[] = {
		{ "/machine.slice/libpod-" ID ".scope", "podman", ID, NULL, NULL },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman", ID, NULL, NULL },
		{ "/libpod_parent/libpod-" ID, "podman", ID, NULL, NULL },
		{ "/libpod_parent/" OTHER "/libpod-" ID, "podman", ID, NULL, NULL },
		{ "/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope", "podman", ID, NULL, NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container", "podman", ID, NULL, NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/web.service/libpod-payload-" ID, "podman", ID, NULL, NULL },
		{ "/machine.slice/libpod-" ID ".scope/container/system.slice/httpd.service", "podman", ID, "httpd.service", NULL },
		{ "/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, "libpod-conmon-" ID ".scope", NULL },
		{ "/libpod_parent/conmon", NULL, NULL, NULL, NULL },
	};

	(void)state;
	CHECK(examples);
}

static void kubernetes_by_every_runtime_and_driver(void **state)
{
	static const struct example examples[] = {
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, NULL, UID },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, NULL, UID },
		{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, NULL, UID },
		{ "/kubepods/burstable/pod" UID "/" ID, "containerd", ID, NULL, UID },
		{ "/kubepods/pod" UID "/" ID, "containerd", ID, NULL, UID },
		{ "/kubepods/besteffort/pod" STATIC_UID "/" ID, "containerd", ID, NULL, STATIC_UID },
		{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID, "containerd", ID, NULL, UID },
		{ "/kubepods-besteffort-pod" UID_ ".slice:cri-containerd:" ID, "containerd", ID, NULL, UID },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID ".scope", "cri-o", ID, NULL, UID },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID ".scope/container", "cri-o", ID, NULL, UID },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-conmon-" ID ".scope", NULL, NULL, "crio-conmon-" ID ".scope", UID },
		{ "/kubepods/besteffort/pod" UID "/crio-" ID, "cri-o", ID, NULL, UID },
		{ "/kubepods/besteffort/pod" UID "/crio-conmon-" ID, NULL, NULL, NULL, UID },
		{ "/kubepods/besteffort/pod" UID, NULL, NULL, NULL, UID },
		{ "/kubepods.slice", NULL, NULL, NULL, NULL },
		{ "/kubepods/podsnothing", NULL, NULL, NULL, NULL },
		{ "/system.slice/kubelet.service", NULL, NULL, "kubelet.service", NULL },
	};

	(void)state;
	CHECK(examples);
}

static void containerd_without_kubernetes(void **state)
{
	static const struct example examples[] = {
		{ "/system.slice/nerdctl-" ID ".scope", "containerd", ID, NULL, NULL },
		{ "/default/" ID, "containerd", ID, NULL, NULL },
		{ "/k8s.io/" ID, "containerd", ID, NULL, NULL },
		{ "/default/my-shell", NULL, NULL, NULL, NULL },
		{ "/system.slice/containerd.service", NULL, NULL, "containerd.service", NULL },
	};

	(void)state;
	CHECK(examples);
}

static void machines_and_lxc_have_names(void **state)
{
	static const struct example examples[] = {
		{ "/lxc/web1", "lxc", "web1", NULL, NULL },
		{ "/lxc/101/ns/system.slice/ssh.service", "lxc", "101", "ssh.service", NULL },
		{ "/lxc.payload.web1", "lxc", "web1", NULL, NULL },
		{ "/lxc.payload.web1/init.scope", "lxc", "web1", NULL, NULL },
		{ "/lxc.payload/web1/user.slice", "lxc", "web1", NULL, NULL },
		{ "/lxc.monitor.web1", NULL, NULL, NULL, NULL },
		{ "/lxc.monitor/web1", NULL, NULL, NULL, NULL },
		{ "/lxc", NULL, NULL, NULL, NULL },
		{ "/lxc.payload.", NULL, NULL, NULL, NULL },
		{ "/machine.slice/machine-debian.scope", "systemd-nspawn", "debian", NULL, NULL },
		{ "/machine.slice/machine-my\\x2dbox.scope/payload/system.slice/cron.service", "systemd-nspawn", "my-box", "cron.service", NULL },
		{ "/machine.slice/systemd-nspawn@web.service/payload/init.scope", "systemd-nspawn", "web", NULL, NULL },
		{ "/machine.slice/systemd-nspawn@web.service/supervisor", NULL, NULL, "systemd-nspawn@web.service", NULL },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "libvirt-qemu", "1-vm", NULL, NULL },
		{ "/machine.slice/machine-lxc\\x2d77\\x2dbox.scope", "libvirt-lxc", "77-box", NULL, NULL },
		{ "/machine.slice", NULL, NULL, NULL, NULL },
		{ "/machine.slice/machine-.scope", NULL, NULL, "machine-.scope", NULL },
		{ "/machine.slice/machine-a\\x2.scope", "systemd-nspawn", "a\\x2", NULL, NULL },
		{ "/machine.slice/machine-a\\x00b.scope", "systemd-nspawn", "a\\x00b", NULL, NULL },
	};

	(void)state;
	CHECK(examples);
}

static void units_of_systemd(void **state)
{
	static const struct example examples[] = {
		{ "/", NULL, NULL, NULL, NULL },
		{ "", NULL, NULL, NULL, NULL },
		{ "/init.scope", NULL, NULL, "init.scope", NULL },
		{ "/system.slice/ssh.service", NULL, NULL, "ssh.service", NULL },
		{ "/system.slice/system-getty.slice/getty@tty1.service", NULL, NULL, "getty@tty1.service", NULL },
		{ "/system.slice/system-serial\\x2dgetty.slice/serial-getty@ttyS0.service", NULL, NULL, "serial-getty@ttyS0.service", NULL },
		{ "/system.slice/dev-disk-by\\x2dlabel-swap.swap", NULL, NULL, "dev-disk-by\\x2dlabel-swap.swap", NULL },
		{ "/user.slice/user-1000.slice/session-2.scope", NULL, NULL, "session-2.scope", NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", NULL, NULL, "user@1000.service", NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-" UID ".scope", NULL, NULL, "vte-spawn-" UID ".scope", NULL },
		{ "/system.slice/app.service/workers/one", NULL, NULL, "app.service", NULL },
		{ "/system.slice/_cgroup.service", NULL, NULL, "cgroup.service", NULL },
		{ "/user.slice/user-1000.slice", NULL, NULL, NULL, NULL },
		{ "/system.slice/.service", NULL, NULL, NULL, NULL },
		{ "//system.slice//x.service//", NULL, NULL, "x.service", NULL },
	};

	(void)state;
	CHECK(examples);
}

static void the_innermost_wins(void **state)
{
	static const struct example examples[] = {
		{ "/docker/" OTHER "/docker/" ID, "docker", ID, NULL, NULL },
		{ "/docker/" OTHER "/kubepods/besteffort/pod" UID "/" ID, "containerd", ID, NULL, UID },
		{ "/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope/app.service", "containerd", ID, "app.service", UID },
		{ "/lxc.payload.host/system.slice/docker-" ID ".scope", "docker", ID, NULL, NULL },
		{ "/system.slice/docker-" ID ".scope/lxc/inner", "lxc", "inner", NULL, NULL },
		{ "/system.slice/runner.service/docker/" ID, "docker", ID, NULL, NULL },
	};

	(void)state;
	CHECK(examples);
}
/* clang-format on */

static void a_name_that_is_too_long_is_none(void **state)
{
	char path[1024] = "/lxc/";
	struct container container;

	(void)state;
	memset(path + 5, 'x', 255);
	container_find(path, &container);
	assert_int_equal(strlen(container.id), 255);
	path[5 + 255] = 'x';
	container_find(path, &container);
	assert_null(container.runtime);
	assert_string_equal(container.id, "");
	memcpy(path + 700, ".service", 9);
	memset(path + 5, 'x', 695);
	container_find(path, &container);
	assert_string_equal(container.unit, "");
}

static void people_are_told_a_short_name(void **state)
{
	static const char *const names[][2] = {
		{ "/docker/" ID, "docker 4fa6c1d0e2b3" },
		{ "/lxc/a-long-name-of-a-container", "lxc a-long-name-of-a-container" },
		{ "/docker/" ID "/system.slice/a.service", "docker 4fa6c1d0e2b3" },
		{ "/system.slice/a.service/b", "a.service" },
		{ "/user.slice", "/user.slice" },
		{ "/", "/" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(text_free) struct text name = { 0 };

		container_append_name(names[i][0], &name);
		assert_string_equal(text_string(&name), names[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docker_by_either_driver),
		cmocka_unit_test(what_only_looks_like_docker_is_none),
		cmocka_unit_test(podman_but_not_its_monitor),
		cmocka_unit_test(kubernetes_by_every_runtime_and_driver),
		cmocka_unit_test(containerd_without_kubernetes),
		cmocka_unit_test(machines_and_lxc_have_names),
		cmocka_unit_test(units_of_systemd),
		cmocka_unit_test(the_innermost_wins),
		cmocka_unit_test(a_name_that_is_too_long_is_none),
		cmocka_unit_test(people_are_told_a_short_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
