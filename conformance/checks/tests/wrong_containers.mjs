// SPDX-License-Identifier: MIT
// usage: node wrong_containers.mjs BUILD
// The checks that launch containers, on plugins that give a container too little or too much. The plugins' answers are made
// from what gpu-discovery finds here, so the containers are as real as in a normal run.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {build, file, judgeAll, scripted, work} from './harness.mjs';
import {device, discoveredNode} from './machine.mjs';
import {withRuntime} from './runtime.mjs';
import {editsOf, folderOf, spec} from './specs.mjs';
import {needNamespace} from './tree.mjs';

needNamespace(import.meta.url);

const node = discoveredNode();
const vulkan = device('lavapipe');
const opencl = device('pocl');
const opengl = device('llvmpipe');

const mount = (f) => ({host_path: f.source, container_path: f.destination, read_only: true});
const mounts = (d, leaveOut = () => false) => d.files.filter((f) => !leaveOut(f)).map(mount);
const resource = (name, d, changes = {}) => ({
	resource: `example.com/${name}`,
	devices: [{id: d.id}, {id: `${d.id}-again`}],
	allocate: {once: {mounts: mounts(d), envs: d.environment, ...changes}},
});
const plugin = (...resources) => scripted({plugins: resources});

// Both drivers for whoever asks for one.
const everything = {
	mounts: [...mounts(vulkan), ...opencl.files.map(mount).filter((m) => !vulkan.files.some((f) => f.destination === m.container_path))],
	envs: {...vulkan.environment, ...opencl.environment},
};
// The other driver's manifests and libraries through directories and a copy of its manifest: nothing in the answer is that
// device's own file, so the answer reads as one device while the container sees two.
const smuggle = (d, manifest) => ({
	mounts: [
		...mounts(d).filter((m) => !m.container_path.startsWith('/usr/lib/')),
		{host_path: '/usr/lib', container_path: '/usr/lib', read_only: true},
		{host_path: manifest, container_path: '/opt/smuggled.icd', read_only: true},
	],
	envs: {...d.environment, OCL_ICD_VENDORS: '/opt/smuggled.icd'},
});
const copiedManifest = file('copy.icd', readFileSync(opencl.files.find((f) => f.origin === 'manifest').source, 'utf8') + '\n');

// A driver of an API that was not granted, which crashes when it is asked: what it would show cannot be told.
const doubleManifest = file('double.icd', '/opt/double/libdouble_opencl.so\n');
const crashing = {
	mounts: [
		...mounts(vulkan),
		{host_path: join(build, 'tests', 'libdouble_opencl.so'), container_path: '/opt/double/libdouble_opencl.so', read_only: true},
		{host_path: doubleManifest, container_path: '/opt/double/double.icd', read_only: true},
	],
	envs: {...vulkan.environment, OCL_ICD_VENDORS: '/opt/double/double.icd', GPUCERT_DOUBLE: 'crash=clGetPlatformInfo'},
};

// OpenGL finds its driver by the place of a manifest alone: a copy there, and the libraries through their directory.
const smuggledOpengl = {
	mounts: [
		...mounts(vulkan).filter((m) => !m.container_path.startsWith('/usr/lib/')),
		{host_path: '/usr/lib', container_path: '/usr/lib', read_only: true},
		{
			host_path: file('copy.json', readFileSync(opengl.files.find((f) => f.origin === 'manifest').source, 'utf8') + '\n'),
			container_path: '/etc/glvnd/egl_vendor.d/smuggled.json',
			read_only: true,
		},
	],
	envs: vulkan.environment,
};
// A driver of OpenGL that is the double, with one thing wrong.
const openglDouble = (setting) => ({
	mounts: [
		...mounts(opengl, (f) => f.origin === 'manifest'),
		{host_path: join(build, 'tests', 'libdouble_opengl.so'), container_path: '/opt/double/libdouble_opengl.so', read_only: true},
		{
			host_path: file('double.json', {file_format_version: '1.0.0', ICD: {library_path: '/opt/double/libdouble_opengl.so'}}),
			container_path: '/usr/share/glvnd/egl_vendor.d/50_mesa.json',
			read_only: true,
		},
	],
	envs: {GPUCERT_DOUBLE: `software,${setting}`},
});

// A driver of Vulkan that is the double, and encodes.
const vulkanDouble = (setting) => ({
	mounts: [
		...mounts(vulkan, (f) => f.origin === 'manifest'),
		{host_path: join(build, 'tests', 'libdouble_vulkan.so'), container_path: '/opt/double/libdouble_vulkan.so', read_only: true},
		{
			host_path: file('double_vulkan.json', {file_format_version: '1.0.0', ICD: {library_path: '/opt/double/libdouble_vulkan.so', api_version: '1.3.0'}}),
			container_path: '/opt/double/double_vulkan.json',
			read_only: true,
		},
	],
	envs: {VK_DRIVER_FILES: '/opt/double/double_vulkan.json', VK_ICD_FILENAMES: '/opt/double/double_vulkan.json', GPUCERT_DOUBLE: `software,video,${setting}`},
});

