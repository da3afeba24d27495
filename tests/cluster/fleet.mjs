// SPDX-License-Identifier: MIT
// usage: isolated node fleet.mjs BUILD
// Nodes are certified by the Jobs of `gpucert fleet plan` on a real Kubernetes, and their verdicts and reports read together.
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {api, importImage, kubectl, nodeName, podLog, pods, poll, runParts, startCluster, tagImage, until} from './cluster.mjs';

const build = resolve(process.argv[2]);
const gpucert = join(build, 'bin/gpucert');
const space = 'gpucert';
const folder = '/var/lib/gpucert/fleet';
const work = (name) => join('/run/cluster', name);
let image;

const expect = (condition, what) => {
	if (!condition) throw new Error(what);
};
const run = (...args) => execFileSync(gpucert, args, {encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit']});
const podsOf = (name) => `${pods(space)}?labelSelector=gpucert.internal/fleet=${name}`;

// gpucert with what its probes and a run need, and the drivers of this machine.
function importGpucert() {
	const {devices} = JSON.parse(execFileSync(join(build, 'bin/gpu-discovery'), ['--json'], {maxBuffer: 2 ** 26}));
	const caches = execFileSync('ldconfig', ['-p'], {encoding: 'utf8'});
	const loaders = ['libvulkan.so.1', 'libOpenCL.so.1', 'libEGL.so.1'].map((name) => caches.match(new RegExp(`${name}.*x86-64.*=> (\\S+)`))?.[1]).filter(Boolean);
	const digest = importImage(
		'gpucert.internal/gpucert:test',
		...['gpucert', 'device-plugin-gpu'].map((name) => join(build, 'bin', name)),
		join(build, 'tests/scripted-plugin'),
		...['containerd', 'containerd-shim-runc-v2', 'ctr', 'sleep'].map((name) => `/usr/bin/${name}`),
		...['/bin/sh', '/usr/sbin/runc', '/etc/os-release', ...loaders].map((path) => [path, path]),
		[join(build, 'libexec/gpucert'), '/usr/libexec/gpucert'],
		...devices.flatMap(({files}) => files).map(({source, destination}) => [source, destination]),
	);
	image = `gpucert.internal/gpucert@${digest}`;
	tagImage('gpucert.internal/gpucert:test', image);
}

// Applies the Jobs of the fleet; returns the file with them.
function plan(name, nodes, options, ...checks) {
	writeFileSync(work(`${name}-nodes.json`), nodes);
	const jobs = work(`${name}-jobs.json`);
	writeFileSync(jobs, run('fleet', 'plan', work(`${name}-nodes.json`), '--image', image, '--name', name, '--retries', '0', ...options, '--', ...checks));
	kubectl('apply', '-f', jobs);
	return jobs;
}
function status(name, jobs) {
	const list = work(`${name}-pods.json`);
	writeFileSync(list, kubectl('-n', space, 'get', 'pods', '-l', `gpucert.internal/fleet=${name}`, '-o', 'json'));
	return run('fleet', 'status', list, '--plan', jobs);
}
const untilEnded = (name) => until(`fleet ${name}: its pod ends`, podsOf(name), ([pod]) => pod && ['Succeeded', 'Failed'].includes(pod.status.phase) && pod);

// Certifies the node with the checks; its state must be the expected one.
async function certify(name, state, ...checks) {
	const jobs = plan(name, kubectl('get', 'nodes', '-o', 'json'), [], ...checks);
	const pod = await untilEnded(name);
	const printed = status(name, jobs);
	const all = `${printed}\n${JSON.stringify(pod.status)}\n${await podLog(pod.metadata.name, space)}`;
	if (process.env.CLUSTER_LOGS) writeFileSync(join(process.env.CLUSTER_LOGS, `fleet-${name}.log`), all);
	expect(printed.startsWith('1 nodes:') && printed.includes(`\n${state.padEnd(8)}${nodeName}`), `expected ${state}: ${all}`);
	return JSON.parse(pod.status.containerStatuses[0].state.terminated.message);
}

const parts = {
	'a cluster starts': async () => {
		await startCluster(build);
		importGpucert();
		kubectl('create', 'namespace', space);
	},
	'a pod certifies its node, and its report agrees with its verdict': async () => {
		const verdict = await certify('quick', 'passed', 'registration', 'list-and-watch', 'allocate');
		console.log(verdict);
	},
	'a pod passes the API and isolation suites': async () => {
		const verdict = await certify('suites', 'passed', 'environment', 'api', 'isolation');
		console.log(verdict);
	},
};
await runParts(parts);
