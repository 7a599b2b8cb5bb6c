// SPDX-License-Identifier: MIT
// The page of a run: the answer first, then what it stands on.
import { element } from "./dom.js";
import { flameSection } from "./flame.js";
import { processSection } from "./gantt.js";
import { gpuSection } from "./gpu.js";
import { ledgerSection } from "./ledger.js";
import { lossSection } from "./losses.js";
import { pathSection } from "./path.js";
import { syscallSection } from "./syscalls.js";
import { timelineSection } from "./timelines.js";
import { headline, verdict } from "./verdict.js";

export function navigation(sections) {
	return element(
		"nav",
		{ "aria-label": "parts of this page" },
		sections.map(part => element("a", { href: `#${part.id}` }, part.querySelector("h2").textContent))
	);
}

export function footer(page) {
	return element("footer", {}, `made by taskscope ${page.taskscope}; this page asks nothing of any network`);
}

const pause = () =>
	new Promise(done => {
		setTimeout(done, 0);
	});

// The answer is on the screen before the rest is made.
export async function drawRun(page, place) {
	const top = headline(page);

	document.title = `${top.subject} – taskscope`;
	place.append(top.element, verdict(page));
	await pause();
	const parts = [
		pathSection,
		timelineSection,
		flameSection,
		ledgerSection,
		processSection,
		syscallSection,
		gpuSection,
		lossSection,
	]
		.map(part => part(page))
		.filter(Boolean);
	place.append(navigation(parts), ...parts, footer(page));
	for (const part of parts) {
		part.dispatchEvent(new Event("placed"));
		await pause();
	}
}
