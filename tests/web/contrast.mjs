// SPDX-License-Identifier: MIT
// Runs in the page: texts whose contrast with what is behind them is less than the 4.5 that WCAG asks for.
export function faintTexts() {
	const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const channels = color => {
		pen.clearRect(0, 0, 1, 1);
		pen.fillStyle = color;
		pen.fillRect(0, 0, 1, 1);
		return [...pen.getImageData(0, 0, 1, 1).data];
	};
	const light = color => {
		const [red, green, blue] = channels(color)
			.slice(0, 3)
			.map(value => value / 255)
			.map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
		return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
	};
	const contrast = (one, other) =>
		(Math.max(light(one), light(other)) + 0.05) / (Math.min(light(one), light(other)) + 0.05);
	const behind = element => {
		const rect = element.closest("g.frame")?.querySelector("rect");
		if (rect) return rect.getAttribute("fill");
		for (let at = element; at; at = at.parentElement) {
			const color = getComputedStyle(at).backgroundColor;
			if (channels(color)[3] > 0) return color;
		}
		return "white";
	};
	const isShown = element => element.checkVisibility() && !element.closest("canvas, :disabled");
	const hasText = element =>
		[...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());

	return [...document.querySelectorAll("main *")]
		.filter(element => hasText(element) && isShown(element))
		.map(element => [element.textContent.slice(0, 40), contrast(getComputedStyle(element).color, behind(element))])
		.filter(([, found]) => found < 4.5)
		.map(([text, found]) => `${text}: ${found.toFixed(2)}`);
}
