// SPDX-License-Identifier: MIT
// usage: node right_hardware.mjs BUILD
// Healthy GPUs and conforming plugins for them, as they are met on real nodes: software drivers installed next to them, several drivers of
// one GPU, plugins that hand out device nodes only, drivers that do not report all. None may fail. In a mount namespace of its own
// /sys shows GPUs that no machine has (tree.mjs); their drivers are doubles, which open the node that they claim. What no container
// here can show is tried on documents of probes: Windows with its Basic Render Driver, partitions (test_api_document.c).
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {build, file, gpucert, judgeAll, scripted, work} from './harness.mjs';
import {discoveredNode, skip} from './machine.mjs';
import {withRuntime} from './runtime.mjs';
import {gpuLines, hex, makeNode, needNamespace, showTree} from './tree.mjs';

needNamespace(import.meta.url);

const tests = join(build, 'tests');
const domain = 0x1000 + Math.floor(Math.random() * 0xe000);
// Nodes of this machine stand for the GPUs' own.
const gpus = {
	nvidia: {bus: 0x40, render: 128, ids: ['0x10de', '0x1eb8'], driver: 'nvidia', number: '1:5'},
	amd: {bus: 0x41, render: 129, card: 1, ids: ['0x1002', '0x73bf'], driver: 'amdgpu', number: '1:3'},
	intel: {bus: 0x42, render: 190, card: 2, ids: ['0x8086', '0x56a0'], driver: 'xe', number: '1:7'},
};
for (const gpu of Object.values(gpus)) gpu.id = `${hex(domain, 4)}:${hex(gpu.bus, 2)}:00.0`;
showTree(Object.values(gpus).flatMap(gpuLines).join('\n'));
makeNode('/dev/kfd', 0, 511);
const found = discoveredNode();
for (const gpu of Object.values(gpus)) {
	gpu.device = found.devices.find((d) => d.id === gpu.id) ?? skip(`discovery does not find ${gpu.id}: ${JSON.stringify(found.diagnostics)}`);
	gpu.node = `/dev/dri/renderD${gpu.render}`;
}
if (!found.devices.some((d) => d.kind === 'software')) skip('no software driver is installed next to the GPUs');

const handOut = (path) => ({host_path: path, container_path: path, permissions: 'rw'});
const mount = (host_path, container_path) => ({host_path, container_path, read_only: true});
const resource = (name, {devices = gpus[name].device.nodes.map((n) => n.path), mounts = [], envs = {}} = {}) => ({
	resource: `${name}.com/gpu`,
	devices: [{id: gpus[name].id}],
	allocate: {each: {devices: devices.map(handOut), mounts, envs}},
});
const plugin = (...resources) => scripted({plugins: resources});

// As AMD's, Intel's and generic plugins answer: no driver, which users' images bring. Intel's adds the links of /dev/dri/by-path.
const link = `/dev/dri/by-path/pci-${gpus.intel.id}-render`;
mkdirSync(dirname(link));
symlinkSync(`../renderD${gpus.intel.render}`, link);
const nodesOnly = {
	// NVIDIA's own nodes are read off /proc, which shows none here.
	nvidia: resource('nvidia', {devices: [gpus.nvidia.node], envs: {NVIDIA_VISIBLE_DEVICES: gpus.nvidia.id}}),
	amd: resource('amd'),
	intel: resource('intel', {mounts: [mount(link, link)]}),
};
// As GKE's: the driver is in a folder, where images for it have LD_LIBRARY_PATH.
const driverFolder = join(work, 'nvidia');
mkdirSync(join(driverFolder, 'lib64'), {recursive: true});
copyFileSync(join(tests, 'cuda/libcuda.so.1'), join(driverFolder, 'lib64/libcuda.so.1'));
const inFolder = resource('nvidia', {
	devices: [gpus.nvidia.node],
	envs: {NVIDIA_VISIBLE_DEVICES: gpus.nvidia.id},
	mounts: [mount(driverFolder, '/usr/local/nvidia')],
});
// Not VA-API: libva asks the machine's own /sys whether a node is one of DRM.
const lacking = {
	nvidia: ['cuda', 'nvml', 'nvenc', 'vulkan', 'opencl', 'opengl', 'vulkanvideo'],
	amd: ['hip', 'vulkan', 'opencl', 'opengl', 'vulkanvideo'],
	intel: ['levelzero', 'vpl', 'vulkan', 'opencl', 'opengl', 'vulkanvideo'],
};
const whole = (name, resources, outcomes) => ({
	name, plugin: plugin(resources), checks: ['registration.accepted', 'list-and-watch', 'allocate', 'preferred-allocation', 'pre-start'],
	args: ['--launcher', 'process', '--timeout-percent', '20'], outcomes,
});

