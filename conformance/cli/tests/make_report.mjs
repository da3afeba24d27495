// SPDX-License-Identifier: MIT
// usage: make_report.mjs JOURNAL FOLDER [EDIT...]
// Makes the journal of a run and the evidence that it names in FOLDER, from a golden journal. Each EDIT is JavaScript that is
// given the array `records` and may change it; `of(type)` are the records of a type, `end(check)` is the one with which a check
// ends. The journal is chained anew.
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const [journal, folder, ...edits] = process.argv.slice(2);
const digest = (data) => `sha256:${createHash('sha256').update(data).digest('hex')}`;
const records = readFileSync(journal, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
const of = (type) => records.filter((record) => record.type === type);
const end = (check) => of('check-end').find((record) => record.check === check);

for (const record of of('evidence')) {
	const content = `{"of": "${record.check}", "name": "${record.name}"}\n`;
	const file = join(folder, record.path);
	mkdirSync(dirname(file), {recursive: true});
	writeFileSync(file, content);
	Object.assign(record, {digest: digest(content), bytes: content.length});
}
for (const edit of edits)
	new Function('records', 'of', 'end', edit)(records, of, end);
let prev = digest('');
const lines = records.map((record, index) => {
	const {seq, prev: before, ...rest} = record;
	const line = `${JSON.stringify({seq: index + 1, prev, ...rest})}\n`;
	prev = digest(line);
	return line;
});
mkdirSync(folder, {recursive: true});
writeFileSync(join(folder, 'journal.ndjson'), lines.join(''));
