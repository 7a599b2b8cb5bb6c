/* SPDX-License-Identifier: MIT */
#include "collect/gpu/drm_devices.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"

#define CLASS "class/drm"
#define DEVICES_MAX 32
#define RENDER_PREFIX "renderD"
#define LINE_SIZE 256
#define NO_FILE "this driver does not report it"

/* Files of a device, as amdgpu has them; those of `hwmon` are in its only directory there. */
static const struct {
	const char *name;
	const char *file;
	uint64_t factor, divisor;
	bool is_hwmon;
} values[] = {
	{ "busy", "gpu_busy_percent", 100, 1, false },
	{ "memory_busy", "mem_busy_percent", 100, 1, false },
	{ "memory_used_bytes", "mem_info_vram_used", 1, 1, false },
	{ "memory_total_bytes", "mem_info_vram_total", 1, 1, false },
	{ "temperature_celsius", "temp1_input", 1, 1000, true },
	{ "power_milliwatts", "power1_average", 1, 1000, true },
};

struct device {
	struct capture *capture;
	int dir;		  /* its directory in sys */
	char hwmon[NAME_MAX + 8]; /* below it; "": none */
	char name[SHEET_NAME_SIZE / 2];
};

/* The lines of uevent: DRIVER=amdgpu, PCI_SLOT_NAME=0000:03:00.0. */
static bool find_line(const char *text, const char *key, char *ret, size_t size)
{
	const char *line = strstr(text, key);

	if (!line || (line != text && line[-1] != '\n'))
		return false;
	line += strlen(key);
	snprintf(ret, size, "%.*s", (int)strcspn(line, "\n"), line);
	return ret[0] != '\0';
}

static void find_hwmon(struct device *device)
{
	CLEANUP(close_fd) int dir = host_open_directory(device->dir, "hwmon");
	DIR *list = dir < 0 ? NULL : fdopendir(dir);
	const struct dirent *entry;

	if (!list)
		return;
	(void)TAKE_FD(dir);
	while ((entry = readdir(list)))
		if (strncmp(entry->d_name, "hwmon", 5) == 0) {
			snprintf(device->hwmon, sizeof(device->hwmon), "hwmon/%s", entry->d_name);
			break;
		}
	closedir(list);
}

static int note_value(struct device *device, size_t i)
{
	struct snapshot *snapshot = device->capture->snapshot;
	char path[NAME_MAX + 64], name[SHEET_NAME_SIZE];
	uint64_t number;
	bool is_known;

	snprintf(name, sizeof(name), "gpu %s %s", device->name, values[i].name);
	if (values[i].is_hwmon)
		snprintf(path, sizeof(path), "%s/%s", device->hwmon, values[i].file);
	else
		snprintf(path, sizeof(path), "%s", values[i].file);
	is_known = !(values[i].is_hwmon && !device->hwmon[0]) &&
		   host_read_number(device->dir, path, &number) &&
		   number <= UINT64_MAX / values[i].factor;
	if (!is_known)
		return sheet_set_absent(&snapshot->sheets[SHEET_HOST], name, NO_FILE);
	return snapshot_note_number(snapshot, SHEET_HOST, name,
				    number * values[i].factor / values[i].divisor);
}

static int note_device(struct device *device, const char *driver)
{
	char name[SHEET_NAME_SIZE];
	int status;

	find_hwmon(device);
	snprintf(name, sizeof(name), "gpu %s name", device->name);
	status = snapshot_note_text(device->capture->snapshot, SHEET_HOST, name, driver);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(values); i++)
		status = note_value(device, i);
	return status == -ENOMEM ? status : 0;
}

/* 1 when it is a device that counts, 0 when not, or -ENOMEM. */
static int read_device(struct capture *capture, const char *entry)
{
	CLEANUP(close_fd) int dir = -1;
	struct device device = { .capture = capture };
	char path[NAME_MAX + 32], text[4096], driver[LINE_SIZE];
	int status;

	snprintf(path, sizeof(path), CLASS "/%s/device", entry);
	dir = host_open_directory(capture->host->sys, path);
	device.dir = dir;
	if (dir < 0 || file_read(dir, "uevent", text, sizeof(text)) < 0 ||
	    !find_line(text, "DRIVER=", driver, sizeof(driver)) || strcmp(driver, "nvidia") == 0)
		return 0;
	if (!find_line(text, "PCI_SLOT_NAME=", device.name, sizeof(device.name)))
		snprintf(device.name, sizeof(device.name), "%.*s", (int)sizeof(device.name) - 1,
			 driver);
	status = note_device(&device, driver);
	return status < 0 ? status : 1;
}

int drm_devices_read(struct capture *capture)
{
	CLEANUP(close_fd) int dir = host_open_directory(capture->host->sys, CLASS);
	int count = 0, status = 0;
	DIR *list = dir < 0 ? NULL : fdopendir(dir);
	const struct dirent *entry;

	if (!list)
		return 0;
	(void)TAKE_FD(dir);
	while (status >= 0 && count < DEVICES_MAX && (entry = readdir(list)))
		if (strncmp(entry->d_name, RENDER_PREFIX, strlen(RENDER_PREFIX)) == 0) {
			status = read_device(capture, entry->d_name);
			count += status > 0;
		}
	closedir(list);
	return status < 0 ? status : count;
}