// A device of Level Zero that was not granted: the image's own loader finds the driver.
const unasked = {
	mounts: [
		...mounts(vulkan),
		{host_path: join(build, 'tests', 'libdouble_levelzero_1.so'), container_path: '/opt/double/libdouble_levelzero_1.so', read_only: true},
	],
	envs: {...vulkan.environment, ZE_ENABLE_ALT_DRIVERS: '/opt/double/libdouble_levelzero_1.so'},
};

// A GPU of NVIDIA that nobody granted, for which the doubles of the driver's libraries stand.
const library = (name) => ({host_path: join(build, 'tests', 'cuda', name), container_path: `/usr/lib/x86_64-linux-gnu/${name}`, read_only: true});
const smuggledNvidia = (name, setting = 'devices=1') => ({
	// The probe's second inspection removes variables: a driver is the same without them.
	mounts: [...mounts(vulkan), library(name), {host_path: file('settings', setting), container_path: '/opt/double/settings', read_only: true}],
	envs: {...vulkan.environment, GPUCERT_DOUBLE: setting},
});

// The same GPU through OpenCL, whose word differs from CUDA's or does not.
const twoApis = (setting) => ({
	mounts: [
		...mounts(vulkan),
		library('libcuda.so.1'),
		{host_path: join(build, 'tests', 'libdouble_opencl.so'), container_path: '/opt/double/libdouble_opencl.so', read_only: true},
		{host_path: doubleManifest, container_path: '/opt/double/double.icd', read_only: true},
	],
	envs: {...vulkan.environment, OCL_ICD_VENDORS: '/opt/double/double.icd', GPUCERT_DOUBLE: setting},
});

// A node whose first device enables an API that no check tests.
const node_with_other = file('node.json', {...node, devices: node.devices.map((d, i) => (i === 0 ? {...d, apis: [...d.apis, 'other']} : d))});
// And one on which nothing can be computed.
const node_without_api = file('node.json', {...node, devices: node.devices.map((d) => ({...d, apis: []}))});

// What no container may be given, in checks that are about something else. File systems that hide what they show are mounted in the
// namespace of this test.
execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/mnt']);
function mounted(type, ...options) {
	const path = join('/mnt', type);
	mkdirSync(path);
	execFileSync('mount', ['-t', type, ...options, type, path]);
	return path;
}
for (const name of ['upper', 'work']) mkdirSync(`/mnt/${name}`);
const proc = mounted('proc');
const overlay = mounted('overlay', '-o', 'lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work');
mkdirSync('/run/gpucert', {recursive: true});
const elsewhere = join(work, 'link-to-run');
symlinkSync('/run/gpucert', elsewhere);
let deep = join(work, 'deep');
for (let i = 0; i < 70; i++) deep = join(deep, 'x');
mkdirSync(deep, {recursive: true});
const rw = (path) => ({host_path: path, container_path: `/given${path}`, read_only: false});
const ro = (path) => ({...rw(path), read_only: true});
const more = (given, devices = []) => plugin(resource('v', vulkan, {mounts: [...mounts(vulkan), ...given], devices}));
const nodeOf = (path) => ({host_path: path, container_path: path, permissions: 'rw'});
// Each of `wanted` is a failed assertion of the check, and the check that runs last names the check.
const everywhere = (name, check, given, wanted) => ({
	name,
	checks: [check, 'isolation.every-container'],
	plugin: given,
	outcomes: null,
	also: (report) => {
		const of = (id) => report.checks.find((c) => c.id === id);
		const saw = of(check).assertions.filter((a) => !a.ok).map((a) => `${a.what}: ${a.saw}`);
		const last = of('isolation.every-container');
		const missing = wanted.filter((text) => !saw.some((s) => s.startsWith('container of ') && s.includes(text)));
		if (missing.length !== 0) return `not said: ${missing}; but ${saw.join('; ')}`;
		return last.outcome === 'fail' && last.reason.includes(`${check}: `) ? null : `at the end: ${last.outcome}: ${last.reason}`;
	},
});
// Only the nth start of the plugin, which is another check each, hands out the second procfs.
const onceAt = (nth) => {
	const count = file('count', '');
	const [bad, good] = [more([rw(proc)]), more([])].map((command) => command.replaceAll("'", ''));
	return `sh -c 'echo >> ${count}; if test $(wc -l < ${count}) = ${nth}; then exec ${bad}; else exec ${good}; fi'`;
};
const once = (name, nth) => ({
	name,
	checks: ['api.vulkan', 'isolation.residue', 'isolation.lifetime', 'isolation.every-container'],
	plugin: onceAt(nth),
	outcomes: null,
	also: (report) => {
		const failed = report.checks.filter((c) => c.outcome === 'fail').map((c) => c.id);
		const first = report.checks.filter((c) => c.id !== 'isolation.every-container' && c.reason.includes('the proc file system of the node at /given/mnt/proc (writable)'));
		return failed.length === 2 && failed.includes('isolation.every-container') && first.length === 1 ? null : `failed: ${failed}`;
	},
});
const handedOut = [
	everywhere('what holds the node', 'api.vulkan', more([
		rw(proc), rw('/dev/shm'), rw('/usr/local'), rw('/home'), ro('/root'), ro('/etc/ssh'), rw('/var/log'),
	].filter(({host_path}) => existsSync(host_path)), [nodeOf('/dev/kmsg')]), [
		'device nodes: /dev/kmsg (character 1:11)', 'the proc file system of the node at /given/mnt/proc (writable)', '/usr/local/bin of the node at /given/usr/local (writable)',
		'/dev/shm of the node', '/home of the node at /given/home (writable)', '/root of the node at /given/root (read-only)',
	]),
	everywhere('the run itself', 'api.vulkan', more([ro('/run/gpucert'), rw(elsewhere), rw('/etc/profile.d'), rw('/usr/lib/tmpfiles.d'), rw('/sys/kernel')]
		.filter(({host_path}) => existsSync(host_path))), [
		'/run/gpucert of the node at /given/run/gpucert (read-only)', `/run/gpucert of the node at /given${elsewhere} (writable)`,
		'/etc of the node at /given/etc/profile.d (writable)',
	]),
	everywhere('the root of the node', 'isolation.contention', more([rw('/')]), ['/ of the node at /given (writable)']),
	once('a second procfs at start 2', 2),
	once('a second procfs at start 3', 3),
	{check: 'api.vulkan', plugin: more([rw(overlay)]), wanted: 'unsupported', reason: 'the source of /given/mnt/overlay (overlay, writable) is not known'},
	{check: 'isolation.device-nodes', plugin: more([ro(join(work, 'deep'))]), wanted: 'unsupported', reason: 'was not searched for device nodes to its end'},
];