// Drivers that the answer brings, for each API: its double, where a container finds it, and what else that takes.
const at = (name) => `/opt/double/${name}`;
const icd = (library) => ({file_format_version: '1.0.0', ICD: {library_path: library, api_version: '1.3.0'}});
const vulkanDriver = (name, library = 'libdouble_vulkan.so') => [
	mount(join(tests, library), at(`${name}.so`)),
	mount(file('icd.json', icd(at(`${name}.so`))), `/etc/vulkan/icd.d/${name}.json`),
];
const system = (path) => mount(join(tests, path), `/usr/lib/x86_64-linux-gnu/${basename(path)}`);
const drivers = {
	vulkan: {mounts: vulkanDriver('vendor')},
	opencl: {mounts: [mount(join(tests, 'libdouble_opencl.so'), at('opencl.so')), mount(file('icd', `${at('opencl.so')}\n`), '/etc/OpenCL/vendors/double.icd')]},
	cuda: {mounts: [system('cuda/libcuda.so.1')]},
	nvml: {mounts: [system('cuda/libnvidia-ml.so.1')]},
	nvenc: {mounts: [system('nvenc/libnvidia-encode.so.1')]},
	hip: {mounts: [system('hip/libamdhip64.so.6')]},
	levelzero: {mounts: [mount(join(tests, 'libdouble_levelzero_1.so'), at('levelzero.so'))], envs: {ZE_ENABLE_ALT_DRIVERS: at('levelzero.so')}},
	vpl: {mounts: [mount(join(tests, 'vpl/libvpldouble.so.1'), at('libvpldouble.so.1'))], envs: {ONEVPL_SEARCH_PATH: at('')}},
};
// What the doubles say of the GPU.
const settingsOf = (name, more = []) => {
	const {bus, ids: [vendor, device], number, render, node} = gpus[name];
	const [major, minor] = number.split(':');
	const facts = {node, 'pci-domain': domain, 'pci-bus': bus, vendor: Number(vendor), device: Number(device), 'drm-major': major, 'drm-minor': minor, render};
	return ['video', ...more, ...Object.entries(facts).map(([key, value]) => `${key}=${value}`)].join();
};
const bringing = (name, apis, {settings, mounts = []} = {}) => resource(name, {
	mounts: [...apis.flatMap((api) => drivers[api].mounts), ...mounts],
	envs: Object.assign({GPUCERT_DOUBLE: settingsOf(name, settings)}, ...apis.map((api) => drivers[api].envs)),
});
const passes = (plugin, apis, more = {}) => apis.map((api) => ({check: `api.${api}`, plugin, wanted: 'pass', ...more}));

