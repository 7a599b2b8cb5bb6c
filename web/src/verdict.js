// SPDX-License-Identifier: MIT
// How it ended, and what limited it.
import { cpuOf, endingOf, reasons } from "./document.js";
import { element, figure } from "./dom.js";
import { format, plural } from "./units.js";

function subjectOf({ summary, processes }) {
	const nameOf = pid => processes.find(process => process.pid === pid)?.comm || "process";

	if (summary.mode === "attach")
		return (summary.pids ?? [summary.pid]).map(pid => `${nameOf(pid)} (pid ${pid})`).join(", ");
	return summary.cmd?.[0]?.replace(/^.*\/(?=.)/, "") ?? "run";
}

function outcome(summary) {
	if (summary.mode === "attach" && summary.exit_code === undefined && summary.signal === undefined)
		return summary.pids?.length > 1 ? "were watched" : "was watched";
	return summary.end === "timed_out" && summary.mode === "run" ? "ran out of its time (-d)" : endingOf(summary);
}

export function coresOf(summary) {
	const cpu = cpuOf(summary);
	return cpu === undefined || !summary.wall_ns ? null : (cpu + (summary.unseen_cpu_ns ?? 0)) / summary.wall_ns;
}

export function headline(page) {
	const { summary } = page,
		cores = coresOf(summary),
		subject = subjectOf(page);
	const peak = summary.tree_peak_rss_bytes !== undefined ? "tree_peak_rss_bytes" : "hiwater_rss_bytes";
	const least = key => (summary.at_least?.includes(key) ? "at least " : "");
	const facts = [
		["time", figure(summary, "wall_ns", "ns")],
		["processes", least("processes_ever"), figure(summary, "processes_ever", "count")],
		["threads", figure(summary, "threads_ever", "count")],
		[
			"cores busy",
			cores === null ? "–" : `${least("cpu_time_ns")}${format.real(cores)} of ${summary.online_cpus ?? "?"}`,
		],
		["peak memory", least("hiwater_rss_bytes"), figure(summary, peak, "bytes")],
		summary.failed || summary.signalled
			? [
					"failed",
					figure(summary, "failed", "count"),
					summary.signalled ? `, ${plural(summary.signalled, "signal")}` : null,
				]
			: null,
	];

	return {
		subject,
		element: element(
			"header",
			{},
			element("p", { class: "brand" }, "taskscope ", summary.mode),
			element("h1", {}, subject, " ", element("span", { class: "outcome" }, outcome(summary))),
			summary.cmd?.length > 1 ? element("p", { class: "command" }, summary.cmd.join(" ")) : null,
			element(
				"dl",
				{ class: "facts" },
				facts
					.filter(Boolean)
					.map(([name, ...values]) => element("div", {}, element("dt", {}, name), element("dd", {}, values)))
			),
			element(
				"p",
				{ class: "when" },
				new Date(summary.t0_ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }),
				summary.environment?.hostname ? ` on ${summary.environment.hostname}` : "",
				summary.environment?.kernel_release ? `, Linux ${summary.environment.kernel_release}` : ""
			)
		),
	};
}

// Where the time of all threads went, as one bar.
function wholeBar(page) {
	const { summary } = page,
		whole = summary.wall_time_ns;
	const parts = [{ id: "cpu", name: "on a CPU", key: "run_time_ns" }, ...reasons(page)]
		.filter(part => summary[part.key] > 0)
		.sort((a, b) => summary[b.key] - summary[a.key]);

	if (!whole || !parts.length) return null;
	return element(
		"figure",
		{ class: "whole" },
		element("figcaption", {}, "where the ", figure(summary, "wall_time_ns", "ns"), " of all threads went"),
		element(
			"div",
			{ class: "bar", "aria-hidden": "true" },
			parts.map(part =>
				element("span", {
					class: `kind kind-${part.id}`,
					style: { width: `${(100 * summary[part.key]) / whole}%` },
				})
			)
		),
		element(
			"ul",
			{ class: "key" },
			parts
				.filter(part => summary[part.key] >= whole / 200)
				.map(part =>
					element(
						"li",
						{},
						element("span", { class: `swatch kind kind-${part.id}` }),
						part.name,
						" ",
						figure(summary, part.key, "ns"),
						" ",
						element("span", { class: "quiet" }, format.share(summary[part.key] / whole))
					)
				)
		)
	);
}

function limitWords(found) {
	if (found.class === "idle") return found.cause === "none" ? "mostly idle" : "mostly idle: ";
	return found.class === "unknown" ? "no verdict" : "limited by ";
}

function deadlock(summary) {
	if (!summary.deadlock) return null;
	return [
		element("p", {}, element("strong", {}, "threads that wait for each other")),
		element(
			"ul",
			{ class: "evidence" },
			summary.deadlock.map(waiter =>
				element("li", {}, `${waiter.comm} ${waiter.tid} waits for ${waiter.waits_for}`)
			)
		),
	];
}

export function verdict(page) {
	const { summary } = page,
		found = summary.verdict;
	const sure = found?.confidence ? `${Math.round(found.confidence * 100)} % sure` : null;

	if (!found) return element("section", { id: "verdict", class: "verdict" }, wholeBar(page));
	return element(
		"section",
		{ id: "verdict", class: "verdict", "aria-label": "verdict" },
		element(
			"p",
			{ class: "cause" },
			limitWords(found),
			found.cause === "none" ? null : element("strong", {}, found.cause.replaceAll("_", " ")),
			found.who ? [", ", element("span", { class: "who" }, found.who)] : null,
			" ",
			found.class === "unknown"
				? null
				: element(
						"span",
						{ class: "quiet" },
						[found.class.replaceAll("_", " "), sure].filter(Boolean).join(", ")
					)
		),
		element(
			"ul",
			{ class: "evidence" },
			(found.evidence ?? []).map(line => element("li", {}, line))
		),
		deadlock(summary),
		found.hint && found.cause !== "none"
			? element("p", { class: "hint" }, element("strong", {}, "try "), found.hint)
			: null,
		wholeBar(page)
	);
}
