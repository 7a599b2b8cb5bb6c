// SPDX-License-Identifier: MIT
// GPUs: what all of them did meanwhile, and what each process used.
import { element, figure, section, table } from "./dom.js";

const HOST = [
	["tree_memory_peak_bytes", "this held at most ", "bytes", ""],
	["tree_time_ns", "engines worked ", "ns", " for it"],
	["busy_peak_percent", "the busiest was at most ", "exact", " % busy"],
	["memory_used_peak_bytes", "all held at most ", "bytes", ""],
];

function lead(summary) {
	const told = HOST.filter(([key]) => summary.gpu[key] !== undefined);
	return element(
		"p",
		{ class: "lead" },
		told.flatMap(([key, before, unit, after], i) => [
			(i ? ", " : "") + before,
			figure(summary, `gpu.${key}`, unit),
			after,
		])
	);
}

// Without --gpu there is nothing to say; where nothing answered, "What was lost" has the reason.
export function gpuSection(page) {
	const { summary } = page;
	if (!summary.gpu) return null;
	const rows = (summary.gpu.processes ?? []).map((user, i) => ({ ...user, at: `gpu.processes.${i}` }));
	const number = (title, key, unit) => ({
		title,
		number: true,
		sort: row => row[key],
		cell: row => figure(summary, `${row.at}.${key}`, unit),
	});

	return section(
		"gpu",
		"GPUs",
		lead(summary),
		rows.length
			? table(
					[
						{ title: "process", class: "name", sort: row => row.comm, cell: row => row.comm },
						number("pid", "pid", "exact"),
						number("most held", "memory_peak_bytes", "bytes"),
						number("most of one, %", "busy_peak_percent", "exact"),
						number("time of engines", "time_ns", "ns"),
					],
					rows,
					{ limit: 12, label: "processes that used GPUs" }
				)
			: element("p", { class: "note" }, "no process of this run was seen to use one"),
		summary.gpu.processes_omitted
			? element("p", { class: "note" }, figure(summary, "gpu.processes_omitted", "count"), " more are not listed")
			: null
	);
}
