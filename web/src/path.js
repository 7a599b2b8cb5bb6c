// SPDX-License-Identifier: MIT
// The critical path, drawn over time: a lane for each thread that the run hung on.
import { across, axis, segmentStrip } from "./axis.js";
import { threadKey } from "./document.js";
import { element, figure, section, table } from "./dom.js";
import { format, plural } from "./units.js";

const LANES = 8;
const words = kind => (kind === "cpu" ? "on a CPU" : kind.replaceAll("_", " "));

function nameThreads(page) {
	const names = new Map(page.processes.map(process => [`${process.pid}`, process.comm]));
	for (const thread of page.summary.threads) {
		const process = names.get(String(thread.pid));
		names.set(threadKey(thread), process && process !== thread.comm ? `${thread.comm} of ${process}` : thread.comm);
	}
	return segment =>
		segment.pid
			? (names.get(threadKey(segment)) ?? names.get(String(segment.pid)) ?? `pid ${segment.pid}`)
			: "a short-lived thread";
}

function lanesOf(segments, nameOf) {
	const lanes = new Map();
	for (const segment of segments) {
		const key = segment.pid ? threadKey(segment) : "";
		const lane = lanes.get(key) ?? {
			name: nameOf(segment),
			pid: segment.pid,
			tid: segment.tid,
			ns: 0,
			segments: [],
		};
		lane.ns += segment.end_ns - segment.begin_ns;
		lane.segments.push(segment);
		lanes.set(key, lane);
	}
	const sorted = [...lanes.values()].sort((a, b) => b.ns - a.ns);
	const rest = sorted.splice(LANES);
	if (rest.length)
		sorted.push({
			name: plural(rest.length, "other thread"),
			segments: rest.flatMap(lane => lane.segments),
			ns: rest.reduce((sum, lane) => sum + lane.ns, 0),
		});
	return sorted;
}

function drawLane(lane, wall) {
	return element(
		"div",
		{ class: "lane" },
		element("span", { class: "label", title: lane.tid ? `tid ${lane.tid}` : null }, lane.name),
		element(
			"div",
			{ class: "track" },
			lane.segments.map(segment =>
				element("span", {
					class: `kind kind-${segment.kind}`,
					style: across(wall, segment.begin_ns, segment.end_ns),
					title:
						`${lane.name}: ${words(segment.kind)} ${format.ns(segment.end_ns - segment.begin_ns)}, from ` +
						`${format.ns(segment.begin_ns)} on${segment.via ? `, via ${segment.via}` : ""}`,
				})
			)
		)
	);
}

function stripLane(summary) {
	const strip = segmentStrip(summary);
	return strip
		? element("div", { class: "lane" }, element("span", { class: "label quiet" }, "stretches"), strip)
		: null;
}

// A program that a script is part of is called by both: "sh build.sh".
const isOwnName = ({ thread, program }) => !thread || `${program} `.startsWith(`${thread} `);

function partTable(summary) {
	const rows = summary.critical_path.by.map((part, i) => ({ part, at: `critical_path.by.${i}` }));
	return table(
		[
			{
				title: "program",
				cell: ({ part }) => (isOwnName(part) ? part.program : `${part.thread} of ${part.program}`),
				class: "name",
			},
			{
				title: "does",
				cell: ({ part }) => [element("span", { class: `swatch kind kind-${part.kind}` }), words(part.kind)],
			},
			{
				title: "time",
				number: true,
				sort: ({ part }) => part.ns,
				cell: ({ at }) => figure(summary, `${at}.ns`, "ns"),
			},
			{ title: "share", number: true, cell: ({ at }) => figure(summary, `${at}.share`, "share") },
			{ title: "via", cell: ({ part }) => part.via ?? "" },
			{ title: "command", cell: ({ part }) => part.command ?? "", class: "command" },
		],
		rows,
		{ limit: 8, label: "parts of the critical path" }
	);
}

export function pathSection(page) {
	const { summary } = page,
		path = summary.critical_path;
	if (!path) {
		const source = summary.sources?.find(({ name }) => name === "critical_path");
		return section(
			"path",
			"Critical path",
			element("p", { class: "note" }, `not known${source?.reason ? `: ${source.reason}` : ""}`)
		);
	}
	const segments = path.segments ?? [];
	const drawn = segments.reduce((sum, segment) => sum + segment.end_ns - segment.begin_ns, 0);
	const lanes = lanesOf(segments, nameThreads(page));

	return section(
		"path",
		"Critical path",
		element(
			"p",
			{ class: "lead" },
			"what the ",
			figure(summary, "critical_path.total_ns", "ns"),
			" hung on, ",
			"from start to end"
		),
		segments.length
			? element(
					"figure",
					{ class: "lanes" },
					stripLane(summary),
					lanes.map(lane => drawLane(lane, path.total_ns)),
					element("div", { class: "lane" }, element("span", { class: "label" }), axis(path.total_ns)),
					path.segments_omitted
						? element(
								"figcaption",
								{},
								`the ${segments.length} longest stretches, `,
								format.share(drawn / path.total_ns),
								" of the path; ",
								plural(path.segments_omitted, "shorter one"),
								" in between"
							)
						: null
				)
			: null,
		partTable(summary)
	);
}
