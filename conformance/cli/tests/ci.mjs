// SPDX-License-Identifier: MIT
// usage: node ci.mjs BUILD
// What `gpucert run --ci` prints, read as each CI system reads it: sections around suites, annotations of what is unexpected with
// their texts whole, the report on the job's page. A plugin whose answers are commands to each of the systems commands nothing.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {commands} from './ci_commands.mjs';

const build = resolve(process.argv[2]);
const work = mkdtempSync(join(tmpdir(), 'gpucert-ci-'));
process.on('exit', () => rmSync(work, {recursive: true, force: true}));

const variables = {github: 'GITHUB_ACTIONS', gitlab: 'GITLAB_CI', azure: 'TF_BUILD', teamcity: 'TEAMCITY_VERSION'};
const attack = [
	'\n::error::forged', '\r::stop-commands::x', '##[add-mask]forged', '##vso[task.complete result=Succeeded;]forged',
	"##teamcity[buildStatus status='SUCCESS']", '\n\x1b[0Ksection_end:1:gpucert_allocate\r\x1b[0K', '100% | [x]; `@all` <b>', "it's",
].join(' ');
const script = join(work, 'script.json');
writeFileSync(script, JSON.stringify({
	plugins: [{resource: 'example.com/gpu', devices: [{id: 'a'}], rpc: {Allocate: {code: 'INTERNAL', message: attack}}}],
}));

let runs = 0;
function run(system, {args = [], env = {}, checks = ['registration.arrives', 'allocate.each-and-all']} = {}) {
	const out = join(work, `out-${++runs}`);
	const page = join(work, `page-${runs}.md`);
	const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !Object.values(variables).includes(name)));
	writeFileSync(page, 'before\n');
	const ended = spawnSync(join(build, 'bin', 'gpucert'),
		['run', '--launcher', 'process', '--out', out, ...(system ? ['--ci', system] : []), ...args, ...checks],
		{encoding: 'utf8', env: {...clean, GITHUB_STEP_SUMMARY: page, ...env}});
	const report = existsSync(join(out, 'report.json')) ? JSON.parse(readFileSync(join(out, 'report.json'))) : null;
	return {...ended, out, report, page: readFileSync(page, 'utf8')};
}
const hostile = {args: ['--plugin', `'${join(build, 'tests', 'scripted-plugin')}' '${script}' {plugin-dir}`]};

// What each system must find, of the suites and the one failure.
const wanted = {
	github: (title, text) => [
		{name: 'group', text: 'registration'}, {name: 'endgroup', text: ''}, {name: 'group', text: 'allocate'},
		{name: 'endgroup', text: ''}, {name: 'error', title, text},
	],
	azure: (title, text, out) => [
		{name: 'group', text: 'registration'}, {name: 'endgroup', text: ''}, {name: 'group', text: 'allocate'},
		{name: 'endgroup', text: ''}, {name: 'task.logissue', type: 'error', text: `${title}: ${text}`},
		{name: 'task.uploadsummary', type: undefined, text: join(out, 'report.md')},
	],
	teamcity: (title, text, out) => [
		{name: 'blockOpened', of: 'registration'}, {name: 'blockClosed', of: 'registration'}, {name: 'blockOpened', of: 'allocate'},
		{name: 'blockClosed', of: 'allocate'}, {name: 'message', of: undefined, status: 'ERROR', text: `${title}: ${text}`},
		{name: 'importData', of: undefined, type: 'junit', path: join(out, 'junit.xml')},
	],
	gitlab: () => ['registration', 'allocate'].flatMap((suite) => [
		{name: 'start', section: `gpucert_${suite}`, text: suite}, {name: 'end', section: `gpucert_${suite}`, text: ''},
	]),
};
// As base/text.h shows control characters and commands.
const shown = (text) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\x0d').replaceAll('\x1b', '\\x1b')
	.replaceAll('##', '#\\x23');

for (const system of Object.keys(variables)) {
	const ended = run(system, hostile);
	const failed = ended.report.checks.find((check) => check.id === 'allocate.each-and-all');
	assert.equal(ended.status, 1, ended.stderr);
	assert.equal(failed.outcome, 'fail');
	assert.ok(failed.reason.includes('##[add-mask]forged'), `the attack did not come so far: ${failed.reason}`);
	const text = `${shown(failed.reason)}\n${failed.advice}`;
	assert.deepEqual(commands(system, ended.stdout), wanted[system](`${failed.id} (fail)`, text, ended.out), system);
	for (const other of Object.keys(variables))
		assert.deepEqual(commands(other, ended.stderr), [], `standard error, read by ${other}`);
	assert.match(ended.stdout, /^pass +registration\.arrives/m);
	assert.match(ended.stdout, /^FAILED /m);
	if (system === 'github')
		assert.ok(ended.page.startsWith('before\n## gpucert: FAILED\n') && ended.page.includes('allocate.each-and-all'), ended.page);
	else
		assert.equal(ended.page, 'before\n');
}

