// SPDX-License-Identifier: MIT
// usage: node isolation.mjs BUILD
// What a container was granted and what it sees: unusual answers that conform, and answers that give or hide too much. They are
// made from the software drivers of this machine, so the containers are as real as in a normal run.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {appendFileSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {file, gpucert, judgeAll, numbers, scripted, work} from './harness.mjs';
import {device, needRoot} from './machine.mjs';
import {withRuntime} from './runtime.mjs';

needRoot();

const vulkan = device('lavapipe');
const opencl = device('pocl');
const own = (d, origin) => d.files.find((f) => f.origin === origin);
const folder = (name) => {
	const path = join(work, name);
	mkdirSync(path, {recursive: true});
	return path;
};

const mount = (f) => ({host_path: f.source, container_path: f.destination, read_only: true});
const mounts = (d, from = (f) => f.source) => d.files.map((f) => ({...mount(f), host_path: from(f)}));
const answer = (d, changes = {}) => ({mounts: mounts(d), envs: d.environment, ...changes});
const resource = (name, allocate, ids = [name]) => ({
	resource: `example.com/${name}`,
	devices: ids.map((id) => ({id})),
	allocate,
});
const plugin = (...resources) => scripted({plugins: resources});
const both = (vulkanAnswer) => plugin(resource('v', {once: vulkanAnswer}), resource('o', {once: answer(opencl)}));

