// SPDX-License-Identifier: MIT
// Trees of time out of a profile: { frame, value, self, children }, values in ns.  A frame is { name, kind, file, detail,
// isLibrary }, the same object wherever it is.

export const KINDS = { "on-cpu": "on a CPU", "off-cpu": "off the CPU", waker: "wakers" };
const KERNEL = 1,
	INLINED = 2,
	LIBRARY = 4;
const NO_STACK = 2,
	TRUNCATED = 1;

// What each frame is called, and where it is.  Frames of one function are one; so are, without addresses, all of a file that
// have no name: what two runs call the same.
export function namedFrames(profile, withAddresses = true) {
	const { frames, texts } = profile,
		known = new Map();
	return frames.function.map((text, i) => {
		const module = texts[frames.module[i]],
			file = module.replace(/^.*\/(?=.)/, "");
		const isKernel = Boolean(frames.flags[i] & KERNEL),
			isInlined = Boolean(frames.flags[i] & INLINED);
		const name = text ? texts[text] : `${file || "?"} ${withAddresses ? frames.address[i] : "(no name)"}`;
		const kind = isKernel ? "kernel" : !text ? "unnamed" : isInlined ? "inlined" : "user";
		const key = `${name}\n${kind}\n${module}`;
		const made = known.get(key) ?? {
			name: isInlined ? `${name} (inlined)` : isKernel ? `${name} [kernel]` : name,
			kind,
			file,
			detail: [module, frames.source[i] ? texts[frames.source[i]] : ""].filter(Boolean).join(", "),
			isLibrary: Boolean(frames.flags[i] & LIBRARY),
		};
		known.set(key, made);
		return made;
	});
}

const meta = (() => {
	const known = new Map();
	return (name, kind = "meta") => {
		const key = `${kind}\n${name}`;
		if (!known.has(key)) known.set(key, { name, kind, file: "", detail: "" });
		return known.get(key);
	};
})();

// The frames of a sample, outermost first, below those that say whose it is.
export function stackOf(profile, named, i, withKind) {
	const { samples, nodes, texts } = profile,
		frames = [];
	const kind = profile.kinds[samples.kind[i]];
	for (let node = samples.node[i]; node; node = nodes.parent[node]) frames.push(named[nodes.frame[node]]);
	if (samples.end[i] === TRUNCATED) frames.push(meta("(outermost frames are missing)"));
	if (samples.end[i] === NO_STACK) frames.push(meta("(no stack)"));
	frames.push(meta(texts[samples.thread[i]] || "?", "thread"), meta(texts[samples.process[i]] || "?", "process"));
	if (withKind) frames.push(meta(KINDS[kind]));
	frames.reverse();
	if (kind !== "on-cpu")
		frames.push(
			meta(
				kind === "waker"
					? `(ended a wait for ${profile.reasons[samples.reason[i]]})`
					: `(waits: ${profile.reasons[samples.reason[i]]})`,
				"wait"
			)
		);
	return frames;
}

export const threadOf = (profile, i) =>
	`${profile.texts[profile.samples.process[i]]} / ${profile.texts[profile.samples.thread[i]]}`;

// Calls visit(i, ns) for the samples of the kinds, and of one thread name or all ("").
export function eachSample(profile, kinds, thread, visit) {
	const { samples } = profile;
	for (let i = 0; i < samples.ns.length; i++)
		if (kinds.includes(profile.kinds[samples.kind[i]]) && (!thread || threadOf(profile, i) === thread))
			visit(i, samples.ns[i]);
}

export const newNode = frame => ({ frame, value: 0, self: 0, children: null });

// The node of a frame below another, made when it is new; finish() makes lists of the maps.
export function below(node, key, frame) {
	node.children ??= new Map();
	let next = node.children.get(key);
	if (!next) node.children.set(key, (next = newNode(frame)));
	return next;
}

export function buildTree(profile, named, { kinds, thread = "", root = "all" }) {
	const top = newNode(meta(root));
	eachSample(profile, kinds, thread, (i, ns) => {
		let at = top;
		at.value += ns;
		for (const frame of stackOf(profile, named, i, kinds.length > 1)) {
			at = below(at, frame, frame);
			at.value += ns;
		}
		at.self += ns;
	});
	return finish(top);
}

// Children as lists, the widest first.
export function finish(top) {
	const stack = [top];
	while (stack.length) {
		const node = stack.pop();
		node.children = node.children ? [...node.children.values()].sort((a, b) => b.value - a.value) : [];
		stack.push(...node.children);
	}
	return top;
}

const isFunction = ({ kind }) => !["process", "thread", "meta", "wait"].includes(kind);

// Whose time it is, of functions outermost first.  Who waits is always in the same few functions of the kernel and of the C
// library: the time is that of the innermost function outside of both, or else outside of the kernel, as in the report.
function ownerOf(path, isWait) {
	const inner = path.at(-1);
	if (!isWait) return inner;
	return path.findLast(row => !row.frame.isLibrary) ?? path.findLast(row => row.frame.kind !== "kernel") ?? inner;
}

// Time by function: { frame, self, total }; a function counts once in a stack, however often it is there.
export function byFunction(tree) {
	const rows = new Map(),
		depths = new Map(),
		path = [];
	const enter = node => {
		const { frame } = node,
			counts = isFunction(frame);
		if (counts) {
			const depth = depths.get(frame) ?? 0,
				row = rows.get(frame) ?? { frame, self: 0, total: 0 };
			row.total += depth ? 0 : node.value;
			depths.set(frame, depth + 1);
			rows.set(frame, row);
			path.push(row);
		}
		if (node.self && path.length) ownerOf(path, frame.kind === "wait").self += node.self;
		node.children.forEach(enter);
		if (counts) {
			depths.set(frame, depths.get(frame) - 1);
			path.pop();
		}
	};
	enter(tree);
	return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}
