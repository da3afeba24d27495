// SPDX-License-Identifier: MIT
// Runs `gpucert run` on deliberately wrong plugins and environments and compares outcomes.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism, cpus, tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

export const build = resolve(process.argv[2]);
export const work = mkdtempSync(join(tmpdir(), 'gpucert-wrong-'));
process.env.KEEP ?? process.on('exit', () => rmSync(work, {recursive: true, force: true}));

export const gpucert = join(build, 'bin', 'gpucert');
const scriptedPlugin = join(build, 'tests', 'scripted-plugin');
// With a second argument "sample": of the rows in which a check fails one for each check, or for each `kind` that rows name, and all
// whole runs; "sample/4": every fourth of these.
const [word, every = 1] = process.argv[3]?.split('/') ?? [];
export const sample = word === 'sample';
// With sanitizers, the search for leaks takes most of the time of a process that ends at once; whole tables have it.
if (sample) process.env.ASAN_OPTIONS = `${process.env.ASAN_OPTIONS ?? ''}:detect_leaks=0`;
let count = 0;

// Where the runs that need containers have them; null: each from a runtime of its own (runtime.mjs).
let runtime = null;
export const useRuntime = (address) => (runtime = address);

// A file in the work folder with this content; returns its path.
export function file(name, content) {
	const path = join(work, `${++count}-${name}`);
	writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
	return path;
}

// The command line of a plugin that does what the script says: of one script, one command line.
const commands = new Map();
export function scripted(script) {
	const text = JSON.stringify(script);
	if (!commands.has(text)) commands.set(text, `'${scriptedPlugin}' '${file('script.json', text)}' {plugin-dir}`);
	return commands.get(text);
}
// The same, with PREFIX in the script replaced by something else at each start.
export function scriptedAnew(script) {
	const path = file('script.json', script);
	return `sh -c 'sed s/PREFIX/run-$$/ ${path} > ${path}.$$ && exec ${scriptedPlugin} ${path}.$$ {plugin-dir}'`;
}

// The command line of one that registers through plugins_registry.
export const inRegistry = (script) => `${scripted(script)} {kubelet-socket} {registry-dir}`;
export const watched = {register: {via: 'watcher'}, on_kubelet_socket: 'ignore', on_socket_removed: 'ignore'};

// The command line of doubles/node_plugin.mjs with one of its faults.
const nodeProgram = join(import.meta.dirname, 'doubles/node_plugin.mjs');
export const nodePlugin = (...fault) => `'${process.execPath}' '${nodeProgram}' {plugin-dir} ${fault.join(' ')}`;

export const numbers = (n, make) => Array.from({length: n}, (_, i) => make(i));
// Devices of which a list has exactly 4 MiB, and `more` bytes: 13 bytes and the id for each.
export const listOf4MiB = (more) => [...numbers(55188, (i) => ({id: `${i}-`.padEnd(63, 'x')})), {id: 'y'.repeat(3 + more)}];

function run(program, args, env) {
	return new Promise((resolve) => {
		const child = spawn(program, ['run', '--quiet', ...args], {
			stdio: ['ignore', 'inherit', 'inherit'],
			env: {...process.env, ...env},
		});
		child.on('close', resolve);
	});
}

// Runs `gpucert run` on the plugin; returns the report, and as `out` its folder.
async function report({checks, plugin, args = [], env = {}, program = gpucert}) {
	const out = join(work, `out-${++count}`);
	const pluginArgs = plugin === undefined ? [] : ['--plugin', plugin];
	const runtimeArgs = runtime === null || args.includes('--launcher') || args.includes('--cri') ? [] : ['--cri', runtime];
	const code = await run(program, ['--out', out, ...pluginArgs, ...runtimeArgs, ...args, ...checks], env);
	try {
		return {...JSON.parse(readFileSync(join(out, 'report.json'))), out};
	} catch (error) {
		throw new Error(`exit code ${code}, ${error.message}`);
	}
}

