// SPDX-License-Identifier: MIT
// usage: node fleet_push.mjs BUILD [SEED]
// The containers of `gpucert fleet plan --push` as ordinary processes, for many nodes, each with a web server of its own. Containers are killed at each
// step, servers refuse, are full, break or are killed, and Kubernetes makes new pods. In the end each node counts once, with its own
// result, and no report is lost. A failure names the node and the seed; with it the same steps are taken.
import assert from 'node:assert/strict';
import {execFile, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import {tmpdir} from 'node:os';
import {basename, dirname, join, resolve} from 'node:path';

const build = resolve(process.argv[2]);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);
const gpucert = join(build, 'bin/gpucert');
const work = fs.mkdtempSync(join(tmpdir(), 'gpucert-fleet-'));
const token = 'open-sesame';
const at = (...parts) => join(work, ...parts);
const write = (file, text, mode) => (fs.mkdirSync(dirname(file), {recursive: true}), fs.writeFileSync(file, text, {mode}));
const run = (...args) => new Promise((resolve) => execFile(gpucert, args, (error, stdout, stderr) => resolve({code: error?.code ?? 0, stderr})));
const outputOf = (...args) => execFileSync(gpucert, args, {encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'ignore']});
let state = seed;
function random(limit) {
	state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
	return ((state ^ (state >>> 13)) >>> 0) % limit;
}

// --- The web server of a node. `rules` are asked for each request in turn; the first that answers has.
class Store {
	constructor(node) {
		this.folder = at('stores', node);
		this.rules = [];
		this.counts = {};
		this.waiting = [];
	}
	// Resolves when a request arrives for which `test` is true.
	arrival(test) {
		return new Promise((resolve) => this.waiting.push({test, resolve}));
	}
	async start() {
		this.server = http.createServer((request, response) => this.answer(request, response));
		this.server.listen(this.port ?? 0, '127.0.0.1');
		await once(this.server, 'listening');
		this.port = this.server.address().port;
	}
	kill() {
		this.server.close();
		this.server.closeAllConnections();
	}
	answer(request, response) {
		const file = join(this.folder, decodeURIComponent(request.url));
		const seen = {method: request.method, name: basename(file), number: this.counts[request.method] = (this.counts[request.method] ?? 0) + 1};
		const end = (status, body, headers) => request.resume().on('end', () => response.writeHead(status, headers).end(body));
		const arrived = this.waiting.filter(({test}) => test(seen));
		this.waiting = this.waiting.filter((one) => !arrived.includes(one));
		const rule = this.rules.find((rule) => rule(seen, {request, response, end, store: this}));
		arrived.forEach(({resolve}) => resolve());
		if (rule) return;
		if (request.headers.authorization !== `Bearer ${token}`) return end(401);
		if (request.method === 'GET') return fs.existsSync(file) ? end(200, fs.readFileSync(file)) : end(404);
		// What was cut lies there as a part, under its name.
		const parts = [];
		const keep = () => write(file, Buffer.concat(parts));
		request.on('data', (data) => parts.push(data)).on('end', () => (keep(), response.writeHead(201).end())).on('error', keep);
	}
}
const isPut = ({method}) => method === 'PUT';
const always = (status) => (seen, {end}) => isPut(seen) && (end(status), true);
const first = (count, rule) => (seen, exchange) => isPut(seen) && seen.number <= count && rule(seen, exchange);
const cut = (seen, {request}) => (request.once('data', () => request.destroy()), true);
const hang = (seen) => isPut(seen);
const holdAt = (name) => (seen) => isPut(seen) && seen.name === name;

// --- A pod: a process group, and whatever else has its mark. It stops before and after each command of gpucert, until it is let go.
const control = net.createServer();
const pods = new Map();
control.on('connection', (socket) => socket.once('data', (data) => {
	const {mark, point} = JSON.parse(data);
	socket.on('error', () => {});
	pods.get(mark).reached(point, () => socket.end('go'));
}));

