// SPDX-License-Identifier: MIT
// Runs `gpucert run` on deliberately wrong plugins and environments and compares outcomes.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

export const build = resolve(process.argv[2]);
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

export const numbers = (n, make) => Array.from({length: n}, (_, i) => make(i));
// Devices of which a list has exactly 4 MiB, and `more` bytes: 13 bytes and the id for each.
export const listOf4MiB = (more) => [...numbers(55188, (i) => ({id: `${i}-`.padEnd(63, 'x')})), {id: 'y'.repeat(3 + more)}];

function run(args, env) {
	return new Promise((resolve) => {
		const child = spawn(join(build, 'bin', 'gpucert'), ['run', '--quiet', ...args], {
			stdio: ['ignore', 'inherit', 'inherit'],
			env: {...process.env, ...env},
		});
		child.on('close', resolve);
	});
}

// Runs `gpucert run` on the plugin; returns the report, and as `out` its folder.
async function report({checks, plugin, args = [], env = {}}) {
	const out = join(work, `out-${++count}`);
	const pluginArgs = plugin === undefined ? [] : ['--plugin', plugin];
	const code = await run(['--out', out, ...pluginArgs, ...args, ...checks], env);
	try {
		return {...JSON.parse(readFileSync(join(out, 'report.json'))), out};
	} catch (error) {
		throw new Error(`exit code ${code}, ${error.message}`);
	}
}

async function judge({check, wanted = 'fail', reason, ...row}) {
	const name = `${check} (${wanted})`;
	try {
		const entry = (await report({...row, checks: [check]})).checks.find((c) => c.id === check);
		if (entry.outcome !== wanted) return `${name}: outcome ${entry.outcome}: ${entry.reason}`;
		if (process.env.SHOW_REASONS) console.log(`${name}: ${entry.reason}`);
		if (reason && !entry.reason.includes(reason)) return `${name}: reason is '${entry.reason}', not about '${reason}'`;
		return null;
	} catch (error) {
		return `${name}: ${error.message}`;
	}
}

// A conforming plugin: every check of the row passes but those that `outcomes` names, and of those none that fails is a MUST;
// null leaves it to `also`, which looks at the report and returns a complaint.
async function judgeWhole({name, outcomes = {}, also, ...row}) {
	try {
		const result = await report(row);
		const complaints = (outcomes === null ? [] : result.checks)
			.filter((c) => c.outcome !== (outcomes[c.id] ?? 'pass') || (c.outcome === 'fail' && c.level === 'must'))
			.map((c) => `${c.id} (${c.level}): ${c.outcome}: ${c.reason}`);
		const complaint = also?.(result);
		if (complaint) complaints.push(complaint);
		return complaints.length === 0 ? null : `${name}: ${complaints.join('; ')}`;
	} catch (error) {
		return `${name}: ${error.message}`;
	}
}

// Runs the rows, `width` at a time; ends the process with 1 when one surprises. Some verdicts are about the time that a plugin
// takes: what surprised beside the others is judged once more, alone.
export async function judgeAll(rows, width) {
	if (process.env.ONLY) rows = rows.filter((row) => (row.name ?? row.check).includes(process.env.ONLY));
	const judgeRows = async (queue, width) => {
		const surprising = [];
		const worker = async () => {
			for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
				const start = Date.now();
				const complaint = await (row.name === undefined ? judge(row) : judgeWhole(row));
				if (process.env.SHOW_TIMES) console.log(`${((Date.now() - start) / 1000).toFixed(1)} s ${row.name ?? row.check}`);
				if (complaint !== null) surprising.push({row, complaint});
			}
		};
		await Promise.all(Array.from({length: width}, worker));
		return surprising;
	};
	const first = await judgeRows([...rows], width);
	for (const {complaint} of first) console.error(`Once more, alone: ${complaint}`);
	const failed = await judgeRows(first.map(({row}) => row), 1);
	for (const {complaint} of failed) console.error(`FAILED: ${complaint}`);
	console.log(`${rows.length - failed.length} of ${rows.length} as expected`);
	process.exitCode = failed.length === 0 ? 0 : 1;
}
