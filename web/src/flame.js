// SPDX-License-Identifier: MIT
// Where in the code the time went: flame graphs, and a table of functions.
import { choice, element, section, table } from "./dom.js";
import { FlameChart } from "./flame_chart.js";
import { buildTree, byFunction, eachSample, namedFrames, threadOf } from "./flame_tree.js";
import { format } from "./units.js";

const THREADS = 300;
export const CHOICES = { "on-cpu": ["on-cpu"], "off-cpu": ["off-cpu"], both: ["on-cpu", "off-cpu"], waker: ["waker"] };

export function choicesFor(sums) {
	return [
		["on-cpu", "on CPU"],
		["off-cpu", "off CPU"],
		["both", "both"],
		sums.waker?.ns ? ["waker", "who ended waits"] : null,
	].filter(Boolean);
}

// Names of threads with their time, the most first.
function threadsOf(profile, kinds) {
	const times = new Map();
	eachSample(profile, kinds, "", (i, ns) =>
		times.set(threadOf(profile, i), (times.get(threadOf(profile, i)) ?? 0) + ns)
	);
	return [...times].sort((a, b) => b[1] - a[1]).slice(0, THREADS);
}

function functionTable(rows, whole, onPick) {
	return table(
		[
			{
				title: "function",
				class: "name",
				sort: row => row.frame.name,
				cell: row =>
					element(
						"button",
						{
							type: "button",
							class: "link",
							title: row.frame.detail,
							onclick: () => onPick(row.frame.name),
						},
						row.frame.name
					),
			},
			{ title: "itself", number: true, sort: row => row.self, cell: row => format.ns(row.self) },
			{ title: "share", number: true, cell: row => format.share(whole ? row.self / whole : 0) },
			{ title: "with what it calls", number: true, sort: row => row.total, cell: row => format.ns(row.total) },
			{ title: "share", number: true, cell: row => format.share(whole ? row.total / whole : 0) },
			{ title: "file", class: "command", cell: row => row.frame.file },
		],
		rows,
		{ limit: 12, label: "functions" }
	);
}

function absent(page) {
	const source = page.summary.sources?.find(({ name }) => name === "stacks");
	return section(
		"flames",
		"Flame graphs",
		element("p", { class: "note" }, `no stacks were taken${source?.reason ? `: ${source.reason}` : ""}`)
	);
}

export function flameSection(page) {
	const { profile } = page;
	if (!profile?.samples.ns.length) return absent(page);
	const named = namedFrames(profile),
		state = { which: profile.sums["on-cpu"].ns ? "on-cpu" : "off-cpu", thread: "" };
	const chart = new FlameChart(
		({ data }) =>
			`${data.frame.name}${data.frame.detail ? `, ${data.frame.detail}` : ""}: ${format.ns(data.value)}, ` +
			format.share(data.value / state.whole)
	);
	const threads = element("select", {
		"aria-label": "thread",
		onchange: () => {
			state.thread = threads.value;
			draw();
		},
	});
	const functions = element("div"),
		sum = element("span", { class: "quiet" });

	function listThreads() {
		threads.replaceChildren(
			element("option", { value: "" }, "all threads"),
			...threadsOf(profile, CHOICES[state.which]).map(([name, ns]) =>
				element("option", { value: name }, `${name} – ${format.ns(ns)}`)
			)
		);
		threads.value = state.thread;
		if (threads.value !== state.thread) threads.value = state.thread = "";
	}
	function pick(name) {
		chart.search.value = name;
		chart.find(name);
		chart.search.scrollIntoView({ block: "nearest" });
	}
	function draw() {
		const tree = buildTree(profile, named, {
			kinds: CHOICES[state.which],
			thread: state.thread,
			root: state.thread || "all",
		});
		state.whole = tree.value;
		sum.textContent = format.ns(tree.value);
		chart.draw(tree);
		functions.replaceChildren(functionTable(byFunction(tree), tree.value, pick));
	}
	const made = section(
		"flames",
		"Flame graphs",
		element(
			"p",
			{ class: "controls" },
			choice("which time", choicesFor(profile.sums), state.which, which => {
				state.which = which;
				listThreads();
				draw();
			}),
			threads,
			chart.search,
			chart.reset,
			sum,
			chart.found
		),
		chart.place,
		chart.details,
		element("h3", {}, "Functions"),
		functions
	);
	made.addEventListener("placed", () => {
		listThreads();
		draw();
	});
	document.addEventListener("keydown", event => {
		if (event.key === "/" && !/^(input|select|textarea)$/i.test(event.target.tagName)) {
			event.preventDefault();
			chart.search.focus();
		}
	});
	return made;
}
