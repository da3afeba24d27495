// SPDX-License-Identifier: MIT
// usage: node wrong_runtime.mjs BUILD
// A container runtime that hands its GPU drivers to every container, asked for or not: a base specification with the mounts
// and variables of a software driver, as a forgotten runtime hook would leave it; one that cannot run a container; ones that confine
// it badly: each changes one thing of what containerd asks for, in front of runc; and one that is right.
import {execFileSync, spawn} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {file, judgeAll, scripted, work} from './harness.mjs';
import {device, needRoot, skip} from './machine.mjs';

needRoot();
try {
	execFileSync('containerd', ['--version'], {stdio: 'ignore'});
} catch {
	skip('needs containerd');
}

const vulkan = device('lavapipe');

// A base specification that every container starts from.
function baseSpec(generous) {
	const spec = JSON.parse(execFileSync('ctr', ['oci', 'spec'], {encoding: 'utf8'}));
	if (!generous) return spec;
	spec.process.env = Object.entries(vulkan.environment).map(([name, value]) => `${name}=${value}`);
	spec.mounts.push(...vulkan.files.map((f) => ({destination: f.destination, type: 'bind', source: f.source, options: ['rbind', 'ro']})));
	return spec;
}

async function startContainerd({generous = false, runc = 'runc'}) {
	const root = mkdtempSync('/run/gpucert-test-');
	const socket = join(root, 'c.sock');
	mkdirSync(join(root, 'state'));
	writeFileSync(join(root, 'base.json'), JSON.stringify(baseSpec(generous)));
	writeFileSync(join(root, 'config.toml'), `version = 2
root = "${root}/root"
state = "${root}/state"
[grpc]
address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/gpucert/pause:1"
restrict_oom_score_adj = true
stream_server_address = "127.0.0.1"
stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
base_runtime_spec = "${root}/base.json"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "${runc}"
`);
	const containerd = spawn('containerd', ['--config', join(root, 'config.toml')], {stdio: ['ignore', 'ignore', 'pipe']});
	let log = '';
	await new Promise((resolve, reject) => {
		containerd.stderr.on('data', (data) => {
			log += data;
			if (log.includes('containerd successfully booted')) resolve();
		});
		containerd.on('exit', () => reject(new Error(`containerd ended:\n${log}`)));
	});
	containerd.removeAllListeners('exit');
	const stop = async () => {
		const ended = new Promise((resolve) => containerd.on('exit', resolve));
		containerd.kill('SIGTERM');
		await ended;
		rmSync(root, {recursive: true, force: true});
	};
	return {address: `unix://${socket}`, stop};
}

// A runc that first lets a line of JavaScript change `spec`, the container's config.json.
function runcThat(name, change) {
	const edit = file(`${name}.mjs`, `import {readFileSync, writeFileSync} from 'node:fs';
const path = process.argv[2] + '/config.json';
const spec = JSON.parse(readFileSync(path));
const sandbox = spec.annotations?.['io.kubernetes.cri.container-type'] === 'sandbox';
if (!sandbox) { ${change} }
writeFileSync(path, JSON.stringify(spec));
`);
	const path = file(name, `#!/bin/sh
bundle= previous= create=
for word; do
	[ "$previous" != --bundle ] || bundle=$word
	[ "$word" != create ] || create=yes
	previous=$word
done
[ -z "$create" ] || '${process.execPath}' '${edit}' "$bundle" || exit 1
exec runc "$@"
`);
	chmodSync(path, 0o755);
	return path;
}

// The runtime, the check that finds it, and what its reason speaks of; or what passes all the same.
const capabilities = (...names) =>
	`for (const set of ['bounding', 'effective', 'permitted']) spec.process.capabilities[set] = ${JSON.stringify(names)};`;
const mountOf = (source, destination) =>
	`spec.mounts.push({source: '${source}', destination: '${destination}', type: 'bind', options: ['rbind', 'ro']});`;
