// SPDX-License-Identifier: MIT
// What scripted plugins do to both kubelets. `run` drives a case on a world of comparison.mjs, `pods` has for each life of the kubelet
// the numbers of devices that its pods ask for, and `why` explains a difference. `options`: whether GetDevicePluginOptions is called is
// compared, `again`: the kubelet tries again and again, and the first time is compared.
import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const SYNCHRONOUS = 'Since 1.25 Register connects to the plugin and asks for its options before it answers (kubernetes/kubernetes#112395, #109016).';
const two = {device_count: 2};
const all = {options: {pre_start_required: true, get_preferred_allocation_available: true}, preferred: 'last', log_ids: true};
const once = {register: {retries: 0}};
const listed = async (w, plugin, counts, times = 1) => {
	await w.saw(plugin, 'ListAndWatch called', times);
	await w.counts(counts);
	return plugin;
};
// Reactions of the kubelet to what happened before are over when the node shows a resource that registered afterwards.
const settle = async (w) => {
	const resource = `${w.resource}-later`;
	w.start([{resource, device_count: 1}]);
	await w.kubelet.counts(resource, '1/1');
};
// One plugin, what the node shows, one pod after the other, and what the node shows then.
const plain = (title, script, {counts, after, pods = [], saw, again, options, why} = {}) => ({
	title, again, options, why, pods: [pods],
	run: async (w) => {
		const plugin = w.plugin({...two, ...script});
		if (saw) await w.saw(plugin, saw);
		if (counts) await listed(w, plugin, counts);
		for (const number of pods) await w.admit(number);
		await settle(w);
		if (after) await w.counts(after);
	},
});
// Lists these devices when a container has got all of them.
const thenLists = (devices) => ({
	options: {pre_start_required: true}, accept_unknown: true, accept_unhealthy: true, after_call: {method: 'PreStartContainer', skip: 0, devices},
});
const sick = [{id: 'device-0', health: 'Unhealthy'}, {id: 'device-1'}];

