// SPDX-License-Identifier: MIT
// usage: node readme.mjs BUILD [--check] [NAME=FOLDER...]
// The sample outputs of README.md and docs/ are what the programs print. Writes them (`cmake --build BUILD --target readme`), or with
// --check reports where they differ in more than times, versions and digests. FOLDER holds the report of an earlier run;
// matrix=FOLDER holds the golden set (reports/tests/set), and selects only its sample. Without the Windows programs (preset
// "windows") the sample of the Wine node stays as it is, and without vm=FOLDER that of the virtual machine: test_wine_node and
// test_vm_run compare them with their own. The matrix of nodes is written only from all four.
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [build, ...rest] = process.argv.slice(2);
const check = rest.includes('--check');
const given = Object.fromEntries(rest.filter((word) => word.includes('=')).map((word) => word.split(/=(.*)/s)));
const bin = (name) => join(build, 'bin', name);
const pages = ['README.md', 'docs/report.md', 'docs/reference/matrix.md'];
const work = mkdtempSync(join(tmpdir(), 'gpucert-readme-'));
process.on('exit', () => rmSync(work, {recursive: true, force: true}));

// The plugin of the third sample: the reference plugin's answer for the Vulkan driver without one library.
function forgetful() {
	const node = JSON.parse(execFileSync(bin('gpu-discovery'), ['--json'], {maxBuffer: 1 << 26}));
	const driver = node.devices.find((device) => device.id === 'lavapipe');
	const mounts = driver.files
		.filter((file) => !file.destination.endsWith('/libz.so.1'))
		.map((file) => ({host_path: file.source, container_path: file.destination, read_only: true}));
	const script = join(work, 'forgetful.json');
	writeFileSync(script, JSON.stringify({
		plugins: [{resource: 'example.com/gpu', devices: [{id: 'lavapipe'}], allocate: {once: {mounts, envs: driver.environment}}}],
	}));
	return ['--plugin', `'${join(build, 'tests', 'scripted-plugin')}' '${script}' {plugin-dir}`, 'api.vulkan'];
}

const windows = join(build, '..', 'windows');
const runs = {
	run: () => ['--jobs', '2'],
	library: forgetful,
	wine: () => ['--jobs', '4', '--node', 'wine', '--windows-programs', windows],
	vm: () => ['--node', 'vm'],
	mesa: () => ['--node', 'vm'],
};
const real = ['run', 'vm', 'mesa', 'wine'];
// The others need no Windows programs, and are compared by test_run.
const isAsked = (name) => {
	if (name === 'matrix' || given.matrix !== undefined) return name === 'matrix' && (!check || given.matrix !== undefined);
	if (name === 'nodes') return check ? real.some((one) => given[one] !== undefined) : real.every(isAsked);
	if (name === 'vm' || name === 'mesa') return given[name] !== undefined;
	if (name === 'wine') return given.wine !== undefined || (!check && existsSync(join(windows, 'bin', 'gpu-discovery.exe')));
	return !check || ['wine', 'vm', 'mesa'].every((one) => given[one] === undefined);
};

// The folder of the run's report.
function report(name) {
	if (given[name] !== undefined) return given[name];
	const args = runs[name]();
	const out = join(work, name);
	const env = {...process.env, ...(name === 'mesa' && {GPUCERT_VM_MESA: 'trixie-backports'})};
	const run = spawnSync(bin('gpucert'), ['run', '--quiet', '--out', out, ...args], {env, stdio: ['ignore', 'inherit', 'inherit']});
	if (run.status > 1) throw new Error(`gpucert run ${args.join(' ')}: exit code ${run.status}`);
	return (given[name] = out);
}

function summary(name) {
	const out = report(name);
	return execFileSync(bin('gpucert'), ['report', out], {encoding: 'utf8'}).replaceAll(out, 'gpucert-report');
}

// One check of the first run with the members that tell most.
function excerpt() {
	const whole = JSON.parse(readFileSync(join(report('run'), 'report.json')));
	const {id, requirement, level, severity, outcome, disposition, devices, time, assertions, notes, evidence} =
		whole.checks.find((entry) => entry.id === 'api.vulkan');
	const {durationMs, phasesMs: {cri, probe, plugin, wait}} = time;
	const told = assertions.filter(({what}) => ['/work/verified', '/devices/0/software'].includes(what));
	const document = evidence.find(({name}) => name.startsWith('probe-vulkan') && name.endsWith('.json'));
	const line = (value) => JSON.stringify(value, null, ' ').replace(/\n */g, ' ').replace(/([[{]) /g, '$1').replace(/ ([\]}])/g, '$1');
	const members = (value) => line(value).slice(1, -1);
	return `{
  ${members({id, requirement, level, severity})},
  ${members({outcome, disposition, devices})},
  ${members({time: {durationMs, phasesMs: {cri, probe, plugin, wait}}})},
  "assertions": [
${told.map((assertion) => `    ${line(assertion)}`).join(',\n')}
  ],
  ${members({notes: notes.filter((note) => note.startsWith('vulkan computed'))})},
  ${members({evidence: [{name: document.name, path: document.path, bytes: document.bytes}]})}
}
`;
}

