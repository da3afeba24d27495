// SPDX-License-Identifier: MIT
// usage: node wine_node.mjs BUILD
// The Wine node from end to end: `gpucert run --node wine` with the WDDM plugin as a Windows program, and with plugins that
// give a container too little, too much, or what Windows would refuse. The Windows programs are those of the build tree
// "windows" beside BUILD, or of GPUCERT_WINDOWS_PROGRAMS.
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {build, judgeAll, sample, scripted, withoutKubeletFaults} from './harness.mjs';
import {needRoot, skip} from './machine.mjs';
import {withRuntime} from './runtime.mjs';

needRoot();

const programs = process.env.GPUCERT_WINDOWS_PROGRAMS ?? join(build, '..', 'windows');
const probe = (api) => `libexec/gpucert/probe-${api}.exe`;
const probes = ['vulkan', 'opencl', 'opengl', 'dxgi', 'd3d11', 'd3d12', 'directml', 'mediafoundation', 'd3d12video'].map(probe);
for (const program of ['bin/gpu-discovery.exe', 'bin/device-plugin-wddm.exe', ...probes])
	if (!existsSync(join(programs, program))) skip(`${join(programs, program)} is not built (preset "windows")`);
const args = ['--node', 'wine', '--windows-programs', programs];

// A run of the reference plugin: nothing may go wrong, and these must pass.
const mustPass = [
	'registration.arrives',
	'list-and-watch.devices-present',
	'restart.kubelet-restart',
	'restart.socket-removed',
	'restart.terminate',
	'windows.location-path',
	'windows.mount-targets',
	'api.vulkan',
	'api.opencl',
	'api.opengl',
	'api.dxgi',
	'api.d3d11',
	'api.d3d12',
	'api.mediafoundation',
];
// A folder of DLLs for containers, or null with the reason told. DirectML comes by npm; building the Direct3D that it works on takes
// minutes, so that is only used where `make-dlls.sh direct3d` was run before.
function dlls(...words) {
	const make = join(import.meta.dirname, '../../../containers/wine/root/make-dlls.sh');
	const {status, stdout} = spawnSync(make, words, {stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8'});
	return status === 0 ? stdout.trim() : null;
}
const directml = dlls('directml');
const direct3d = directml && dlls('--cached', 'direct3d');
const withDlls = (folder) => [...args, '--windows-dlls', folder];

// Wine has a stub of DXCore and no DirectML: what is missing is told, and it is no driver.
const missing = {'api.dxcore': 'DXCore', 'api.directml': 'DirectML.dll'};
// Wine's Direct3D 12 is there and encodes nothing.
const encodesNothing = {'api.d3d12video': 'encodes no video with Direct3D 12: ID3D12Device::QueryInterface(ID3D12VideoDevice3): E_NOINTERFACE'};
const leftOut = [];
if (existsSync(join(programs, probe('visibility'))))
	mustPass.push(...['no-allocation', 'single-device', 'two-containers', 'shared-replicas', 'apis-agree', 'residue'].map((name) => `isolation.${name}`));
else {
	console.log('isolation is left out: probe-visibility.exe is not built');
	leftOut.push('isolation');
}

function referenceComplaint(report) {
	const complaints = report.checks
		.filter((c) => !['pass', 'unsupported', 'not-applicable'].includes(c.outcome))
		.map((c) => `${c.id}: ${c.outcome}: ${c.reason}`);
	for (const id of mustPass) {
		const outcome = report.checks.find((c) => c.id === id)?.outcome;
		if (outcome !== 'pass') complaints.push(`${id}: ${outcome} instead of pass`);
	}
	for (const [id, library] of Object.entries(missing)) {
		const check = report.checks.find((c) => c.id === id);
		if (check?.outcome !== 'unsupported' || !check.reason.includes(`the container has no ${library}, which belongs to the image`))
			complaints.push(`${id}: ${check?.outcome} (${check?.reason}) instead of unsupported for want of ${library}`);
	}
	for (const [id, reason] of Object.entries(encodesNothing)) {
		const check = report.checks.find((c) => c.id === id);
		if (check?.outcome !== 'unsupported' || !check.reason.includes(reason))
			complaints.push(`${id}: ${check?.outcome} (${check?.reason}) instead of unsupported: ${reason}`);
	}
	// The host cannot look into what plays a Windows container.
	const files = report.checks.find((c) => c.id === 'isolation.driver-files');
	if (!leftOut.includes('isolation') && (files?.outcome !== 'unsupported' || !files.reason.includes('cannot be seen from the host')))
		complaints.push(`isolation.driver-files: ${files?.outcome} (${files?.reason})`);
	const {node, drivers} = report.environment;
	if (node.kind !== 'wine' || !/^\d/.test(node.machine.kernel)) complaints.push(`the node is told as ${JSON.stringify(node)}`);
	for (const key of ['wine', 'vkd3d', 'lavapipe', 'pocl']) {
		if (!/^\d+\.\d+/.test(drivers.find((driver) => driver.key === key)?.version)) complaints.push(`no version of ${key} is told`);
	}
	const product = report.environment.os.product;
	if (!/^Wine 1\d\.\d.*, Windows build reported 10\.0\.\d+/.test(product)) complaints.push(`the system is called '${product}'`);
	if (sample) return complaints.join('; ');
	// What README.md shows is what the programs print: `cmake --build BUILD --target readme` writes it.
	const readme = spawnSync('node', [join(import.meta.dirname, '../../../cmake/readme.mjs'), build, '--check', `wine=${report.out}`], {stdio: 'inherit'});
	if (readme.status !== 0) complaints.push('README.md shows something else');
	return complaints.join('; ');
}
const reference = {
	name: 'the reference plugin',
	checks: [],
	// A sample leaves out what takes minutes under Wine and is the same on each node.
	args: () => [...args, '--jobs', '3', ...leftOut.flatMap((id) => ['--exclude', id]), ...(sample ? [...withoutKubeletFaults, '--exclude', 'protocol', '--exclude', 'load'] : [])],
	outcomes: null,
	also: referenceComplaint,
};

// The reference plugin on a node whose Direct3D 12 takes DXIL: both shaders of Direct3D 12 and DirectML compute, and the report says on
// what.
function dxilComplaint(report) {
	const complaints = [];
	if (report.checks.length !== dxilNode.checks.length) complaints.push(`${report.checks.length} checks ran`);
	const {node, drivers} = report.environment;
	const vkd3d = drivers.find((driver) => driver.key === 'vkd3d');
	if (!vkd3d.name.includes('vkd3d with its experimental DXIL parser')) complaints.push(`vkd3d is called '${vkd3d.name}'`);
	if (node.dlls?.join() !== 'directml.dll,wined3d.dll') complaints.push(`the node is told as ${JSON.stringify(node)}`);
	const evidence = join(report.out, 'evidence', 'api.d3d12');
	const documents = readdirSync(evidence).map((name) => readFileSync(join(evidence, name), 'utf8'));
	if (!documents.some((text) => /"shaderModel":\s*"6\.0"/.test(text))) complaints.push('no document tells of Shader Model 6.0');
	return complaints.join('; ');
}
const dxilNode = {
	name: `the reference plugin with ${direct3d}`,
	checks: ['api.d3d11', 'api.d3d12', 'api.directml'],
	args: () => withDlls(direct3d),
	dlls: direct3d,
	also: dxilComplaint,
};

const store = 'C:\\Windows\\System32\\DriverStore\\FileRepository\\gpucert_wine.inf_amd64_5f1c0d2e3a4b6978';
const device = (path) => ({host_path: `vpci-location-path://${path}`, container_path: '', permissions: ''});
const first = device('PCIROOT(0)#PCI(0100)');
const second = device('PCIROOT(0)#PCI(0200)');
const everyDisplay = {host_path: 'class/5B45201D-F2F2-4F3B-85BB-30FF1F953599', container_path: '', permissions: ''};
const file = (source, target) => ({host_path: `${store}\\${source}`, container_path: target, read_only: true});
const loaders = [
	file('gpucert_vulkan64.dll', 'C:\\Windows\\System32\\vulkan-1.dll'),
	file('Bin\\gpucert_opencl64.dll', 'C:\\Windows\\System32\\OpenCL.dll'),
];
const plugin = (...answers) =>
	scripted({
		plugins: answers.map((once, i) => ({
			resource: `example.com/gpu-${i}`,
			devices: [{id: `gpu-${i}`}, {id: `gpu-${i}-again`}],
			allocate: {once},
		})),
	});

const rows = [
	reference,
	dxilNode,
	{check: 'api.vulkan', plugin: plugin({devices: [first], mounts: loaders}, {devices: [second], mounts: loaders}), wanted: 'pass'},
	// The device without its driver's files, and the files without the device.
	{check: 'api.vulkan', plugin: plugin({devices: [first]}, {devices: [second]}), reason: '/api/status'},
	{check: 'api.opencl', plugin: plugin({mounts: loaders}), reason: 'granted'},
	// DXGI and Direct3D 11 need the device alone: their libraries are the image's. Wine's Direct3D 12 works on Vulkan.
	...['dxgi', 'd3d11', 'mediafoundation'].map((api) => ({check: `api.${api}`, plugin: plugin({devices: [first]}, {devices: [second]}), wanted: 'pass'})),
	{check: 'api.d3d12', plugin: plugin({devices: [first], mounts: loaders}, {devices: [second], mounts: loaders}), wanted: 'pass'},
	// Without the driver's files there is a device that cannot be opened.
	...['d3d12', 'd3d12video'].map((api) => ({check: `api.${api}`, plugin: plugin({devices: [first]}, {devices: [second]}), reason: 'D3D12CreateDevice'})),
	// An encoder that is listed and cannot be activated: names alone prove nothing.
	{
		check: 'api.mediafoundation',
		plugin: plugin(...[first, second].map((one) => ({devices: [one], envs: {GST_PLUGIN_FEATURE_RANK: 'x264enc:NONE'}}))),
		reason: 'IMFActivate::ActivateObject',
	},
	// Without the device none is granted; of two in one answer, a kubelet on Windows takes the first, and the second is not.
	...['dxgi', 'd3d11', 'd3d12', 'mediafoundation'].flatMap((api) => [
		{check: `api.${api}`, plugin: plugin({mounts: loaders}), reason: 'granted'},
		{check: `api.${api}`, plugin: plugin({devices: [first, second], mounts: loaders}), reason: 'granted'},
	]),
	// DirectML without the Direct3D that it needs is there and fails: that is not "unsupported".
	{
		check: 'api.directml',
		plugin: plugin({devices: [first], mounts: loaders}, {devices: [second], mounts: loaders}),
		args: () => withDlls(directml),
		reason: 'DMLCreateDevice: E_NOTIMPL',
		dlls: directml,
	},
	// With it, it needs the device, and one alone, as the others do.
	...[
		{plugin: plugin({mounts: loaders}), reason: 'granted'},
		{plugin: plugin({devices: [first]}, {devices: [second]}), reason: 'D3D12CreateDevice'},
		{plugin: plugin({devices: [first, second], mounts: loaders}), reason: 'granted'},
	].map((row) => ({...row, check: 'api.directml', args: () => withDlls(direct3d), dlls: direct3d})),
	// All devices for one id.
	{
		check: 'isolation.single-device',
		plugin: plugin({devices: [everyDisplay], mounts: loaders}),
		reason: 'devices granted',
		needs: 'visibility',
	},
	// What Windows would not take.
	{
		check: 'isolation.single-device',
		plugin: plugin({devices: [first], mounts: [file('gpucert_vulkan64.dll', 'C:\\Windows\\..\\vulkan-1.dll')]}),
		reason: 'steps up',
	},
	{
		check: 'isolation.single-device',
		plugin: plugin({devices: [first], mounts: [file('..\\..\\config.dll', 'C:\\Windows\\System32\\a.dll')]}),
		reason: 'steps up',
	},
	{
		check: 'isolation.single-device',
		plugin: plugin({devices: [first], mounts: [file('missing.dll', 'C:\\Windows\\System32\\a.dll')]}),
		reason: 'does not exist',
	},
]
	.filter((row) => row.needs === undefined || existsSync(join(programs, probe(row.needs))))
	.filter((row) => row.dlls !== null)
	.map((row) => ({...row, args: row.args?.() ?? args}));

if (direct3d === null) console.log('DirectML that computes is left out: no Direct3D with DXIL');
const images = [args, ...[directml, direct3d].filter((folder) => folder !== null).map(withDlls)];
await withRuntime(() => judgeAll(rows, 2), {images});
