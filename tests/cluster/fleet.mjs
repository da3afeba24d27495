// SPDX-License-Identifier: MIT
// usage: isolated node fleet.mjs BUILD
// Nodes are certified by the Jobs of `gpucert fleet plan` on a real Kubernetes, and their verdicts and reports read together.
import {execFile, execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {dirname, join, resolve} from 'node:path';
import {promisify} from 'node:util';
import {address, api, importImage, kubectl, nodeName, podLog, pods, poll, runCtr, runParts, startCluster, until} from './cluster.mjs';

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
	const known = execFileSync('ldconfig', ['-p'], {encoding: 'utf8'});
	const loaders = ['libvulkan.so.1', 'libOpenCL.so.1', 'libEGL.so.1'].map((name) => known.match(new RegExp(`${name}.*x86-64.*=> (\\S+)`))?.[1]).filter(Boolean);
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
	runCtr('images', 'tag', 'gpucert.internal/gpucert:test', image);
}

// Returns the file with the Jobs of the fleet.
function plan(name, list, checks, ...options) {
	const nodes = work('nodes.json');
	const jobs = work(`jobs-${name}${options.at(-1) ?? ''}.json`);
	writeFileSync(nodes, list);
	writeFileSync(jobs, run('fleet', 'plan', nodes, '--image', image, '--name', name, '--retries', '0', ...options, '--', ...checks));
	return jobs;
}
function status(name, jobs) {
	const list = work(`${name}-pods.json`);
	writeFileSync(list, kubectl('-n', space, 'get', 'pods', '-l', `gpucert.internal/fleet=${name}`, '-o', 'json'));
	return run('fleet', 'status', list, '--plan', jobs);
}
const hasEnded = ({status}) => ['Succeeded', 'Failed'].includes(status.phase);
const terminated = (pod) => pod.status.containerStatuses[0].state.terminated;
const reportOf = (name) => join(folder, name, nodeName);

// Certifies the node with the checks, while `during` happens: its state must be the expected one. Returns the verdict's line, which the
// report on the node must have, too.
async function certify(name, state, checks, during, ...options) {
	const jobs = plan(name, kubectl('get', 'nodes', '-o', 'json'), checks, ...options);
	kubectl('apply', '-f', jobs);
	await during?.();
	const pod = await until(`fleet ${name}: its pod ends`, podsOf(name), ([pod]) => pod && hasEnded(pod) && pod);
	const printed = status(name, jobs);
	expect(printed.startsWith('1 nodes:') && printed.includes(`\n${state.padEnd(8)}${nodeName}`), `expected ${state}: ${printed}\n${JSON.stringify(pod.status)}\n${await podLog(pod.metadata.name, space)}`);
	return terminated(pod).message;
}
async function certifyWithVerdict(name, state, ...checks) {
	const line = await certify(name, state, checks);
	const verdict = JSON.parse(line);
	expect(line === run('fleet', 'verdict', reportOf(name)), `${line}\nis not the verdict of ${reportOf(name)}`);
	const [last] = readFileSync(join(reportOf(name), 'journal.ndjson'), 'utf8').match(/[^\n]*\n$/); // each record has the digest of the one before
	expect(verdict.journal === `sha256:${createHash('sha256').update(last).digest('hex')}`, `${verdict.journal} is not the journal's`);
	const {nodes, refused} = JSON.parse(run('fleet', 'merge', '--json', join(folder, name)));
	expect(refused.length === 0 && nodes.length === 1 && nodes[0].name === nodeName && nodes[0].journal === verdict.journal, JSON.stringify([nodes, refused]));
	return {verdict, report: JSON.parse(readFileSync(join(reportOf(name), 'report.json')))};
}

// A web server on the node, which its pods reach.
async function startStore() {
	const store = {full: false};
	const server = createServer((request, response) => {
		const file = work(`store${request.url}`);
		const parts = [];
		request.on('data', (data) => parts.push(data)).on('end', () => {
			if (request.headers.authorization !== 'Bearer open-sesame') return response.writeHead(401).end();
			if (request.method === 'GET') return existsSync(file) ? response.end(readFileSync(file)) : response.writeHead(404).end();
			if (store.full) return response.writeHead(507).end();
			mkdirSync(dirname(file), {recursive: true});
			writeFileSync(file, Buffer.concat(parts));
			response.writeHead(201).end();
		});
	});
	await new Promise((resolve) => server.listen(0, address, resolve));
	return Object.assign(store, {place: `http://${address}:${server.address().port}/fleet`, close: () => server.close()});
}

