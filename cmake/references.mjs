// SPDX-License-Identifier: MIT
// usage: node references.mjs BUILD [--check]
// Writes docs/reference/ from the tables that the programs use (`cmake --build BUILD --target references`), or with --check
// reports which page differs.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [build, check] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const gpucert = (...args) => JSON.parse(execFileSync(join(build, 'bin', 'gpucert'), args, {encoding: 'utf8', maxBuffer: 1 << 26}));
const cell = (text) => text.replaceAll('|', '\\|').replace(/`[^`]*`|<(?=\w)(?!https:)/g, (match) => (match === '<' ? '&lt;' : match));
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

// conformance/kubelet/event.h has rows X(ENUMERATOR, "name", "meaning", "members"), and kubelet.h lists the faults in a comment.
function kubeletPage() {
	const source = (name) => readFileSync(join(root, 'conformance/kubelet', name), 'utf8');
	const events = [...source('event.h').matchAll(/\bX\([A-Z_]+,\s*"([^"]*)",[\s\\]*"([^"]*)",[\s\\]*"([^"]*)"\)/g)]
		.map(([, name, meaning, members]) => [code([name]), meaning, code(members.split(', '))]);
	const [, list] = source('kubelet.h').match(/followed by "\*TIMES":\n \*\n(.*?)\n \*\n/s);
	const faults = list.replace(/\n \* {8,}/g, ' ').split('\n').map((line) => line.match(/^ \* +(\S+) +(.*)/).slice(1))
		.map(([name, meaning]) => [code([name]), meaning]);
	return '# Events and faults of the fake kubelet\n\nWhat `gpucert kubelet` ([fake-kubelet.md](../fake-kubelet.md)) prints and can be made to do.\n\n## Events\n\n' +
		'Each event has `time` (UTC), `elapsed_ms`, `event`, and these members. `code` is the name of a gRPC status, `duration_ms` the plugin\'s time, `size` the bytes of its message.\n\n' +
		`${table(['event', 'meaning', 'members'], events)}\n## Faults\n\nThe connection faults and \`socket-absent\` exclude each other: the last one counts.\n\n` +
		table(['fault', 'what happens'], faults);
}

// A schema's members as rows of PATH, values, meaning; a path ends in [] for each item of an array. Members without anything to say
// about them, other than their name, have no row.
function membersOf(part, whole, path = '') {
	const referred = part.$ref && whole.$defs[part.$ref.split('/').pop()];
	const {items, properties, oneOf, anyOf, ...own} = {...referred, ...part};
	const identifies = own['x-identifying'] === true;
	const values = (own.enum ?? [own.const]).filter((value) => value !== undefined && value !== null).map(String);
	const row = [code([path]) + (identifies ? ' *' : ''), code(values), own.description ?? ''];
	return [
		...(path && (identifies || row[1] || row[2]) ? [row] : []),
		...(items ? membersOf({...items, description: undefined}, whole, `${path}[]`) : []),
		...(path ? oneOf ?? anyOf ?? [] : []).flatMap((one) => membersOf(one, whole, path).filter(([name]) => name !== code([path]))),
		...Object.entries(properties ?? {}).flatMap(([name, member]) => membersOf(member, whole, path ? `${path}.${name}` : name)),
	];
}

function schemaPage(title, text, file, ...parts) {
	const whole = JSON.parse(readFileSync(join(root, file), 'utf8'));
	const tables = (parts.length ? parts : [null]).map((name) =>
		`${name ? `\n## ${whole.$defs[name].title ?? name}\n\n` : '\n'}${table(['member', 'values', 'meaning'], membersOf(name ? whole.$defs[name] : whole, whole))}`);
	return `# ${title}\n\n${text} [${file.split('/').pop()}](../../${file}) has the types, too.\n${tables.join('')}`;
}

// Rows of a file with the same reason and conditions are one row here.
function expectationsPage() {
	const folder = join(root, 'reports/expectations');
	const rows = readdirSync(folder).flatMap((name) => {
		const {rows: all} = JSON.parse(readFileSync(join(folder, name), 'utf8'));
		const same = groups(all.map((row) => ({...row, key: JSON.stringify([row.why, row.expect, row.match])})), 'key');
		return same.map(([, members]) => {
			const [{why, match, expect, seenWith, link}] = members;
			const where = Object.entries(match).map(([member, value]) => `${member} ${value}`);
			return [code([name.replace('.json', '')]), why, code(where), expect, code(members.map((row) => row.check)), seenWith, `<${link}>`];
		});
	});
	return '# Installed expectation files\n\nKnown failures of drivers and builds of Windows, for `gpucert run --expect NAME` ([expectations.md](../expectations.md)). ' +
		'Each was observed by others, not by the project.\n\n' +
		table(['name', 'known failure', 'where', 'expected', 'checks', 'seen with', 'source'], rows);
}

const pages = {
	'checks.md': checksPage(),
	'requirements.md': requirementsPage(),
	'apis.md': apisPage(),
	'image-rules.md': rulesPage(),
	'expectations.md': expectationsPage(),
	'kubelet-events.md': kubeletPage(),
	'report-members.md': schemaPage('Members of report.json', '[report.md](../report.md) explains how to read a report. A * marks members that identify an environment.',
		'reports/schema/report.schema.json'),
	'probe-members.md': schemaPage('Members of a probe\'s document', '[probes.md](../probes.md) explains the work. `apiDocument` is what the probe of an API prints, ' +
		'`visibilityDocument` what `probe-visibility` prints.', 'workloads/schema/probe.schema.json', 'apiDocument', 'visibilityDocument'),
	'node-members.md': schemaPage('Members of a recorded node', '[discovery.md](../discovery.md) explains them. `gpu-discovery --json` prints the same.', 'discovery/schema/node.schema.json'),
};
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
