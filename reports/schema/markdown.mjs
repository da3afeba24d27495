// SPDX-License-Identifier: MIT
// usage: markdown.mjs FILE...
// Exits 0 when every file is Markdown as gpucert promises to write it: by a CommonMark parser that takes HTML and makes links as sites
// do there is no HTML, no link, no image, nobody mentioned and no invisible character, tables have as many cells in each row as in
// their head, and the file fits a CI step summary. Exits 1 with one line for each fault otherwise.
import { readFileSync } from "node:fs";
import MarkdownIt from "markdown-it";

const largest = 512 * 1024;
const parser = new MarkdownIt({ html: true, linkify: true });

// As GitHub: an address with a scheme, "www.", or one for mail; a name of a host alone is none.
parser.linkify.set({ fuzzyLink: false });

const forbidden = { html_block: "HTML", html_inline: "HTML", link_open: "a link", image: "an image", code_block: "a code block",
	fence: "a fence", em_open: "emphasis", s_open: "strike-through", hr: "a rule", blockquote_open: "a quotation" };
// eslint-disable-next-line no-control-regex
const invisible = /[\0-\t\v-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u;
const mention = /(^|[^\w`])@[\w-]/;
const bareHost = /(^|[\s(])www\./i;

// The bars that part cells: those that no backslash escapes.
const bars = (line) => line.replace(/\\./g, "").split("|").length - 1;

function* tokens(list) {
	for (const token of list) {
		yield token;
		yield* tokens(token.children ?? []);
	}
}

function* faults(text) {
	const lines = text.split("\n");
	const parsed = parser.parse(text, {});

	if (Buffer.byteLength(text) > largest)
		yield `${Buffer.byteLength(text)} bytes`;
	if (!/^## (gpucert: [A-Z ]+\n\n|.+\n\n### Checks\n)/.test(text))
		yield "neither a verdict nor what changed is its heading";
	for (const [index, line] of lines.entries()) {
		if (invisible.test(line))
			yield `line ${index + 1}: an invisible character`;
	}
	let columns = 0;
	for (const token of tokens(parsed)) {
		const line = token.map ? token.map[0] : -1;

		if (forbidden[token.type])
			yield `${forbidden[token.type]}: ${token.content}`;
		if (token.type === "text" && (mention.test(token.content) || bareHost.test(token.content)))
			yield `sites make a link of: ${token.content}`;
		if (token.type === "table_open")
			columns = bars(lines[line]);
		if (token.type === "tr_open" && bars(lines[line]) !== columns)
			yield `line ${line + 1}: ${bars(lines[line]) - 1} cells, ${columns - 1} in the head`;
	}
	const rows = lines.filter((line) => line.startsWith("|")).length;
	const parsedRows = parsed.filter((token) => token.type === "tr_open" || token.type === "table_open").length;
	if (rows > 0 && rows !== parsedRows)
		yield `${rows} lines are written as rows of tables, ${parsedRows} are read as such`;
}

const files = process.argv.slice(2);
const found = files.flatMap((file) => [...faults(readFileSync(file, "utf8"))].map((fault) => `${file}: ${fault}`));

if (files.length === 0)
	found.push("usage: markdown.mjs FILE...");
for (const fault of found)
	console.error(fault);
process.exitCode = found.length === 0 ? 0 : 1;