// Nodes without a kubelet: objects only. Their pods are bound here, and end with a verdict as the kubelet would report it.
const hollow = Array.from({length: 200}, (_, i) => `hollow-${i}`);
async function addHollowNodes() {
	const conditions = [{type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastHeartbeatTime: new Date().toISOString(), lastTransitionTime: new Date().toISOString()}];
	const room = {cpu: '8', memory: '32Gi', pods: '110'};
	for (const name of hollow) {
		const labels = {'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', hollow: 'yes'};
		await api('POST', '/api/v1/nodes', {apiVersion: 'v1', kind: 'Node', metadata: {name, labels}, status: {conditions, capacity: room, allocatable: room}});
	}
	// Each as it was while it was ready: nobody keeps it so.
	const items = new Map();
	await until('the hollow nodes are ready', '/api/v1/nodes?labelSelector=hollow', (nodes) => {
		nodes.filter(({spec, status}) => !spec.taints && status.conditions.some(({type, status}) => type === 'Ready' && status === 'True')).forEach((node) => items.set(node.metadata.name, node));
		return items.size === hollow.length;
	});
	return JSON.stringify({apiVersion: 'v1', kind: 'List', items: [...items.values()]});
}
const ended = (exitCode, message = '') => ({phase: exitCode ? 'Failed' : 'Succeeded', state: {terminated: {exitCode, message}}});
async function report(pod, {phase, state}) {
	const containerStatuses = state && [{name: 'gpucert', image, imageID: '', ready: false, restartCount: 0, state}];
	await api('PUT', `${pods(space)}/${pod.metadata.name}/status`, {...pod, metadata: {...pod.metadata, resourceVersion: undefined}, status: {phase, containerStatuses}});
}

const nodeOf = ({metadata}) => metadata.annotations['gpucert.internal/node'];
// What `gpucert fleet status` prints is the state of each of these nodes.
function expectStates(printed, expected) {
	const states = new Map(printed.trim().split('\n').slice(1).map((line) => line.match(/^(\w+) +([^:]+)/).slice(1)).map(([state, node]) => [node, state]));
	const other = [...expected].filter(([node, state]) => states.get(node) !== state);
	expect(states.size === expected.size && other.length === 0, `${JSON.stringify(other)}\n${printed}`);
}