// An archive of the composed image, with another layer on it.
const composed = join(work, 'composed.tar');
const run = (program, ...args) => execFileSync(program, args, {stdio: ['ignore', 'pipe', 'inherit']});
run(gpucert, 'image', 'build', '--out', composed);
function imageWith(name, files) {
	const layout = join(work, name);
	const blobs = join(layout, 'blobs/sha256');
	const add = (content) => {
		const hex = createHash('sha256').update(content).digest('hex');
		writeFileSync(join(blobs, hex), content);
		return {digest: `sha256:${hex}`, size: content.length};
	};
	const read = ({digest}) => JSON.parse(readFileSync(join(blobs, digest.slice('sha256:'.length))));
	mkdirSync(layout);
	run('tar', '-xf', composed, '-C', layout);
	const index = JSON.parse(readFileSync(join(layout, 'index.json')));
	const manifest = read(index.manifests[0]);
	const configuration = read(manifest.config);
	for (const {host_path, container_path} of files) {
		const to = join(layout, 'top', container_path);
		mkdirSync(dirname(to), {recursive: true});
		copyFileSync(host_path, to);
	}
	run('tar', '-cf', `${layout}.layer`, '-C', join(layout, 'top'), '.');
	const layer = add(readFileSync(`${layout}.layer`));
	manifest.layers.push({...manifest.layers[0], ...layer});
	configuration.rootfs.diff_ids.push(layer.digest);
	Object.assign(manifest.config, add(Buffer.from(JSON.stringify(configuration))));
	const reference = `docker.io/gpucert/${name}:1`;
	Object.assign(index.manifests[0], add(Buffer.from(JSON.stringify(manifest))), {
		annotations: {'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': '1'},
	});
	writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
	run('tar', '-cf', `${layout}.tar`, '-C', layout, 'blobs', 'index.json', 'oci-layout');
	return {args: ['--image', reference], archive: `${layout}.tar`};
}
const cpu = vulkanDriver('lvp', 'libdouble_vulkan_cpu.so');
const mesa = [...vulkanDriver('intel'), ...vulkanDriver('radeon'), ...cpu];
// A variable would be taken away where the probe looks without those that hide devices.
const settled = (name) => mount(file('settings', settingsOf(name)), at('settings'));
const images = {
	amd: imageWith('mesa-amd', [...mesa, settled('amd')]),
	intel: imageWith('mesa-intel', [...mesa, settled('intel')]),
	cpu: imageWith('mesa-cpu', cpu),
};
const inImage = (name) => ({plugin: plugin(nodesOnly[name]), args: images[name].args});
const withMesa = ['api.vulkan', 'api.vulkanvideo', 'isolation.single-device', 'list-and-watch.devices-present'];
const ownRenderer = (report) => report.checks[0].assertions.filter((a) => a.what.includes('through vulkan') && !a.ok).map((a) => a.saw).join();

// Recorded nodes: the protocol, with the node's own device nodes or strings. A plugin serves one resource for each device.
const recorded = (name, what) => {
	const path = join(import.meta.dirname, '../../../discovery/nodes', `${name}.json`);
	const {system, devices} = JSON.parse(readFileSync(path));
	const windows = system.os === 'windows';
	const string = ({locationPath}) => ({container_path: '', host_path: `vpci-location-path://${locationPath}`, permissions: ''});
	const resources = devices.filter((d) => d.kind !== 'software' && d.allocatable !== false).map((d, i) => ({
		resource: `example.com/gpu-${i}`,
		devices: [{id: d.id}],
		allocate: {each: {devices: windows ? [string(d)] : d.nodes.map((n) => handOut(n.path))}},
	}));
	return {
		name: what, plugin: plugin(...resources), checks: ['list-and-watch', 'allocate', 'preferred-allocation', 'pre-start', ...(windows ? ['windows'] : [])],
		args: ['--node', path, '--launcher', 'process', '--timeout-percent', '20'],
		outcomes: Object.fromEntries(['allocate.paths-exist', 'windows.class-guid', 'windows.mount-targets', 'windows.mount-sources'].map((id) => [id, 'not-applicable'])),
	};
};

