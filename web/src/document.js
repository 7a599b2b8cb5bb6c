// SPDX-License-Identifier: MIT
// The document in the page: JSON, packed by gzip, in base64.

export async function readDocument(text) {
	const letters = atob(text.trim());
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return JSON.parse(await new Response(stream).text());
}

// Waits by reason, in the order of the table, with the run queue: { key, name, kind, help }.
export function reasons(page) {
	return [
		{
			key: "wait_time_ns",
			name: "run queue",
			id: "run_queue",
			kind: "cost",
			help: "ready to run, but no CPU was free",
		},
		...page.waits.map(wait => ({ ...wait, id: wait.name, key: `wait_${wait.name}_ns` })),
	];
}

// The time on a CPU, as reports have it.
export const cpuOf = amounts => amounts.run_time_ns ?? amounts.cpu_time_ns;

export const threadKey = task => `${task.pid}:${task.tid}:${task.start_time_ns ?? 0}`;
export const processKey = process => `${process.pid}:${process.start_time_ns ?? 0}`;
export const commandOf = process =>
	process.cmd?.length ? process.cmd.join(" ") + (process.cmd_cut ? " …" : "") : process.comm;

export function endingOf(process) {
	if (process.oom_killed) return "killed for lack of memory (OOM)";
	if (process.signal !== undefined) return `killed by ${process.signal_name ?? process.signal}`;
	if (process.exit_code !== undefined) return `exited ${process.exit_code}`;
	return process.running ? "was running" : "ended";
}

export const failed = process => Boolean(process.oom_killed || process.signal !== undefined || process.exit_code);
