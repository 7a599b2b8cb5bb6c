// SPDX-License-Identifier: MIT
// The page of a comparison: what changed, and where in the code.  Time is compared as a share of its own run.
import { choice, element, section, table } from "./dom.js";
import { choicesFor, CHOICES } from "./flame.js";
import { FlameChart } from "./flame_chart.js";
import { below, buildTree, byFunction, finish, namedFrames, newNode } from "./flame_tree.js";
import { footer, navigation } from "./run.js";
import { format } from "./units.js";
import { coresOf } from "./verdict.js";

const points = value => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${(Math.abs(value) * 100).toFixed(2)} points`;
const middle = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const signed = (value, show) => (value > 0 ? `+${show(value)}` : value < 0 ? `−${show(-value)}` : show(0));

// Trees of all runs of a side become one, by the names of functions; `add` says what a value adds to a node.
function mergeInto(top, tree, add) {
	const stack = [[top, tree]];
	while (stack.length) {
		const [into, from] = stack.pop();
		into.before ??= 0;
		add(into, from.value);
		for (const child of from.children)
			stack.push([below(into, `${child.frame.kind}\n${child.frame.name}`, child.frame), child]);
	}
}

function mergedTree(before, after) {
	const top = newNode(after[0].frame);
	before.forEach(tree =>
		mergeInto(top, tree, (node, ns) => {
			node.before += ns;
		})
	);
	after.forEach(tree =>
		mergeInto(top, tree, (node, ns) => {
			node.value += ns;
		})
	);
	return finish(top);
}

// Red where it grew, blue where it shrank, the stronger the more; a sign says the same in words.
function paint(top) {
	const stack = [top];
	while (stack.length) {
		const node = stack.pop();
		node.change = share(node.value, top.value) - share(node.before, top.before);
		const strength = Math.min(1, Math.abs(node.change) / 0.1),
			light = 88 - 30 * strength;
		node.fill =
			Math.abs(node.change) < 0.001
				? "#d9d9d4"
				: `hsl(${node.change > 0 ? 8 : 212} ${35 + 45 * strength}% ${light}%)`;
		node.label = `${node.change >= 0.001 ? "▲ " : node.change <= -0.001 ? "▼ " : ""}${node.frame.name}`;
		stack.push(...node.children);
	}
	return top;
}

const share = (part, whole) => (whole ? part / whole : 0);

function functionChanges(before, after) {
	const rows = new Map(),
		whole = { before: 0, after: 0 };
	for (const [side, trees] of [
		["before", before],
		["after", after],
	])
		for (const tree of trees) {
			whole[side] += tree.value;
			for (const { frame, self, total } of byFunction(tree)) {
				const row = rows.get(frame.name) ?? {
					name: frame.name,
					before: 0,
					after: 0,
					totalBefore: 0,
					totalAfter: 0,
				};
				row[side] += self;
				row[side === "before" ? "totalBefore" : "totalAfter"] += total;
				rows.set(frame.name, row);
			}
		}
	return [...rows.values()]
		.map(row => ({
			...row,
			from: share(row.before, whole.before),
			to: share(row.after, whole.after),
			totalFrom: share(row.totalBefore, whole.before),
			totalTo: share(row.totalAfter, whole.after),
		}))
		.map(row => ({ ...row, change: row.to - row.from }));
}

function changeTable(rows, label, onPick) {
	return table(
		[
			{
				title: "function",
				class: "name",
				cell: row =>
					element("button", { type: "button", class: "link", onclick: () => onPick(row.name) }, row.name),
			},
			{ title: "itself before", number: true, cell: row => format.share(row.from) },
			{ title: "after", number: true, cell: row => format.share(row.to) },
			{ title: "change", number: true, sort: row => row.change, cell: row => points(row.change) },
			{
				title: "with what it calls",
				number: true,
				cell: row => `${format.share(row.totalFrom)} → ${format.share(row.totalTo)}`,
			},
		],
		rows,
		{ limit: 12, label }
	);
}

function profilesOf(runs) {
	return runs
		.filter(({ profile }) => profile?.samples.ns.length)
		.map(({ profile }) => ({ profile, named: namedFrames(profile, false) }));
}

function flameDifference(page) {
	const before = profilesOf(page.before),
		after = profilesOf(page.after);
	if (!before.length || !after.length)
		return section(
			"flames",
			"Where in the code",
			element(
				"p",
				{ class: "note" },
				`no stacks were taken ${before.length ? "after" : after.length ? "before" : "on either side"}`
			)
		);
	const chart = new FlameChart(
		({ data }) =>
			`${data.frame.name}: ${format.share(share(data.before, state.whole.before))} before, ` +
			`${format.share(share(data.value, state.whole.value))} after, ${points(data.change)}`
	);
	const state = { which: "on-cpu", whole: null },
		grown = element("div"),
		shrunk = element("div");

	function draw() {
		const trees = side =>
			side.map(({ profile, named }) => buildTree(profile, named, { kinds: CHOICES[state.which] }));
		const from = trees(before),
			to = trees(after);
		state.whole = paint(mergedTree(from, to));
		chart.draw(state.whole);
		const rows = functionChanges(from, to),
			pick = name => {
				chart.search.value = name;
				chart.find(name);
			};
		grown.replaceChildren(
			changeTable(
				rows.filter(({ change }) => change > 0).sort((a, b) => b.change - a.change),
				"functions that grew",
				pick
			)
		);
		shrunk.replaceChildren(
			changeTable(
				rows.filter(({ change }) => change < 0).sort((a, b) => a.change - b.change),
				"functions that shrank",
				pick
			)
		);
	}
	const made = section(
		"flames",
		"Where in the code",
		element(
			"p",
			{ class: "lead" },
			"width is the time after; ▲ and red: a larger share of its run than before, ▼ and blue: a smaller one"
		),
		element(
			"p",
			{ class: "controls" },
			choice("which time", choicesFor({}), state.which, which => {
				state.which = which;
				draw();
			}),
			chart.search,
			chart.reset,
			chart.found
		),
		chart.place,
		chart.details,
		element("h3", {}, "Grew most"),
		grown,
		element("h3", {}, "Shrank most"),
		shrunk
	);
	made.addEventListener("placed", draw);
	return made;
}

const UNITS = { ns: "ns", bytes: "bytes", count: "count" };

function valueText(value, unit) {
	if (value === undefined || value === null) return "–";
	if (typeof value === "object") return `${valueText(value.min, unit)} to ${valueText(value.max, unit)}`;
	return typeof value === "number" ? format[UNITS[unit] ?? "real"](value) : String(value);
}

function rowTable(comparison) {
	return table(
		[
			{ title: "group", class: "name", sort: row => row.group, cell: row => row.group },
			{ title: "metric", sort: row => row.metric, cell: row => row.metric },
			{ title: "before", number: true, cell: row => valueText(row.before, row.unit) },
			{ title: "after", number: true, cell: row => valueText(row.after, row.unit) },
			{
				title: "change",
				number: true,
				sort: row => Math.abs(row.delta ?? 0),
				cell: row =>
					typeof row.delta === "number" ? signed(row.delta, value => valueText(value, row.unit)) : row.state,
			},
			{
				title: "%",
				number: true,
				cell: row =>
					typeof row.delta === "number" && typeof row.before === "number" && row.before
						? signed(row.delta / row.before, format.share)
						: "",
			},
		],
		comparison.rows,
		{ limit: 20, label: "what changed" }
	);
}

function digest(page) {
	const figures = [
		["time", summary => summary.wall_ns, format.ns],
		["CPU time", summary => summary.run_time_ns ?? summary.cpu_time_ns, format.ns],
		["cores busy", coresOf, format.real],
		["costly waits", summary => summary.wait_costly_ns, format.ns],
		["peak memory", summary => summary.tree_peak_rss_bytes ?? summary.hiwater_rss_bytes, format.bytes],
		["processes", summary => summary.processes_ever, format.count],
		["read from disk", summary => summary.read_bytes, format.bytes],
		["written to disk", summary => summary.write_bytes, format.bytes],
	];
	const of = (runs, get) => {
		const values = runs.map(({ summary }) => get(summary)).filter(value => value !== undefined && value !== null);
		return values.length ? middle(values) : null;
	};
	const rows = figures
		.map(([name, get, show]) => ({ name, show, before: of(page.before, get), after: of(page.after, get) }))
		.filter(row => row.before !== null || row.after !== null);
	const cell = (row, side) =>
		row[side] === null
			? "–"
			: element("data", { value: String(row[side]), "data-name": `${side} ${row.name}` }, row.show(row[side]));
	return table(
		[
			{ title: page.before.length + page.after.length > 2 ? "middle run" : "figure", cell: row => row.name },
			{ title: "before", number: true, cell: row => cell(row, "before") },
			{ title: "after", number: true, cell: row => cell(row, "after") },
			{
				title: "change",
				number: true,
				cell: row =>
					row.before === null || row.after === null ? "" : signed(row.after - row.before, row.show),
			},
			{
				title: "%",
				number: true,
				cell: row => (row.before ? signed((row.after - row.before) / row.before, format.share) : ""),
			},
		],
		rows,
		{ limit: 20, label: "the runs as a whole" }
	);
}

function verdicts(page) {
	const told = runs =>
		[...new Set(runs.map(({ summary }) => summary.verdict?.cause?.replaceAll("_", " ")).filter(Boolean))].join(
			", "
		) || "unknown";
	return element(
		"p",
		{ class: "cause" },
		"limited by ",
		element("strong", {}, told(page.before)),
		" before, by ",
		element("strong", {}, told(page.after)),
		" after"
	);
}

function filesOf(side) {
	const names = side.map(({ file }) => file ?? "now");
	return element("span", { title: names.join(", ") }, names.map(name => name.replace(/^.*\/(?=.)/, "")).join(", "));
}

export function drawComparison(page, place) {
	const { comparison } = page;
	const notes = [
		...(comparison.notes ?? []),
		...(comparison.host_changes ?? []).map(
			change =>
				`${change.name.replaceAll("_", " ")} differs: ${change.before ?? "–"} before, ${change.after ?? "–"} after`
		),
	];
	const parts = [
		flameDifference(page),
		section(
			"rows",
			"What changed",
			comparison.rows.length ? rowTable(comparison) : element("p", { class: "note" }, "no metric of any program")
		),
	];

	document.title = "comparison – taskscope";
	place.append(
		element(
			"header",
			{},
			element("p", { class: "brand" }, "taskscope compare"),
			element(
				"h1",
				{},
				filesOf(comparison.before),
				" ",
				element("span", { class: "outcome" }, "→"),
				" ",
				filesOf(comparison.after)
			)
		),
		element(
			"section",
			{ class: "verdict", id: "verdict", "aria-label": "in short" },
			verdicts(page),
			digest(page),
			notes.length
				? element(
						"details",
						{},
						element("summary", {}, "notes"),
						element(
							"ul",
							{ class: "evidence" },
							notes.map(note => element("li", {}, note))
						)
					)
				: null
		),
		navigation(parts),
		...parts,
		footer(page)
	);
	parts.forEach(part => part.dispatchEvent(new Event("placed")));
}