const forDevices = (change) => `if (spec.process.env.some((v) => v.startsWith('VK_DRIVER_FILES='))) { ${change} }`;
const nodeOf = (name, major, minor) => `(spec.linux.devices ??= []).push({path: '/dev/${name}', type: 'c', major: ${major}, minor: ${minor}, fileMode: 0o666});`;
const allow = (major, minor) => `spec.linux.resources.devices.push({allow: true, type: 'c', major: ${major}, minor: ${minor}, access: 'rw'});`;
const loose = [
	['any-device', "spec.linux.resources.devices = [{allow: true, access: 'rwm'}];", 'device-nodes', 'devices that its cgroup lets it use: saw '],
	['one-more-rule', allow(10, 237), 'device-nodes', '(character 10:237)'],
	['one-more-node', nodeOf('one-more', 10, 237), 'device-nodes', '/dev/one-more (character 10:237)'],
	['mknod', capabilities('CAP_MKNOD'), 'device-nodes', 'device nodes: saw made in /'],
	['remount', `${capabilities('CAP_SYS_ADMIN')} delete spec.linux.seccomp;`, 'driver-files', 'after a remount ok'],
	['writable', "for (const m of spec.mounts) if (m.type === 'bind') m.options = ['rbind', 'rw'];", 'driver-files', 'is mounted writable: write ok'],
	['host-processes', "spec.linux.namespaces = spec.linux.namespaces.filter((n) => n.type !== 'pid');", 'host-paths', 'namespaces of the host: saw ["pid"]'],
	['etc-for-all', mountOf('/etc', '/opt/etc'), 'host-paths', '/etc of the node at /opt/etc'],
	['more-for-devices', forDevices(mountOf(work, '/opt/more')), 'host-paths', '/opt/more ('],
	['privileged', capabilities('CAP_SYS_ADMIN', 'CAP_MKNOD'), 'host-paths', 'bare: privileges: saw capabilities 0x8200000 beside 0'],
	['fuse-for-all', `${nodeOf('fuse', 10, 229)} ${allow(10, 229)}`, 'device-nodes', null],
	['files-for-all', mountOf(work, '/opt/more'), 'host-paths', null],
];
const lavapipe = scripted({plugins: [{
	resource: 'example.com/v',
	devices: [{id: vulkan.id}],
	allocate: {once: {
		mounts: vulkan.files.map((f) => ({host_path: f.source, container_path: f.destination, read_only: true})),
		envs: vulkan.environment,
	}},
}]});

async function judgeLoose() {
	const runtimes = await Promise.all(loose.map(([name, change]) => startContainerd({runc: runcThat(name, change)})));
	const rows = loose.map(([, , check, reason], i) => ({
		check: `isolation.${check}`,
		plugin: lavapipe,
		args: ['--cri', runtimes[i].address],
		...(reason === null ? {wanted: 'pass'} : {reason}),
	}));
	await judgeAll(rows, 2);
	for (const runtime of runtimes) await runtime.stop();
}

const plain = await startContainerd({});
const generous = await startContainerd({generous: true});
const crippled = await startContainerd({runc: '/bin/false'});
await judgeAll([
	{check: 'isolation.no-allocation', args: ['--cri', plain.address], wanted: 'pass'},
	{check: 'isolation.no-allocation', args: ['--cri', generous.address], reason: 'no allocation: devices through vulkan: saw 1 software renderer, 0 granted'},
	{check: 'isolation.single-device', args: ['--cri', generous.address], reason: 'devices through vulkan: saw 1 software renderer, 0 granted'},
	{check: 'environment.runtime', args: ['--cri', plain.address], wanted: 'pass'},
	{check: 'environment.container', args: ['--cri', plain.address], wanted: 'pass'},
	{check: 'environment.container', args: ['--cri', crippled.address], reason: 'bare-container'},
	{check: 'isolation.no-allocation', args: ['--cri', crippled.address], wanted: 'broken', reason: 'pod sandbox'},
], 1);
await plain.stop();
await generous.stop();
await crippled.stop();
const failed = process.exitCode;
await judgeLoose();
process.exitCode ||= failed;
