// SPDX-License-Identifier: MIT
// usage: isolated node deployment.mjs BUILD
// The reference plugin on a real Kubernetes, from its Kustomize overlay to pods that compute, and through what happens to a node in its life.
import {cpSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync} from 'node:fs';
import {execFileSync, spawnSync} from 'node:child_process';
import {join, relative, resolve} from 'node:path';
import {findTools, print} from '../../workloads/deploy/tests/tools.mjs';
import {
	api, importImage, kubectl, nodeName, podLog, pods, poll, removePod, runCtr, runParts, startCluster, startKubelet, stop, until, untilAllocatable, untilNode, untilPod,
} from './cluster.mjs';

const build = resolve(process.argv[2]);
const tools = findTools(join(build, 'npm/kubectl'));
const source = join(import.meta.dirname, '../..');
const plugin = 'device-plugin-gpu';
const daemonsets = '/apis/apps/v1/namespaces/kube-system/daemonsets';
const display = 'gpucert.internal/display';
const compute = 'gpucert.internal/compute';
const report = '/run/cluster/report';
const pluginPods = `${pods('kube-system')}?labelSelector=app.kubernetes.io/name=${plugin}`;

const expect = (condition, what) => {
	if (!condition) throw new Error(what);
};
const isReady = ({metadata, status}) => !metadata.deletionTimestamp && status.conditions?.some(({type, status}) => type === 'Ready' && status === 'True');
const containerOf = ({status}) => status.containerStatuses?.[0];
// A running container that was never restarted: its id.
const runningId = (pod) => pod.status.phase === 'Running' && containerOf(pod)?.state.running && containerOf(pod).restartCount === 0 && containerOf(pod).containerID;
const untilRunning = (name) => untilPod('it runs', name, runningId);

const podOf = (name, limits, container) => ({
	apiVersion: 'v1', kind: 'Pod', metadata: {name},
	spec: {restartPolicy: 'Never', automountServiceAccountToken: false, containers: [{name: 'c', resources: {limits}, ...container}]},
});
// A pod that keeps its devices until it is ended.
const holder = (name, count = 1) => podOf(name, {[display]: count}, {image: 'docker.io/gpucert/pause:1'});
const create = (pod) => api('POST', pods(), pod);

// Runs a pod of an installation (build/deploy), changed or not, to its end; returns what its probe printed.
async function probe(name, {limits} = {}) {
	const pod = JSON.parse(kubectl('create', '--dry-run=client', '-o', 'json', '-f', join(build, 'deploy/linux', `${name}.yaml`)));
	if (limits) pod.spec.containers[0].resources.limits = limits;
	await create(pod);
	const id = pod.metadata.name;
	const ended = await untilPod('it ends', id, (pod) => ['Succeeded', 'Failed'].includes(pod.status.phase) && pod);
	expect(ended.status.phase === 'Succeeded', `${id}: ${JSON.stringify(ended.status)}`);
	const document = JSON.parse(await podLog(id));
	await removePod(id);
	return document;
}
async function computes(name) {
	const document = await probe(name);
	const text = JSON.stringify(document);
	expect(document.work?.status === 'ok' && text.includes('"verified":true') && !text.includes('"verified":false'), `${name}: ${text}`);
}

// Drivers whose manifests the test can take away, for all who see the node's root.
const icds = '/run/cluster/icd.d';
const away = '/run/cluster/away';
function makeDriversMovable() {
	mkdirSync(away);
	cpSync('/usr/share/vulkan/icd.d', icds, {recursive: true});
	execFileSync('mount', ['--bind', icds, '/usr/share/vulkan/icd.d']);
}
const move = (from, to) => readdirSync(from).filter((name) => name.startsWith('lvp_icd')).forEach((name) => renameSync(join(from, name), join(to, name)));

