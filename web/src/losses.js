// SPDX-License-Identifier: MIT
// What was lost, what could not be measured, and what watching cost.
import { element, figure, section } from "./dom.js";
import { format, plural } from "./units.js";

function runLosses(page) {
	return Object.entries(page.summary.losses ?? {})
		.filter(([, count]) => count > 0)
		.map(([key]) =>
			element(
				"li",
				{},
				figure(page.summary, `losses.${key}`, "exact"),
				" ",
				page.loss_words?.[key] ?? key.replaceAll("_", " ")
			)
		);
}

function stackLosses(profile) {
	const { losses, sums } = profile,
		lines = [];
	for (const kind of ["on-cpu", "off-cpu"]) {
		const sum = sums[kind];
		if (!sum.ns) continue;
		lines.push(
			`${kind === "on-cpu" ? "on the CPU" : "off the CPU"}: complete stacks for ${format.share(sum.complete_ns / sum.ns)} of ` +
				`${format.ns(sum.ns)}, none for ${format.share(sum.missing_ns / sum.ns)}` +
				(sum.inferred_ns
					? `, inferred from the last block alike ${format.share(sum.inferred_ns / sum.ns)}`
					: "")
		);
	}
	const told = [
		["dropped", "stack that found no room", "stacks that found no room"],
		["unread", "user stack that could not be read", "user stacks that could not be read"],
		["truncated", "stack whose outermost frames are missing", "stacks whose outermost frames are missing"],
		["bad_files", "program or library that could not be read", "programs and libraries that could not be read"],
		["mappings", "record of a mapping that found no room", "records of mappings that found no room"],
		["unseen", "end of a long wait that was not seen", "ends of long waits that were not seen"],
		["refused", "question about a slow user's files", "questions about slow users' files"],
		["wakers", "stack of a waker that was left out", "stacks of wakers that were left out"],
		["cut", "stack that was cut for want of room", "stacks that were cut for want of room"],
		["folded", "sample without its stack for want of room", "samples without their stacks for want of room"],
	];
	return [
		...lines,
		...told.filter(([key]) => losses[key]).map(([key, one, many]) => plural(losses[key], one, many)),
	].map(line => element("li", {}, line));
}

export function lossSection(page) {
	const { summary } = page,
		lost = runLosses(page);
	const absent = (summary.sources ?? []).filter(({ state }) => state !== "ok");
	const self = summary.self;

	return section(
		"losses",
		"What was lost",
		lost.length
			? element("ul", {}, lost)
			: element("p", {}, "Of the events and accounts of this run, nothing was lost."),
		page.profile ? [element("h3", {}, "Stacks"), element("ul", {}, stackLosses(page.profile))] : null,
		summary.tracer_misses
			? element("p", {}, `the ${summary.tracer} tracer can miss: ${summary.tracer_misses}`)
			: null,
		absent.length
			? [
					element("h3", {}, "Not measured, or not all of it"),
					element(
						"dl",
						{ class: "sources" },
						absent.map(source =>
							element(
								"div",
								{},
								element(
									"dt",
									{},
									source.name.replaceAll("_", " "),
									" ",
									element("span", { class: "quiet" }, source.state)
								),
								element("dd", {}, source.reason ?? "")
							)
						)
					),
				]
			: null,
		self
			? element(
					"p",
					{ class: "note" },
					"watching took ",
					figure(summary, "self.cpu_time_ns", "ns"),
					" of CPU time and ",
					figure(summary, "self.hiwater_rss_bytes", "bytes"),
					" of memory"
				)
			: null
	);
}