class Pod {
	constructor(node) {
		this.node = node;
		this.number = node.pods.push(this);
		this.mark = `${basename(work)}-${node.name}-${this.number}`;
		this.message = at('messages', this.mark);
		this.points = [];
		this.log = '';
		this.watchers = [];
		write(this.message, '');
		pods.set(this.mark, this);
	}
	start() {
		this.had = this.node.finished;
		const {env, command, args} = this.node.container;
		const variables = Object.fromEntries(env.filter(({value}) => value !== undefined).map(({name, value}) => [name, value]));
		const out = at('nodes', this.node.name, basename(variables.FLEET_OUT));
		fs.mkdirSync(dirname(out), {recursive: true});
		this.process = spawn(command[0], [...command.slice(1), ...args], {
			detached: true, stdio: ['ignore', 'pipe', 'pipe'],
			env: {
				...process.env, ...variables, ...this.node.environment, FLEET_DELAY: '0', FLEET_OUT: out, FLEET_VERDICT: this.message, FLEET_LOG: at(`log-${this.mark}`), FLEET_SECRET: at('secret'),
				FLEET_TEST_MARK: this.mark, FLEET_TEST_CONTROL: at('control'), FLEET_TEST_GPUCERT: gpucert, PATH: `${at('bin')}:${join(build, 'bin')}:${process.env.PATH}`,
			},
		});
		for (const stream of [this.process.stdout, this.process.stderr])
			stream.setEncoding('utf8').on('data', (text) => {
				this.log += text;
				this.watchers.forEach((watch) => watch());
			});
		this.ended = once(this.process, 'exit').then(([code, signal]) => (this.exitCode = signal ? 137 : code));
		return this;
	}
	reached(point, go) {
		const number = this.points.filter((one) => one === point).push(point);
		this.points.push(point);
		if (this.stop === `${point} ${number}` || this.stop === point) return this.atStop();
		go();
	}
	// Resolves when the pod has stopped there, or has ended.
	until(point) {
		this.stop = point;
		return Promise.race([new Promise((resolve) => (this.atStop = resolve)), this.ended]);
	}
	says(text) {
		return this.before(new Promise((resolve) => this.watchers.push(() => this.log.includes(text) && resolve())));
	}
	// The event, which must come before the end.
	before(event) {
		return Promise.race([event, this.ended.then(() => Promise.reject(new Error('the pod has ended')))]);
	}
	async kill() {
		const isMine = (pid) => {
			try {
				return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`FLEET_TEST_MARK=${this.mark}\0`);
			} catch {
				return false;
			}
		};
		const end = (pid) => {
			try {
				process.kill(pid, 'SIGKILL');
			} catch {}
		};
		end(-this.process.pid);
		for (let left = [1]; left.length > 0;) {
			left = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isMine(name));
			left.forEach((pid) => end(Number(pid)));
			await new Promise(setImmediate);
		}
		await this.ended;
		this.exitCode = 137;
	}
	// As the kubelet reports it.
	get json() {
		const terminated = {exitCode: this.exitCode, message: fs.readFileSync(this.message, 'utf8')};
		return {kind: 'Pod', metadata: {name: this.mark, creationTimestamp: String(this.number).padStart(4, '0'), annotations: {'gpucert.internal/node': this.node.name}},
			status: {phase: this.exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses: [{state: {terminated}}]}};
	}
}

