// SPDX-License-Identifier: MIT
// usage: node wrong_containers.mjs BUILD
// The checks that launch containers, on plugins that give a container too little or too much. The plugins' answers are made
// from what gpu-discovery finds here, so the containers are as real as in a normal run.
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {build, file, judgeAll, scripted} from './harness.mjs';
import {device, discoveredNode, needRoot} from './machine.mjs';
import {withRuntime} from './runtime.mjs';
import {editsOf, folderOf, spec} from './specs.mjs';

needRoot();

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
	mounts: [...mounts(vulkan), library(name)],
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

const rows = [
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
	{check: 'isolation.management-apis', plugin: plugin(resource('v', vulkan, smuggledNvidia('libnvidia-ml.so.1'))), reason: 'devices through nvml: saw Double 0 at 0000:40:00.0'},
	{check: 'isolation.single-device', plugin: plugin(resource('v', vulkan, smuggledNvidia('libnvidia-ml.so.1'))), wanted: 'pass'},
	{check: 'isolation.management-apis', plugin: plugin(resource('v', vulkan)), wanted: 'not-applicable'},
	{check: 'isolation.apis-agree', plugin: plugin(resource('v', vulkan, twoApis('nvidia-uuid=1'))), wanted: 'pass'},
	{check: 'isolation.apis-agree', plugin: plugin(resource('v', vulkan, twoApis('nvidia-uuid=9'))), reason: 'lavapipe: deviceUuid: saw <serial-'},
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

await withRuntime(() => judgeAll(rows, 4));
