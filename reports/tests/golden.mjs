// SPDX-License-Identifier: MIT
// usage: node golden.mjs BUILD
// Writes the reference files of the golden cases again from their journals, after a change that is meant: read the
// difference before you commit it.
import {execFileSync} from 'node:child_process';
import {readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const golden = join(import.meta.dirname, 'golden');
const print = join(process.argv[2], 'tests', 'print_report');
const references = {json: 'reference.json', junit: 'junit.xml', summary: 'summary.txt'};

for (const name of readdirSync(golden))
	for (const [format, file] of Object.entries(references))
		writeFileSync(join(golden, name, file), execFileSync(print, [format, join(golden, name, 'journal.ndjson')]));
