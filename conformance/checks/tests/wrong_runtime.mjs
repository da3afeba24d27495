// SPDX-License-Identifier: MIT
// usage: node wrong_runtime.mjs BUILD
// A container runtime that hands its GPU drivers to every container, asked for or not: a base specification with the mounts
// and variables of a software driver, as a forgotten runtime hook would leave it; one that cannot run a container; ones that confine
// it badly: each changes one thing of what containerd asks for, in front of runc; and one that is right. What concerns device nodes is
// in device_rules.mjs.
import {execFileSync} from 'node:child_process';
import {capabilities, deviceRules, plugin} from './device_rules.mjs';
import {file, judgeAll, work} from './harness.mjs';
import {device, needRoot} from './machine.mjs';
import {runcThat, withRuntime} from './runtime.mjs';

needRoot();

const vulkan = device('lavapipe');
const rules = deviceRules();

// A base specification that every container starts from.
function generousSpec() {
	const spec = JSON.parse(execFileSync('ctr', ['oci', 'spec'], {encoding: 'utf8'}));
	spec.process.env = Object.entries(vulkan.environment).map(([name, value]) => `${name}=${value}`);
	spec.mounts.push(...vulkan.files.map((f) => ({destination: f.destination, type: 'bind', source: f.source, options: ['rbind', 'ro']})));
	return file('base.json', spec);
}

// The runtime, the check that finds it, and what its reason speaks of; or what passes all the same.
const mountOf = (source, destination) =>
	`spec.mounts.push({source: '${source}', destination: '${destination}', type: 'bind', options: ['rbind', 'ro']});`;
const forDevices = (change) => `if (spec.process.env.some((v) => v.startsWith('VK_DRIVER_FILES='))) { ${change} }`;
const loose = [
	['remount', `${capabilities('CAP_SYS_ADMIN')} delete spec.linux.seccomp;`, 'driver-files', 'after a remount ok'],
	['writable', "for (const m of spec.mounts) if (m.type === 'bind') m.options = ['rbind', 'rw'];", 'driver-files', 'is mounted writable: write ok'],
	['host-processes', "spec.linux.namespaces = spec.linux.namespaces.filter((n) => n.type !== 'pid');", 'host-paths', 'namespaces of the host: ["pid"]'],
	['etc-for-all', mountOf('/etc', '/opt/etc'), 'host-paths', '/etc of the node at /opt/etc'],
	['more-for-devices', forDevices(mountOf(work, '/opt/more')), 'host-paths', '/opt/more ('],
	['privileged', capabilities('CAP_SYS_ADMIN', 'CAP_MKNOD'), 'host-paths', 'bare: privileges: got capabilities 0x8200000 beside 0'],
	['files-for-all', mountOf(work, '/opt/more'), 'host-paths', null],
];
// Files that a hook writes into the container's own layer: a library and a layer fail, what NVIDIA's hooks write does not.
const write = (path, content) => `{
	const {mkdirSync, symlinkSync} = await import('node:fs');
	const at = process.argv[2] + '/rootfs/${path}';
	mkdirSync(at.slice(0, at.lastIndexOf('/')), {recursive: true});
	${content === null ? "symlinkSync('/opt/nothing', at);" : `writeFileSync(at, '${content}');`}
}`;
const written = [
	['hwcaps', write('usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libother.so.1', 'x'), 'glibc-hwcaps/x86-64-v2/libother.so.1'],
	['layer', write('etc/vulkan/implicit_layer.d/x.json', '{}'), '/etc/vulkan/implicit_layer.d/x.json'],
	['nvidia-hooks', write('etc/ld.so.cache', 'cache') + write('etc/ld.so.conf.d/00-nvcr-1.conf', '/usr/lib') + write('usr/lib/x86_64-linux-gnu/libdouble.so', null), null],
];
const lavapipe = plugin();

const rows = [
	{check: 'isolation.no-allocation', wanted: 'pass'},
	{check: 'environment.runtime', wanted: 'pass'},
	{check: 'environment.container', wanted: 'pass'},
	...[
		{check: 'isolation.no-allocation', reason: 'no allocation: devices through vulkan: got 1 software renderer, 0 granted'},
		{check: 'isolation.single-device', reason: 'devices through vulkan: got 1 software renderer, 0 granted'},
	].map((row) => ({...row, args: ['--runtime-handler', 'generous']})),
	...[
		{check: 'environment.container', reason: 'bare-container'},
		{check: 'isolation.no-allocation', wanted: 'broken', reason: 'pod sandbox', alone: true},
	].map((row) => ({...row, args: ['--runtime-handler', 'crippled']})),
	...[
		{check: 'image.denied-device', reason: 'opening /dev/fuse, which is not given: got ok'},
		{check: 'image.prediction', reason: 'linux.device-node said cannot-work (/dev/mali-gpucert-denied is opened, and not given to the container: EPERM); it worked'},
	].map((row) => ({...row, args: ['--runtime-handler', 'any-device']})),
	...['fuse-for-all', 'one-more-rule'].map((name) => ({
		check: 'image.denied-device',
		args: ['--runtime-handler', name],
		wanted: 'pass',
	})),
	...loose.map(([name, , check, reason]) => ({
		check: `isolation.${check}`,
		plugin: lavapipe,
		args: ['--runtime-handler', name],
		...(reason === null ? {wanted: 'pass'} : {reason}),
	})),
	...written.map(([name, , reason]) => ({
		check: 'api.vulkan',
		plugin: lavapipe,
		args: ['--runtime-handler', name],
		...(reason === null ? {wanted: 'pass'} : {reason}),
	})),
	...rules.rows,
];
const handlers = {
	...rules.handlers,
	generous: {spec: generousSpec()},
	crippled: {program: '/bin/false'},
	...Object.fromEntries([...loose, ...written].map(([name, change]) => [name, {program: runcThat(name, change)}])),
};
await withRuntime(() => judgeAll(rows, 2), {handlers});
