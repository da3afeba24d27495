// SPDX-License-Identifier: MIT
// usage: node documented_options.mjs GPUCERT DOCUMENT.md...
// Commands of gpucert in blocks and in backticks of documents exist, and so do their options. What follows "--" of a plan is for `gpucert run`.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

const [gpucert, ...documents] = process.argv.slice(2);
const help = (...words) => execFileSync(gpucert, [...words, '--help'], {encoding: 'utf8'});
const optionsOf = (text) => new Set(text.match(/(?<=^ {2,6}(?:-\w, )?)--?[\w-]+/gm));
const [, list] = help().match(/^Commands:\n(.*?)\n\n/ms);
const commands = list.match(/(?<=^ {2})[a-z]+(?: [a-z]+)*/gm);
const options = new Map(commands.map((command) => [command, optionsOf(help(...command.split(' ')))]));
const groups = new Set(commands.map((command) => command.split(' ')[0]));

// Words of a command line, quotes kept together, up to what another program reads.
function wordsOf(line) {
	const end = line.search(/(?<=\s)(?:[|;&]|\d?>|<[^ ]*$|#)|[;)]/);
	return (end < 0 ? line : line.slice(0, end)).match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
}

function faultOf(line) {
	const [, ...words] = wordsOf(line);
	if (words.length === 0 || /^-|^[A-Z]|^\.\.\.$/.test(words[0]) || /^gpucert [a-z ]+: /.test(line)) // and messages
		return null;
	const command = commands.findLast((name) => `${words.join(' ')} `.startsWith(`${name} `));
	if (!command)
		return groups.has(words[0]) && words.length === 1 ? null : `no command '${words.slice(0, 2).join(' ')}'`;
	const rest = words.indexOf('--');
	const parts = [[command, rest < 0 ? words : words.slice(0, rest)], ['run', rest < 0 ? [] : words.slice(rest)]];
	for (const [name, part] of parts)
		for (const word of part.filter((w) => /^--[a-z]/.test(w)))
			if (!options.get(name).has(word.replace(/=.*/, '')))
				return `gpucert ${name} has no ${word}`;
	return null;
}

for (const wrong of ['gpucert rnu', 'gpucert run --plugn x', 'gpucert fleet plan nodes.json -- --plugn x'])
	if (!faultOf(wrong))
		throw new Error(`nothing is wrong with: ${wrong}`);

let seen = 0;
for (const document of documents) {
	const text = readFileSync(document, 'utf8').replaceAll('\\\n', '  ');
	const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, body]) => body.split('\n').map((line) => line.match(/(?<!-n |--plugin |[\w./-]|\b(?:kubectl|helm) [^|;&(]*)gpucert .*/)?.[0]));
	const inline = [...text.replace(/^```.*?^```/gms, '').matchAll(/`(gpucert [^`]+)`/g)].map(([, line]) => line);
	for (const line of [...blocks, ...inline].filter(Boolean)) {
		const fault = faultOf(line);
		seen++;
		if (!fault)
			continue;
		console.error(`${document}: ${fault}: ${line}`);
		process.exitCode = 1;
	}
}
if (seen < documents.length) {
	console.error(`${seen} commands in ${documents.length} documents`);
	process.exitCode = 1;
}
console.log(`${seen} commands`);
