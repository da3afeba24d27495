// SPDX-License-Identifier: MIT
// Runs `gpucert run` on deliberately wrong plugins and environments and compares outcomes.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export const build = process.argv[2];
export const work = mkdtempSync(join(tmpdir(), 'gpucert-wrong-'));
process.env.KEEP ?? process.on('exit', () => rmSync(work, {recursive: true, force: true}));

const scriptedPlugin = join(build, 'tests', 'scripted-plugin');
let count = 0;

// A file in the work folder with this content; returns its path.
export function file(name, content) {
	const path = join(work, `${++count}-${name}`);
	writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
	return path;
}

// The command line of a plugin that does what the script says.
export const scripted = (script) => `'${scriptedPlugin}' '${file('script.json', script)}' {plugin-dir}`;
// The same, with PREFIX in the script replaced by something else at each start.
export function scriptedAnew(script) {
	const path = file('script.json', script);
	return `sh -c 'sed s/PREFIX/run-$$/ ${path} > ${path}.$$ && exec ${scriptedPlugin} ${path}.$$ {plugin-dir}'`;
}

function run(args, env) {
	return new Promise((resolve) => {
		const child = spawn(join(build, 'bin', 'gpucert'), ['run', '--quiet', ...args], {
			stdio: ['ignore', 'inherit', 'inherit'],
			env: {...process.env, ...env},
		});
		child.on('close', resolve);
	});
}

async function judge({check, plugin, args = [], env = {}, wanted = 'fail', reason}) {
	const out = join(work, `out-${++count}`);
	const pluginArgs = plugin === undefined ? [] : ['--plugin', plugin];
	const code = await run(['--out', out, ...pluginArgs, ...args, check], env);
	const name = `${check} (${wanted})`;
	try {
		const report = JSON.parse(readFileSync(join(out, 'report.json')));
		const entry = report.checks.find((c) => c.id === check);
		if (entry.outcome !== wanted) return `${name}: outcome ${entry.outcome}: ${entry.reason}`;
		if (process.env.SHOW_REASONS) console.log(`${name}: ${entry.reason}`);
		if (reason && !entry.reason.includes(reason)) return `${name}: reason is '${entry.reason}', not about '${reason}'`;
		return null;
	} catch (error) {
		return `${name}: exit code ${code}, ${error.message}`;
	}
}

// Runs the rows, `width` at a time; ends the process with 1 when one surprises.
export async function judgeAll(rows, width) {
	if (process.env.ONLY) rows = rows.filter((row) => row.check.includes(process.env.ONLY));
	const queue = [...rows];
	const complaints = [];
	const worker = async () => {
		for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
			const complaint = await judge(row);
			if (complaint !== null) complaints.push(complaint);
		}
	};
	await Promise.all(Array.from({length: width}, worker));
	for (const complaint of complaints) console.error(`FAILED: ${complaint}`);
	console.log(`${rows.length - complaints.length} of ${rows.length} as expected`);
	process.exitCode = complaints.length === 0 ? 0 : 1;
}
