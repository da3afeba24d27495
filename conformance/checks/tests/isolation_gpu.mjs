// SPDX-License-Identifier: MIT
// usage: node isolation_gpu.mjs BUILD
// Isolation of hardware, on a machine without any: in a mount namespace of its own /sys shows the three AMD GPUs of
// discovery/tests/trees/amd and /dev/dri holds their nodes, behind which there is no driver. So the containers hold real device
// nodes, and no API shows them, as with an image that does not bring the driver.
import {execFileSync, spawnSync} from 'node:child_process';
import {appendFileSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build, file, judgeAll, scripted, work} from './harness.mjs';
import {device, discoveredNode, needRoot, skip} from './machine.mjs';

needRoot();
const self = fileURLToPath(import.meta.url);
if (!process.env.GPUCERT_TEST_NAMESPACE) {
	const run = spawnSync('unshare', ['--mount', '--propagation', 'private', process.execPath, self, build], {
		stdio: 'inherit',
		env: {...process.env, GPUCERT_TEST_NAMESPACE: '1'},
	});
	process.exit(run.status ?? 1);
}

const mountOn = (...args) => execFileSync('mount', args);
const unescape = (text) => text.replace(/\\(n|t|\\|x..)/g, (_, c) => ({n: '\n', t: '\t', '\\': '\\'})[c] ?? String.fromCharCode(parseInt(c.slice(1), 16)));
const minor = (path) => Number(/\d+$/.exec(path)[0]); // of DRM: the names tell it
const makeNode = (path, number) => {
	mkdirSync(dirname(path), {recursive: true});
	execFileSync('mknod', [path, 'c', '226', String(number)]);
	return path;
};

// On a file system that goes with the namespace: nothing here is removed by hand, for /sys lies in it.
const place = '/mnt';
mountOn('-t', 'tmpfs', 'tmpfs', place);
const sys = join(place, 'sys');
const dev = join(place, 'dev');
// A /dev with the nodes that a machine has, and those of the GPUs.
mkdirSync(dev);
for (const name of readdirSync('/dev')) if (name !== 'dri') execFileSync('cp', ['-a', join('/dev', name), dev]);
// The machine's /sys, with the tree's PCI devices and DRM classes in the place of its own.
for (const line of readFileSync(join(dirname(self), '../../../discovery/tests/trees/amd/tree'), 'utf8').split('\n')) {
	const [, node] = /^dev\/dri\/(\S+) =/.exec(line) ?? [];
	if (node !== undefined) makeNode(join(dev, 'dri', node), minor(node));
	const [, path, kind, value] = /^(sys\/\S+) (=|->) ?(.*)$/.exec(line) ?? [];
	if (path === undefined) continue;
	mkdirSync(join(place, dirname(path)), {recursive: true});
	if (kind === '->') symlinkSync(value, join(place, path));
	else writeFileSync(join(place, path), unescape(value));
}
for (const kept of ['fs/cgroup', 'kernel', 'module']) {
	mkdirSync(join(sys, kept), {recursive: true});
	mountOn('--rbind', join('/sys', kept), join(sys, kept));
}
mountOn('--rbind', sys, '/sys');
mountOn('--rbind', dev, '/dev');

const node = discoveredNode();
const gpus = node.devices.filter((d) => d.kind !== 'software' && d.nodes.length !== 0);
if (gpus.length < 2) skip(`discovery finds ${gpus.length} GPUs in the tree: ${JSON.stringify(node.diagnostics)}`);
const software = device('lavapipe');
const render = (gpu) => gpu.nodes.find((n) => n.path.includes('render')).path;

const handOut = (path, containerPath = path) => ({host_path: path, container_path: containerPath, permissions: 'rw'});
const resource = (gpu, devices, changes = {}) => ({
	resource: `example.com/gpu-${minor(render(gpu))}`,
	devices: [{id: gpu.id}],
	allocate: {once: {devices, ...changes}},
});
const plugin = (...resources) => scripted({plugins: resources});
const pair = (devices) => plugin(...gpus.slice(0, 2).map((gpu) => resource(gpu, devices(gpu))));
const alias = (gpu, name) => makeNode(join(work, name, `renderD${minor(render(gpu))}`), minor(render(gpu)));
const link = (gpu) => {
	const path = join(work, `by-path-${minor(render(gpu))}`);
	symlinkSync(render(gpu), path);
	return path;
};
const other = makeNode(join(work, 'other', 'innocent'), minor(render(gpus[1])));
// A software renderer that is no device of the node: another build of lavapipe.
const library = join(work, 'driver.so');
copyFileSync(software.files.find((f) => f.origin === 'driver-library').source, library);
appendFileSync(library, 'another build');
const manifest = file('driver.json', {file_format_version: '1.0.0', ICD: {library_path: '/opt/driver.so', api_version: '1.3.230'}});
const renderer = {
	mounts: [
		{host_path: library, container_path: '/opt/driver.so', read_only: true},
		{host_path: manifest, container_path: '/opt/driver.json', read_only: true},
		...software.files
			.filter((f) => f.origin === 'needed-library')
			.map((f) => ({host_path: f.source, container_path: f.destination, read_only: true})),
	],
	envs: {VK_DRIVER_FILES: '/opt/driver.json', VK_ICD_FILENAMES: '/opt/driver.json'},
};

const nodesAlone = pair((gpu) => gpu.nodes.map((n) => handOut(n.path)));
const rows = [
	{check: 'isolation.two-containers', plugin: nodesAlone, wanted: 'pass'},
	{check: 'isolation.two-devices', plugin: nodesAlone, wanted: 'pass'},
	{check: 'api.vulkan', plugin: nodesAlone, args: ['--resource', `example.com/gpu-${minor(render(gpus[0]))}`], wanted: 'unsupported', reason: '--image'},
	{check: 'isolation.two-containers', plugin: pair((gpu) => [handOut(alias(gpu, 'driver-root'), render(gpu))]), wanted: 'pass'},
	{check: 'isolation.single-device', plugin: pair((gpu) => [handOut(link(gpu), '/dev/dri/renderD128')]), wanted: 'pass'},
	{
		check: 'isolation.single-device',
		plugin: plugin(resource(gpus[0], [handOut(render(gpus[0])), handOut(other, '/dev/my-accelerator')])),
		reason: 'devices granted',
	},
	{check: 'isolation.single-device', plugin: plugin(resource(gpus[0], [handOut(render(gpus[0]))], renderer)), reason: 'software renderer'},
];

await judgeAll(rows, 3);