// Leaves out the checks of kubelets that refuse, hang, come late and come again: they take their time, and the right rows of
// wrong_restart.mjs are about them.
export const withoutKubeletFaults = [
	...['refused', 'unavailable', 'answer-delayed', 'kubelet-late', 'other-file', 'no-directory', 'deprecation-file', 'files-of-others'].map((name) => `registration.${name}`),
	...[
		'again', 'leaks', 'at-once', 'during-allocate', 'kubelet-absent', 'register-unanswered', 'kubelet-disconnects', 'directory-recreated', 'side-by-side',
		'answer-stays', 'both',
	].map((name) => `restart.${name}`),
].flatMap((id) => ['--exclude', id]);

// How much happens in the time that a check takes depends on the machine: a leak of memory shows after thousands of calls, and a stream
// that nobody reads holds up others when it is full.
const percents = {'bytes of memory': '500', 'a stream is not read': '100'};
const patient = (args, reason) => {
	const percent = Object.entries(percents).find(([words]) => reason.includes(words))?.[1];
	return percent ? args.with(args.indexOf('--timeout-percent') + 1, percent) : args;
};

// The rows of a table {check: [[wrong plugin, what the reason must say], ...]}.
export const wrongRows = (wrong, argsOf) =>
	Object.entries(wrong).flatMap(([check, faults]) => faults.map(([plugin, reason]) => ({check, plugin, args: patient(argsOf(check), reason), reason})));

// What is wrong with the outcome of a row's check; null: nothing.
function judge({check, wanted = 'fail', reason, foreign}, result) {
	const name = `${check} (${wanted})`;
	const entry = result.checks.find((c) => c.id === check);
	if (entry.outcome !== wanted) return `${name}: outcome ${entry.outcome}: ${entry.reason}${reason ? `; expected '${reason}'` : ''}`;
	if (process.env.SHOW_REASONS) console.log(`${name}: ${entry.reason}`);
	const seen = (entry.observations ?? []).flatMap((observation) => observation.saw.filter((ref) => !observation.granted.includes(ref)));
	if (foreign && !seen.includes(foreign)) return `${name}: no container is told to have seen ${foreign}`;
	if (reason && !entry.reason.includes(reason)) return `${name}: reason is '${entry.reason}', not about '${reason}'`;
	return null;
}

// Most plugins name no CDI devices, and these checks are about what a plugin may leave out.
const optional = new Set([
	'allocate.across-resources', 'allocate.cdi-names', 'allocate.files-stay', 'allocate.harmless-variables', 'allocate.permissions', 'allocate.unhealthy-id', 'allocate.variable-names',
	'allocate.cdi-once', 'allocate.independent', 'registration.optional-calls', 'registration.plugin-info', 'registration.notified-refusal', 'allocate.one-device', 'list-and-watch.ids-across-resources', 'list-and-watch.ids-apart', 'restart.answer-stays', 'security.device-nodes', 'security.unrelated-nodes', 'security.variables',
]);
const usual = (id) => {
	if (optional.has(id) || id.startsWith('preferred-allocation.') || id.startsWith('pre-start.') || id.startsWith('sharing.')) return ['pass', 'not-applicable'];
	return [id.startsWith('allocate.cdi-') ? 'not-applicable' : 'pass'];
};

// A conforming plugin: every check of the row passes but those that `outcomes` names, and of those none that fails is a MUST;
// null leaves it to `also`, which looks at the report and returns a complaint.
function judgeWhole({name, outcomes = {}, also}, result) {
	const complaints = (outcomes === null ? [] : result.checks)
		.filter((c) => !(outcomes[c.id] ? [outcomes[c.id]] : usual(c.id)).includes(c.outcome) || (c.outcome === 'fail' && c.level === 'must'))
		.map((c) => `${c.id} (${c.level}): outcome ${c.outcome}, expected ${outcomes[c.id] ?? usual(c.id).join(' or ')}: ${c.reason}`);
	const complaint = also?.(result);
	if (complaint) complaints.push(complaint);
	return complaints.length === 0 ? null : `${name}: ${complaints.join('; ')}`;
}

const nameOf = (row) => row.name ?? row.check;

