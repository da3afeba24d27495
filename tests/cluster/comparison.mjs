// SPDX-License-Identifier: MIT
// usage: isolated node comparison.mjs BUILD [--write]
// Runs the same scripted plugins on the kubelet of a real Kubernetes and on `gpucert kubelet`, and compares event by event what each
// plugin sees, what the node shows, and what becomes of pods. docs/reference/kubelet-comparison.md holds the result; --write puts it there.
import {spawn} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {createInterface} from 'node:readline';
import {api, nodeName, pods, poll, removePod, runParts, startCluster, startKubelet, stop, untilNode, untilPod} from './cluster.mjs';
import {cases} from './comparison_cases.mjs';

const build = resolve(process.argv[2]);
const page = join(import.meta.dirname, '../../docs/reference/kubelet-comparison.md');
const scratch = '/run/cluster/scratch';
let count = 0;

// A process whose lines are kept.
function watched(program, args) {
	const child = spawn(program, args, {stdio: ['ignore', 'pipe', 'inherit']});
	child.lines = [];
	createInterface({input: child.stdout}).on('line', (line) => child.lines.push(line));
	child.ended = new Promise((resolve) => child.on('close', resolve));
	child.end = async (signal) => {
		child.kill(signal);
		await child.ended;
	};
	return child;
}

// What a plugin saw, without its own answers and what differs from run to run: chance decides whether it notices first that its socket
// is gone, or that kubelet.sock is new. What has no order is sorted: Register and the kubelet's calls are on two connections,
// NotifyRegistrationStatus and ListAndWatch are two threads, and ids come in random order.
const before = /^(Register answered|NotifyRegistrationStatus called|registered:)/;
const failed = /^Register answered UNAVAILABLE cannot connect/;
const seen = (lines, directory) =>
	lines.map((line) => line.replace(/^\S+ \S+ +scripted-plugin: (\S+: )?/, ''))
		.filter((line) => !/^SIG|^listen |^own socket is gone|^kubelet.sock is new|^(?!Register)\S+ answered /.test(line))
		.map((line) => line.replaceAll(directory, 'DIR').replace(/scripted-[-\d]+\.sock/g, 'SOCKET').replace(/case-\d+/g, 'gpu'))
		// Nobody listened on kubelet.sock yet.
		.filter((line, i, all) => !failed.test(line) && !(line.startsWith('Register endpoint') && failed.test(all[i + 1])))
		.filter((line, i, all) => line !== all[i - 1])
		.map((line) => line.trimEnd())
		.reduce((sorted, line) => {
			if (before.test(line) && sorted.at(-1) === 'ListAndWatch called') return [...sorted.slice(0, -1), line, sorted.at(-1)];
			const ids = /^allocating /.test(line) && /^allocating /.test(sorted.at(-1));
			return ids ? [...sorted.slice(0, -1), `allocating ${[...sorted.at(-1).split(' ').slice(1), line.split(' ')[1]].sort().join(' ')}`] : [...sorted, line];
		}, []);

// A case on one kubelet. `kubelet` starts, restarts and ends it, tells what the node shows and admits pods.
class World {
	plugins = [];
	children = [];
	events = [];
	constructor(kubelet, resource) {
		Object.assign(this, {kubelet, resource});
	}
	// Starts a plugin of these resources; with plugin() what it sees is compared.
	start(scripts) {
		const path = join(scratch, `${++count}.json`);
		writeFileSync(path, JSON.stringify({plugins: scripts.map((script) => ({resource: this.resource, ...script}))}));
		const {directory, registry} = this.kubelet;
		const program = join(build, 'tests/scripted-plugin');
		const child = watched('sh', ['-c', 'exec "$@" 2>&1', 'sh', program, path, directory, join(directory, 'kubelet.sock'), registry]);
		this.children.push(child);
		return child;
	}
	plugin(script) {
		this.plugins.push(this.start([script]));
		return this.plugins.at(-1);
	}
	// Waits until a plugin saw a line so many times: on both kubelets, or on each its own.
	saw(plugin, text, times = 1) {
		const wanted = text[this.kubelet.name] ?? text;
		return poll(`the plugin sees '${wanted}'`, () => plugin.lines.filter((line) => line.includes(wanted)).length >= times);
	}
	// Waits until the node shows these numbers: on both kubelets, or on each its own.
	async counts(wanted) {
		await this.kubelet.counts(this.resource, wanted[this.kubelet.name] ?? wanted);
		this.events.push(`node ${wanted[this.kubelet.name] ?? wanted}`);
	}
	async admit(number) {
		this.events.push(await this.kubelet.admit(this.resource, number));
	}
	restart() {
		return this.kubelet.restart(this.resource);
	}
}

