// SPDX-License-Identifier: MIT
// usage: node wrong_lists.mjs BUILD
// Device lists that are right at first: what plugins do later, on a second stream, after a restart, or to the machine. Each row is
// one fault, of a kind that bug reports of real plugins and kubelets speak of, and what the reason must say.
import {file, judgeAll, nodePlugin, numbers, scripted, wrongRows} from './harness.mjs';
import {discoveredNode} from './machine.mjs';

const devices = [{id: 'gpu-0', numa: [0]}, {id: 'gpu-1', numa: [0]}];
const [first, second] = devices;
const ill = (device) => ({...device, health: 'Unhealthy'});
const answer = {devices: [{container_path: '/dev/gpu/{id}', host_path: '/dev/null', permissions: 'rw'}]};
const right = {resource: 'example.com/gpu', devices, allocate: {each: answer}};
const plugin = (changes = {}, whole = {}) => scripted({plugins: [{...right, ...changes}], ...whole});
const later = (...lists) => plugin({lists: lists.map((devices) => ({after_ms: 400, devices}))});
// What a poll every 5 s finds.
const polled = (devices) => plugin({lists: [{after_ms: 5000, devices}]});
const many = numbers(1000, (i) => ({id: `gpu-${i}`}));

// Another script at each start: the last of them for all further starts.
let count = 0;
const inTurn = (...commands) => {
	const run = commands.map((c, i) => `${i}) exec ${c.replace('{plugin-dir}', '"$1"')};;`).slice(0, -1).join(' ');
	const last = commands.at(-1).replace('{plugin-dir}', '"$1"');
	const script = `n=0; while ! mkdir "$1.turn${++count}-$n" 2>&-; do n=$((n+1)); done\ncase $n in ${run} *) exec ${last};; esac\n`;
	return `sh '${file('turns.sh', script)}' {plugin-dir}`;
};

const two = {...right, resource: 'example.com/other', allocate: {each: {devices: [{...answer.devices[0], host_path: '/dev/zero'}]}}};