// --- A node with its Job.
const nodes = [];
class Node {
	constructor(name, fails = false) {
		Object.assign(this, {name, fails, pods: [], store: new Store(name), environment: {}, reports: new Map()});
		nodes.push(this);
	}
	get folder() {
		return at('nodes', this.name, this.name);
	}
	async plan() {
		await this.store.start();
		const plugin = at('plugins', this.name, 'plugin');
		write(plugin, `#!/bin/sh\n[ ! -e ${plugin}.hold ] || { echo >${plugin}.held; exec sleep 3600; }\n` +
			(this.fails ? `exec ${build}/tests/scripted-plugin ${at('wrong.json')} "$1"\n` : 'exec device-plugin-gpu --plugin-dir "$1"\n'), 0o755);
		write(at('lists', this.name), JSON.stringify({kind: 'List', items: [{kind: 'Node', metadata: {name: this.name, labels: {'kubernetes.io/hostname': this.name}}, status: {conditions: [{type: 'Ready', status: 'True'}]}}]}));
		const printed = outputOf('fleet', 'plan', at('lists', this.name), '--allow-tag', '--image', 'x', '--push', `http://127.0.0.1:${this.store.port}/fleet/{node}`, '--push-secret', 'reports',
			'--', '--launcher', 'process', '--plugin', `${plugin} {plugin-dir}`, 'registration.version');
		assert(!printed.includes(token));
		this.job = JSON.parse(printed).items[0];
		this.container = this.job.spec.template.spec.containers[0];
	}
	pod() {
		this.note();
		return new Pod(this).start();
	}
	// All reports that were ever on the node, and where.
	note() {
		const found = fs.existsSync(at('nodes', this.name)) ? fs.readdirSync(at('nodes', this.name), {recursive: true}).filter((name) => basename(name) === 'report.json') : [];
		const digests = found.map((name) => JSON.parse(fs.readFileSync(at('nodes', this.name, name))).run.journal.digest);
		[...this.reports.keys()].forEach((digest) => assert(digests.includes(digest), `${this.name}: a report is lost`));
		digests.forEach((digest, i) => this.reports.set(digest, found[i]));
	}
	get finished() {
		const report = join(this.folder, 'report.json');
		return fs.existsSync(report) && ![3, 4].includes(JSON.parse(fs.readFileSync(report)).verdict.exitCode);
	}
	// Kubernetes makes pods until one ends by itself.
	async finish(pod = this.pod()) {
		await pod.ended;
		assert(!pod.had || !pod.points.includes('before run'), `${this.name}: a finished run was repeated`);
		assert.equal(pod.exitCode, this.fails ? 1 : 0, `${this.name}: ${pod.exitCode}: ${pod.log}`);
		assert(!pod.log.includes(token), `${this.name}: the token is printed`);
		this.note();
	}
}

const seen = (name) => new Promise((resolve) => {
	const look = () => fs.existsSync(name) && (watcher.close(), resolve());
	const watcher = fs.watch(dirname(name), look);
	look();
});

