// SPDX-License-Identifier: MIT
// usage: node cdi.mjs BUILD
// CDI devices in answers and the node's Specs, without a container: what is wrong must fail for its own reason, what is unusual must
// not. containerd_cdi.mjs injects them.
import {chmodSync} from 'node:fs';
import {join} from 'node:path';
import {judgeAll, nodePlugin, scripted} from './harness.mjs';
import {device} from './machine.mjs';
import {editsOf, folderOf, mount, spec} from './specs.mjs';

const vulkan = device('lavapipe');
const opencl = device('pocl');
const kind = 'example.com/gpu';
const names = (...devices) => ({cdi_devices: devices.map((name) => `${kind}=${name}`)});
const plugin = (answer) => scripted({plugins: [{resource: kind, devices: [{id: 'gpu-0'}], allocate: {each: answer}}]});
const env = (...variables) => ({env: variables});

const checks = ['resolves', 'specs', 'files', 'agrees', 'one-device'].map((name) => `allocate.cdi-${name}`);
const passed = Object.fromEntries(checks.map((check) => [check, 'pass']));
const args = (...folders) => ['--launcher', 'process', '--timeout-percent', '20', ...folders.flatMap((folder) => ['--cdi-dir', folder])];

const one = spec(kind, {a: editsOf(vulkan)});
const good = folderOf({'example.com-gpu.json': one});
const wrong = (check, reason, folders, answer = names('a')) => ({
	check: `allocate.cdi-${check}`, plugin: plugin(answer), args: args(...folders), reason,
});
const right = (name, folders, answer = names('a'), outcomes = {}) => ({
	name, plugin: plugin(answer), args: args(...folders), checks, outcomes: {...passed, ...outcomes},
});
// Edits without a device of the node: which one they hand out is not known.
const unsupported = {'allocate.cdi-one-device': 'unsupported'};
const edits = (containerEdits, more) => [folderOf({'gpu.json': spec(kind, {a: containerEdits}, more)})];
const twoDevices = {...editsOf(vulkan), mounts: [...editsOf(vulkan).mounts, ...editsOf(opencl).mounts]};
const left = folderOf({});
const latest = folderOf({});
const each = folderOf({});
const gone = folderOf({});
const open = folderOf({'open.json': one});
chmodSync(join(open, 'open.json'), 0o666);
const badField = spec(kind, {b: {environment: ['A=b']}});

const harm = ['allocate.read-only', 'allocate.harmless-variables'];
const harmful = (check, reason, ...wrongEdits) => ({check: `allocate.${check}`, plugin: plugin(names('a')), args: args(...edits(...wrongEdits)), reason});
const writable = (hostPath, containerPath) => ({hostPath, containerPath, options: ['rw', 'bind']});

