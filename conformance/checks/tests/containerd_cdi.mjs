// SPDX-License-Identifier: MIT
// usage: node containerd_cdi.mjs BUILD MAKE_CONTAINERD GENERATION
// CDI for real: the reference plugin answers with names alone, a private containerd that knows CDI injects what the node's Specs say,
// and the probes compute on it. What is wrong with a Spec must fail for its own reason.
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {build, judgeAll, work} from './harness.mjs';
import {device, needRoot, skip} from './machine.mjs';
import {folderOf, mount} from './specs.mjs';

needRoot();
device('lavapipe');
device('pocl');

const [make, generation] = process.argv.slice(3);
const cached = spawnSync(make, ['--cached', generation], {encoding: 'utf8'});
if (cached.status !== 0) skip(cached.stderr.trim());
const containerd = cached.stdout.trim();
const plugin = `'${join(build, 'bin', 'device-plugin-gpu')}' --plugin-dir {plugin-dir} --delivery cdi`;
const written = execFileSync(join(build, 'bin', 'gen-device-mounts'), ['--all', '--for', 'cdi'], {maxBuffer: 1 << 26});
// The Spec of this machine's devices, changed; edits(name) are those of one of them.
function changed(change = () => {}) {
	const node = JSON.parse(written);
	change(node, (name) => node.devices.find((d) => d.name === name).containerEdits);
	return folderOf({'gpucert.internal-gpu.json': node});
}
const run = (...folders) => ({plugin, args: ['--containerd', containerd, ...folders.flatMap((folder) => ['--cdi-dir', folder])]});
const wrong = (folder, reasons) => Object.entries(reasons).map(([check, reason]) => ({check, ...run(folder), reason}));

const lacks = changed((_, edits) => (edits('lavapipe').mounts = edits('lavapipe').mounts.filter((m) => !m.hostPath.includes('/libLLVM'))));
const missing = changed((_, edits) => (edits('lavapipe').mounts[0].hostPath = '/nonexistent/lib.so'));
const another = changed((_, edits) => Object.assign(edits('lavapipe'), structuredClone(edits('pocl'))));
const absent = changed((node) => (node.devices = node.devices.filter((d) => d.name !== 'lavapipe')));
const invalid = changed((node) => (node.cdiVersion = '9.0.0'));
const more = changed((node, edits) => (node.containerEdits = edits('pocl')));
const writable = changed((_, edits) => edits('lavapipe').mounts.forEach((m) => (m.options = ['rw', 'bind'])));
const inFront = changed((_, edits) => edits('lavapipe').mounts.push(mount('/etc/hostname', '/libexec/gpucert/probe-vulkan')));
// The runtime runs it on the host, with the state of the container as its input.
const trace = join(work, 'hook-ran');
const hooked = changed((node) => (node.containerEdits = {hooks: [{hookName: 'createContainer', path: '/usr/bin/touch', args: ['touch', trace]}]}));
const passed = Object.fromEntries(['resolves', 'specs', 'files', 'agrees', 'one-device'].map((name) => [`allocate.cdi-${name}`, 'pass']));
const apis = ['api.vulkan', 'api.opencl', 'api.opengl'];
const few = [
	{name: 'by CDI alone', ...run(changed()), checks: [
		...Object.keys(passed), ...apis, 'isolation.no-allocation', 'isolation.single-device', 'isolation.two-containers', 'isolation.driver-files',
		'isolation.host-paths', 'isolation.device-nodes',
	], outcomes: passed},
	...wrong(lacks, {'api.vulkan': 'libLLVM'}),
	...wrong(another, {'api.vulkan': 'never granted'}),
	...wrong(absent, {'allocate.cdi-resolves': 'lavapipe::0: in no Spec', 'api.vulkan': 'unresolvable CDI devices gpucert.internal/gpu=lavapipe'}),
];
// Which file is to blame does not depend on the generation.
const rest = [
	{name: 'by a later folder that replaces the device', ...run(missing, changed()), checks: [...Object.keys(passed), 'api.vulkan'], outcomes: passed},
	{name: 'with a hook', ...run(hooked), checks: [...Object.keys(passed), 'api.vulkan', 'isolation.single-device'], outcomes: passed,
		also: () => (existsSync(trace) ? null : 'the hook did not run')},
	...wrong(missing, {'allocate.cdi-files': '/nonexistent/lib.so', 'api.vulkan': '/nonexistent/lib.so'}),
	...wrong(folderOf({}), {'api.vulkan': 'unresolvable CDI devices'}),
	...wrong(invalid, {'allocate.cdi-resolves': 'is not one: cdiVersion', 'api.vulkan': 'unresolvable CDI devices'}),
	...wrong(more, {'allocate.cdi-one-device': 'by lavapipe::0', 'isolation.single-device': 'devices granted: got 2'}),
	...wrong(writable, {'isolation.driver-files': 'writable'}),
	...wrong(inFront, {'api.vulkan': 'probe-vulkan'}),
];

await judgeAll(generation === '2' ? [...few, ...rest] : few, 2);
