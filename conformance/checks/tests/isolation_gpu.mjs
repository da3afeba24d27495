// SPDX-License-Identifier: MIT
// usage: node isolation_gpu.mjs BUILD
// Isolation of hardware, on a machine without any: in a mount namespace of its own /sys shows the three AMD GPUs of
// discovery/tests/trees/amd and /dev/dri holds their nodes, behind which there is no driver. So the containers hold real device
// nodes, and no API shows them, as with an image that does not bring the driver.
import {appendFileSync, copyFileSync, readFileSync, symlinkSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build, file, judgeAll, scripted, work} from './harness.mjs';
import {device, discoveredNode, skip} from './machine.mjs';
import {withRuntime} from './runtime.mjs';
import {hideDrivers, makeNode, minor, needNamespace, showTree} from './tree.mjs';

needNamespace(import.meta.url);
hideDrivers('opencl', 'opengl');
showTree(readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../../../discovery/tests/trees/amd/tree'), 'utf8'));

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

// Two GPUs of one resource, each with its replicas.
const together = (replicas, changes) => {
	const ids = gpus.slice(0, 2).flatMap((gpu) => replicas.map((replica) => [`${gpu.id}${replica}`, {devices: gpu.nodes.map((n) => handOut(n.path))}]));
	return scripted({plugins: [{resource: 'example.com/gpu', devices: ids.map(([id]) => ({id})), allocate: {ids: Object.fromEntries(ids)}, ...changes}]});
};
const prefers = {options: {get_preferred_allocation_available: true}};

const nodesAlone = pair((gpu) => gpu.nodes.map((n) => handOut(n.path)));

// A driver that computes, of a GPU whose memory is its own.
const computes = (words, kept = file('kept', '')) => resource(gpus[0], gpus[0].nodes.map((n) => handOut(n.path)), {
	mounts: [
		...renderer.mounts.slice(2),
		{host_path: join(build, 'tests', 'libdouble_vulkan.so'), container_path: '/opt/libdouble_vulkan.so', read_only: true},
		{host_path: file('double.json', {file_format_version: '1.0.0', ICD: {library_path: '/opt/libdouble_vulkan.so', api_version: '1.3.0'}}), container_path: '/opt/driver.json', read_only: true},
		{host_path: kept, container_path: '/opt/kept', read_only: false},
	],
	envs: {...renderer.envs, GPUCERT_DOUBLE: `devices=1${words}`},
});

const rows = [
	{check: 'isolation.lifetime', plugin: plugin(computes('')), wanted: 'pass'},
	{check: 'isolation.lifetime', plugin: plugin(computes(',keeps=/opt/kept')), reason: 'free memory after the kill'},
	{check: 'isolation.two-containers', plugin: nodesAlone, wanted: 'pass'},
	{check: 'isolation.two-devices', plugin: nodesAlone, wanted: 'pass'},
	// A kubelet asks which devices are preferred, and admits nobody where that fails.
	{check: 'isolation.two-devices', plugin: together([''], prefers), wanted: 'pass'},
	{check: 'isolation.two-devices', plugin: together([''], {...prefers, rpc: {GetPreferredAllocation: {code: 13}}}), reason: 'GetPreferredAllocation'},
	{check: 'isolation.two-devices', plugin: together([''], {max_ids: 1}), reason: 'maximum request size'},
	{check: 'isolation.two-devices', plugin: together(['::0', '::1'], {max_ids: 1}), wanted: 'not-applicable', reason: 'several shared devices'},
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

await withRuntime(() => judgeAll(rows));