const rows = [
	...handedOut,
	{check: 'api.every-api', wanted: 'pass'},
	{check: 'api.every-api', args: ['--node', node_with_other], wanted: 'unsupported', reason: `${node.devices[0].id} enables other`},
	{check: 'api.every-api', args: ['--node', node_without_api], wanted: 'unsupported', reason: 'nothing was computed'},
	{check: 'api.vulkan', plugin: plugin(resource('v', vulkan)), wanted: 'pass'},
	{check: 'api.opencl', plugin: plugin(resource('o', opencl)), wanted: 'pass'},
	{check: 'api.opengl', plugin: plugin(resource('g', opengl)), wanted: 'pass'},
	{check: 'api.opengl', plugin: plugin(resource('g', opengl, openglDouble('devices=1'))), wanted: 'pass'},
	// Without an ffmpeg of our own (cmake/ffmpeg) there is none in the image.
	{
		check: 'api.ffmpeg',
		plugin: plugin(resource('v', vulkan)),
		...(existsSync(join(build, 'libexec/gpucert/ffmpeg')) ? {wanted: 'pass'} : {wanted: 'not-applicable', reason: 'the image has no ffmpeg'}),
	},
	{
		check: 'api.ffmpeg',
		plugin: plugin(resource('v', vulkan, {
			mounts: [...mounts(vulkan), {host_path: join(build, 'tests', 'ffmpeg'), container_path: '/usr/local/bin', read_only: true}],
			envs: {...vulkan.environment, GPUCERT_DOUBLE: 'h264_nvenc'},
		})),
		...(existsSync(join(build, 'libexec/gpucert/ffmpeg')) ? {wanted: 'pass'} : {reason: '/usr/local/bin/ffmpeg'}),
	},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan)), wanted: 'not-applicable', reason: 'the device has no video queue'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('devices=1'))), wanted: 'pass'},
	{check: 'isolation.two-containers', plugin: plugin(resource('v', vulkan), resource('o', opencl)), wanted: 'pass'},
	{check: 'isolation.shared-replicas', plugin: plugin(resource('v', vulkan)), wanted: 'pass'},
	{
		check: 'api.vulkan',
		plugin: plugin(resource('v', vulkan, {mounts: mounts(vulkan, (f) => f.destination.endsWith('/libz.so.1'))})),
		reason: '/api/status',
	},
	{
		check: 'api.opencl',
		plugin: plugin(resource('o', opencl, {mounts: mounts(opencl, (f) => f.destination.includes('/libLLVM'))})),
	},
	{
		check: 'api.opengl',
		plugin: plugin(resource('g', opengl, {mounts: mounts(opengl, (f) => f.origin === 'manifest')})),
		reason: 'EGL_BAD_DISPLAY',
	},
	{
		check: 'api.opengl',
		plugin: plugin(resource('g', opengl, {mounts: mounts(opengl, (f) => f.destination.includes('/libLLVM'))})),
		reason: 'EGL_NOT_INITIALIZED',
	},
	{check: 'api.opengl', plugin: plugin(resource('g', opengl, openglDouble('pixel=7'))), reason: '1 pixels are wrong'},
	{check: 'api.opengl', plugin: plugin(resource('g', opengl, openglDouble('idle'))), reason: 'results are wrong'},
	{check: 'api.opengl', plugin: plugin(resource('g', opengl, openglDouble('devices=2'))), reason: '/devices/count'},
	{check: 'api.opengl', plugin: plugin(resource('g', opengl, openglDouble('crash=glDispatchCompute'))), reason: 'signal'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('drop=4'))), reason: '11 pictures'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('repeat=4'))), reason: 'frame 4 shows frame 3'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('other=9'))), reason: 'frame 0'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('lost=4'))), reason: 'VK_ERROR_DEVICE_LOST'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('hevc'))), wanted: 'pass'},
	{check: 'api.vulkanvideo', plugin: plugin(resource('v', vulkan, vulkanDouble('hevc,repeat=4'))), reason: 'frame 4 shows frame 3'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledOpengl)), reason: 'devices through opengl', foreign: opengl.id},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libcuda.so.1'))), reason: 'devices through cuda'},
	{check: 'isolation.management-apis', plugin: plugin(resource('v', vulkan, smuggledNvidia('libnvidia-ml.so.1'))), reason: 'devices through nvml: got Double 0 at 0000:40:00.0'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libnvidia-ml.so.1'))), wanted: 'pass'},
	{check: 'isolation.management-apis', plugin: plugin(resource('v', vulkan)), wanted: 'not-applicable'},
	{check: 'isolation.apis-agree', plugin: plugin(resource('v', vulkan, twoApis('nvidia-uuid=1'))), wanted: 'pass'},
	{check: 'isolation.apis-agree', plugin: plugin(resource('v', vulkan, twoApis('nvidia-uuid=9'))), reason: 'lavapipe: deviceUuid: got <serial-'},
	{check: 'isolation.apis-agree', plugin: plugin(resource('v', vulkan, twoApis('opencl-bus=77'))), reason: '0001:4d:00.0 by opencl'},
	{check: 'isolation.apis-agree', plugin: plugin(resource('v', vulkan)), wanted: 'not-applicable'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libcuda.so.1', 'devices=2'))), reason: '2 of hardware, 0 granted'},
	{
		check: 'isolation.driver-files',
		plugin: plugin(resource('v', vulkan, {mounts: mounts(vulkan).map((m) => ({...m, read_only: m.container_path.endsWith('.json')}))})),
		reason: 'is mounted writable: write ok',
	},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libcuda.so.1', 'fail=cuInit:803'))), reason: 'SYSTEM_DRIVER_MISMATCH'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libcuda.so.1', 'fail=cuInit:100'))), wanted: 'pass'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libnvidia-ml.so.1', 'fail=nvmlInit:9'))), wanted: 'pass'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, crashing)), reason: 'devices through opencl'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, unasked)), reason: 'devices through levelzero'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, everything)), reason: 'devices granted'},
	{
		check: 'isolation.single-device',
		plugin: plugin({resource: 'example.com/cdi', devices: [{id: 'cdi'}], allocate: {each: {cdi_devices: ['example.com/gpu=0']}}}),
		wanted: 'unsupported',
		reason: 'CDI',
	},
	// What the Spec says is known, and this generation of containerd does not know CDI.
	{
		check: 'api.vulkan',
		plugin: plugin({resource: 'example.com/cdi', devices: [{id: 'cdi'}], allocate: {each: {cdi_devices: ['example.com/gpu=0']}}}),
		args: ['--cdi-dir', folderOf({'gpu.json': spec('example.com/gpu', {0: editsOf(vulkan)})})],
		wanted: 'unsupported',
		reason: 'ignores CDI devices',
	},
	{
		check: 'isolation.two-containers',
		plugin: plugin(resource('v', vulkan, smuggle(vulkan, copiedManifest)), resource('o', opencl)),
		reason: 'devices through opencl',
	},
	{
		check: 'isolation.shared-replicas',
		plugin: plugin(resource('v', vulkan, smuggle(vulkan, copiedManifest))),
		reason: 'devices through opencl',
	},
];

await withRuntime(() => judgeAll(rows));