// Also without --ci, and for who reads the report later.
const plain = run(null, {...hostile, args: [...hostile.args, '--verbose']});
const later = spawnSync(join(build, 'bin', 'gpucert'), ['report', plain.out], {encoding: 'utf8'});
for (const system of Object.keys(variables))
	assert.deepEqual(commands(system, plain.stdout + plain.stderr + later.stdout), [], system);
assert.match(plain.stderr, /^fail +allocate\.each-and-all/m);
assert.match(later.stdout, /^fail +allocate\.each-and-all/m);

// "auto" is the system whose variable is set, and none elsewhere; so is the default, whatever is set.
for (const [system, variable] of Object.entries(variables)) {
	const checks = ['registration.arrives'];
	assert.ok(commands(system, run('auto', {checks, env: {[variable]: 'true'}}).stdout).length >= 2, system);
	assert.deepEqual(commands(system, run(null, {checks, env: {[variable]: 'true'}}).stdout), []);
	assert.deepEqual(commands(system, run('auto', {checks}).stdout), []);
}
const elsewhere = run('auto', {checks: ['registration.arrives'], env: {GPUCERT_CI: 'github'}});
assert.equal(elsewhere.page, 'before\n', 'the option counts, not GPUCERT_CI');
assert.match(run(null, {checks: ['registration.arrives'], env: {GPUCERT_CI: 'github'}}).page, /^before\n## gpucert: /);

// Quiet: the page alone. A run that proves nothing says why. What the page cannot take does not change the verdict.
const quiet = run('github', {...hostile, args: [...hostile.args, '--quiet']});
assert.equal(quiet.stdout, '');
assert.match(quiet.page, /FAILED/);
const few = run('github', {args: ['--min-run', '9'], checks: ['registration.arrives']});
assert.equal(few.status, 5);
assert.deepEqual(commands('github', few.stdout).filter(({name}) => name === 'error').map(({title}) => title), ['gpucert: TOO FEW']);
// So does one that is only PARTIAL: a warning when its exit code is 0, and an error with --require-conformant.
for (const [args, status, level] of [[[], 0, 'warning'], [['--require-conformant'], 1, 'error']]) {
	const partial = run('github', {args, checks: ['registration.arrives', 'isolation.single-device']});
	assert.equal(partial.status, status);
	const [said, ...more] = commands('github', partial.stdout).filter(({name}) => ['error', 'warning'].includes(name));
	assert.deepEqual([said.name, said.title, more], [level, 'gpucert: PARTIAL', []]);
	assert.match(said.text, /checks passed.*\nisolation\.single-device \(unsupported\): needs containers/);
}
const unwritable = run('github', {checks: ['registration.arrives'], env: {GITHUB_STEP_SUMMARY: join(work, 'none', 'page.md')}});
assert.equal(unwritable.status, 0);
assert.match(unwritable.stderr, /GITHUB_STEP_SUMMARY: .*page\.md/);
const broken = run('github', {args: ['--expect', join(work, '##[error]none.json')]});
assert.equal(broken.report, null);
assert.deepEqual(commands('github', broken.stderr + broken.stdout), []);

// What was known to fail and passes is a warning, and the first thing on the page.
const known = join(work, 'known.json');
writeFileSync(known, JSON.stringify({schema: 'gpucert-expectations/1', rows: [{
	check: 'registration.version', expect: 'fail', match: {os: 'linux'}, why: 'It ::asks:: for v1alpha.', link: 'https://example.com/1',
	added: '2026-11-01', seenWith: 'a plugin', reviewBy: `${new Date().getFullYear() + 1}-01-01`,
}]}));
const fixed = run('github', {args: ['--expect', known], checks: ['registration.version']});
assert.equal(fixed.status, 1);
assert.deepEqual(commands('github', fixed.stdout).filter(({name}) => name === 'warning'), [
	{name: 'warning', title: 'registration.version (pass)', text: 'better than expected: remove the expectation known#1'}]);
assert.match(fixed.page, /^before\n## gpucert: FAILED\n\n\*\*FIXED\*\* registration\.version passes now/);
