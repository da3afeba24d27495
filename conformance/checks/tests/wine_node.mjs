// SPDX-License-Identifier: MIT
// usage: node wine_node.mjs BUILD
// The Wine node from end to end: `gpucert run --node wine` with the WDDM plugin as a Windows program, and with plugins that
// give a container too little, too much, or what Windows would refuse. The Windows programs are those of the build tree
// "windows" beside BUILD, or of GPUCERT_WINDOWS_PROGRAMS.
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {build, judgeAll, scripted, work} from './harness.mjs';

const skip = (why) => {
	console.log(`skipped: ${why}`);
	process.exit(77);
};
if (process.getuid() !== 0) skip('needs root');

const programs = process.env.GPUCERT_WINDOWS_PROGRAMS ?? join(build, '..', 'windows');
const probes = ['vulkan', 'opencl', 'visibility'].map((api) => `libexec/gpucert/probe-${api}.exe`);
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
	'isolation.no-allocation',
	'isolation.single-device',
	'isolation.two-containers',
	'isolation.shared-replicas',
];
for (const api of ['dxgi', 'd3d11', 'd3d12'])
	if (existsSync(join(programs, `libexec/gpucert/probe-${api}.exe`))) mustPass.push(`api.${api}`);

function referencePlugin() {
	const out = join(work, 'reference');
	const run = spawnSync(join(build, 'bin', 'gpucert'), ['run', '--quiet', ...args, '--out', out], {stdio: 'inherit'});
	const report = JSON.parse(readFileSync(join(out, 'report.json')));
	const complaints = report.checks
		.filter((c) => !['pass', 'unsupported', 'skip'].includes(c.outcome))
		.map((c) => `${c.id}: ${c.outcome}: ${c.reason}`);
	for (const id of mustPass) {
		const outcome = report.checks.find((c) => c.id === id)?.outcome;
		if (outcome !== 'pass') complaints.push(`${id}: ${outcome} instead of pass`);
	}
	const product = report.environment.os.product;
	if (!/^Wine 1\d\.\d.*, Windows build reported 10\.0\.\d+/.test(product)) complaints.push(`the system is called '${product}'`);
	for (const complaint of complaints) console.error(`FAILED: ${complaint}`);
	console.log(`reference plugin: ${report.checks.filter((c) => c.outcome === 'pass').length} passes, exit code ${run.status}`);
	return complaints.length === 0;
}

const store = 'C:\\Windows\\System32\\DriverStore\\FileRepository\\gpucert_wine.inf_amd64_5f1c0d2e3a4b6978';
const device = (path) => ({host_path: `vpci-location-path://${path}`, container_path: '', permissions: ''});
const first = device('PCIROOT(0)#PCI(0100)');
const second = device('PCIROOT(0)#PCI(0200)');
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
	{check: 'api.vulkan', plugin: plugin({devices: [first], mounts: loaders}, {devices: [second], mounts: loaders}), wanted: 'pass'},
	// The device without its driver's files, and the files without the device.
	{check: 'api.vulkan', plugin: plugin({devices: [first]}, {devices: [second]}), reason: '/api/status'},
	{check: 'api.opencl', plugin: plugin({mounts: loaders}), reason: 'granted'},
	// Direct3D needs the device alone: its libraries are the image's. Without the device, or with two, none is granted.
	...['dxgi', 'd3d11', 'd3d12'].flatMap((api) => [
		{check: `api.${api}`, plugin: plugin({devices: [first]}, {devices: [second]}), wanted: 'pass'},
		{check: `api.${api}`, plugin: plugin({mounts: loaders}), reason: 'granted'},
		{check: `api.${api}`, plugin: plugin({devices: [first, second]}), reason: 'granted'},
	]),
	// Two devices for one id.
	{check: 'isolation.single-device', plugin: plugin({devices: [first, second], mounts: loaders}), reason: 'devices granted'},
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
		reason: 'not there',
	},
].map((row) => ({...row, args}));

const sound = referencePlugin();
await judgeAll(rows, 1);
if (!sound) process.exitCode = 1;