// Rows of one check on the same plugin in the same circumstances are one run of several checks, but for those that say `alone`.
function asRuns(rows) {
	const runs = new Map();
	for (const row of rows) {
		const {check, name, plugin, args, env, program} = row;
		const key = name === undefined && !row.alone ? JSON.stringify([plugin, args, env, program]) : row;
		const run = runs.get(key) ?? {plugin, args, env, program, checks: name === undefined ? [] : row.checks, rows: []};
		if (name === undefined && !run.checks.includes(check)) run.checks.push(check);
		run.rows.push(row);
		runs.set(key, run);
	}
	return [...runs.values()];
}

// Returns the complaints about the run's rows.
async function judgeRun(run) {
	const start = Date.now();
	let complaints = [];
	try {
		const result = await report(run);
		complaints = run.rows.map((row) => (row.name === undefined ? judge : judgeWhole)(row, result)).filter((complaint) => complaint !== null);
	} catch (error) {
		complaints = run.rows.map((row) => `${nameOf(row)}: ${error.message}`);
	}
	if (process.env.SHOW_TIMES) console.log(`${((Date.now() - start) / 1000).toFixed(1)} s ${run.rows.map(nameOf).join()}`);
	return complaints;
}

// A guess at how long a run takes: checks that wait for a plugin to come, and time limits.
function patience({args = [], checks}) {
	const option = args.indexOf('--timeout-percent');
	const percent = option < 0 ? 100 : Number(args[option + 1]);
	return checks.length === 0 ? Number.MAX_VALUE : percent * (1 + checks.filter((id) => /^(registration|restart)/.test(id)).length);
}

// The processors' time since they were started, and how much of it they waited, or gave to processes that yield to others (nice).
function processorTime() {
	const times = cpus().map((cpu) => cpu.times);
	const sum = (values) => values.reduce((a, b) => a + b, 0);
	return {all: sum(times.flatMap((t) => Object.values(t))), idle: sum(times.map((t) => t.idle + t.nice))};
}

// Returns the runs that surprise, with what they are complained of. Those that take longest begin. At most `width` at a time: one more
// starts when the processors had nothing to do for a fifth of the last quarter of a second, whoever keeps them busy.
async function judgeRuns(runs, width) {
	const queue = [...runs].sort((a, b) => patience(b) - patience(a));
	const surprising = [];
	const active = new Set();
	const start = (run) => {
		const end = judgeRun(run).then((complaints) => {
			active.delete(end);
			if (complaints.length > 0) surprising.push({run, complaints});
		});
		active.add(end);
	};
	while (queue.length > 0) {
		const before = processorTime();
		if (active.size > 0) await sleep(250);
		const now = processorTime();
		if (active.size === 0 || (active.size < width && now.idle - before.idle > (now.all - before.all) / 5)) start(queue.shift());
	}
	await Promise.all(active);
	return surprising;
}

// A row of each kind that finds something without another row of its run.
function oneOfEach(rows) {
	const seen = new Set();
	return rows.filter((row) => {
		const kind = row.kind ?? row.name ?? row.check;
		return (row.wanted ?? 'fail') === 'fail' && !row.needsOthers && !seen.has(kind) && seen.add(kind);
	}).filter((_, i) => i % Number(every) === 0);
}

// Runs wait more than they compute. Each takes two of the 128 instances of inotify that a user usually has, for each check at a time.
const usualWidth = Math.min(4 * availableParallelism(), 12);

// Judges the rows, `width` runs at a time; ends the process with 1 when one surprises. Some verdicts are about the time that a plugin
// takes: a run that surprised beside the others is judged once more, by itself. It is the whole run: what a check says may be about
// the others of its run.
export async function judgeAll(rows, width = usualWidth) {
	if (process.env.ONLY) rows = rows.filter((row) => nameOf(row).includes(process.env.ONLY));
	if (sample) rows = oneOfEach(rows);
	const first = await judgeRuns(asRuns(rows), width);
	for (const complaint of first.flatMap(({complaints}) => complaints)) console.error(`Once more, by itself: ${complaint}`);
	const last = await judgeRuns(first.map(({run}) => run), 1);
	const failed = last.flatMap(({complaints}) => complaints);
	for (const complaint of failed) console.error(`FAILED: ${complaint}`);
	console.log(`${rows.length - failed.length} of ${rows.length} as expected`);
	process.exitCode = failed.length === 0 ? 0 : 1;
}
