// SPDX-License-Identifier: MIT
// usage: node wrong_runtime.mjs BUILD
// A container runtime that hands its GPU drivers to every container, asked for or not: a base specification with the mounts
// and variables of a software driver, as a forgotten runtime hook would leave it; one that cannot run a container; and one that is right.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {judgeAll} from './harness.mjs';
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
