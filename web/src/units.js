// SPDX-License-Identifier: MIT
// Amounts as taskscope prints them everywhere: three significant digits.
const STEPS = {
	ns: [
		[1, " ns"],
		[1e3, " us"],
		[1e6, " ms"],
		[1e9, " s"],
	],
	bytes: [
		[1, " B"],
		[2 ** 10, " KiB"],
		[2 ** 20, " MiB"],
		[2 ** 30, " GiB"],
		[2 ** 40, " TiB"],
		[2 ** 50, " PiB"],
	],
	count: [
		[1, ""],
		[1e3, " K"],
		[1e6, " M"],
		[1e9, " G"],
		[1e12, " T"],
	],
};
// From here on a duration is written as minutes, hours or days, and the next smaller unit.
const LONG_NS = 599.5e9;

function three(value, most) {
	const size = Math.abs(value);
	const places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
	return value.toFixed(Math.min(places, most));
}

function stepped(steps, value) {
	const size = Math.abs(value);
	let i = 0;
	while (i + 1 < steps.length && size >= steps[i + 1][0] - steps[i][0] * 0.5) i++;
	const whole = steps[i][0] === 1 && Number.isInteger(value);
	return three(value / steps[i][0], whole ? 0 : 3) + steps[i][1];
}

function long(ns) {
	const seconds = Math.floor(Math.abs(ns) / 1e9 + 0.5),
		minutes = Math.floor(seconds / 60);
	const hours = Math.floor(minutes / 60),
		days = Math.floor(hours / 24);
	const two = number => String(number).padStart(2, "0");
	const text = days
		? `${days}d ${two(hours % 24)}h`
		: hours
			? `${hours}h ${two(minutes % 60)}m`
			: `${minutes}m ${two(seconds % 60)}s`;
	return (ns < 0 ? "-" : "") + text;
}

export const format = {
	ns: value => (Math.abs(value) >= LONG_NS ? long(value) : stepped(STEPS.ns, value)),
	bytes: value => stepped(STEPS.bytes, value),
	count: value => stepped(STEPS.count, value),
	exact: value => String(value),
	real: value => three(value, 3),
	share: value =>
		value !== 0 && Math.abs(value) < 0.00005
			? value < 0
				? ">-0.01 %"
				: "<0.01 %"
			: `${three(value * 100, value !== 0 ? 2 : 0)} %`,
	rate: value => `${stepped(STEPS.bytes, value)}/s`,
};

export const plural = (count, one, many = `${one}s`) => `${format.count(count)} ${count === 1 ? one : many}`;