const rows = [
	recorded('linux-mi300x-cpx', 'recorded: an MI300X in CPX, a partition for each id'),
	recorded('linux-h100-mig', 'recorded: H100 with MIG'),
	recorded('linux-virtio', 'recorded: virtio GPUs'),
	recorded('linux-intel-amd', 'recorded: GPUs of Intel and AMD'),
	recorded('windows-azure-2x-tesla-t4', 'recorded: an Azure guest, whose GPUs are below VMBUS'),
	recorded('windows-mixed', 'recorded: Windows with GPUs of three vendors'),
	// Device nodes only, and an image without a driver: what cannot be tested is said, with the option that helps.
	...Object.entries(lacking).flatMap(([name, apis]) => [
		...apis.map((api) => ({check: `api.${api}`, plugin: plugin(nodesOnly[name]), wanted: 'unsupported', reason: '--image'})),
		{check: 'list-and-watch.devices-present', plugin: plugin(nodesOnly[name]), wanted: 'pass'},
	]),
	...['amd', 'intel'].map((name) => ({check: 'isolation.single-device', plugin: plugin(nodesOnly[name]), wanted: 'pass'})),
	{check: 'image.missing-library', plugin: plugin(nodesOnly.amd), wanted: 'unsupported', reason: '--image'},
	{check: 'api.cuda', plugin: plugin(inFolder), wanted: 'unsupported', reason: '--image'},
	whole('all of the protocol with the answers of AMD\'s plugin', nodesOnly.amd),
	whole('all of the protocol with the answers of Intel\'s plugin', nodesOnly.intel),
	whole('all of the protocol with the answers of a generic plugin', nodesOnly.nvidia),
	// GPUs next to installed software drivers and to other vendors' GPUs, which their plugins do not serve.
	...passes(plugin(bringing('nvidia', ['vulkan', 'opencl', 'cuda', 'nvml', 'nvenc'])), ['vulkan', 'vulkanvideo', 'opencl', 'cuda', 'nvml', 'nvenc']),
	...passes(plugin(bringing('amd', ['hip', 'vulkan', 'opencl'])), ['hip', 'vulkan', 'vulkanvideo', 'opencl']),
	...passes(plugin(bringing('intel', ['levelzero', 'vpl', 'vulkan', 'opencl'], {settings: ['render=0']})), ['levelzero', 'vpl', 'vulkan', 'opencl']),
	{check: 'list-and-watch.devices-present', plugin: plugin(bringing('nvidia', ['cuda'])), wanted: 'pass'},
	// Mesa's drivers of Vulkan in the image: AMD's, Intel's and the processor's.
	...['amd', 'intel'].flatMap((name) => withMesa.map((check) => ({check, ...inImage(name), wanted: 'pass'}))),
	// The nodes that stand for GPUs here are in each container.
	{name: 'the image\'s own software renderer is in its containers without devices', ...inImage('amd'), checks: ['isolation.no-allocation'], outcomes: null, also: ownRenderer},
	{check: 'api.vulkan', plugin: plugin(nodesOnly.amd), args: images.cpu.args, wanted: 'unsupported', reason: '--image'},
	// Two drivers of one GPU (Mesa's and the vendor's), and the processor's.
	...passes(plugin(bringing('amd', [], {mounts: [...vulkanDriver('a'), ...cpu, ...vulkanDriver('z')]})), ['vulkan', 'vulkanvideo']),
	// What a driver does not report.
	...passes(plugin(bringing('amd', ['opencl'], {settings: ['topology']})), ['opencl']), // the PCI domain
	...passes(plugin(bringing('intel', ['levelzero'], {settings: ['old']})), ['levelzero']), // the address
	...passes(plugin(bringing('intel', ['vpl'], {settings: ['pci-unknown', 'render=0']})), ['vpl']), // the address, as on Gen8 to Gen11
	// Parts of one GPU: partitions (CPX) with HIP, tiles with Level Zero.
	...passes(plugin(bringing('amd', ['hip'], {settings: ['devices=8', 'parts']})), ['hip']),
	...passes(plugin(bringing('intel', ['levelzero'], {settings: ['devices=2', 'parts']})), ['levelzero']),
];

await withRuntime((importArchive) => {
	for (const {archive} of Object.values(images)) importArchive(archive);
	return judgeAll(rows);
});
