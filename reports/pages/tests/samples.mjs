// SPDX-License-Identifier: MIT
// The pages to look at, as `gpucert` makes them: {file, texts, filter, first, large}.
import {spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {read, records, write} from './journals.mjs';

const HOSTILE = '</script></style>"\'><b data-hostile>\u001b[2J\u202e\u0007</b><img src=x onerror="hostile=1"><script>hostile=1</script>]]>{{7*7}}';
const DRIVERS = [
	{key: 'nvidia', name: 'Tesla T4', version: '551.23'},
	{key: 'nvidia', name: 'Tesla T4', version: '552.12'},
	{key: 'nvidia', name: 'Tesla T4', version: '553.01'},
	{key: 'amd', name: 'Radeon PRO V710', version: '24.10.1'},
];
const BUILDS = [
	{product: 'Windows Server 2019 Datacenter', build: '17763', revision: '5576'},
	{product: 'Windows Server 2022 Datacenter', build: '20348', revision: '1547'},
	{product: 'Windows Server 2025 Datacenter', build: '26100', revision: '1742'},
];
const LARGE = Array.from({length: 5000}, (_, i) => `suite${i % 20}.check-${i}`);

// How a check ended in one of the made runs: most pass; which do not follows from the driver, the build and the number of the run.
function outcomeIn({driver, build, run}) {
	const cuda = {outcome: 'fail', reason: '/devices/count: got 0, expected 1 (nvcuda.dll is mounted twice)'};
	const worse = {
		'api.nvenc': () => (driver.key === 'amd' ? {outcome: 'unsupported', reason: 'needs a device that offers nvenc'} : 'pass'),
		'api.cuda': () => (driver.key === 'amd' ? {outcome: 'unsupported', reason: 'needs a device that offers cuda'}
			: build.build === '26100' ? cuda : 'pass'),
		'api.vulkan': () => ({outcome: 'fail', reason: 'the loader of the container finds no driver'}),
		'api.opencl': () => (driver.version === '553.01' ? {outcome: 'crash', reason: 'the probe was killed by signal 11'} : 'pass'),
		'api.d3d12': () => (run === 1 && driver.version === '552.12' ? {outcome: 'timeout', reason: 'the probe did not end within 60 s'} : 'pass'),
		'isolation.single-device': () => ({outcome: 'fail', reason: '/adapters/count: got 4, expected 1'}),
		'api.directml': () => (build.build === '17763' ? {outcome: 'broken', reason: 'the probe container did not start'} : 'pass'),
	};
	return (check) => worse[check]?.() ?? 'pass';
}

export class Samples {
	// `gpucert` is the program, `source` the project's folder, `out` where pages go.
	constructor(gpucert, source, out) {
		Object.assign(this, {gpucert, out, golden: join(source, 'reports/tests/golden')});
		this.ids = readFileSync(join(source, 'conformance/checks/tests/ids.txt'), 'utf8').trimEnd().split('\n').map((line) => line.split(' ')[0]);
		mkdirSync(out, {recursive: true});
	}

	// What gpucert prints, in the folder of the pages; exit codes that say what a report says are fine.
	run(...args) {
		const {status, stdout, stderr} = spawnSync(this.gpucert, args, {cwd: this.out, maxBuffer: 1 << 28});
		if (status === null || stdout.length === 0)
			throw new Error(`gpucert ${args.join(' ')}: exit code ${status}: ${stderr}`);
		return stdout;
	}

	page(name, args, rest) {
		const file = join(this.out, name);
		writeFileSync(file, this.run(...args));
		return {name, file, ...rest};
	}

	// The folder of a run, with its report. Relative: the pages' links are.
	folder(name, journal) {
		const folder = join('runs', name);
		rmSync(join(this.out, folder), {recursive: true, force: true});
		write(join(this.out, folder), journal);
		this.run('report', '--out', folder, folder);
		return folder;
	}

	made(name, options) {
		return this.folder(name, records({id: name, ids: this.ids, ...options}));
	}

	goldenRun(name) {
		return this.folder(name, read(join(this.golden, name, 'journal.ndjson')));
	}

	// A journal of which every text that people read is hostile.
	hostile(name) {
		const spoilt = (value, key) => {
			if (Array.isArray(value))
				return value.map((item) => spoilt(item, key));
			if (value !== null && typeof value === 'object')
				return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, spoilt(v, k)]));
			const fixed = ['schema', 'time', 'outcome', 'level', 'severity', 'digest', 'tableDigest', 'driver', 'ref', 'recorded', 'state', 'phase', 'launcher', 'profile', 'kind', 'type', 'varies', 'kubelet', 'verdict'];
			return typeof value === 'string' && !fixed.includes(key) ? `${key === 'link' ? 'javascript:hostile=1//' : ''}${value}${HOSTILE}` : value;
		};
		return this.folder(name, spoilt(read(join(this.golden, 'outcomes/journal.ndjson')), ''));
	}

	// One that has a bit of everything, to be spoilt.
	plain() {
		return this.page('plain.html', ['report', '--format', 'html', this.goldenRun('complete')],
			{texts: ['api.opencl'], filter: {query: 'opencl', stays: 'api.opencl', goes: 'api.vulkan'}});
	}

	report() {
		const page = (name, folder, rest) => this.page(`report-${name}.html`, ['report', '--format', 'html', folder], rest);
		const of = (name, texts, filter) => page(name, this.goldenRun(name), {texts, filter});
		const filter = {query: 'opencl', stays: 'api.opencl', goes: 'registration.in-time'};
		const texts = ['registration.in-time', 'isolation.no-allocation', 'api.vulkan'];
		const first = (...parts) => ({selector: '.verdict .findings li', texts: parts});
		const made = this.made('made', {driver: DRIVERS[1], ...BUILDS[1], outcomeOf: outcomeIn({driver: DRIVERS[1], build: BUILDS[1], run: 0})});
		return [
			of('complete', ['api.opencl'], {query: 'opencl', stays: 'api.opencl', goes: 'api.vulkan'}),
			{...of('outcomes', [...texts, '/devices/count: got 1, expected 0'], filter), first: first('isolation.no-allocation')},
			of('killed', ['registration.in-time'], {query: 'in-time', stays: 'registration.in-time', goes: 'api.vulkan'}),
			page('made', made, {texts: [...this.ids, 'Windows Server 2022 Datacenter'], filter: {query: 'vulkan', stays: 'api.vulkan', goes: 'api.cuda'},
				first: first('api.vulkan', 'the loader of the container finds no driver')}),
			page('hostile', this.hostile('hostile-report'), {texts: ['<b data-hostile>'], filter}),
			page('large', this.folder('large', records({id: 'large', ids: LARGE, driver: DRIVERS[0], outcomeOf: (check) => (check.endsWith('7') ? 'fail' : 'pass')})),
				{large: true, filter: {query: 'check-4777', stays: 'check-4777', goes: 'check-4778'}}),
		];
	}

	compare() {
		const run = (name, driver, build, more) => this.made(name, {driver, ...build, outcomeOf: outcomeIn({driver, build, run: 0}), ...more});
		const a = run('before', DRIVERS[1], BUILDS[1]);
		const b = run('after', DRIVERS[2], BUILDS[1], {start: 60, ids: [...this.ids.slice(3), 'api.new-one']});
		const c = run('elsewhere', DRIVERS[3], BUILDS[2], {start: 120});
		const page = (name, folders, rest) => this.page(`compare-${name}.html`, ['compare', '--format', 'html', ...folders], rest);
		const filter = {query: 'opencl', stays: 'api.opencl', goes: 'api.new-one'};
		const first = {selector: '.changes tr[data-facet=regression]', texts: ['api.opencl', 'the probe was killed by signal 11']};
		return [
			page('driver', [a, b], {first, texts: ['nvidia 552.12', 'nvidia 553.01', 'api.opencl', 'the probe was killed by signal 11', this.ids[0], 'api.new-one', '1 regression'], filter}),
			page('several', [a, b, c], {first, texts: ['nvidia 553.01', 'amd 24.10.1', 'api.cuda'], filter}),
			page('same', [a, a], {texts: ['the same environment: every outcome is the same']}),
			page('hostile', [a, this.hostile('hostile-compare')], {texts: ['<b data-hostile>']}),
			page('large', [
				this.folder('large-before', records({id: 'large-before', ids: LARGE, driver: DRIVERS[0], outcomeOf: () => 'pass'})),
				this.folder('large-after', records({id: 'large-after', ids: LARGE, driver: DRIVERS[1], outcomeOf: () => 'fail'})),
			], {large: true, filter: {query: 'check-4777', stays: 'check-4777', goes: 'check-4778'}}),
		];
	}

	matrix() {
		const runs = DRIVERS.flatMap((driver) => BUILDS.flatMap((build) => [0, 1].map((run) => ({driver, build, run}))));
		for (const {driver, build, run} of runs) {
			const name = `${driver.key}-${driver.version}-${build.build}-${run}`;
			this.made(join('table', name), {id: name, driver, ...build, start: run * 1440, outcomeOf: outcomeIn({driver, build, run})});
		}
		for (const driver of DRIVERS)
			this.folder(join('large-table', driver.version), records({id: driver.version, ids: LARGE, driver,
				outcomeOf: (check) => (check.endsWith('77') ? 'fail' : 'pass')}));
		this.hostile('hostile-table/a');
		const filter = {query: 'opencl', stays: 'api.opencl', goes: 'api.vulkan'};
		const texts = ['551.23', '24.10.1', '20348.1547', 'api.opencl', 'isolation.single-device'];
		const page = (name, args, rest) => this.page(`matrix-${name}.html`, ['matrix', '--format', 'html', ...args], rest);
		return [
			page('all', ['runs/table'], {texts: [...texts, ...this.ids], folded: ['flaky'], filter}),
			page('apis', ['--apis', 'runs/table'], {texts: texts.slice(0, -1), filter}),
			page('hostile', ['runs/hostile-table'], {texts: ['<b data-hostile>']}),
			page('large', ['runs/large-table'], {large: true, filter: {query: 'check-4777', stays: 'check-4777', goes: 'check-4778'}}),
		];
	}
}

export const kinds = ['report', 'compare', 'matrix'];