const rows = [
	harmful('read-only', '/etc/hostname on /etc/passwd, by a CDI Spec', {mounts: [mount('/etc/hostname', '/etc/passwd')]}),
	harmful('read-only', '/etc on /opt/driver, by a CDI Spec', {mounts: [mount('/etc', '/opt/driver')]}),
	harmful('read-only', '/opt/driver.conf: false, by a CDI Spec', env('A=b'), {containerEdits: {mounts: [writable('/etc/hostname', '/opt/driver.conf')]}}),
	harmful('read-only', '/dev/zero on /dev/null', {deviceNodes: [{path: '/dev/null', hostPath: '/dev/zero'}]}),
	harmful('harmless-variables', 'LD_PRELOAD of a CDI Spec', env('LD_PRELOAD=/opt/x.so')),
	harmful('harmless-variables', 'PATH of a CDI Spec', env('A=b'), {containerEdits: env('PATH=/opt')}),
	// As NVIDIA's: the folder of a daemon's socket, and what keeps the older runtime away.
	{
		name: 'a Spec with a folder that programs share', plugin: plugin(names('a')), checks: harm, outcomes: {[harm[0]]: 'pass', [harm[1]]: 'pass'},
		args: args(...edits({...editsOf(vulkan), env: [...editsOf(vulkan).env, 'NVIDIA_VISIBLE_DEVICES=void']}, {
			containerEdits: {mounts: [writable(folderOf({}), '/run/nvidia-persistenced')], deviceNodes: [{path: '/dev/null'}]},
		})),
	},
	wrong('resolves', `${kind}=b by gpu-0: in no Spec`, [good], names('b')),
	wrong('resolves', 'in no Spec', [folderOf({})]),
	wrong('resolves', 'in no Spec', ['/nonexistent/cdi']),
	wrong('resolves', 'in no Spec', [good], {cdi_devices: ['no name']}),
	wrong('resolves', `${kind}=b by gpu-0: in no Spec`, [good], {annotations: {'cdi.k8s.io/gpu': `${kind}=a,${kind}=b`}}),
	wrong('resolves', 'gpu.json is not one: cdiVersion', [folderOf({'gpu.json': {...one, cdiVersion: '9.0.0'}})]),
	wrong('resolves', 'example.com-gpu.yaml is not one', [folderOf({'example.com-gpu.yaml': 'kind: ['})]),
	wrong('resolves', 'in two Specs of one folder', [folderOf({'1.json': one, '2.json': one})]),
	// What lies deeper or has another name is not read.
	wrong('resolves', 'in no Spec', [folderOf({'gpu.json.new': one, 'gpu.yml': one})]),
	wrong('specs', 'bad.json: unknown-field', [folderOf({'gpu.json': one, 'bad.json': badField})]),
	wrong('specs', 'open.json: got 0666, expected not writable for every user', [open]),
	wrong('files', '/nonexistent/lib.so', edits({mounts: [mount('/nonexistent/lib.so')]})),
	wrong('files', '/nonexistent/lib.so', edits(env('A=b'), {containerEdits: {mounts: [mount('/nonexistent/lib.so')]}})),
	wrong('files', '/etc/hostname: not a character or block device', edits({deviceNodes: [{path: '/dev/gpu0', hostPath: '/etc/hostname'}]})),
	wrong('files', 'hook /nonexistent/hook: missing, for example.com/gpu=a', edits({hooks: [{hookName: 'createContainer', path: '/nonexistent/hook'}]})),
	wrong('files', 'hook /nonexistent/hook: missing', edits(env('A=b'), {containerEdits: {hooks: [{hookName: 'createRuntime', path: '/nonexistent/hook'}]}})),
	{check: 'allocate.cdi-resolves', plugin: nodePlugin('a-spec-for-the-latest', latest), args: args(latest), reason: 'example.com/gpu=gpu-0 by gpu-0: in no Spec'},
	{check: 'allocate.cdi-resolves', plugin: nodePlugin('a-spec-for-each', each), args: args(each), wanted: 'pass'},
	{check: 'restart.answer-stays', plugin: nodePlugin('a-spec-for-each', each), args: args(each), wanted: 'pass'},
	{check: 'restart.answer-stays', plugin: nodePlugin('specs-of-the-registration', gone), args: args(gone), reason: 'example.com/gpu=gpu-0 is in no CDI Spec any more'},
	wrong('agrees', 'LEVEL is 2 by example.com/gpu=a and 1 by example.com/gpu', edits(env('LEVEL=2')), {...names('a'), envs: {LEVEL: '1'}}),
	wrong('agrees', '/opt/driver is /etc/passwd (ro)', edits({mounts: [mount('/etc/passwd', '/opt/driver')]}), {
		...names('a'), mounts: [{host_path: '/etc/hostname', container_path: '/opt/driver', read_only: true}],
	}),
	wrong('agrees', 'LEVEL is 2 by example.com/gpu=b and 1', [folderOf({'gpu.json': spec(kind, {a: env('LEVEL=1'), b: env('LEVEL=2')})})], names('a', 'b')),
	wrong('one-device', 'lavapipe, pocl by gpu-0', edits(twoDevices)),
	wrong('one-device', 'pocl, lavapipe by gpu-0', edits(editsOf(vulkan), {containerEdits: {mounts: editsOf(opencl).mounts}})),
	wrong('one-device', 'lavapipe, pocl by gpu-0', [folderOf({'gpu.json': spec(kind, {a: editsOf(vulkan), b: {mounts: editsOf(opencl).mounts}})})], names('a', 'b')),
	...checks.map((check) => ({check, plugin: plugin({envs: {A: 'b'}}), args: args(good), wanted: 'not-applicable', reason: 'names a CDI device'})),

	right('a device in a Spec', [good]),
	right('a device that is named in an annotation', [good], {annotations: {'cdi.k8s.io/example.com_gpu': `${kind}=a`}}),
	right('a device in a Spec of both folders', [folderOf({'gpu.json': spec(kind, {a: {mounts: [mount('/nonexistent')]}})}), good]),
	right('a device in several Specs of several kinds', [folderOf({
		'example.com-gpu.json': one,
		'example.com-all.json': spec('example.com/all', {a: editsOf(vulkan)}),
	})], {cdi_devices: [`${kind}=a`, 'example.com/all=a']}),
	right('a Spec in YAML', [folderOf({'gpu.yaml': `cdiVersion: "0.3.0"\nkind: ${kind}\ndevices: [{name: a, containerEdits: ${JSON.stringify(editsOf(vulkan))}}]\n`})]),
	right('a wrong Spec of somebody else', [folderOf({'gpu.json': one, 'else.json': spec('else.com/gpu', {b: {environment: []}}), 'text.json': 'no'})]),
	right('a device that replaces what its Spec gives to all', edits({...editsOf(vulkan), env: [...editsOf(vulkan).env, 'LEVEL=1']}, {containerEdits: env('LEVEL=0')})),
	right('the same in the answer and in a Spec', [good], {
		...names('a'), mounts: vulkan.files.slice(0, 1).map((f) => ({host_path: f.source, container_path: f.destination, read_only: true})),
	}),
	right('a part of the device in the answer', edits({mounts: editsOf(vulkan).mounts}), {...names('a'), envs: vulkan.environment}),
	right('a node with numbers of its own, and one of a pipe', edits({deviceNodes: [
		{path: '/dev/nowhere', type: 'c', major: 1, minor: 3}, {path: '/dev/channel', type: 'p', hostPath: '/nonexistent/pipe'},
	]}), names('a'), unsupported),
	right('a file system that is not the host\'s', edits({mounts: [{hostPath: 'tmpfs', containerPath: '/var/cache/driver', type: 'tmpfs', options: ['mode=755']}]}), names('a'), unsupported),
	{
		...right('a Spec that the plugin writes and leaves', [left]),
		plugin: `sh -c 'cp ${join(good, 'example.com-gpu.json')} ${left}/left.json; exec ${plugin(names('a')).replaceAll("'", '')}'`,
		also: (report) => (JSON.stringify(report.checks.map((c) => c.notes)).includes('left.json was not there before the plugin, and stays') ? null : 'no note'),
	},
	right('hooks', edits({hooks: [
		{hookName: 'createContainer', path: '/usr/bin/true'}, {hookName: 'startContainer', path: '/only/in/the/image'},
	]}), names('a'), unsupported),
];

await judgeAll(rows, 10);