// --- The scenarios: each says what happens to a node, and whether its report arrives.
const points = ['before begin', 'after begin', 'before run', 'after run', 'before verdict 1', 'after verdict 1', 'before publish', 'after publish', 'before verdict 2', 'after verdict 2'];
const scenarios = {};
for (const point of points) {
	scenarios[`killed ${point}`] = async (node) => {
		const pod = node.pod();
		await pod.until(point);
		await pod.kill();
		await node.finish();
	};
}
const refuses = (rule, words, within) => async (node) => {
	node.store.rules = [rule];
	if (within) node.environment.FLEET_PUSH_OPTIONS = `--within ${within}`;
	await node.finish();
	node.notPushed = words;
};
// Its report stays, and a later pod pushes it.
const laterPushed = (rule, words) => async (node) => {
	await refuses(rule, words)(node);
	assert(JSON.parse(node.pods.at(-1).json.status.containerStatuses[0].state.terminated.message).notPushed.includes(words));
	node.store.rules = [];
	node.notPushed = undefined;
	await node.finish();
};
const killedAt = (name, restarts) => async (node) => {
	node.store.rules = [holdAt(name)];
	const pod = node.pod();
	await pod.before(node.store.arrival(holdAt(name)));
	if (restarts) node.store.kill();
	await pod.kill();
	node.store.rules = [];
	if (restarts) await node.store.start();
	await node.finish();
};
Object.assign(scenarios, {
	'undisturbed': (node) => node.finish(),
	'fails': (node) => node.finish(),
	'fails and is killed before publish': scenarios['killed before publish'],
	'fails and its store is full': refuses(always(507), "status 507: the server's storage is full"),
	'killed during the run': async (node) => {
		write(at('plugins', node.name, 'plugin.hold'), '');
		const pod = node.pod();
		await pod.before(seen(at('plugins', node.name, 'plugin.held')));
		await pod.kill();
		fs.rmSync(at('plugins', node.name, 'plugin.hold'));
		await node.finish();
		assert(fs.existsSync(at('nodes', node.name, 'earlier_runs/1', node.name, 'journal.ndjson')), 'the interrupted run is lost');
	},
	'deleted during the run': async (node) => {
		write(at('plugins', node.name, 'plugin.hold'), '');
		const pod = node.pod();
		await pod.before(seen(at('plugins', node.name, 'plugin.held')));
		process.kill(pod.process.pid, 'SIGTERM');
		await pod.ended;
		assert.equal(pod.exitCode, 4, pod.log);
		fs.rmSync(at('plugins', node.name, 'plugin.hold'));
		await node.finish();
	},
	'deleted while it pushes': async (node) => {
		node.store.rules = [holdAt('report.json')];
		const pod = node.pod();
		await pod.before(node.store.arrival(holdAt('report.json')));
		process.kill(pod.process.pid, 'SIGTERM');
		await pod.ended;
		assert.equal(pod.exitCode, 0);
		node.notPushed = 'not yet';
	},
	'killed while it pushes, and never made again': async (node) => {
		node.store.rules = [holdAt('report.json')];
		const pod = node.pod();
		await pod.before(node.store.arrival(holdAt('report.json')));
		await pod.kill();
		node.note();
		node.notPushed = 'not yet (the container ended with 137)';
	},
	'killed while report.json is sent': killedAt('report.json'),
	'killed while manifest.json is sent': killedAt('manifest.json'),
	'server and pod are killed': killedAt('journal.ndjson', true),
	'server is killed and comes back': async (node) => {
		node.store.rules = [first(1, holdAt('report.json'))];
		const pod = node.pod();
		await pod.before(node.store.arrival(holdAt('report.json')));
		node.store.kill();
		await node.store.start();
		await node.finish(pod);
	},
	'server is killed four times': (node) => (node.store.rules = [first(4, (seen, {store}) => (store.kill(), store.start(), true))], node.finish()),
	'server is down': async (node) => {
		node.store.kill();
		await refuses(() => false, `GET http://127.0.0.1:${node.store.port}/`, 3)(node);
	},
	'server is full': laterPushed(always(507), "status 507: the server's storage is full"),
	'server denies': laterPushed(always(403), 'the token is not accepted'),
	'server has a limit': laterPushed(always(413), 'status 413: the server accepts no file of this size'),
	'server never answers': refuses(hang, 'timed out', 3),
	'server cuts two requests': (node) => (node.store.rules = [first(2, cut)], node.finish()),
	'server is busy three times': (node) => (node.store.rules = [first(3, (seen, {end}) => (end(503), true))], node.finish()),
	'server drops files': laterPushed(always(201), 'PUT is accepted, and GET does not give it back'),
	'a pod waits for the one that ends late': async (node) => {
		const late = node.pod();
		await late.until('before run');
		const next = node.pod();
		await next.says('waits until the pod that uses the folder has ended');
		assert(!next.points.includes('after begin'));
		late.stop = undefined;
		await late.kill();
		await node.finish(next);
	},
	'a pod finds the report of the one that ends late': async (node) => {
		const late = node.pod();
		await late.until('before verdict 1');
		const next = node.pod();
		await next.says('waits until the pod that uses the folder has ended');
		await late.kill();
		await node.finish(next);
		assert(!next.points.includes('before run'));
	},
});
for (let i = 0; i < 6; i++) {
	const kills = Array.from({length: 1 + random(3)}, () => points[random(points.length)]);
	const rule = [undefined, first(1 + random(3), cut), first(1 + random(3), (seen, {end}) => (end(503), true))][random(3)];
	scenarios[`random ${i}: killed ${kills.join(', ')}${rule ? '; its server breaks' : ''}`] = async (node) => {
		node.store.rules = rule ? [rule] : [];
		for (const point of kills) {
			const pod = node.pod();
			await pod.until(point);
			await pod.kill();
		}
		await node.finish();
	};
}

