// SPDX-License-Identifier: MIT
// The tree of processes, each with a bar from its begin to its end.
import { across, axis, segmentStrip } from "./axis.js";
import { commandOf, cpuOf, endingOf, failed } from "./document.js";
import { element, section } from "./dom.js";
import { format, plural } from "./units.js";

const ROWS = 60;

// Of processes that had the same number, the parent is the one that lived when the child began.
function buildTree(processes) {
	const byPid = new Map();
	const nodes = processes.map(process => ({
		process,
		end: process.begin_ns + process.wall_ns,
		children: [],
		parent: null,
	}));
	for (const node of nodes) byPid.set(node.process.pid, [...(byPid.get(node.process.pid) ?? []), node]);
	for (const node of nodes) {
		const begin = node.process.begin_ns;
		const parents = (byPid.get(node.process.ppid) ?? []).filter(
			parent => parent !== node && parent.process.begin_ns <= begin && parent.end >= begin
		);
		node.parent = parents.at(-1) ?? null;
		node.parent?.children.push(node);
	}
	return nodes;
}

function inOrder(nodes) {
	const rows = [],
		begins = (a, b) => a.process.begin_ns - b.process.begin_ns || a.process.pid - b.process.pid;
	const stack = nodes
		.filter(node => !node.parent)
		.sort(begins)
		.reverse()
		.map(node => [node, 0]);
	while (stack.length) {
		const [node, depth] = stack.pop();
		rows.push({ node, depth });
		node.children
			.sort(begins)
			.reverse()
			.forEach(child => stack.push([child, depth + 1]));
	}
	return rows;
}

// Those with the most to say, with their parents: failures, then CPU time and length.
function chooseRows(nodes, most) {
	const weight = ({ process }) => (failed(process) ? 1e18 : 0) + (cpuOf(process) ?? 0) + process.wall_ns;
	const chosen = new Set();
	for (const node of [...nodes].sort((a, b) => weight(b) - weight(a))) {
		for (let at = node; at && !chosen.has(at); at = at.parent) chosen.add(at);
		if (chosen.size >= most) break;
	}
	return chosen;
}

function drawRow({ node, depth }, wall) {
	const { process } = node,
		bad = failed(process);
	const told =
		`${commandOf(process)}\n${endingOf(process)} after ${format.ns(process.wall_ns)}` +
		(cpuOf(process) === undefined ? "" : `, ${format.ns(cpuOf(process))} on a CPU`);
	return element(
		"div",
		{ class: bad ? "lane process bad" : "lane process", role: "listitem", title: told },
		element(
			"span",
			{ class: "label", style: { paddingLeft: `${Math.min(depth, 12) * 0.7}em` } },
			process.comm,
			" ",
			element("span", { class: "quiet" }, String(process.pid))
		),
		element(
			"div",
			{ class: "track" },
			element("span", { class: "life-bar", style: across(wall, process.begin_ns, node.end) })
		),
		element("span", { class: "number cpu" }, cpuOf(process) === undefined ? "–" : format.ns(cpuOf(process))),
		element("span", { class: "ending" }, bad || process.running ? endingOf(process) : "")
	);
}

function stripLane(summary) {
	const strip = segmentStrip(summary),
		empty = ["number cpu", "ending"].map(name => element("span", { class: name }));
	return strip
		? element(
				"div",
				{ class: "lane process" },
				element("span", { class: "label quiet" }, "stretches"),
				strip,
				empty
			)
		: null;
}

export function processSection(page) {
	const wall = Math.max(1, page.summary.wall_ns),
		nodes = buildTree(page.processes),
		rows = inOrder(nodes);
	const list = element("div", { class: "lanes", role: "list" }),
		state = { all: rows.length <= ROWS, term: "" };
	const more = element(
		"button",
		{
			type: "button",
			class: "more",
			onclick: () => {
				state.all = true;
				draw();
			},
		},
		`show all ${rows.length}`
	);
	const filter = element("input", {
		type: "search",
		id: "process-search",
		placeholder: "name or command",
		oninput: () => {
			state.term = filter.value.toLowerCase();
			draw();
		},
	});
	const folded = page.summary.processes_folded ?? 0;

	function shown() {
		if (state.term)
			return rows.filter(
				({ node }) =>
					commandOf(node.process).toLowerCase().includes(state.term) ||
					node.process.comm.toLowerCase().includes(state.term)
			);
		const chosen = state.all ? null : chooseRows(nodes, ROWS);
		return chosen ? rows.filter(({ node }) => chosen.has(node)) : rows;
	}
	function draw() {
		const drawn = shown();
		list.replaceChildren(...drawn.map(row => drawRow(row, wall)));
		more.hidden = state.all || Boolean(state.term);
	}
	draw();
	return section(
		"processes",
		"Processes",
		element(
			"p",
			{ class: "lead" },
			plural(page.summary.processes_ever, "process", "processes"),
			", from begin to end; ",
			"the number is time on a CPU",
			folded ? `; ${folded} short ones are only in the sums` : ""
		),
		rows.length > 12
			? element("p", { class: "controls" }, element("label", { for: "process-search" }, "find "), filter)
			: null,
		element(
			"figure",
			{},
			stripLane(page.summary),
			list,
			element(
				"div",
				{ class: "lane process" },
				element("span", { class: "label" }),
				axis(wall),
				element("span", { class: "number cpu" }),
				element("span", { class: "ending" })
			)
		),
		more,
		eventList(page)
	);
}

function eventList(page) {
	const told = page.events.filter(({ event }) => event === "signal" || event === "oom_kill");
	if (!told.length) return null;
	const names = new Map(page.processes.map(({ pid, comm }) => [pid, comm])),
		nameOf = pid => `${names.get(pid) ?? "pid"} ${pid}`;
	const rows = told
		.slice(0, 200)
		.map(event =>
			element(
				"li",
				{},
				element("span", { class: "number" }, format.ns(event.time_ns)),
				" ",
				event.event === "signal" ? `signal ${event.signal} to ` : "out of memory: the kernel chose ",
				nameOf(event.pid),
				event.other_pid ? ` from ${event.comm || "pid"} ${event.other_pid}` : ""
			)
		);
	return element(
		"details",
		{},
		element("summary", {}, `signals and kills (${told.length})`),
		element("ul", { class: "events" }, rows)
	);
}
