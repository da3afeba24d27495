// SPDX-License-Identifier: MIT
// usage: node right_plugins.mjs BUILD
// Unusual plugins that conform. Each passes every MUST of the checks that it is run through; what a SHOULD says about it is
// written down in its row. A check that fails the innocent proves as little as one that nobody can fail.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {file, inRegistry, judgeAll, listOf4MiB, nodePlugin, numbers, scripted, watched, withoutKubeletFaults, work} from './harness.mjs';
import {folderOf, spec} from './specs.mjs';

const devices = [{id: 'gpu-0'}, {id: 'gpu-1'}];
const answer = {
	devices: [{container_path: '/dev/gpu/{id}', host_path: '/dev/null', permissions: 'rw'}],
	mounts: [{container_path: '/opt/driver/{id}.json', host_path: '/etc/hostname', read_only: true}],
};
const right = {resource: 'example.com/gpu', devices, allocate: {each: answer}};
const plugin = (changes = {}, whole = {}) => scripted({plugins: [{...right, ...changes}], ...whole});
const plugins = (...changes) => scripted({plugins: changes.map((c) => ({...right, ...c}))});
const answers = (each, once) => plugin({allocate: {...(each && {each}), ...(once && {once})}});
const rpc = (method, fault) => ({rpc: {[method]: fault}});
const unhealthy = devices.map((d) => ({...d, health: 'Unhealthy'}));
const none = {resource: 'example.com/none', devices: []};
// With SECONDS in the script replaced by the time of the plugin's start.
const scriptedAt = (script) => {
	const command = scripted(script);
	return `sh -c 's=$(date +%s); f=$(mktemp); sed "s/SECONDS/$s/" "$2" > $f; exec "$1" $f "$3"' sh ${command}`;
};

for (let call = 0; call < 600; call++) {
	mkdirSync(join(work, `own/${call}`), {recursive: true});
	writeFileSync(join(work, `own/${call}/token`), `${call}`);
}

mkdirSync(join(work, 'shared'));

const protocol = ['registration', 'list-and-watch', 'allocate', 'preferred-allocation', 'pre-start', 'sharing', 'security', 'restart'];
const some = ['registration.accepted', 'list-and-watch', 'allocate.prompt', 'allocate.repeat', 'restart.kubelet-restart', 'restart.kill-and-return'];
const host = ['--launcher', 'process'];
const quick = [...host, '--timeout-percent', '20'];
// The answers name no device of this machine, so what the ids stand for cannot be told.
const unsupported = {'list-and-watch.devices-present': 'unsupported'};
// Two instances: most plugins do not notice when the kubelet ends a stream, upstream's own stub among them; one row says so.
const alone = ['--exclude', 'restart.rolling-update', ...withoutKubeletFaults];
const row = (name, command, {args = quick, ...changes} = {}) => ({
	name, plugin: command, checks: protocol, args: ['--jobs', '4', ...args, ...alone], ...changes, outcomes: {...unsupported, ...changes.outcomes},
});

const assertions = (report, id) => report.checks.find((c) => c.id === id).assertions;
const tests = (resource) => (report) =>
	assertions(report, 'registration.one-per-resource').some((a) => a.what === resource) ? null : `${resource} is not tested`;
// So much that a busy machine takes its time, which is nobody's fault.
const much = [...host, '--timeout-percent', '300', '--exclude', 'allocate.prompt', '--exclude', 'list-and-watch.first-message'];
const manyMounts = numbers(100000, (i) => ({container_path: `/m/${i}`, host_path: '/etc/hosts', read_only: true}));
// A node without any GPU, which only environment.devices holds against it: a plugin that has nothing to list is not tested further.
const withoutGpu = file('node.json', {
	schema: 'gpucert-node/1', system: {os: 'linux', product: 'Test', build: '1', architecture: 'x86_64'}, devices: [],
});
const rowWithoutGpu = (name, command) => ({
	name, plugin: command, checks: [], args: ['--jobs', '4', ...quick, '--node', withoutGpu], outcomes: null,
	also: (report) => {
		const wrong = report.checks.filter((c) => !['pass', 'unsupported', 'not-applicable'].includes(c.outcome)).map((c) => c.id).join();
		const {outcome, reason} = report.checks.find((c) => c.id === 'list-and-watch.devices-present');
		return wrong === 'environment.devices' && outcome === 'unsupported' && reason.includes('the node has 0') ? null : `${wrong}; ${outcome}: ${reason}`;
	},
});

