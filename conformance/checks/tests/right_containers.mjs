// SPDX-License-Identifier: MIT
// usage: node right_containers.mjs BUILD
// Unusual plugins that conform, and the containers that they hand devices to: the rows of right_plugins.mjs that need the
// software drivers of this machine. Answers that are hard to read are in isolation.mjs.
import {existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {judgeAll, numbers, scripted, work} from './harness.mjs';
import {device, needRoot} from './machine.mjs';
import {withRuntime} from './runtime.mjs';

needRoot();

const answer = (d, root = '') => ({
	mounts: d.files.map((f) => ({host_path: root + f.source, container_path: f.destination, read_only: true})),
	envs: d.environment,
});
const offer = (d, changes = {}, root) => ({
	resource: `example.com/${d.id}`,
	devices: [{id: d.id}],
	allocate: {once: answer(d, root)},
	...changes,
});
const plugin = (...plugins) => scripted({plugins});
const vulkan = device('lavapipe');
const opencl = device('pocl');
const opengl = device('llvmpipe');
const prepared = join(work, 'prepared');

// Beside the driver's files, which are read-only, a folder to write to.
const scratch = join(work, 'scratch');
mkdirSync(scratch);
const withScratch = (d) => ({
	...answer(d),
	mounts: [...answer(d).mounts, {host_path: scratch, container_path: '/var/scratch', read_only: false}],
});
// What plugins of vendors mount: MPS and shared state to write to, and driver folders and links of devices to read.
const kept = ['/run/', '/var/lib/', '/dev/', '/usr/local/', '/tmp/', '/dev/shm/', '/opt/'].map((place) => mkdtempSync(`${place}vendor-`));
process.on('exit', () => kept.forEach((path) => rmSync(path, {recursive: true, force: true})));
const [, , links] = kept;
symlinkSync('../null', join(links, 'pci-0000:00:00.0-render'));
const folders = [...kept, '/sys/class/tty', '/usr/share/vulkan', '/usr/lib/x86_64-linux-gnu/dri', '/proc/driver'].filter((path) => existsSync(path));
const withFolders = (d) => ({
	...answer(d),
	mounts: [...answer(d).mounts, ...folders.map((path) => ({host_path: path, container_path: `/vendor${path}`, read_only: path === links || !kept.includes(path)}))],
});
const inDepth = ['device-nodes', 'driver-files', 'host-paths'].map((name) => `isolation.${name}`);

const apis = ['api.vulkan', 'api.opencl'];
const row = (name, command, checks) => ({name, plugin: command, checks});
const rows = [
	row('drivers that PreStartContainer puts in place', plugin(
		offer(vulkan, {options: {pre_start_required: true}, pre_start_link: prepared}, prepared),
		offer(opencl),
		offer(opengl, {options: {pre_start_required: true}, pre_start_link: `${prepared}-too`}, `${prepared}-too`),
	), [...apis, 'api.opengl', 'isolation.single-device', 'isolation.two-containers', ...inDepth]),
	row('a folder to write to', plugin(offer(vulkan, {allocate: {once: withScratch(vulkan)}})), ['isolation.single-device', ...inDepth]),
	row('folders of vendors', plugin(offer(vulkan, {allocate: {once: withFolders(vulkan)}})),
		['api.vulkan', 'isolation.node-files', ...inDepth, 'isolation.every-container']),
	row('a preference for others than are needed', plugin(
		offer(vulkan, {options: {get_preferred_allocation_available: true}, preferred: ['nothing']}),
		offer(opencl, {options: {get_preferred_allocation_available: true}, preferred: []}),
	), ['isolation.single-device', 'isolation.two-containers']),
	row('a second resource seconds later, and an empty one', plugin(
		offer(vulkan),
		offer(opencl, {register: {delay_ms: 2500}}),
		{resource: 'example.com/a-none', devices: []},
	), ['list-and-watch.devices-present', ...apis, 'isolation.two-containers']),
	row('devices that turn healthy seconds later', plugin(
		offer(vulkan, {devices: [{id: vulkan.id, health: 'Unhealthy'}], lists: [{after_ms: 2500, devices: [{id: vulkan.id}]}]}),
		offer(opencl, {devices: [], lists: [{after_ms: 2500, devices: [{id: opencl.id}]}]}),
	), ['list-and-watch.devices-present', ...apis, 'isolation.two-containers']),
	row('1,000 replicas', plugin(
		offer(vulkan, {devices: numbers(1000, (i) => ({id: `${vulkan.id}::${i}`}))}),
		offer(opencl),
	), ['list-and-watch.devices-present', ...apis, 'isolation.shared-replicas']),
];
await withRuntime(() => judgeAll(rows));