export const cases = [
	plain('a plugin without options, and a pod', {log_ids: true, device_count: 1}, {counts: '1/1', pods: [1], options: true, why: SYNCHRONOUS}),
	plain('a plugin with both options, and a pod that gets one of two devices', all, {counts: '2/2', pods: [1]}),
	plain('options in the answer to GetDevicePluginOptions only', {...all, sent_options: null}, {
		counts: '2/2', pods: [2], options: true, why: `${SYNCHRONOUS} Before, the options in RegisterRequest counted.`,
	}),
	plain('GetDevicePluginOptions fails', {...once, rpc: {GetDevicePluginOptions: {code: 'INTERNAL', message: 'no'}}}, {
		saw: {real: 'ListAndWatch called', fake: 'Register answered'}, options: true, why: SYNCHRONOUS,
	}),
	plain('nobody listens on the endpoint', {...once, endpoint: 'absent.sock'}, {saw: 'Register answered', why: SYNCHRONOUS}),
	plain('another version of the API', {...once, version: 'v1'}, {saw: 'Register answered'}),
	plain('a resource name without a domain', {...once, resource: 'gpu'}, {saw: 'Register answered'}),
	plain('a resource name of Kubernetes', {...once, resource: 'kubernetes.io/gpu'}, {saw: 'Register answered'}),
	plain('a second list with more devices, one of them unhealthy', {lists: [{after_ms: 100, devices: [...sick, {id: 'device-2'}]}]}, {counts: '3/2'}),
	plain('health is not "Healthy" letter for letter', {device_count: 0, devices: [{id: 'a', health: 'healthy'}, {id: 'b'}]}, {counts: '2/1'}),
	plain('an id twice in a list', {device_count: 0, devices: [{id: 'a'}, {id: 'a'}, {id: 'b'}]}, {counts: '2/2'}),
	plain('an id both healthy and unhealthy', {device_count: 0, devices: [{id: 'a'}, {id: 'a', health: 'Unhealthy'}]}, {counts: '2/1'}),
	plain('a device becomes unhealthy while a pod has it', thenLists(sick), {counts: '2/2', pods: [2], after: '2/1'}),
	plain('an empty list while a pod has a device', thenLists([]), {counts: '2/2', pods: [2], after: '0/0'}),
	plain('a list of more than 4 MiB', {device_count: 60000, device_prefix: 'x'.repeat(57)}, {saw: 'ListAndWatch ended', after: '0/0'}),
	plain('ListAndWatch fails at once', {rpc: {ListAndWatch: {code: 'UNIMPLEMENTED', message: 'no'}}}, {saw: 'ListAndWatch called', after: '0/0'}),
	plain('the plugin ends the stream', {end: {after_ms: 100, code: 'OK'}}, {counts: '2/0'}),
	plain('the plugin closes its connections', {end: {after_ms: 100, cut: true}, on_socket_removed: 'ignore'}, {counts: '2/0'}),
	plain('Allocate fails', {rpc: {Allocate: {code: 'UNAVAILABLE', message: 'busy'}}}, {counts: '2/2', pods: [1]}),
	plain('Allocate is answered without containers', {rpc: {Allocate: {empty: true}}}, {
		counts: '2/2', pods: [1], why: 'The text ends with the answer as Go prints it: since 2025-07 by protobuf-go, which prints nothing for an empty message.',
	}),
	plain('a pod asks for more devices than are free', {}, {counts: '2/2', pods: [1, 2]}),
	plain('a pod asks for devices of which none is healthy', {device_count: 0, devices: [{id: 'a', health: 'Unhealthy'}]}, {
		counts: '1/0', pods: [1], why: 'Since 1.28, and in late releases of 1.25 to 1.27, a resource without healthy devices has an error of its own (kubernetes/kubernetes#109595, #116376).',
	}),
	plain('GetPreferredAllocation fails', {...all, rpc: {GetPreferredAllocation: {code: 'INTERNAL', message: 'no'}}}, {counts: '2/2', pods: [1]}),
	plain('GetPreferredAllocation names a device that nobody listed', {...all, preferred: ['x', 'device-1']}, {counts: '2/2', pods: [1]}),
	plain('PreStartContainer fails', {...all, rpc: {PreStartContainer: {code: 'INTERNAL', message: 'no'}}}, {counts: '2/2', pods: [2]}),
	plain('a plugin in plugins_registry', {register: {via: 'watcher'}}, {counts: '2/2', pods: [2]}),
	plain('a plugin of another version in plugins_registry', {register: {via: 'watcher'}, version: 'v1'}, {saw: 'registered: no', again: true}),
	{
		title: 'a plugin is killed, and another one takes its place',
		run: async (w) => {
			const first = await listed(w, w.plugin(two), '2/2');
			await first.end('SIGKILL');
			await w.counts('2/0');
			await listed(w, w.plugin({device_count: 3}), '3/3');
		},
	},
	{
		title: 'a second plugin of the resource registers, and the first one ends',
		why: 'From 1.25 to 1.36 the end of any stream disconnects the newest plugin of the resource (kubernetes/kubernetes#121994, #127803; mended in 1.37 by #135437).',
		run: async (w) => {
			const first = await listed(w, w.plugin(two), '2/2');
			await listed(w, w.plugin({device_count: 3}), '3/3');
			await first.end('SIGTERM');
			await settle(w);
			await w.counts({real: '3/3', fake: '3/0'});
		},
	},
	{
		title: 'the second plugin of a resource ends',
		run: async (w) => {
			await listed(w, w.plugin(two), '2/2');
			const second = await listed(w, w.plugin({device_count: 3}), '3/3');
			await second.end('SIGTERM');
			await w.counts('3/0');
		},
	},
	{
		title: 'the kubelet is killed and starts again while a pod has a device',
		why: 'A kubelet 1.36 removes sockets only (manager.go, CleanupPluginDirectory), an old one every file. `gpucert kubelet` keeps sockets on which somebody listens (fake-kubelet.md).',
		pods: [[1], [1]],
		run: async (w) => {
			const plugin = await listed(w, w.plugin({device_count: 3, log_ids: true, options: {get_preferred_allocation_available: true}, preferred: 'last'}), '3/3');
			await w.admit(1);
			const file = join(w.kubelet.directory, 'notes.txt');
			writeFileSync(file, '');
			const other = w.start([{resource: `${w.resource}-deaf`, socket: 'deaf.sock', on_kubelet_socket: 'ignore', on_socket_removed: 'ignore'}]);
			await w.saw(other, 'ListAndWatch called');
			await w.restart();
			await listed(w, plugin, '3/3', 2);
			await w.admit(1);
			const kept = (path) => (existsSync(path) ? 'kept' : 'removed');
			w.events.push(`the socket of another plugin is ${kept(join(w.kubelet.directory, 'deaf.sock'))}`, `a file in the directory is ${kept(file)}`);
		},
	},
];