const real = {
	name: 'real', directory: '/var/lib/kubelet/device-plugins', registry: '/var/lib/kubelet/plugins_registry', pods: [],
	async start() {
		this.process = await startCluster(build);
	},
	async restart() {
		await stop(this.process, 'SIGKILL');
		this.process = startKubelet();
	},
	counts: (resource, wanted) => untilNode(`${resource} is ${wanted}`, ({status: {capacity, allocatable}}) => `${capacity[resource] ?? 0}/${allocatable[resource] ?? 0}` === wanted),
	// Without the scheduler, which would keep a pod that the kubelet refuses.
	async admit(resource, number) {
		const name = `pod-${++count}`;
		this.pods.push(name);
		await api('POST', pods(), {
			apiVersion: 'v1', kind: 'Pod', metadata: {name},
			spec: {nodeName, restartPolicy: 'Never', automountServiceAccountToken: false, containers: [{name: 'c', image: 'docker.io/gpucert/pause:1', resources: {limits: {[resource]: number}}}]},
		});
		const pod = await untilPod('it is admitted or not', name, (pod) => (['Running', 'Failed'].includes(pod.status.phase) || pod.status.containerStatuses?.[0]?.state.waiting?.message) && pod);
		return pod.status.phase === 'Running' ? 'pod admitted' : `pod rejected: ${pod.status.message?.replace(/^Pod /, '') ?? pod.status.containerStatuses[0].state.waiting.message}`;
	},
	async end() {
		for (const name of this.pods.splice(0)) await removePod(name);
	},
};

const fake = {
	name: 'fake', directory: '/run/cluster/fake', registry: '/run/cluster/fake-registry',
	// It admits the pods of its command line once their resource is listed: after a restart those that run, which cost no Allocate,
	// and new ones.
	start(resource, running = []) {
		const wanted = this.wanted = [...running, ...(this.lives.shift() ?? [])];
		this.process = watched(join(build, 'bin/gpucert'), [
			'kubelet', '--plugin-dir', this.directory, '--registry-dir', this.registry, ...wanted.flatMap((number) => ['--allocate', `${resource}=${number}`]),
		]);
		this.admitted = running.length;
		this.compared = {};
		return poll('the fake kubelet', () => this.events('started').length > 0);
	},
	events(...names) {
		return this.process.lines.map((line) => JSON.parse(line)).filter(({event}) => names.includes(event));
	},
	async restart(resource) {
		await this.process.end('SIGKILL');
		await this.start(resource, this.wanted);
	},
	counts(resource, wanted) {
		return poll(`${resource} is ${wanted}`, () => {
			const shown = this.events('resource').filter((event) => event.resource === resource).map(({capacity, allocatable}) => `${capacity}/${allocatable}`);
			// Pods are admitted as soon as they can, so these numbers may have passed.
			const found = (shown.length > 0 ? shown : ['0/0']).indexOf(wanted, this.compared[resource] ?? 0);
			if (found >= 0) this.compared[resource] = found + 1;
			return found >= 0;
		});
	},
	async admit() {
		const number = this.admitted++;
		const event = await poll('a pod is admitted or not', () => this.events('container-options', 'rejected')[number]);
		return event.event === 'rejected' ? `pod rejected: ${event.text}` : 'pod admitted';
	},
	async end() {
		await this.process.end('SIGTERM');
		rmSync(this.directory, {recursive: true, force: true});
	},
};

async function runCase({run, options, again, pods: lives = []}, kubelet, resource) {
	const world = new World(kubelet, resource);
	if (kubelet === fake) {
		fake.lives = [...lives];
		await fake.start(resource);
	}
	await run(world);
	const plugins = world.plugins.map(({lines}) => [...lines]);
	for (const child of world.children) await child.end('SIGTERM');
	await kubelet.end();
	// Whether the kubelet asks for the options is compared by the cases that are about it.
	const compared = (line, i, lines) => (options || line !== 'GetDevicePluginOptions called') && !(again && lines.indexOf(line) < i);
	return {plugins: plugins.map((lines) => seen(lines, kubelet.directory).filter(compared)), node: world.events.map((event) => event.replaceAll(resource, 'example.com/gpu'))};
}

// What a plugin, or several, and the node showed, as a cell of the table.
const cell = ({plugins, node}) => {
	const lines = plugins.flatMap((lines, i) => (plugins.length > 1 ? [`plugin ${i + 1}:`, ...lines] : lines));
	return [...lines, ...node].join('<br>').replaceAll('|', '\\|');
};

const begin = '<!-- table: tests/cluster/comparison.mjs -->\n';
const rows = [];
const parts = {
	'a cluster starts': async () => {
		await real.start();
		mkdirSync(scratch);
	},
};
for (const [i, each] of cases.entries()) {
	parts[each.title] = async () => {
		const results = {};
		for (const kubelet of [real, fake]) results[kubelet.name] = await runCase(each, kubelet, `example.com/case-${i}`);
		const same = JSON.stringify(results.real) === JSON.stringify(results.fake);
		if (same !== !each.why) throw new Error(`${same ? 'the kubelets are said to differ, and do not' : 'the kubelets differ, and nothing says why'}:\n${JSON.stringify(results, null, 1)}`);
		const cells = [each.title, cell(results.real), ...(same ? ['the same', ''] : [cell(results.fake), each.why])];
		rows.push(`| ${cells.join(' | ')} |\n`);
	};
}
parts['docs/reference/kubelet-comparison.md holds the table'] = () => {
	const table = `${begin}| case | kubelet 1.20.2 | fake kubelet (profile 1.36) | why they differ |\n| --- | --- | --- | --- |\n${rows.join('')}`;
	const text = readFileSync(page, 'utf8');
	const wanted = text.replace(new RegExp(`${begin}(\\|.*\n)*`), () => table);
	if (process.argv[3] === '--write') writeFileSync(page, wanted);
	else if (text !== wanted) throw new Error(`it differs, or is not written yet (--write):\n${table}`);
};
await runParts(parts);
