// SPDX-License-Identifier: MIT
// usage: node references.mjs BUILD [--check]
// Writes docs/reference/ from the tables that the programs use (`cmake --build BUILD --target references`), or with --check
// reports which page differs.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [build, check] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const gpucert = (...args) => JSON.parse(execFileSync(join(build, 'bin', 'gpucert'), args, {encoding: 'utf8', maxBuffer: 1 << 26}));
const cell = (text) => text.replaceAll('|', '\\|').replace(/<(?=\w)/g, '&lt;');
const code = (names) => names.map((name) => `\`${name}\``).join(', ');
const table = (head, rows) =>
	`| ${head.join(' | ')} |\n|${' --- |'.repeat(head.length)}\n${rows.map((row) => `| ${row.map(cell).join(' | ')} |\n`).join('')}`;
const groups = (items, key) => [...new Set(items.map((item) => item[key]))].map((value) => [value, items.filter((item) => item[key] === value)]);
const checks = gpucert('list', '--json');

function checksPage() {
	const suites = groups(checks, 'suite').map(([suite, members]) =>
		`## ${suite}\n\n${table(['check', 'requirement', 'rule', 'when it fails'],
			members.map(({id, requirement, title, advice}) => [code([id]), requirement, title, advice]))}`);
	return `# Checks\n\nAll ${checks.length} checks, as \`gpucert list\` and \`gpucert show\` print them. [Requirements](requirements.md) has their levels and sources.\n\n${suites.join('\n')}`;
}

function requirementsPage() {
	const rows = groups(checks, 'requirement').map(([id, members]) => {
		const [{level, sentence, source}] = members;
		return [id, level.toUpperCase(), sentence, source, code(members.map((member) => member.id))];
	});
	rows.sort(([a], [b]) => (a < b ? -1 : 1));
	return '# Requirements\n\nA MUST is what a kubelet, a container runtime or a driver punishes; only MUST requirements decide conformance. [Checks](checks.md) has titles and advice.\n\n' +
		table(['id', 'level', 'requirement', 'source', 'checks'], rows);
}

// base/gpu_apis.def has rows API(name, system, ..., .member = "value" or {"value", ...}).
function apisPage() {
	const source = readFileSync(join(root, 'base/gpu_apis.def'), 'utf8');
	const rows = source.split(/^(?=API[A-Z_]*\()/m).slice(1).map((row) => {
		const [, name, system] = row.match(/\((\w+), (\w+)/);
		const words = (member) => [...(row.match(new RegExp(`\\.${member} = (\\{.*?\\}|"[^"]*")`, 's'))?.[1] ?? '').matchAll(/"([^"]*)"/g)]
			.map(([, word]) => word);
		return [code([name]), {ANY: 'Linux, Windows', LINUX: 'Linux', WINDOWS: 'Windows'}[system], code(words('loader')),
			code([...words('driver_dll'), ...words('windows_dll')]), code(words('kernel_drivers'))];
	});
	return '# GPU APIs\n\nWhere each API is tested, the library that a container needs in its image (Linux), the DLL that a driver or Windows brings, and the ' +
		'Linux kernel drivers whose devices offer it. The probe of an API is `probe-NAME`, its check `api.NAME`. [Probes](../probes.md) describes their work.\n\n' +
		table(['API', 'systems', 'library', 'DLL', 'kernel drivers'], rows);
}

function rulesPage() {
	const rows = gpucert('image', 'check', '--list-rules', '--json').map(({id, says, source}) => [code([id]), says, source]);
	return '# Rules of images\n\nThe rules of `gpucert image check` ([image-check.md](../image-check.md)), as `--list-rules` prints them.\n\n' +
		table(['rule', 'what it says', 'source'], rows);
}

const pages = {'checks.md': checksPage(), 'requirements.md': requirementsPage(), 'apis.md': apisPage(), 'image-rules.md': rulesPage()};
mkdirSync(join(root, 'docs/reference'), {recursive: true});
for (const [name, text] of Object.entries(pages)) {
	const path = join(root, 'docs/reference', name);
	if (!text.includes('\n| `') && !text.includes('\n| ALC')) throw new Error(`${name} has no rows`);
	if (check === undefined) {
		writeFileSync(path, text);
	} else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
		console.error(`docs/reference/${name} differs from the tables: cmake --build ${build} --target references`);
		process.exitCode = 1;
	}
}

// The checks that a page written by hand names in its tables.
const known = new Set(gpucert('list', '--json').map((check) => check.id));
for (const [, id] of readFileSync(join(root, 'docs/reference/bug-reports.md'), 'utf8').matchAll(/`([a-z0-9-]+\.[a-z0-9-]+)`/g)) {
	if (known.has(id) || id === 'kubelet.sock') continue;
	console.error(`docs/reference/bug-reports.md names ${id}, which is not a check`);
	process.exitCode = 1;
}
