// SPDX-License-Identifier: MIT
// usage: node plain_english.mjs ROOT
// Refuses words of an idiom that readers stumbled over, in Markdown files and in the string literals of C files. Prints
// "file:line: words: use other words" and ends with exit code 1 when it finds any. Patterns have practically no false alarms.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

const root = process.argv[2];
const words = [
	[/\b(un)?told\b/, 'reported, printed, known; unknown'],
	[/\bcannot tell\b/, 'does not know, cannot determine'],
	[/\bst(and|ands|ood) on\b/, 'depends on'],
	[/\b(what|which|that|it) (is|are|was|were) there\b/, 'exists, is present, is installed'],
	[/\bwhat there is\b/, 'name the thing'],
	[/\bis said of\b/, 'name the thing'],
	[/\blet go\b/, 'released'],
	[/\bthe way of the\b/, 'the path of'],
	[/\bas far as\b/, 'where, if'],
	[/\b(leads|led) elsewhere\b/, 'resolves to'],
	[/\bthe same once more\b|\bat most one time\b/, 'again, once'],
	[/\bis of (the|a|an|this|another)\b/, 'belongs to'],
	[/(?<!\bthere )\bis no (?!longer|more\b|later|less|earlier|older|newer|other|such)\w/, 'is not a'],
	[/(?<!\b(?:leav|left|let|stand|run)\w*(?: [\w']+){0,10} )\balone\b/, 'only, just'],
	[/\bgoes on\b/, 'continues'],
	[/\bdemanded of\b/, 'required from'],
];

// "text" of the lines of a file that people read; `code` and code blocks of Markdown are other people's words.
function linesOfMarkdown(text) {
	const hide = (match) => match.replace(/[^\n]/g, '_');
	return text.replace(/^```.*?^```/gms, hide).replace(/`[^`\n]*`/g, hide).replace(/<!--.*?-->/gs, hide).replace(/\]\([^)]*\)/g, hide);
}

// Comments and code are blanked; adjacent literals become one text. A text without a blank is a name.
function linesOfC(text) {
	const hide = (match) => match.replace(/[^\n]/g, ' ');
	const tokens = /\/\*.*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"(?:\s*"(?:\\.|[^"\\])*")*|[^"'/]+|\//gs;
	return text.replace(tokens, (token) => {
		const literal = token[0] === '"' ? token.slice(1, -1).replace(/"\s*"/g, (gap) => gap.replace(/[^\n]/g, '')) : '';
		return literal.includes(' ') ? `|${literal}|` : hide(token);
	});
}

const list = (...patterns) => execFileSync(join(import.meta.dirname, 'list_sources.sh'), [root, ...patterns], {encoding: 'utf8'}).split('\n').filter(Boolean);
const files = [
	...list('*.md').map((file) => [file, linesOfMarkdown]),
	...list('*.c', '*.h', '*.def').filter((file) => !/(^|\/)(tests|doubles|fuzz)\//.test(file)).map((file) => [file, linesOfC]),
];
for (const [file, readable] of files) {
	const text = readable(readFileSync(join(root, file), 'utf8'));
	for (const [pattern, instead] of words) {
		for (const match of text.matchAll(new RegExp(pattern.source.replaceAll(' ', '[ \\n\\t]+'), 'gi'))) {
			const line = text.slice(0, match.index).split('\n').length;
			console.log(`${file}:${line}: "${match[0].replace(/\s+/g, ' ')}": use ${instead}`);
			process.exitCode = 1;
		}
	}
}
