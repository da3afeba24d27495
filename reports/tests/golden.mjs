// SPDX-License-Identifier: MIT
// usage: node golden.mjs BUILD
// Chains the records of the golden journals again, and writes the reference files from them, after a change that is meant:
// read the difference before you commit it.
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {chain} from './chain.mjs';

const golden = join(import.meta.dirname, 'golden');
const print = join(process.argv[2], 'tests', 'print_report');
const references = {json: 'reference.json', junit: 'junit.xml', markdown: 'report.md', summary: 'summary.txt'};

for (const name of readdirSync(golden)) {
	const journal = join(golden, name, 'journal.ndjson');
	writeFileSync(journal, chain(readFileSync(journal, 'utf8')));
	for (const [format, file] of Object.entries(references))
		writeFileSync(join(golden, name, file), execFileSync(print, [format, journal]));
}
