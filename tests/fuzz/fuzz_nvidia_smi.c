/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/gpu/nvidia_smi.h"
#include "host/gpu/nvml.h"

/* Both answers of nvidia-smi, one after the other, with an empty line of its own between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_report report;
	char *text = fuzz_text(data, size), *processes = strstr(text, "\n\n");

	memset(&report, 0, sizeof(report));
	if (processes) {
		*processes = '\0';
		processes += 2;
	}
	nvidia_smi_parse_devices(text, &report);
	fuzz_require(report.device_count <= GPU_DEVICES_MAX);
	if (processes)
		nvidia_smi_parse_processes(processes, &report);
	fuzz_require(report.process_count <= GPU_PROCESSES_MAX);
	for (uint32_t i = 0; i < report.process_count; i++)
		fuzz_require(report.processes[i].device < report.device_count &&
			     report.processes[i].pid > 0 && report.processes[i].pid <= GPU_PID_MAX);
	fuzz_require(gpu_report_check(&report));
	free(text);
	return 0;
}
