// SPDX-License-Identifier: MIT
// usage: node make-set.mjs BUILD OUT
// Makes the golden set of reports (README.md): runs the suite on each node of nodes.mjs, adds to the journal what faults.mjs says of
// containers, and lets gpucert make the report from it. Afterwards OUT/matrix holds 4 drivers × 3 builds, OUT/more the rest.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {chain} from '../chain.mjs';
import {devicesOf, faults, plantedOn} from './faults.mjs';
import {builds, drivers, nodeOf, others, severalDevices} from './nodes.mjs';

const [build, out] = process.argv.slice(2).map((path) => resolve(path));
const bin = (name) => join(build, 'bin', name);
const PLANTED = 'planted by reports/tests/set: no container ran';
const NO_TIME = {setup: 0, cri: 0, probe: 0, plugin: 0, wait: 0, cleanup: 0};
const AT_ONCE = 3;

// Every expectation file that is shipped: the plan says which rows are about the node.
const shipped = join(import.meta.dirname, '../../expectations');
const expectations = readdirSync(shipped).filter((name) => name !== 'directx-device-plugins.json').sort()
	.flatMap((name) => ['--expect', join(shipped, name)]);

// All that a recorded node can show, without what only waits.
const checks = ['environment', 'registration.arrives', 'registration.version', 'registration.resource-name', 'list-and-watch', 'allocate', 'windows', 'api', 'isolation',
	...['idle', 'no-storm', 'ids-stable'].flatMap((name) => ['-x', `list-and-watch.${name}`])];

function run({folder, node, settings, expect}) {
	mkdirSync(folder, {recursive: true});
	const file = join(out, 'nodes', `${node.name}.json`);
	writeFileSync(file, JSON.stringify(node.content));
	const env = {...process.env, WDDM_DEVICE_PLUGIN_INCLUDE_INTEGRATED: 'true', ...settings};
	const child = spawn(bin('gpucert'), ['run', '--quiet', '--launcher', 'process', '--node', file, '--out', folder, ...expect, ...checks],
		{stdio: ['ignore', 'ignore', 'pipe'], env});
	let told = '';
	child.stderr.on('data', (data) => (told += data));
	return new Promise((done, failed) =>
		child.on('close', (code) => (code > 1 ? failed(new Error(`${folder}: gpucert run: exit code ${code}\n${told}`)) : done())));
}

// The records of a check that is planted, in the order in which a runner writes them.
function* records(check, cell) {
	const fault = faults.find(({when, hits}) => when(cell) && hits(check, cell));
	const outcome = fault === undefined ? 'pass' : (fault.outcome?.(check) ?? 'fail');
	const seen = fault?.sees(check, cell) ?? {what: '/work/verified', wanted: 'ok', saw: 'ok'};
	yield {type: 'check-begin', check, timeoutMs: 90000};
	for (const {id} of check.startsWith('api.') ? devicesOf(check, cell.devices) : [])
		yield* [{type: 'device', check, ref: id}, {type: 'device', check, ref: id, outcome}];
	if (outcome !== 'unsupported') yield {type: 'assertion', check, ...seen, ok: outcome === 'pass', at: null};
	yield {type: 'note', check, text: fault ? `${PLANTED}; ${fault.name}: ${fault.source}` : PLANTED};
	const reason = {pass: '', fail: `${seen.what}: got ${seen.saw}, expected ${seen.wanted}`, unsupported: `${seen.what}: cannot work: ${seen.saw}`}[outcome];
	yield {type: 'check-end', check, outcome, reason, durationMs: 0, phasesMs: NO_TIME, leftOut: 0};
}

// Planted checks have no outcome in the plan, and prove nothing; their records stand before what the run did at its end.
function plant(folder, cell) {
	const journal = join(folder, 'journal.ndjson');
	const planted = plantedOn(cell);
	const lines = readFileSync(journal, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
	const plan = lines.find(({type}) => type === 'plan');
	for (const check of plan.checks.filter(({id}) => planted.includes(id))) {
		delete check.outcome;
		delete check.reason;
		check.unproven = PLANTED;
	}
	const {atMs, time} = lines.at(-1);
	const added = plan.checks.filter(({id}) => planted.includes(id)).flatMap(({id}) => [...records(id, cell)]);
	const end = lines.findLastIndex(({type}) => type === 'check-end') + 1;
	lines.splice(end, 0, {type: 'event', check: null, kind: 'planted', text: PLANTED}, ...added);
	const stamped = lines.map(({seq, prev, atMs: at, time: when, ...record}, i) =>
		JSON.stringify({seq: i + 1, prev: '', atMs: at ?? lines[end - 1].atMs, time: when ?? lines[end - 1].time, ...record}));
	writeFileSync(journal, chain(`${stamped.join('\n')}\n`));
	for (const file of ['report.json', 'junit.xml']) rmSync(join(folder, file));
	execFileSync(bin('gpucert'), ['report', '--out', folder, folder], {stdio: 'ignore'});
}

// `settings`: variables of the reference plugin.
function cellOf(group, driver, os, name = `${driver.name}-${os.name}`, settings = {}, expect = expectations) {
	const content = nodeOf(driver, os);
	return {folder: join(out, group, name), node: {name, content}, settings, expect, driver, os, devices: content.devices};
}

const cells = [
	...drivers.flatMap((driver) => builds.map((os) => cellOf('matrix', driver, os))),
	...others.map(([driver, os]) => cellOf('more', driver, os)),
	cellOf('more', ...severalDevices, 'several-devices', {WDDM_DEVICE_PLUGIN_SEVERAL_DEVICES: 'allow'},
		[...expectations, '--expect', join(shipped, 'directx-device-plugins.json')]),
];

rmSync(out, {recursive: true, force: true});
mkdirSync(join(out, 'nodes'), {recursive: true});
const left = [...cells];
await Promise.all(Array.from({length: AT_ONCE}, async () => {
	for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
		await run(cell);
		plant(cell.folder, cell);
	}
}));