const rows = [
	rowWithoutGpu('no device on a node without one', plugin({devices: []})),
	rowWithoutGpu('only unhealthy devices on a node without a GPU', plugin({devices: unhealthy})),
	row('several resources', plugins(...['b', 'a', 'c'].map((name) => ({resource: `example.com/${name}`, devices: [{id: `${name}-0`}, {id: `${name}-1`}]})))),
	row('an empty resource, first in the alphabet', plugins({...none, resource: 'example.com/a'}, {})),
	row('an empty resource, last in the alphabet', plugins({}, {...none, resource: 'example.com/z'})),
	row('a resource that registers seconds later', plugins({}, {resource: 'example.com/late', devices: [{id: 'late-0'}], register: {delay_ms: 2500}}), {
		args: host,
		checks: ['registration', 'list-and-watch', 'allocate.each-and-all', 'restart.kill-and-return'],
		also: tests('example.com/late'),
	}),
	row('a resource that registers seconds after the others', plugins({}, {resource: 'example.com/late', devices: [{id: 'late-0'}], register: {delay_ms: 2500}}), {
		args: [...host, '--resource', 'example.com/late'],
		checks: ['registration', 'list-and-watch.arrives', 'allocate.one-response'],
	}),
	row('devices that turn healthy seconds later', plugin({devices: unhealthy, lists: [{after_ms: 2500, devices}]}), {args: host, checks: some}),
	row('devices that appear seconds later', plugin({devices: [], lists: [{after_ms: 2500, devices}]}), {args: host, checks: some}),
	row('a second device that appears seconds later', plugin({devices: [devices[0]], lists: [{after_ms: 2500, devices}]}), {
		args: host,
		checks: ['list-and-watch', 'allocate.each-and-all', 'restart.kubelet-restart'],
		also: (report) =>
			assertions(report, 'allocate.each-and-all').some((a) => a.what === 'gpu-1') ? null : 'gpu-1 is not tested',
	}),
	row('a device that is ill for a while', plugin({lists: [{after_ms: 300, devices: [devices[0], {...devices[1], health: 'Unhealthy'}]}, {after_ms: 300, devices}]}), {
		checks: ['list-and-watch'],
	}),
	row('a device that stays ill', plugin({devices: [...devices, {id: 'gpu-2', health: 'Unhealthy'}]})),
	row('1,000 replicas', plugin({devices: numbers(1000, (i) => ({id: `gpu-0::${i}`}))})),
	row('10,000 ids', plugin({devices: [], device_count: 10000, device_prefix: 'd'}), {
		args: much,
		checks: ['list-and-watch', 'allocate', 'restart.kubelet-restart'],
	}),
	row('100,000 ids', plugin({devices: [], device_count: 100000, device_prefix: 'd'}), {
		args: much,
		checks: ['list-and-watch.ids', 'list-and-watch.message-size', 'allocate.each-and-all', 'restart.kubelet-restart'],
	}),
	row('100,000 mounts', plugin({devices: [{id: 'gpu-0'}], allocate: {once: {mounts: manyMounts}}}), {
		args: much,
		checks: ['one-response', 'each-and-all', 'several-requests', 'repeat', 'no-ids', 'paths-exist', 'unique-paths', 'read-only', 'answer-size'].map((name) => `allocate.${name}`),
		// Two such answers are more than a message may hold.
		outcomes: {'allocate.several-requests': 'fail', 'allocate.answer-size': 'fail'},
	}),
	row('a device that is ill now and then', nodePlugin('flickers'), {
		args: host, checks: ['load.many-calls'], outcomes: {'load.many-calls': 'unsupported'},
	}),
	row('devices that are found seconds after the start', nodePlugin('devices-come-late'), {args: host, checks: ['allocate.before-list']}),
	row('two streams at a time', nodePlugin('two-streams-at-a-time'), {
		args: host, checks: ['load', 'protocol', 'list-and-watch'], outcomes: {'load.slow-reader': 'not-applicable'},
	}),
	row('one slow Allocate at a time', nodePlugin('one-slow-allocate-at-a-time'), {
		args: host, checks: ['allocate.prompt', 'allocate.parallel', 'allocate.cancelled'],
	}),
	row('a list of exactly 4 MiB', plugin({devices: listOf4MiB(0)}), {args: host, checks: ['list-and-watch', 'allocate.one-response']}),
	row('ids of 63 characters beyond ASCII', plugin({devices: [{id: '字'.repeat(63)}, {id: '\u{1f3ae}'.repeat(63)}]})),
	row('ids of odd letters', plugin({devices: [{id: ' '}, {id: '%s/../"\'$(x)\\'}]})),
	row('NUMA nodes', plugin({devices: [{id: 'gpu-0', numa: [0]}, {id: 'gpu-1', numa: [0, 63]}]})),
	row('CDI names alone', answers({cdi_devices: ['example.com/gpu={id}']}), {
		args: [...quick, '--cdi-dir', folderOf({'gpu.json': spec('example.com/gpu', {'gpu-0': {env: ['GPU=0']}, 'gpu-1': {env: ['GPU=1']}})})],
		outcomes: {
			'allocate.cdi-resolves': 'pass', 'allocate.cdi-specs': 'pass', 'allocate.cdi-files': 'pass', 'allocate.cdi-agrees': 'pass',
			'allocate.cdi-one-device': 'unsupported',
		},
	}),
	// Ids in the order of the request, as NVIDIA's plugin hands them on.
	row('variables alone', answers(null, {envs: {NVIDIA_VISIBLE_DEVICES: '{ids}'}})),
	row('replicas of a device, one for each container', plugin({
		devices: numbers(4, (i) => ({id: `gpu-0::${i}`})), max_ids: 1,
		allocate: {each: {envs: {GPU: '{base}'}, devices: answer.devices.map((d) => ({...d, container_path: '/dev/gpu'}))}},
	})),
	row('marks on /dev/null', answers({mounts: [{container_path: '/run/marks/{id}', host_path: '/dev/null', read_only: false}]})),
	row('a folder for each container', answers({mounts: [{container_path: '/run/own/{id}', host_path: join(work, 'own/{call}'), read_only: true}]})),
	row('a file for each container', answers({mounts: [{container_path: '/run/own/{id}.json', host_path: join(work, 'own/{call}/token'), read_only: true}]})),
	// What a plugin of the runtime hands out is in no answer.
	row('empty answers', answers(), {outcomes: {'allocate.independent': 'fail'}}),
	row('annotations alone', answers({annotations: {'example.com/{id}': '1'}})),
	row('a folder of device nodes', answers({devices: [{container_path: '/dev/gpus', host_path: '/dev/pts', permissions: 'rwm'}]})),
	// As NVIDIA's MPS and HAMi do.
	row('writable folders, and a path with ..', answers({mounts: [{container_path: '/dev/shm', host_path: join(work, 'own/../shared'), read_only: false}]})),
	// As Kubernetes' sample plugin does.
	row('a writable file of the plugin', answers({mounts: [{container_path: '/tmp/Dev-1', host_path: file('Dev-1', ''), read_only: false}]})),
	row('device nodes alone', answers({devices: answer.devices})),
	row('one node that all devices share', answers({devices: [...answer.devices, {container_path: '/dev/ctl', host_path: '/dev/zero', permissions: 'rw'}]})),
	row('an answer that differs each time', answers(answer, {envs: {TOKEN: '{call}'}})),
	row('writable mounts', answers({mounts: [{...answer.mounts[0], read_only: false}]}), {outcomes: {'allocate.read-only': 'fail'}}),
	row('files that PreStartContainer puts in place', plugin({
		options: {pre_start_required: true},
		pre_start_link: join(work, 'prepared'),
		allocate: {each: {mounts: [{...answer.mounts[0], host_path: join(work, 'prepared/etc/hostname')}]}},
	}), {args: [...quick, '--jobs', '1']}), // all its plugins make one file: one at a time
	row('a preference for fewer', plugin({options: {get_preferred_allocation_available: true}, preferred: ['gpu-1', 'unknown']}), {
		outcomes: {'preferred-allocation.only-available': 'fail', 'preferred-allocation.must-include': 'fail', 'preferred-allocation.size': 'fail'},
	}),
	row('options that are not sent', plugin({sent_options: null})),
	row('MaxConnectionAge', plugin({goaway_ms: 700})),
	row('sockets named by seconds', scriptedAt({plugins: [{...right, socket: 'gpu-SECONDS.sock', fresh_socket: false}]})),
	row('a socket of one name', plugin({socket: 'gpu.sock', fresh_socket: false}), {
		outcomes: {'registration.fresh-socket-name': 'fail', 'restart.kill-and-return': 'fail'},
	}),
	row('a look at kubelet.sock alone', plugin({on_socket_removed: 'ignore'}), {
		checks: ['restart'], outcomes: {'restart.socket-removed': 'fail'},
	}),
	row('a look at its own socket alone', plugin({on_kubelet_socket: 'ignore'}), {
		checks: ['restart'], outcomes: {'restart.kubelet-socket-recreated': 'fail'},
	}),
	row('no look at either, and an end that its supervisor answers', plugin({on_kubelet_socket: 'exit', on_socket_removed: 'exit'}), {checks: ['restart']}),
	{
		...row('an end with its last stream', nodePlugin('ends-with-its-streams'), {checks: ['restart.kubelet-absent', 'restart.kubelet-restart']}),
		args: host,
	},
	row('an end by SIGTERM itself', plugin({}, {on_sigterm: 'die'}), {checks: ['restart', 'registration']}),
	{
		name: 'no look at the end of a stream, as upstream\'s stub',
		plugin: plugin(),
		args: quick,
		checks: ['restart.rolling-update'],
		outcomes: {'restart.rolling-update': 'fail'},
	},
	row('a socket in a folder', nodePlugin('socket-in-a-folder'), {
		checks: ['registration', 'restart'],
		outcomes: {'registration.endpoint-name': 'fail', 'restart.socket-removed': 'not-applicable'},
	}),
	row('in plugins_registry', inRegistry({plugins: [{...right, ...watched}]}), {outcomes: {
		'registration.endpoint-name': 'not-applicable', 'registration.endpoint-length': 'not-applicable', 'restart.socket-removed': 'not-applicable',
	}}),
	row('a look every few seconds', plugin({reaction_delay_ms: 4000}), {checks: ['restart']}),
	row('a socket that is left behind', plugin({}, {on_sigterm: 'leave-socket'}), {
		checks: ['restart', 'registration'], outcomes: {'restart.terminate': 'fail'},
	}),
	row('a slow one', plugin({
		register: {delay_ms: 6000},
		rpc: {GetDevicePluginOptions: {delay_ms: 1500}, ListAndWatch: {delay_ms: 6000}, Allocate: {delay_ms: 6000}},
	}), {
		args: host,
		checks: [
			'registration.arrives', 'registration.accepted', 'registration.options-prompt', 'list-and-watch.arrives',
			'list-and-watch.first-message', 'list-and-watch.ids', 'allocate.one-response', 'allocate.prompt',
		],
		outcomes: {'registration.options-prompt': 'fail', 'list-and-watch.first-message': 'fail', 'allocate.prompt': 'fail'},
	}),
	row('more container responses than were asked for', plugin(rpc('Allocate', {extra: 1})), {
		checks: ['allocate'], outcomes: {'allocate.several-requests': 'fail'},
	}),
];

await judgeAll(rows);