// The same files by other paths.
const links = folder('links');
const linked = (f) => {
	const path = join(links, basename(f.source));
	symlinkSync(f.source, path);
	return path;
};
const copies = folder('copies');
const copied = (f) => {
	if (f.origin !== 'manifest' && f.origin !== 'driver-library') return f.source;
	const path = join(copies, basename(f.source));
	copyFileSync(f.source, path);
	return path;
};
// Builds of the driver at the place of the node's own: each is an environment of its own, and what ran is recorded.
const key = join(work, 'key');
execFileSync(gpucert, ['key', 'generate', key]);
function attestedFiles(out) {
	execFileSync(gpucert, ['attest', out, '--key', key]);
	const {payload} = JSON.parse(readFileSync(join(out, 'attestation.json')));
	return JSON.parse(Buffer.from(payload, 'base64')).subject;
}
const environments = new Map();
const builds = ['1', '2'].map((build) => {
	const path = join(folder(`build-${build}`), basename(own(vulkan, 'driver-library').source));
	copyFileSync(own(vulkan, 'driver-library').source, path);
	appendFileSync(path, build);
	return {
		name: `another build of the driver, ${build}`,
		checks: ['api.vulkan'],
		plugin: plugin(resource('v', {once: answer(vulkan, {mounts: mounts(vulkan, (f) => (f.origin === 'driver-library' ? path : f.source))})})),
		outcomes: null,
		also: ({environment, checks: [check], out}) => {
			const found = environment.devices.find((d) => d.ref === 'lavapipe');
			const ran = found.ran?.[0].files.find((f) => basename(f.path) === basename(path));
			const digest = `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
			environments.set(build, environment.digest);
			const attested = attestedFiles(out).find(({name}) => name === `driver-file${ran?.path}`)?.digest.sha256;
			const right =
				check.outcome === 'pass' && check.notes.some((n) => n.includes('another build')) &&
				ran?.digest === digest && attested === digest.slice('sha256:'.length) && ran.origin === 'answer' && !ran.discovered && found.otherFiles.count === 1 &&
				(environments.size === 1 || environments.get('1') !== environments.get('2'));
			return right ? null : JSON.stringify([check.outcome, check.reason, check.notes, ran, found.otherFiles, [...environments]]);
		},
	};
});
// One folder with a driver and a manifest of its own, beside the libraries that the driver needs.
const root = folder('driver-root');
const library = own(vulkan, 'driver-library');
copyFileSync(library.source, join(root, 'driver.so'));
const manifest = JSON.parse(readFileSync(own(vulkan, 'manifest').source));
manifest.ICD.library_path = '/opt/driver/driver.so';
writeFileSync(join(root, 'driver.json'), JSON.stringify(manifest));
const wholeFolder = {
	mounts: [
		{host_path: root, container_path: '/opt/driver', read_only: true},
		...vulkan.files.filter((f) => f.origin === 'needed-library').map(mount),
	],
	envs: {VK_DRIVER_FILES: '/opt/driver/driver.json', VK_ICD_FILENAMES: '/opt/driver/driver.json'},
};

// All of PoCL for whoever asks for lavapipe, by folders and a manifest of another content; a variable hides it.
const smuggled = file('smuggled.icd', readFileSync(own(opencl, 'manifest').source, 'utf8') + '\n');
const hidden = {
	mounts: [
		...mounts(vulkan).filter((m) => !m.container_path.startsWith('/usr/lib/')),
		...opencl.files.filter((f) => !f.destination.startsWith('/usr/lib/') && f.origin !== 'manifest').map(mount),
		{host_path: '/usr/lib', container_path: '/usr/lib', read_only: true},
		{host_path: smuggled, container_path: '/etc/OpenCL/vendors/other.icd', read_only: true},
	],
};

// Of two ids one hands out the driver, the other an empty folder.
const perId = folder('ids/full');
folder('ids/empty');
copyFileSync(join(root, 'driver.so'), join(perId, 'driver.so'));
writeFileSync(join(perId, 'driver.json'), readFileSync(join(root, 'driver.json')));
const halfEmpty = {
	each: {mounts: [{host_path: join(work, 'ids', '{id}'), container_path: '/opt/driver', read_only: true}]},
	once: {...wholeFolder, mounts: wholeFolder.mounts.slice(1)},
};

// The first answer for an id hands out lavapipe, later ones PoCL as well.
const ownOfOpencl = opencl.files.filter((f) => f.origin === 'manifest' || f.origin === 'driver-library');
for (let call = 0; call < 8; call++) {
	for (const f of ownOfOpencl) {
		const path = join(folder(`calls/${call}`), basename(f.source));
		if (call < 1) writeFileSync(path, 'nothing');
		else copyFileSync(f.source, path);
	}
}
const laterMore = answer(vulkan, {
	mounts: [
		...mounts(vulkan),
		...ownOfOpencl.map((f) => ({...mount(f), host_path: join(work, 'calls', '{call}', basename(f.source))})),
	],
});

// Two ids of one device: the second one adds a device node. Its folder is told by the id.
folder('second/1-well');
folder('second/2-more');
for (const id of ['1-well', '2-more']) {
	execFileSync('mknod', [join(work, 'second', id, 'node'), 'c', ...(id === '1-well' ? ['1', '3'] : ['10', '229'])]);
}
const secondMore = {
	each: {devices: [{host_path: join(work, 'second', '{id}', 'node'), container_path: '/dev/second', permissions: 'rw'}]},
	once: answer(vulkan),
};

// Nine ids whose answers differ and cannot be read: the driver of all but the last is another copy.
const unreadable = numbers(9, (i) => `n${i}`);
for (const id of unreadable) {
	const path = folder(`unreadable/${id}`);
	copyFileSync(library.source, join(path, 'driver.so'));
	if (id === 'n8') writeFileSync(join(path, 'driver.so'), 'nothing');
	else appendFileSync(join(path, 'driver.so'), id);
	writeFileSync(join(path, 'driver.json'), JSON.stringify(manifest));
}
const eightWell = {
	each: {mounts: [{host_path: join(work, 'unreadable', '{id}'), container_path: '/opt/driver', read_only: true}]},
	once: {...wholeFolder, mounts: wholeFolder.mounts.slice(1)},
};

const variables = {envs: {NVIDIA_VISIBLE_DEVICES: 'GPU-00000000-0000-0000-0000-000000000000'}};
const cdi = {cdi_devices: ['example.com/gpu=0']};

// Device nodes and folders of the node beside the driver, under names that tell nothing.
const makeNode = (name, type, major, minor) => {
	const path = join(work, name);
	execFileSync('mknod', [path, type, String(major), String(minor)]);
	return path;
};
const withNode = (name, type, major, minor, containerPath) => ({
	check: 'isolation.single-device',
	plugin: plugin(resource('v', {
		once: answer(vulkan, {
			devices: [{host_path: makeNode(name, type, major, minor), container_path: containerPath, permissions: 'rwm'}],
		}),
	})),
	reason: `${containerPath} (${type === 'b' ? 'block' : 'character'} ${major}:${minor})`,
});
const rootLink = join(work, 'root-link');
symlinkSync('/', rootLink);
const withMount = (source, place, readOnly = false) => ({
	check: 'isolation.host-paths',
	plugin: plugin(resource('v', {
		once: answer(vulkan, {mounts: [...mounts(vulkan), {host_path: source, container_path: '/opt/of-the-node', read_only: readOnly}]}),
	})),
	reason: `${place} of the node at /opt/of-the-node`,
});

const rows = [
	...builds,
	withNode('alias', 'c', 226, 129, '/dev/my-accelerator'),
	withNode('elsewhere', 'c', 226, 130, '/opt/dri/renderD130'),
	withNode('disk', 'b', 7, 200, '/dev/vda'),
	withNode('memory', 'c', 1, 1, '/dev/mem'),
	withMount(rootLink, '/', true),
	withMount('/etc', '/etc', true),
	withMount('/run', '/run'),
	...[answer(vulkan, {mounts: mounts(vulkan, linked)}), answer(vulkan, {mounts: mounts(vulkan, copied)}), wholeFolder].flatMap(
		(given) => ['api.vulkan', 'isolation.two-containers'].map((check) => ({check, plugin: both(given), wanted: 'pass'}))),
	...[variables, cdi].flatMap((given) => ['api.vulkan', 'isolation.single-device', 'isolation.two-containers'].map((check) => ({
		check,
		plugin: plugin(resource('names', {once: given})),
		wanted: 'unsupported',
	}))),
	...[{OCL_ICD_VENDORS: '/nonexistent'}, {POCL_CACHE_DIR: '/proc/nowhere'}].map((variable) => ({
		check: 'isolation.single-device',
		plugin: plugin(resource('v', {once: {...hidden, envs: {...vulkan.environment, ...variable}}})),
		reason: 'without the variables that hide some',
	})),
	...['isolation.single-device', 'api.vulkan'].map((check) => ({
		check,
		plugin: plugin(resource('later', {once: laterMore})),
		reason: 'lavapipe at first and',
	})),
	{
		check: 'isolation.single-device',
		plugin: plugin(resource('second', secondMore, ['1-well', '2-more'])),
		reason: '/dev/second (character 10:229)',
	},
	{
		check: 'isolation.single-device',
		plugin: plugin(resource('eight', eightWell, unreadable)),
		wanted: 'unsupported',
		reason: 'cannot be read and differ',
	},
	{check: 'isolation.single-device', plugin: plugin(resource('nothing', {})), reason: 'nothing by nothing of'},
	{check: 'isolation.single-device', plugin: plugin(resource('half', halfEmpty, ['full', 'empty'])), reason: 'nothing by empty of'},
];

await withRuntime(() => judgeAll(rows));