const wrong = {
	'list-and-watch.later-lists': [
		[later([first, second, second]), 'got example.com/gpu lists gpu-1 twice'],
		[later(devices, [first, {id: ''}]), 'lists the id \'\''],
		[later([first, {id: 'gpu\u001b[2J'}]), 'lists the id \'gpu\\x1b[2J\''],
		[later([first, {...second, health: 'OK'}]), 'health \'OK\' of gpu-1'],
		[later([first, {...second, health: 'unhealthy'}], devices), 'health \'unhealthy\' of gpu-1'],
		[nodePlugin('repeats-devices-after-a-restart'), 'lists gpu-0 twice (restart.kubelet-restart)'],
		[polled([first, second, second]), 'lists gpu-1 twice (list-and-watch.idle)'],
	],
	'list-and-watch.idle': [
		// What changed, and not everything: a kubelet takes it for the whole.
		[later([ill(second)]), 'example.com/gpu gpu-0 is gone from a list of 1'],
		[later([first], [second]), 'gpu-1 is gone'],
		[nodePlugin('one-stream-at-a-time'), 'the request was not sent, because the peer allows 1 stream at a time'],
		[polled([first]), 'gpu-1 is gone'],
		[later([]), 'is gone from a list of 0'],
		[later([first, {...second, numa: [1]}]), 'gpu-1 on NUMA nodes: 1, before: 0'],
		[later([first, {id: 'gpu-1'}]), 'gpu-1 on NUMA nodes: none, before: 0'],
		[later(devices.map(ill)), 'healthy devices at the end: got 0 of 2 of example.com/gpu'],
		[plugin({lists: [{after_ms: 150, devices}, {after_ms: 150, devices: [first, ill(second)]}], repeat_lists: true}), 'changes of gpu-1'],
		[plugin({end: {after_ms: 0}}), 'ListAndWatch ended with OK (): the plugin did not register again'],
		[plugin({end: {after_ms: 1500, code: 'INTERNAL', message: 'lost NVML'}}), 'ended with INTERNAL lost NVML'],
		[plugin({end: {after_ms: 800, cut: true}}), 'ended with UNAVAILABLE'],
		[plugin({end: {after_ms: 10500}}), 'ended with OK'],
		// Long after the start; what comes earlier is found by registration.no-repeat.
		[plugin({register: {repeat: 1, repeat_ms: 9000}}), 'further Register calls: got 1, expected 0'],
	],
	'list-and-watch.two-streams': [
		[plugin({later_streams: {skip: 1, devices: []}}), 'got gpu-0 is only on the first stream'],
		[plugin({later_streams: {skip: 1, devices: [first]}}), 'gpu-1 is only on the first stream'],
		[plugin({later_streams: {skip: 1, devices: [first, ill(second)]}}), 'gpu-1 is Unhealthy, and Healthy on the first stream'],
		[plugin({later_streams: {skip: 1, devices: [...devices, {id: 'gpu-2'}]}}), 'gpu-2 is only on the second stream'],
		[plugin({later_streams: {skip: 1, devices: [{...first, numa: [1]}, {id: 'gpu-1'}]}}), 'gpu-0 is on NUMA nodes: 1, and: 0 on the first stream'],
		[plugin({after_call: {method: 'ListAndWatch', skip: 1, devices: []}}), 'devices of example.com/gpu'],
		[plugin({rpc: {ListAndWatch: {code: 'ALREADY_EXISTS', skip: 1}}}), 'a list on a second stream'],
		[plugin({rpc: {ListAndWatch: {cut: true, skip: 1}}}), 'a list on a second stream'],
		[plugin({rpc: {ListAndWatch: {exit: 2, skip: 1}}}), 'the plugin exited with code 2'],
	],
	'list-and-watch.cancel': [
		[plugin({leak: {method: 'ListAndWatch', descriptors: 1}}), 'open descriptors of the plugin'],
		[plugin({leak: {method: 'ListAndWatch', threads: 1}}), 'threads of the plugin'],
		[plugin({leak: {method: 'ListAndWatch', bytes: 60000}}), 'bytes of memory of the plugin'],
		[plugin({leak: {method: 'ListAndWatch', bytes: 100000000}}), 'more after'],
		[plugin({rpc: {ListAndWatch: {hang: true, skip: 50}}}), 'opened and cancelled'],
		[nodePlugin('lists-late-and-leaks', 600), 'open descriptors of the plugin'],
		[nodePlugin('cancelled-streams-end-all'), 'opened and cancelled'],
		[nodePlugin('allocates-with-one-stream'), 'a call afterwards: got INTERNAL no kubelet'],
	],
	'list-and-watch.ids-stable': [
		[inTurn(plugin(), plugin({devices: [first, {id: 'gpu-9'}]})), 'id after a restart: got example.com/gpu gpu-1 is missing'],
		[inTurn(plugin(), plugin(), plugin({devices: [first, {id: 'gpu-9'}]})), 'id after a second restart: got example.com/gpu gpu-1 is missing'],
		// It does not end, and lists anew after a kubelet restart.
		[plugin({after_call: {method: 'GetDevicePluginOptions', skip: 1, devices: [first, {id: 'gpu-9'}]}}), 'id after a kubelet restart: got example.com/gpu gpu-1 is missing'],
	],
	'list-and-watch.no-storm': [[plugin({storm_ms: 300}), 'lists in the time watched'], [nodePlugin('lists-again-and-again-after-allocate'), 'lists in the time watched']],
	'list-and-watch.ids-across-resources': [
		[scripted({plugins: [right, {...right, resource: 'example.com/shared'}]}), 'gpu-0 is offered by example.com/gpu and example.com/shared'],
	],
	'list-and-watch.ids-apart': [[scripted({plugins: [right, two]}), 'gpu-0 is an id of example.com/gpu and of example.com/other']],
	'list-and-watch.numa-nodes': [[plugin({devices: [first, {id: 'gpu-1', numa: [64]}]}), '64 of gpu-1']],
};

const args = ['--launcher', 'process', '--timeout-percent', '20', '--node', file('node.json', discoveredNode())];
const rows = wrongRows(wrong, () => args);

// The first finding of a run may be of another check than the one that looks for it: then its own did not run.
for (const [check, rightPlugin, wanted = 'pass'] of [
	...Object.keys(wrong).map((check) => [check, plugin(), /across-resources|apart/.test(check) ? 'not-applicable' : 'pass']),
	// In any order, with the health of the moment, and a device that falls ill and recovers.
	['list-and-watch.idle', later([second, first], [ill(second), first], [second, first])],
	['list-and-watch.idle', later([first, second, second])],
	// Seen by these checks, and judged by list-and-watch.later-lists.
	['list-and-watch.idle', polled([first, second, second])],
	['restart.kubelet-restart', nodePlugin('repeats-devices-after-a-restart')],
	['list-and-watch.idle', plugin({register: {repeat: 1, repeat_ms: 1000}})],
	['list-and-watch.later-lists', later([...devices, {id: 'gpu-2'}], [ill(first), second, {id: 'gpu-2'}])],
	['list-and-watch.two-streams', plugin({later_streams: {skip: 1, devices: [second, first]}})],
	['list-and-watch.two-streams', plugin({devices: many, later_streams: {skip: 1, devices: [...many].reverse()}})],
	// One id for two devices, each of its own resource.
	['list-and-watch.ids-across-resources', scripted({plugins: [right, two]})],
	['list-and-watch.cancel', plugin({device_count: 20000})],
	['list-and-watch.cancel', nodePlugin('lists-late', 3000)],
	// As a heap grows whose garbage was not collected yet.
	['list-and-watch.cancel', plugin({leak: {method: 'ListAndWatch', bytes: 2500}})],
])
	rows.push({check, plugin: rightPlugin, args, wanted});

await judgeAll(rows, 8);