const parts = {
	'a cluster starts': async () => {
		await startCluster(build);
		importGpucert();
		kubectl('create', 'namespace', space);
	},
	'a pod certifies its node, and its report agrees with its verdict': async () => {
		const {verdict} = await certifyWithVerdict('quick', 'passed', 'registration', 'list-and-watch', 'allocate');
		expect(verdict.failedCount === 0 && verdict.passed > 0, JSON.stringify(verdict));
	},
	'a pod passes the API and isolation suites': async () => {
		const {report} = await certifyWithVerdict('suites', 'passed', 'environment', 'api', 'isolation');
		const outcomes = Object.fromEntries(report.checks.map(({id, outcome}) => [id, outcome]));
		const needed = ['api.vulkan', 'api.opencl', 'api.opengl', ...Object.keys(outcomes).filter((id) => /^isolation\./.test(id) && !/device-memory$/.test(id))];
		expect(needed.length > 10 && needed.every((id) => ['pass', 'not-applicable'].includes(outcomes[id])) && outcomes['api.vulkan'] === 'pass', JSON.stringify(outcomes));
	},
	'a pod with a wrong plugin fails, and the merge names the check': async () => {
		const script = JSON.stringify({plugins: [{resource: 'example.com/gpu', devices: [{id: 'gpu-0', health: 'healthy'}]}]});
		const {verdict} = await certifyWithVerdict('wrong', 'failed', '--include-host-identity', '--plugin', `sh -c 'echo "$0" >/tmp/script.json; exec scripted-plugin /tmp/script.json "$1"' '${script}' {plugin-dir}`, 'list-and-watch');
		expect(verdict.exitCode === 1 && verdict.failed.includes('list-and-watch.health'), JSON.stringify(verdict));
		const {groups} = JSON.parse(run('fleet', 'merge', '--json', folder));
		expect(groups.some(({check, nodes}) => check === 'list-and-watch.health' && nodes.includes(nodeName)), JSON.stringify(groups));
	},
	'a pod pushes its report; when the storage is full, it stays, and another pod pushes it': async () => {
		const store = await startStore();
		const options = ['--push', `${store.place}/{node}`, '--plain-http', '--pod-resources', '--push-secret', 'reports'];
		const push = async () => JSON.parse(await certify('pushed', 'passed', ['registration.version'], undefined, ...options));
		kubectl('-n', space, 'create', 'secret', 'generic', 'reports', '--from-literal=token=open-sesame');
		store.full = true;
		const kept = await push();
		expect(/status 507/.test(kept.notPushed) && !kept.pushed, JSON.stringify(kept));
		kubectl('delete', '-f', work('jobs-pushedreports.json'));
		await until('its pod is gone', podsOf('pushed'), (found) => found.length === 0);
		store.full = false;
		const pushed = await push();
		expect(pushed.journal === kept.journal && !pushed.notPushed, JSON.stringify([kept, pushed]));
		writeFileSync(work('token'), 'open-sesame');
		await promisify(execFile)(gpucert, ['pull', '--plain-http', '--token-file', work('token'), pushed.pushed, '-o', work(`pulled/${nodeName}`)]);
		expect(JSON.parse(readFileSync(work(`pulled/${nodeName}/report.json`))).run.journal.digest === kept.journal, 'another report was pushed');
		expect(existsSync(join(reportOf('pushed'), 'pushed.json')), 'the report on the node is not marked');
		store.close();
	},
	'a pod that is killed is lost, and the node can be certified again': async () => {
		await certify('killed', 'lost', ['load', '--thorough'], async () => {
			await poll('the run begins', () => existsSync(join(reportOf('killed'), 'journal.ndjson')));
			const id = await until('the pod runs', podsOf('killed'), ([pod]) => pod?.status.containerStatuses?.[0].state.running && pod.status.containerStatuses[0].containerID);
			runCtr('tasks', 'kill', '--signal', 'SIGKILL', id.replace('containerd://', ''));
		});
		kubectl('delete', '-f', work('jobs-killed.json'));
		await until('its pod is gone', podsOf('killed'), (found) => found.length === 0);
		await certifyWithVerdict('killed', 'passed', 'registration.version');
	},
	'200 Jobs in two waves: each node has the state that its pod reports': async () => {
		const nodes = await addHollowNodes();
		const verdict = (name) => run('fleet', 'verdict', reportOf(name));
		const ends = [
			['passed', ended(0, verdict('quick'))], ['failed', ended(1, verdict('wrong'))], ['lost', ended(137)], ['lost', ended(0, verdict('wrong'))],
			['running', {phase: 'Running', state: {running: {}}}], ['pending', {phase: 'Pending'}],
		];
		const endOf = (node) => ends[hollow.indexOf(node) % ends.length];
		// Their nodes send no heartbeats, which would end them after five minutes.
		const stay = ['not-ready', 'unreachable'].flatMap((taint) => ['--toleration', `node.kubernetes.io/${taint}`]);
		const waves = ['1', '2'].map((wave) => plan('hollow', nodes, ['registration'], '--selector', 'hollow=yes', ...stay, '--max-unavailable', '50%', '--wave', wave));
		const expected = new Map();
		for (const jobs of waves) {
			JSON.parse(readFileSync(jobs)).items.map(nodeOf).forEach((node) => expected.set(node, 'missing'));
			expectStates(status('hollow', jobs), expected);
			kubectl('apply', '-f', jobs);
			const made = await until('the pods of the wave', podsOf('hollow'), (found) => found.length === expected.size && found);
			for (const pod of made) {
				const node = nodeOf(pod);
				if (expected.get(node) !== 'missing') continue;
				await api('POST', `${pods(space)}/${pod.metadata.name}/binding`, {apiVersion: 'v1', kind: 'Binding', metadata: {name: pod.metadata.name}, target: {kind: 'Node', name: node}})
					.catch((error) => expect(/already assigned/.test(error.message), error.message));
				await report(pod, endOf(node)[1]);
				expected.set(node, endOf(node)[0]);
			}
			expectStates(status('hollow', jobs), expected);
		}
		expect(expected.size === hollow.length, `${expected.size} nodes`);
	},
};
await runParts(parts);
