// SPDX-License-Identifier: MIT
// usage: node readme.mjs BUILD [--check] [NAME=FOLDER...]
// The sample outputs of README.md and docs/ are what the programs print. Writes them (`cmake --build BUILD --target readme`), or with
// --check reports where they differ in more than times, versions and digests. FOLDER holds the report of an earlier run;
// matrix=FOLDER holds the golden set (reports/tests/set), and selects only its sample. Without the Windows programs (preset
// "windows") the sample of the Wine node stays as it is; test_wine_node compares it with its own FOLDER.
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [build, ...rest] = process.argv.slice(2);
const check = rest.includes('--check');
const given = Object.fromEntries(rest.filter((word) => word.includes('=')).map((word) => word.split(/=(.*)/s)));
const bin = (name) => join(build, 'bin', name);
const pages = ['README.md', 'docs/report.md', 'docs/reference/api-grid.md', 'docs/reference/matrix.md', 'docs/wine-node.md'];
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
	run: () => [],
	library: forgetful,
	wine: () => ['--jobs', '4', '--node', 'wine', '--windows-programs', windows],
};
// The others need no Windows programs, and are compared by test_run.
const isAsked = (name) => {
	if (name === 'matrix' || given.matrix !== undefined) return name === 'matrix' && (!check || given.matrix !== undefined);
	if (name === 'grid') return true;
	if (name === 'wine') return given.wine !== undefined || (!check && existsSync(join(windows, 'bin', 'gpu-discovery.exe')));
	return !check || given.wine === undefined;
};

// The folder of the run's report.
function report(name) {
	if (given[name] !== undefined) return given[name];
	const args = runs[name]();
	const out = join(work, name);
	const run = spawnSync(bin('gpucert'), ['run', '--quiet', '--out', out, ...args], {stdio: ['ignore', 'inherit', 'inherit']});
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
	.replace(/ffmpeg \| [\w ]+ \|/, 'ffmpeg | WHERE |')
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

// What the check of an API came to in a run: on which device it works, or why nothing was shown.
function cell(name, api, verb) {
	const found = JSON.parse(readFileSync(join(report(name), 'report.json'))).checks.find((entry) => entry.id === `api.${api}`);
	if (found === undefined) return 'another system';
	if (found.outcome === 'not-applicable') return found.deviceOutcomes.length === 0 ? 'no device offers it' : 'its devices cannot';
	const passed = found.deviceOutcomes.filter(({outcome}) => outcome === 'pass').map(({ref}) => ref);
	if (passed.length === 0) return found.outcome;
	const where = found.deviceOutcomes.length === 1 ? passed[0] : `${passed.length} of ${found.deviceOutcomes.length} devices`;
	return found.outcome === 'pass' ? `${verb} on ${where}` : `${found.outcome}; ${verb} on ${where}`;
}

// The grid of APIs: a column for each run, those that are not asked for as they were.
function grid(old) {
	const columns = ['run', 'wine'];
	const cells = Object.fromEntries(old.split('\n').map((row) => row.split('|').map((text) => text.trim())).map((row) => [row[1], row.slice(2, 4)]));
	const apis = [...readFileSync(join(import.meta.dirname, '../base/gpu_apis.def'), 'utf8').matchAll(/^API\((\w+).*?\n\n/gms)];
	const rows = apis.map(([text, api]) => {
		const verb = text.includes('.enumerates') ? 'listed' : 'works';
		const row = columns.map((name, column) => (isAsked(name) ? cell(name, api, verb) : (cells[api]?.[column] ?? '')));
		return `| ${api} | ${row.join(' | ')} |\n`;
	});
	return `| API | Linux, no GPU | Windows node under Wine |\n| --- | --- | --- |\n${rows.join('')}`;
}

// Of the golden set, which is made for it: what gpucert tells of many reports.
function matrix() {
	const set = given.matrix ?? join(work, 'set');
	const maker = join(import.meta.dirname, '../reports/tests/set/make-set.mjs');
	if (given.matrix === undefined) execFileSync('node', [maker, build, set], {stdio: 'inherit'});
	return execFileSync(bin('gpucert'), ['matrix', '--failed', join(set, 'matrix')], {encoding: 'utf8'});
}

const samples = {grid, matrix, run: () => summary('run'), library: () => summary('library'), wine: () => summary('wine'), excerpt};
let differs = false;
function renew(page, head, name, old) {
	if (!isAsked(name)) return head + old;
	const text = samples[name](old);
	if (check && normal(text) !== normal(old)) {
		console.error(`${page}, sample ${name}, is now:\n${text}`);
		differs = true;
	}
	return head + text;
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
const picture = join(build, 'npm', 'pages', 'picture.mjs');
if (!check && isAsked('library') && existsSync(picture))
	execFileSync('node', [picture, join(report('library'), 'report.html'), join(import.meta.dirname, '../docs/report.png')], {stdio: 'inherit'});
process.exitCode = differs ? 1 : 0;