// The objects of a user's kustomization with this overlay, as a file for kubectl. Kubernetes 1.20 cannot surge.
function render(overlay, images, components = []) {
	const folder = join('/run/cluster/kustomize', overlay.replaceAll('/', '-'));
	mkdirSync(folder, {recursive: true});
	const place = (path) => relative(folder, join(source, path));
	const file = join(folder, 'rendered.yaml');
	writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({resources: [place(overlay)], components: components.map(place), images}));
	writeFileSync(file, print(tools.kubectl, 'kustomize', folder));
	return file;
}
// Another instance of the plugin on the node, as an upgrade with surge has it, takes over from the one that runs. Returns what the node's
// status said meanwhile.
async function takeOver(manifest, name, older) {
	const seen = new Set();
	const watched = untilNode(`${name} took over`, ({metadata, status}) => {
		seen.add(status.allocatable[display]);
		return metadata.labels.plugin === name;
	});
	kubectl('apply', '-f', manifest);
	await until(`${name} is available`, `${daemonsets}?fieldSelector=metadata.name=${name}`, ([daemonset]) => daemonset?.status.numberAvailable === 1);
	kubectl('--namespace', 'kube-system', 'delete', 'daemonset', older);
	await until(`${older} is gone`, `${pods('kube-system')}?labelSelector=app.kubernetes.io/name=${older}`, (found) => found.length === 0);
	await poll(`${name} has the address of metrics`, () => fetch('http://127.0.0.1:9478/readyz').then(({ok}) => ok, () => false));
	await computes('opencl');
	kubectl('label', 'node', nodeName, '--overwrite', `plugin=${name}`);
	await watched;
	return [...seen];
}