async function main() {
	write(at('secret/token'), `${token}\n`);
	write(at('wrong.json'), JSON.stringify({plugins: [{resource: 'example.com/gpu', version: 'v1alpha', devices: [{id: 'gpu-0'}]}]}));
	// gpucert, which asks before and after each command.
	write(at('bin/gpucert'), `#!${process.execPath}
const {spawn} = require('node:child_process');
const net = require('node:net');
const args = process.argv.slice(2);
const {FLEET_TEST_MARK: mark, FLEET_TEST_CONTROL: control, FLEET_TEST_GPUCERT: gpucert} = process.env;
const ask = (point) => new Promise((go) => net.connect(control, function() { this.write(JSON.stringify({mark, point})); }).once('data', go));
(async () => {
	const what = args[0] === 'fleet' ? args[1] : args[0];
	await ask('before ' + what);
	const locks = args.includes('--lock');
	const child = spawn(gpucert, args, {stdio: ['inherit', 'inherit', 'inherit', ...Array(6).fill('ignore'), ...(locks ? [9] : [])]});
	process.on('SIGTERM', () => child.kill('SIGTERM'));
	child.on('exit', async (code, signal) => { await ask('after ' + what); process.exit(signal ? 143 : code); });
})();
`, 0o755);
	control.listen(at('control'));
	await once(control, 'listening');

	const queue = Object.entries(scenarios).map(([name, play], i) => ({name, play, node: new Node(`node-${i}`, name.startsWith('fails'))}));
	const worker = async (list) => {
		for (let next; (next = list.shift());) {
			await next.node.plan();
			await next.play(next.node).catch((error) => {
				throw new Error(`${next.node.name}: ${next.name}: seed ${seed}\n${next.node.pods.at(-1)?.log}`, {cause: error});
			});
			console.log(`${next.node.name}: ${next.name}`);
		}
	};
	const list = [...queue];
	await Promise.all(Array.from({length: 4}, () => worker(list)));

	nodes.forEach((node) => node.note());

	// The cluster is the index.
	write(at('pods.json'), JSON.stringify({kind: 'List', items: nodes.flatMap(({pods}) => pods.map(({json}) => json))}));
	write(at('jobs.json'), JSON.stringify({kind: 'List', items: nodes.map(({job}) => job)}));
	const status = outputOf('fleet', 'status', at('pods.json'), '--plan', at('jobs.json'));
	const failing = nodes.filter(({fails}) => fails).map(({name}) => name).sort();
	const kept = nodes.filter(({notPushed}) => notPushed);
	assert(status.startsWith(`${nodes.length} nodes: ${nodes.length - failing.length} passed, 0 missing, 0 pending, 0 running, 0 lost, ${failing.length} failed; ${kept.length} reports not pushed\n`), status);
	for (const {name, fails, notPushed} of nodes) {
		const line = status.split('\n').find((line) => line.includes(` ${name}:`));
		assert(line.startsWith(fails ? 'failed' : 'passed'), line);
		assert(notPushed ? line.includes('; report not pushed: ') && line.includes(notPushed) : !line.includes('not pushed'), `${name}: ${notPushed}: ${line}`);
	}
	assert(!status.includes(token));

	// What the verdicts name arrives, and is what is on the nodes.
	for (const {name, pods, store, notPushed, folder} of nodes) {
		const verdict = JSON.parse(fs.readFileSync(pods.at(-1).message));
		const here = JSON.parse(fs.readFileSync(join(folder, 'report.json'))).run.journal.digest;
		assert.equal(verdict.journal, here, name);
		assert.equal(fs.existsSync(join(folder, 'pushed.json')), !notPushed, name);
		write(at('token'), token);
		store.rules = [];
		const pulled = await run('pull', '--token-file', at('token'), verdict.pushed ?? `http://127.0.0.1:${store.port}/fleet/${name}`, '-o', at('arrived', name));
		assert.equal(pulled.code, notPushed ? 3 : 0, `${name}: ${pulled.stderr}`);
		if (!notPushed) assert.equal(JSON.parse(fs.readFileSync(at('arrived', name, 'report.json'))).run.journal.digest, here, name);
	}
	const merge = (...folders) => JSON.parse(outputOf('fleet', 'merge', '--json', ...folders));
	const names = (list) => list.map(({name}) => name).sort();
	const all = merge(at('arrived'), at('nodes'));
	assert.deepEqual(names(all.nodes), names(nodes));
	assert.deepEqual(all.refused, []);
	assert.deepEqual(all.groups.map(({check, nodes}) => [check, [...nodes].sort()]), [['registration.version', failing]]);
	const reports = nodes.reduce((sum, {reports}) => sum + reports.size, 0);
	assert.equal(all.superseded.length, reports + nodes.length - kept.length - nodes.length, 'each report is read');
	assert.deepEqual(names(merge(at('arrived')).nodes), names(nodes.filter(({notPushed}) => !notPushed)));
	assert.deepEqual(names(merge(at('nodes')).nodes), names(nodes));
	console.log(`${nodes.length} nodes, ${pods.size} pods, ${reports} reports, ${kept.length} not pushed`);
}

try {
	await main();
	process.exitCode = 0;
} catch (error) {
	console.error(error);
	process.exitCode = 1;
}
for (const pod of pods.values()) if (pod.exitCode === undefined) await pod.kill();
nodes.forEach(({store}) => store.server?.closeAllConnections());
fs.rmSync(work, {recursive: true, force: true});
process.exit();