// What differs between machines and runs of the same sources. Counts of checks do not, except that api.ffmpeg applies only where
// the small ffmpeg was made (cmake/ffmpeg). Why memory cannot be limited is the kernel's matter.
const normal = (text) => text
	.replace(', ffmpeg on lavapipe', '')
	.replace(/\d+ kinds of launches/, 'KINDS of launches')
	.replace(/(\d+) of (\d+) checks passed, 1 unsupported, (\d+) not-applicable; conformant/, (_, passed, all, rest) => `${+passed + +rest} of ${+all + +rest}`)
	.replace(/(isolation.device-memory \(unsupported\)): .*/, '$1')
	.replace(/api (\d+)\/\1, isolation/, 'api ALL, isolation')
	.replace(/sha256:[0-9a-f]{64}/g, 'DIGEST')
	.replace(/\([\d.]+ s, [\d.]+ %/g, '(TIME')
	.replace(/("durationMs"|"cri"|"probe"|"plugin"|"wait"|"bytes"): \d+/g, '$1: N')
	.replace(/\.c:\d+/g, '.c:LINE')
	.replace(/\d+ bits/g, 'N bits')
	.replace(/\d+(\.\d+)+[~\w.-]*/g, 'VERSION');

// A matrix as {NODE: {CHECK: CELL}}, from the text that gpucert matrix prints.
function columnsOf(text) {
	const names = Object.fromEntries([...text.matchAll(/^([A-Z]) {3}(.*)$/gm)].map(([, letter, name]) => [letter, name]));
	const [head, ...rows] = text.trim().split('\n\n')[1].split('\n').map((row) => row.trim().split(/ {2,}/));
	return Object.fromEntries(head.map((letter, i) => [names[letter], Object.fromEntries(rows.map((row) => [row[0], row[i + 1]]))]));
}

// What APIs did on the nodes of four runs. Each test has one of them, and compares its columns; those of other runs stay as they are.
function nodes(old) {
	const folders = real.map((name) => (check ? given[name] : report(name))).filter((folder) => folder !== undefined);
	const text = execFileSync(bin('gpucert'), ['matrix', '--apis', ...folders], {encoding: 'utf8'});
	if (!check) return text;
	const written = columnsOf(normal(old));
	const same = Object.entries(columnsOf(normal(text))).every(([node, cells]) =>
		Object.entries(cells).every(([row, cell]) => row === 'api.ffmpeg' || (written[node]?.[row] ?? '-') === cell));
	return same ? old : text;
}

// Of the golden set, which is made for it: what gpucert tells of many reports.
function matrix() {
	const set = given.matrix ?? join(work, 'set');
	const maker = join(import.meta.dirname, '../reports/tests/set/make-set.mjs');
	if (given.matrix === undefined) execFileSync('node', [maker, build, set], {stdio: 'inherit'});
	return execFileSync(bin('gpucert'), ['matrix', '--failed', join(set, 'matrix')], {encoding: 'utf8'});
}

const samples = {nodes, matrix, excerpt, ...Object.fromEntries(Object.keys(runs).map((name) => [name, () => summary(name)]))};
let differs = false;
function renew(page, head, name, old) {
	if (!isAsked(name)) return head + old;
	const text = samples[name](old);
	if (check && normal(text) !== normal(old)) {
		console.error(`${page}, sample ${name}, is now:\n${text}`);
		differs = true;
	}
	return head + (normal(text) === normal(old) ? old : text); // other times and numbers are no change
}

// A sample is the block or the table after a comment that names it.
for (const page of pages) {
	const path = join(import.meta.dirname, '..', page);
	const written = readFileSync(path, 'utf8')
		.replace(/(<!-- sample: (\w+) -->\n```\w*\n)(.*?)(?=```\n)/gs, (_, head, name, old) => renew(page, head, name, old))
		.replace(/(<!-- sample: (\w+) -->\n)((?:\|.*\n)+)/g, (_, head, name, old) => renew(page, head, name, old));
	if (!check) writeFileSync(path, written);
}
// The picture of README.md, of the run that fails, where the build has a browser for its tests.
const pagesProject = join(build, 'npm', 'pages');
const picture = join(pagesProject, 'picture.mjs');
if (!check && isAsked('library') && existsSync(join(pagesProject, 'node_modules', 'playwright-core')))
	execFileSync('node', [picture, join(report('library'), 'report.html'), join(import.meta.dirname, '../docs/report.png')], {stdio: 'inherit'});
process.exitCode = differs ? 1 : 0;
