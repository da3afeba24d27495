// SPDX-License-Identifier: MIT
import {createHash} from 'node:crypto';

const digest = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

// Each line of the journal with the digest of the line before; a torn last line stays as it is.
export function chain(journal) {
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
