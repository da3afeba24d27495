// SPDX-License-Identifier: MIT
// A Kubernetes of one node, for tests that run in the namespaces of `isolated`, with which it ends: etcd, API server, scheduler,
// controller manager, a private containerd with CNI, and a kubelet, from the folder of make-kubernetes.sh.
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {createHash, generateKeyPairSync} from 'node:crypto';
import {cpSync, mkdirSync, openSync, readFileSync, readdirSync, realpathSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {Agent, request} from 'node:https';
import {basename, join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

export const nodeName = 'node';
export const address = '10.88.0.1'; // of the node, on the bridge that pods are plugged into
const token = 'token-of-the-tests';
const root = '/run/cluster';
const logs = process.env.CLUSTER_LOGS ?? join(root, 'logs'); // a folder that stays, see README.md
const kubeconfig = join(root, 'kubeconfig');
const socket = join(root, 'containerd.sock');
const volumePlugins = join(root, 'volume-plugins'); // otherwise made in /usr/libexec
const limitSeconds = 300; // for each condition: what catches a hang

const made = spawnSync(join(import.meta.dirname, 'make-kubernetes.sh'), ['--check'], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']});
if (made.status !== 0) process.exit(made.status ?? 1);
const programs = made.stdout.trim();
const ctr = ['--address', socket, '--namespace', 'k8s.io'];

const write = (name, content) => {
	const path = join(root, name);
	writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
	return path;
};

// Starts one of the programs; its output goes to a log. The test ends when it ends, but by stop().
export function start(program, args, name = basename(program)) {
	const log = openSync(join(logs, `${name}.log`), 'a');
	const child = spawn(program, args, {stdio: ['ignore', log, log]});
	child.ended = new Promise((resolve) => child.on('exit', resolve));
	child.unexpected = (code, signal) => {
		console.error(`${name} ended: ${signal ?? code}\n${tail(name)}`);
		process.exit(1);
	};
	child.on('exit', child.unexpected);
	return child;
}
export async function stop(child, signal = 'SIGTERM') {
	child.off('exit', child.unexpected);
	child.kill(signal);
	await child.ended;
}
const tail = (name) => readFileSync(join(logs, `${name}.log`), 'utf8').split('\n').slice(-20).join('\n');

const agent = new Agent({keepAlive: true, rejectUnauthorized: false});
function open(method, path, body) {
	return new Promise((resolve, reject) => {
		const call = request({host: '127.0.0.1', port: 6443, agent, method, path, headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'}}, resolve);
		call.on('error', reject);
		call.end(body && JSON.stringify(body));
	});
}
// A call of the API server; the answer is an object, or the text of what is not JSON.
export async function api(method, path, body) {
	const answer = await open(method, path, body);
	const text = (await answer.setEncoding('utf8').toArray()).join('');
	if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
	return answer.headers['content-type'] === 'application/json' ? JSON.parse(text) : text;
}

// Waits until `find` returns something for the objects of a collection, and returns that.
export async function until(what, path, find) {
	const list = await api('GET', path);
	const objects = new Map(list.items.map((object) => [object.metadata.uid, object]));
	let found = find([...objects.values()]);
	if (found) return found;
	const events = await open('GET', `${path}${path.includes('?') ? '&' : '?'}watch=1&resourceVersion=${list.metadata.resourceVersion}`);
	const late = setTimeout(() => events.destroy(new Error(`${what}: not in ${limitSeconds} s: ${JSON.stringify([...objects.values()].map(({metadata, status}) => [metadata.name, status]))}`)), limitSeconds * 1000);
	let rest = '';
	try {
		for await (const data of events.setEncoding('utf8')) {
			const lines = (rest + data).split('\n');
			rest = lines.pop();
			for (const line of lines) {
				const {type, object} = JSON.parse(line);
				if (type === 'DELETED') objects.delete(object.metadata.uid);
				else objects.set(object.metadata.uid, object);
				found = find([...objects.values()]);
				if (found) return found;
			}
		}
	} finally {
		clearTimeout(late);
	}
	throw new Error(`${what}: the API server ended the watch`);
}
// The same for a condition that nothing reports.
export async function poll(what, find) {
	for (const end = Date.now() + limitSeconds * 1000; Date.now() < end; await sleep(100)) {
		const found = await find();
		if (found) return found;
	}
	throw new Error(`${what}: not in ${limitSeconds} s`);
}

export const pods = (namespace = 'default') => `/api/v1/namespaces/${namespace}/pods`;
export const untilPod = (what, name, find) => until(`pod ${name}: ${what}`, `${pods()}?fieldSelector=metadata.name=${name}`, ([pod]) => pod && find(pod));
export const untilNode = (what, find) => until(`node: ${what}`, `/api/v1/nodes?fieldSelector=metadata.name=${nodeName}`, ([node]) => node && find(node));
export const untilAllocatable = (resource, count) => untilNode(`${resource} is ${count}`, ({status}) => status.allocatable[resource] === `${count}`);
export const podLog = (name, namespace) => api('GET', `${pods(namespace)}/${name}/log`);
// At once; the kubelet ends its containers afterwards.
export const removePod = (name) => api('DELETE', `${pods()}/${name}?gracePeriodSeconds=0`);
export const kubectl = (...args) => execFileSync(join(programs, 'kubectl'), ['--kubeconfig', kubeconfig, ...args], {encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit']});

// An image of files and folders of this machine, [from, to] or what stays in /usr/bin, and the libraries that they need; in containerd
// afterwards. Returns its digest.
export function importImage(name, ...contents) {
	const folder = join(root, `image-${createHash('sha256').update(name).digest('hex')}`);
	const tree = join(folder, 'tree');
	for (const merged of ['bin', 'lib', 'lib64', 'sbin']) {
		mkdirSync(join(tree, 'usr', merged), {recursive: true});
		symlinkSync(`usr/${merged}`, join(tree, merged));
	}
	const copy = (from, to) => cpSync(realpathSync(from), join(tree, to), {recursive: true, dereference: true});
	const files = contents.map((item) => (typeof item === 'string' ? [item, `/usr/bin/${basename(item)}`] : item));
	for (const [from, to] of files) copy(from, to);
	const inFolder = (path) => (statSync(path).isDirectory() ? readdirSync(path, {recursive: true}).map((below) => join(path, below)) : [path]);
	const {stdout} = spawnSync('ldd', files.flatMap(([from]) => inFolder(from)), {encoding: 'utf8'}); // it fails for what is not a program
	for (const path of new Set(stdout.match(/\/\S+(?= \()/g))) copy(path, path);
	const blobs = join(folder, 'layout/blobs/sha256');
	mkdirSync(blobs, {recursive: true});
	const blob = (type, content) => {
		const digest = createHash('sha256').update(content).digest('hex');
		writeFileSync(join(blobs, digest), content);
		return {mediaType: `application/vnd.oci.image.${type}`, digest: `sha256:${digest}`, size: content.length};
	};
	const layer = blob('layer.v1.tar', execFileSync('tar', ['-C', tree, '-c', '.'], {maxBuffer: 2 ** 30}));
	const config = blob('config.v1+json', JSON.stringify({architecture: 'amd64', os: 'linux', config: {}, rootfs: {type: 'layers', diff_ids: [layer.digest]}}));
	const manifest = blob('manifest.v1+json', JSON.stringify({schemaVersion: 2, config, layers: [layer]}));
	const annotations = {'io.containerd.image.name': name};
	writeFileSync(join(folder, 'layout/index.json'), JSON.stringify({schemaVersion: 2, manifests: [{...manifest, annotations}]}));
	writeFileSync(join(folder, 'layout/oci-layout'), '{"imageLayoutVersion": "1.0.0"}');
	execFileSync('tar', ['-C', join(folder, 'layout'), '-cf', join(folder, 'image.tar'), '.']);
	importArchive(join(folder, 'image.tar'));
	return manifest.digest;
}
export const runCtr = (...args) => execFileSync('ctr', [...ctr, ...args], {encoding: 'utf8'});
export const importArchive = (path) => runCtr('images', 'import', path);

async function startContainerd(gpucert) {
	mkdirSync(join(root, 'cni'));
	write('cni/10-bridge.conflist', {
		cniVersion: '0.4.0', name: 'pods',
		plugins: [{type: 'bridge', bridge: 'cni0', ipam: {type: 'host-local', ranges: [[{subnet: '10.88.0.0/16', rangeStart: '10.88.1.1'}]], dataDir: join(root, 'addresses')}}],
	});
	const config = write('containerd.toml', `version = 2
root = "${root}/containerd"
state = "${root}/containerd-state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.internal.v1.restart"]
[grpc]
address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/gpucert/pause:1"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${programs}/cni"
conf_dir = "${root}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
`);
	start('containerd', ['--config', config]);
	await poll('containerd answers', () => spawnSync('ctr', [...ctr, 'version']).status === 0);
	// The probes, named as the pods of an installation name them, and the pause image of every pod.
	const images = join(root, 'images.tar');
	execFileSync(gpucert, ['image', 'build', '--pause', '--name', 'gpucert.internal/probes:0.1.0', '--out', images]);
	importArchive(images);
}

async function startControlPlane() {
	start(join(programs, 'etcd'), ['--data-dir', join(root, 'etcd'), '--listen-client-urls', 'http://127.0.0.1:2379', '--advertise-client-urls', 'http://127.0.0.1:2379', '--listen-peer-urls', 'http://127.0.0.1:2380']);
	const {privateKey, publicKey} = generateKeyPairSync('rsa', {
		modulusLength: 2048, privateKeyEncoding: {type: 'pkcs1', format: 'pem'}, publicKeyEncoding: {type: 'spki', format: 'pem'},
	});
	start(join(programs, 'kube-apiserver'), [
		'--etcd-servers=http://127.0.0.1:2379', '--secure-port=6443', `--bind-address=0.0.0.0`, `--advertise-address=${address}`, `--cert-dir=${join(root, 'certificates')}`,
		`--token-auth-file=${write('tokens.csv', `${token},admin,admin,system:masters\n`)}`, '--authorization-mode=AlwaysAllow', '--allow-privileged=true',
		'--disable-admission-plugins=ServiceAccount', '--service-account-issuer=https://cluster', `--service-account-signing-key-file=${write('service.key', privateKey)}`,
		`--service-account-key-file=${write('service.pub', publicKey)}`, '--service-cluster-ip-range=10.96.0.0/24', '--kubelet-preferred-address-types=InternalIP',
	]);
	write('kubeconfig', {
		apiVersion: 'v1', kind: 'Config', 'current-context': 'c', contexts: [{name: 'c', context: {cluster: 'c', user: 'u'}}],
		clusters: [{name: 'c', cluster: {server: 'https://127.0.0.1:6443', 'insecure-skip-tls-verify': true}}], users: [{name: 'u', user: {token}}],
	});
	await poll('the API server is ready', () => api('GET', '/readyz').catch(() => undefined));
	start(join(programs, 'kube-scheduler'), ['--kubeconfig', kubeconfig, '--leader-elect=false']);
	start(join(programs, 'kube-controller-manager'), ['--kubeconfig', kubeconfig, '--leader-elect=false', `--flex-volume-plugin-dir=${volumePlugins}`]);
}

export function startKubelet() {
	const config = write('kubelet.json', {
		kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1', cgroupDriver: 'cgroupfs', enforceNodeAllocatable: [], evictionHard: {},
		failSwapOn: false, oomScoreAdj: 0, nodeStatusUpdateFrequency: '1s', authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}, authorization: {mode: 'AlwaysAllow'},
	});
	return start(join(programs, 'kubelet'), [
		'--config', config, '--kubeconfig', kubeconfig, '--container-runtime=remote', `--container-runtime-endpoint=unix://${socket}`, `--node-ip=${address}`,
		`--hostname-override=${nodeName}`, `--cert-dir=${join(root, 'kubelet-certificates')}`, `--volume-plugin-dir=${volumePlugins}`, '--v=2',
	], 'kubelet');
}

// Starts everything from the programs of this build; the node is Ready afterwards. Returns the kubelet.
export async function startCluster(build) {
	mkdirSync(logs, {recursive: true});
	mkdirSync(root, {recursive: true});
	execFileSync('sh', ['-ec', `ip link add cni0 type bridge; ip addr add ${address}/16 dev cni0; ip link set cni0 up; ip route add default via ${address}`]);
	await Promise.all([startContainerd(join(build, 'bin/gpucert')), startControlPlane()]);
	const kubelet = startKubelet();
	await untilNode('it is Ready', ({status, spec}) => status.conditions?.some(({type, status}) => type === 'Ready' && status === 'True') && !spec.taints);
	return kubelet;
}

// Runs the parts of a test in order, each after the ones before it; the first that fails ends it.
export async function runParts(parts) {
	for (const [name, body] of Object.entries(parts)) {
		const begin = Date.now();
		try {
			await body();
		} catch (error) {
			console.error(`FAILED: ${name}: ${error.stack}\n--- kubelet\n${tail('kubelet')}`);
			process.exit(1);
		}
		console.log(`ok ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
	}
	process.exit(0);
}
