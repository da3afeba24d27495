// SPDX-License-Identifier: MIT
// usage: node golden.mjs BUILD
// Chains the records of the golden journals again, and writes the reference files from them, after a change that is meant:
// read the difference before you commit it.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const golden = join(import.meta.dirname, 'golden');
const print = join(process.argv[2], 'tests', 'print_report');
const references = {json: 'reference.json', junit: 'junit.xml', markdown: 'report.md', summary: 'summary.txt'};

const digest = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

// Each line of the journal with the digest of the line before; a torn last line stays as it is.
function chain(journal) {
	const lines = journal.split('\n');
	const torn = lines.pop();
	let prev = digest('');
	const chained = lines.map((line) => {
		const next = line.replace(/^\{"seq":(\d+),("prev":"[^"]*",)?/, `{"seq":$1,"prev":"${prev}",`) + '\n';
		prev = digest(next);
		return next;
	});
	return chained.join('') + torn;
}

for (const name of readdirSync(golden).filter((name) => name !== 'previous')) {
	const journal = join(golden, name, 'journal.ndjson');
	writeFileSync(journal, chain(readFileSync(journal, 'utf8')));
	for (const [format, file] of Object.entries(references))
		writeFileSync(join(golden, name, file), execFileSync(print, [format, journal]));
}