let kubelet;
let manifest;
const holders = {};
const parts = {
	'a cluster starts': async () => {
		kubelet = await startCluster(build);
		makeDriversMovable();
		const digest = importImage(`gpucert.internal/${plugin}:0.1.0`, join(build, 'bin/device-plugin-gpu'));
		for (const name of [`${plugin}@${digest}`, `${plugin}:0.1.1`]) runCtr('images', 'tag', `gpucert.internal/${plugin}:0.1.0`, `gpucert.internal/${name}`);
		manifest = render('reference-plugin/deploy/overlays/linux', [{name: `gpucert.internal/${plugin}`, digest}], ['reference-plugin/deploy/components/without-surge']);
	},
	'the API server accepts the deployment of a run on one node': () => {
		kubectl('create', 'namespace', 'gpucert');
		kubectl('apply', '--dry-run=server', '-f', render('conformance/deploy/overlays/linux', []));
	},
	'the overlay makes the devices of the node allocatable': async () => {
		kubectl('apply', '-f', manifest);
		await untilAllocatable(display, 2);
		await untilAllocatable(compute, 1);
		await until('the plugin is ready', pluginPods, ([pod]) => pod && isReady(pod));
	},
	'pods compute with Vulkan': () => computes('vulkan'),
	'pods compute with OpenCL': () => computes('opencl'),
	'a pod without a limit sees no device': async () => {
		const document = await probe('vulkan', {limits: {memory: '1Gi'}});
		expect(document.api.status === 'unsupported' && document.devices.length === 0, JSON.stringify(document));
	},
	'a pod that asks for more than there is stays Pending': async () => {
		await create(holder('greedy', 3));
		await until('FailedScheduling', `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=greedy`,
			(events) => events.some(({reason, message}) => reason === 'FailedScheduling' && message.includes(`Insufficient ${display}`)));
		expect((await api('GET', `${pods()}/greedy`)).status.phase === 'Pending', 'it is not Pending');
		await removePod('greedy');
	},
	'a run leaves the device of a running pod alone, or refuses to start': async () => {
		const run = (...args) => spawnSync(join(build, 'bin/gpucert'), [
			'run', '--quiet', '--launcher', 'process', '--include-host-identity', '--out', report,
			'--pod-resources', '/var/lib/kubelet/pod-resources/kubelet.sock', ...args, 'allocate.each-and-all'], {encoding: 'utf8'});
		await create(holder('busy'));
		await untilRunning('busy');
		const refused = run('--drain-check');
		expect(refused.status === 3 && refused.stderr.includes(' by pod default/busy, container c'), JSON.stringify(refused));
		const ended = run();
		expect(ended.status === 0, JSON.stringify(ended));
		const {checks: [check], environment: {pods: {held}}} = JSON.parse(readFileSync(join(report, 'report.json'), 'utf8'));
		expect(held.length === 1 && held[0].resource === display && held[0].pod === 'default/busy', JSON.stringify(held));
		expect(check.outcome === 'pass' && check.notes[0] === `left out: busy: ${held[0].device} is held by pod default/busy, container c`, JSON.stringify(check));
		await removePod('busy');
		const free = run('--drain-check');
		expect(free.status === 0, JSON.stringify(free));
	},
	'an upgrade of the plugin leaves a running pod its device, and new pods get theirs': async () => {
		await create(holder('holder'));
		holders.id = await untilRunning('holder');
		const before = await until('one plugin', pluginPods, (found) => found.length === 1 && found[0].metadata.uid);
		kubectl('--namespace', 'kube-system', 'set', 'image', `daemonset/${plugin}`, `${plugin}=gpucert.internal/${plugin}:0.1.1`);
		await until('the new plugin is ready', pluginPods, (found) => found.length === 1 && found[0].metadata.uid !== before && isReady(found[0]));
		await computes('opencl');
		await create(holder('second'));
		await untilRunning('second');
		await removePod('second');
		expect(await untilRunning('holder') === holders.id, 'the running pod was restarted');
	},
	'a newer plugin next to the older one takes over, and the devices stay allocatable': async () => {
		const next = join(manifest, '../next.yaml');
		writeFileSync(next, readFileSync(manifest, 'utf8').replace(/kind: DaemonSet[^]*?containers:/, (head) => head.replaceAll(`: ${plugin}`, `: ${plugin}-next`)));
		const seen = [await takeOver(next, `${plugin}-next`, plugin), await takeOver(manifest, plugin, `${plugin}-next`)];
		expect(seen.every((counts) => `${counts}` === '2'), JSON.stringify(seen));
		expect(await untilRunning('holder') === holders.id, 'the running pod was restarted');
	},
	'the plugin registers with a restarted kubelet, running pods stay and new ones are admitted': async () => {
		const plugin = await until('the plugin', pluginPods, ([pod]) => pod?.metadata.name);
		const registrations = async () => (await podLog(plugin, 'kube-system')).split('\n').filter((line) => line.includes(display) && line.includes('registered')).length;
		const before = await registrations();
		expect(before > 0, await podLog(plugin, 'kube-system'));
		await stop(kubelet);
		kubelet = startKubelet();
		await poll('the plugin registers again', async () => (await registrations().catch(() => 0)) > before);
		await untilAllocatable(display, 2);
		await create(holder('second'));
		await untilRunning('second');
		expect(await untilRunning('holder') === holders.id, 'the running pod was restarted');
		await removePod('second');
		await removePod('holder');
		await computes('opencl');
	},
	'a device whose driver is gone is not allocatable, and again when it returns': async () => {
		move(icds, away);
		await untilAllocatable(display, 1);
		expect((await api('GET', `/api/v1/nodes/${nodeName}`)).status.capacity[display] === '2', 'the capacity changed');
		move(away, icds);
		await untilAllocatable(display, 2);
		await computes('vulkan');
	},
	'a drained node has no pod with a device, keeps the plugin, and serves pods again later': async () => {
		await create(holder('holder', 2));
		await untilRunning('holder');
		kubectl('drain', nodeName, '--ignore-daemonsets', '--force');
		await until('the pod is gone', pods(), (found) => found.length === 0);
		await create(holder('later', 2));
		await until('it is not scheduled', `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=later`, (events) => events.some(({reason}) => reason === 'FailedScheduling'));
		expect(await until('the plugin', pluginPods, ([pod]) => pod && isReady(pod)), 'the plugin is not ready');
		kubectl('uncordon', nodeName);
		await untilRunning('later');
	},
};
await runParts(parts);
