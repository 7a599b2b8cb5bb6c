// SPDX-License-Identifier: MIT
// The time of the run from left to right, for what is drawn with elements.
import { element } from "./dom.js";
import { format } from "./units.js";

const STEPS = [1, 2, 5];

function stepFor(wall, most) {
	for (let size = 1; ; size *= 10) for (const step of STEPS) if (wall / (size * step) <= most) return size * step;
}

export function axis(wall) {
	const step = stepFor(wall, 6),
		marks = [];
	for (let at = 0; at <= wall * 0.96; at += step)
		marks.push(element("span", { style: { left: `${(100 * at) / wall}%` } }, format.ns(at)));
	return element("div", { class: "axis", "aria-hidden": "true" }, marks);
}

export const across = (wall, begin, end) => ({
	left: `${(100 * Math.min(begin, wall)) / wall}%`,
	width: `${(100 * Math.max(0, Math.min(end, wall) - Math.min(begin, wall))) / wall}%`,
});

// Stretches of the run in which it did one kind of thing; none where it went on as it began.
export function segmentsOf(summary) {
	const segments = summary.segments ?? [];
	return segments.length > 1 ? segments : [];
}

export function segmentStrip(summary) {
	const segments = segmentsOf(summary);
	if (!segments.length) return null;
	return element(
		"div",
		{ class: "strip", role: "list", "aria-label": "stretches of the run" },
		segments.map((segment, i) =>
			element(
				"span",
				{
					role: "listitem",
					style: across(summary.wall_ns, segment.begin_ns, segment.end_ns),
					title: `${segment.what}: ${format.ns(segment.begin_ns)} to ${format.ns(segment.end_ns)}`,
				},
				`${i + 1} ${segment.what}`
			)
		)
	);
}
