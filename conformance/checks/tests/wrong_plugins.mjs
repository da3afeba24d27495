// SPDX-License-Identifier: MIT
// usage: node wrong_plugins.mjs BUILD
// Every check that needs no container, on a plugin that is right and on one that is wrong in exactly the way that the
// check is about. A check that no plugin can make fail proves nothing.
import {readdirSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {file, inRegistry, judgeAll, listOf4MiB, scripted, scriptedAnew, watched, work} from './harness.mjs';
import {discoveredNode} from './machine.mjs';

const nodes = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../../discovery/nodes');
const devices = [{id: 'gpu-0'}, {id: 'gpu-1'}];
const answer = {
	devices: [{container_path: '/dev/gpu/{id}', host_path: '/dev/null', permissions: 'rw'}],
	mounts: [{container_path: '/opt/driver/{id}.json', host_path: '/etc/hostname', read_only: true}],
};
const right = {resource: 'example.com/gpu', devices, allocate: {each: answer}};
const plugin = (changes = {}, whole = {}) => scripted({plugins: [{...right, ...changes}], ...whole});
const each = (changes) => ({allocate: {each: {...answer, ...changes}}});
const mountsOf = (...pairs) => pairs.map(([path, host]) => ({container_path: path, host_path: host, read_only: true}));
const rpc = (method, fault) => ({rpc: {[method]: fault}});
const otherNode = {container_path: '/dev/gpu/{id}', host_path: '/dev/zero', permissions: 'rw'};
// Answers so many calls rightly, and then with these changes.
const later = (skip, changes) => plugin({allocate: {each: answer, later: {skip, each: {...answer, ...changes}}}});

const prefers = (changes = {}, fault) => plugin({options: {get_preferred_allocation_available: true}, ...changes, ...(fault && rpc('GetPreferredAllocation', fault))});
// Two resources, whose answers come together in one container.
const twoResources = (changes) => scripted({plugins: ['gpu', 'nic'].map((name) => ({
	...right, resource: `example.com/${name}`, socket: `${name}.sock`, devices: [{id: `${name}-0`}], ...each({...answer, ...changes}),
}))});
const prepares = (fault) => plugin({options: {pre_start_required: true}, ...(fault && rpc('PreStartContainer', fault))});
const watchedPlugin = (changes) => inRegistry({plugins: [{...right, ...watched, ...changes}]});
// Hands out another node at every second start.
const run = (command) => `exec ${command.replace('{plugin-dir}', '"$1"')}`;
const inTurns = `sh '${file('turns.sh', `if mkdir "$1.turn"; then ${run(plugin())}; else ${run(plugin(each({devices: [otherNode]})))}; fi`)}' {plugin-dir}`;

// The wrong plugin of each check, and what the reason of its failure must speak of.
const wrong = {
	'registration.arrives': [plugin({register: {via: 'none'}}), 'tries to register'],
	'registration.accepted': [plugin({version: 'v1alpha'}), 'the last attempt was refused'],
	'registration.endpoint-accepts': [plugin({register: {before_listen: true}}), 'socket when Register arrived'],
	'registration.options-during-register': [plugin(rpc('GetDevicePluginOptions', {code: 13})), 'GetDevicePluginOptions: got INTERNAL'],
	'registration.version': [plugin({version: 'v1alpha'}), 'v1alpha'],
	'registration.resource-name': [plugin({resource: 'kubernetes.io/gpu'}), 'RegisterRequest.resource_name'],
	'registration.endpoint-name': [plugin({endpoint: '../elsewhere.sock'}), 'RegisterRequest.endpoint'],
	'registration.endpoint-length': [plugin({socket: `${'s'.repeat(73)}.sock`, fresh_socket: false}), 'got 110'],
	'registration.options-agree': [plugin({sent_options: {pre_start_required: true}}), 'pre_start_required'],
	'registration.one-per-resource': [plugin({register: {repeat: 2, repeat_ms: 50}}), 'got 3'],
	'registration.fresh-socket-name': [plugin({socket: 'gpu.sock', fresh_socket: false}), 'gpu.sock'],
	'registration.no-repeat': [plugin({register: {repeat: 8, repeat_ms: 400}}), 'further Register calls'],
	'registration.options-prompt': [plugin(rpc('GetDevicePluginOptions', {delay_ms: 1300})), 'milliseconds for GetDevicePluginOptions'],
	'registration.plugin-info': [watchedPlugin(rpc('GetInfo', {delay_ms: 1500})), 'GetInfo: DEADLINE_EXCEEDED'],
	'registration.notified-refusal': [watchedPlugin(rpc('NotifyRegistrationStatus', {code: 13, times: 1})), 'failed to send error'],
	'list-and-watch.arrives': [plugin(rpc('ListAndWatch', {hang: true})), 'lists its devices'],
	'list-and-watch.first-message': [plugin(rpc('ListAndWatch', {delay_ms: 5300})), 'milliseconds to the first list'],
	'list-and-watch.devices-present': [plugin({devices: []}), 'at least one device'],
	'list-and-watch.ids': [plugin({devices: [{id: 'gpu-0'}, {id: ''}]}), 'id: got an empty one'],
	'list-and-watch.id-length': [plugin({devices: [{id: 'gpu-0'}, {id: 'x'.repeat(64)}]}), 'length of an id'],
	'list-and-watch.health': [plugin({devices: [{id: 'gpu-0'}, {id: 'gpu-1', health: 'healthy'}]}), '\'healthy\''],
	'list-and-watch.message-size': [plugin({device_count: 90000, device_prefix: 'p'.repeat(50)}), 'RESOURCE_EXHAUSTED'],
	'list-and-watch.ids-stable': [scriptedAnew({plugins: [{...right, devices: [{id: 'PREFIX'}]}]}), 'id after a restart'],
	'list-and-watch.idle': [plugin({end: {after_ms: 2000, code: 14}}), 'expected open'],
	'list-and-watch.two-streams': [plugin(rpc('ListAndWatch', {hang: true, skip: 1})), 'second stream'],
	'list-and-watch.cancel': [plugin(rpc('ListAndWatch', {code: 8, skip: 20})), 'opened and cancelled'],
	'list-and-watch.no-storm': [plugin({storm_ms: 100}), 'lists in the time watched'],
	'list-and-watch.numa-nodes': [plugin({devices: [{id: 'gpu-0', numa: [-1]}]}), 'got -1'],
	'allocate.one-response': [plugin(rpc('Allocate', {empty: true})), 'container responses: got none'],
	'allocate.prompt': [plugin(rpc('Allocate', {delay_ms: 5300})), 'milliseconds'],
	'allocate.each-and-all': [plugin(rpc('Allocate', {code: 13, skip: 2})), 'gpu-1: got INTERNAL'],
	'allocate.several-requests': [plugin(rpc('Allocate', {extra: 1})), 'container responses: got 3'],
	'allocate.order': [plugin({allocate: {each: answer, once: {mounts: mountsOf(['/opt/first/{first}', '/etc/hostname'])}}}), 'reverse order: got no mounts[/opt/first/gpu-0]'],
	'allocate.repeat': [plugin(rpc('Allocate', {code: 8, skip: 1})), 'same id again'],
	'allocate.unknown-id': [plugin({accept_unknown: true}), 'unknown id: got OK'],
	'allocate.error-names-id': [plugin(rpc('Allocate', {code: 5, message: 'no such device'})), 'grpc-message'],
	'allocate.no-ids': [plugin({allocate: {once: {devices: [{container_path: '/dev/gpu{ids}', host_path: '/dev/null', permissions: 'rw'}]}}}), 'Allocate without ids: got devices[/dev/gpu]'],
	'allocate.before-list': [plugin({needs_stream: true}), 'before any ListAndWatch'],
	'allocate.paths-exist': [plugin(each({mounts: [{container_path: '/opt/d', host_path: '/nonexistent/driver.so', read_only: true}]})), '/nonexistent/driver.so'],
	'allocate.unique-paths': [plugin({devices: [{id: 'hostname'}, {id: 'passwd'}], ...each({mounts: [{container_path: '/opt/d', host_path: '/etc/{id}', read_only: true}]})}), '/opt/d is'],
	'allocate.read-only': [plugin(each({mounts: [{container_path: '/opt/d', host_path: '/etc/hostname', read_only: false}]})), 'read_only'],
	'allocate.duplicate-id': [plugin(rpc('Allocate', {exit: 3})), 'one id twice is answered: got the plugin exited'],
	'allocate.no-requests': [plugin(rpc('Allocate', {exit: 3})), 'without container requests is answered'],
	'allocate.unhealthy-id': [plugin({devices: [devices[0], {id: 'gpu-1', health: 'Unhealthy'}], accept_unhealthy: true}), 'OK for gpu-1'],
	'allocate.after-restart': [inTurns, 'gpu-0: devices[/dev/gpu/gpu-0] = character device 1:'],
	'allocate.parallel': [plugin(rpc('Allocate', {code: 8, skip: 40})), 'RESOURCE_EXHAUSTED'],
	'allocate.cancelled': [plugin(rpc('Allocate', {hang: true})), 'afterwards: got no answer within'],
	'allocate.answer-size': [plugin(rpc('Allocate', {padding: 1200000})), 'bytes of the answer'],
	'allocate.files-stay': [plugin({
		allocate_link: join(work, 'link'), ...each({mounts: [{container_path: '/m', host_path: `${join(work, 'link')}{call}`, read_only: true}]}),
	}), '/link0 is gone'],
	'allocate.variable-names': [plugin(each({envs: {'A=B': '1'}})), '\'A=B\''],
	'allocate.harmless-variables': [plugin(each({envs: {LD_PRELOAD: '/opt/x.so'}})), 'LD_PRELOAD'],
	'allocate.permissions': [plugin(each({devices: [{...answer.devices[0], permissions: 'rx'}]})), '\'rx\' of /dev/null'],
	'allocate.across-resources': [twoResources({annotations: {'cdi.k8s.io/example': 'example.com/gpu={id}'}}), 'cdi.k8s.io/example: example.com/gpu='],
	'allocate.cdi-names': [plugin(each({cdi_devices: ['gpu0']})), 'cdi_devices[]: \'gpu0\''],
	'preferred-allocation.succeeds': [prefers({}, {code: 13}), 'GetPreferredAllocation: got INTERNAL'],
	'preferred-allocation.only-available': [prefers({preferred: ['gpu-9', 'gpu-1']}), '\'gpu-9\''],
	'preferred-allocation.must-include': [prefers({preferred: ['gpu-0']}), 'devices that must be included: got gpu-1 is not'],
	'preferred-allocation.size': [prefers({preferred: ['gpu-0']}), 'preferred devices: got 1 for 2 of 2'],
	'preferred-allocation.impossible-requests': [prefers({}, {exit: 3, skip: 1}), 'a negative number of devices: got the plugin exited'],
	'preferred-allocation.repeat': [prefers({preferred: 'turns'}), 'the second answer: got other devices'],
	'preferred-allocation.prompt': [prefers({}, {delay_ms: 1300}), 'milliseconds for 1 of 2 devices'],
	'preferred-allocation.not-offered': [plugin(rpc('GetPreferredAllocation', {exit: 3})), 'GetPreferredAllocation: got the plugin exited'],
	'pre-start.succeeds': [prepares({code: 13}), 'PreStartContainer: got INTERNAL'],
	'pre-start.repeat': [prepares({code: 6, skip: 1}), 'PreStartContainer again: got ALREADY_EXISTS'],
	'pre-start.unknown-id': [plugin({options: {pre_start_required: true}, accept_unknown: true}), 'unknown id: got OK'],
	'pre-start.not-required': [plugin(rpc('PreStartContainer', {exit: 3})), 'PreStartContainer: got the plugin exited'],
	'restart.kubelet-restart': [plugin({on_kubelet_socket: 'ignore', on_socket_removed: 'ignore'}), 'kubelet\'s restart'],
	'restart.socket-removed': [plugin({on_socket_removed: 'ignore'}), 'removal of the plugin\'s socket'],
	'restart.kubelet-socket-recreated': [plugin({on_kubelet_socket: 'ignore'}), 'return of kubelet.sock'],
	'restart.flapping': [plugin({on_kubelet_socket: 'ignore', on_socket_removed: 'ignore'}), 'after the last restart'],
	'restart.terminate': [plugin({}, {on_sigterm: 'ignore'}), 'after SIGTERM: got still running'],
	'restart.kill-and-return': [plugin({socket: 'gpu.sock', fresh_socket: false}), 'the plugin registers'],
	'restart.rolling-update': [plugin(), 'after the older instance\'s end'],
};

const args = ['--launcher', 'process', '--timeout-percent', '20', '--resource', 'example.com/gpu'];
const unhurried = ['--launcher', 'process', '--resource', 'example.com/gpu'];
const any = ['--launcher', 'process', '--timeout-percent', '20'];
// These look at what registers, whatever its name.
const looksAtAll = new Set(['registration.resource-name', 'registration.one-per-resource', 'registration.no-repeat', 'allocate.across-resources']);
// These hold a time limit of their own against the plugin's, or wait for the kubelet's.
const takesTime = new Set([
	'registration.endpoint-accepts', 'registration.endpoint-name', 'list-and-watch.first-message', 'list-and-watch.message-size', 'allocate.prompt',
]);
// What a plain plugin leaves open: its answers name no device of the node, and of some calls it makes no use.
const plain = {'list-and-watch.devices-present': 'unsupported'};
for (const check of [
	'allocate.across-resources', 'allocate.unhealthy-id', 'allocate.variable-names', 'allocate.harmless-variables', 'allocate.cdi-names', 'preferred-allocation.succeeds',
	'preferred-allocation.only-available', 'preferred-allocation.must-include', 'preferred-allocation.size',
	'preferred-allocation.impossible-requests', 'preferred-allocation.repeat', 'preferred-allocation.prompt', 'pre-start.succeeds',
	'pre-start.repeat', 'pre-start.unknown-id', 'registration.plugin-info', 'registration.notified-refusal',
]) plain[check] = 'not-applicable';
const argsOf = (check) => (looksAtAll.has(check) ? any : takesTime.has(check) ? unhurried : args);
const noDevices = file('node.json', {
	schema: 'gpucert-node/1',
	system: {os: 'linux', product: 'Test', build: '1', architecture: 'x86_64'},
	devices: [],
});

// Plain plugins leave these to the reference plugin.
const notPlain = new Set(['restart.rolling-update']);
const rows = Object.entries(wrong).flatMap(([check, [wrongPlugin, reason]]) => [
	{check, plugin: wrongPlugin, args: argsOf(check), reason},
	{check, plugin: notPlain.has(check) ? undefined : plugin(), args: any, wanted: plain[check] ?? 'pass'},
]);
// Answers that a check must see through, or must not mind.
const location = {devices: [{container_path: '', host_path: 'vpci-location-path://PCIROOT(0)#{id}', permissions: ''}]};
const onWindows = [...any, '--node', join(nodes, 'windows-4x-tesla-t4.json')];
rows.push(
	{check: 'restart.rolling-update', plugin: plugin(), args: [...any, '--profile', '1.37'], wanted: 'pass'},
	{
		check: 'restart.rolling-update', args: [...any, '--profile', '1.37'], reason: 'GetPreferredAllocation afterwards: got INTERNAL',
		plugin: prefers({register: {repeat: 1, repeat_ms: 1}}, {code: 13}),
	},
	{check: 'allocate.no-ids', plugin: plugin({allocate: {once: {cdi_devices: ['example.com/gpu=0{ids}']}}}), args: any, reason: 'Allocate without ids'},
	{check: 'allocate.unique-paths', plugin: plugin({allocate: {each: location}}), args: onWindows, wanted: 'pass'},
	{check: 'allocate.order', plugin: plugin({allocate: {each: answer, once: {envs: {FIRST: '{first}', CALL: '{call}'}}}}), args, wanted: 'pass'},
	{
		check: 'allocate.order', args, reason: 'got mounts[/opt/driver/gpu-0.json] = read-only, expected mounts[/opt/driver/gpu-0.json] = read-only, 2 times',
		plugin: plugin({allocate: {each: answer, once: {mounts: mountsOf(['/opt/driver/{first}.json', '/etc/hostname'])}}}),
	},
	{check: 'allocate.several-requests', plugin: plugin(rpc('Allocate', {exit: 3})), args, reason: 'two container requests: got the plugin exited with code 3'},
	// One id stands for one device, however often it is asked for.
	{check: 'allocate.repeat', plugin: later(7, {devices: [otherNode]}), args, reason: 'what the id hands out: got devices[/dev/gpu/gpu-0] = character device 1:5'},
	{check: 'allocate.repeat', plugin: later(7, {mounts: [{...answer.mounts[0], host_path: '/etc/passwd'}]}), args, reason: '/etc/passwd'},
	{check: 'allocate.repeat', plugin: later(7, {mounts: []}), args, reason: 'got no mounts[/opt/driver/gpu-0.json]'},
	{check: 'allocate.each-and-all', plugin: later(1, {devices: [otherNode]}), args, reason: 'gpu-0 asked for again'},
	{
		check: 'allocate.before-list',
		plugin: plugin({needs_stream: true, accept_unknown: true, allocate: {once: {devices: [{...otherNode, container_path: '/dev/kfd'}]}, each: answer}}),
		args,
		reason: 'got no devices[/dev/gpu/gpu-0]',
	},
	// Several devices may be refused together where they are one device.
	{check: 'allocate.each-and-all', plugin: plugin({max_ids: 1}), args, reason: 'all devices together: got UNKNOWN'},
	...['plugin-info', 'notified-refusal'].map((name) => ({check: `registration.${name}`, plugin: watchedPlugin(), args, wanted: 'pass'})),
	{check: 'registration.plugin-info', plugin: watchedPlugin({register: {via: 'watcher', type: 'CSIPlugin'}}), args, reason: 'no handler registered for plugin type: CSIPlugin'},
	{check: 'registration.arrives', plugin: watchedPlugin({version: 'v1'}), args, reason: 'v1beta1, is not among plugin supported versions [v1]'},
	{check: 'registration.accepted', plugin: watchedPlugin(rpc('NotifyRegistrationStatus', {code: 12})), args, reason: 'failed to send registration status'},
	{check: 'registration.accepted', plugin: watchedPlugin(rpc('GetInfo', {code: 14, times: 1})), args, wanted: 'pass'},
	{check: 'registration.notified-refusal', plugin: watchedPlugin(rpc('NotifyRegistrationStatus', {exit: 139, times: 1})), args, reason: 'NotifyRegistrationStatus with the error'},
	// Those that do what they offer.
	...['succeeds', 'only-available', 'must-include', 'size', 'impossible-requests', 'repeat', 'prompt'].map((name) =>
		({check: `preferred-allocation.${name}`, plugin: prefers(), args, wanted: 'pass'})),
	...['succeeds', 'repeat', 'unknown-id'].map((name) => ({check: `pre-start.${name}`, plugin: prepares(), args, wanted: 'pass'})),
	{check: 'preferred-allocation.not-offered', plugin: prefers(), args, wanted: 'not-applicable'},
	{check: 'pre-start.not-required', plugin: prepares(), args, wanted: 'not-applicable'},
	{check: 'preferred-allocation.only-available', plugin: prefers({preferred: ['gpu-1', 'gpu-1']}), args, reason: 'again'},
	{check: 'allocate.unhealthy-id', plugin: plugin({devices: [devices[0], {id: 'gpu-1', health: 'Unhealthy'}]}), args, wanted: 'pass'},
	{check: 'list-and-watch.numa-nodes', plugin: plugin({devices: [{id: 'gpu-0', numa: [62, 63]}]}), args, reason: 'none of those of gpu-0'},
	{check: 'allocate.variable-names', plugin: plugin(each({envs: {'': '1'}})), args, reason: '\'\''},
	{check: 'allocate.variable-names', plugin: plugin(each({envs: {GPU: '0␀1'}})), args, reason: '\'GPU\' has a NUL'},
	{check: 'allocate.variable-names', plugin: plugin(each({envs: {GPU: 'x'.repeat(131068)}})), args, reason: '\'GPU\' has 131073 bytes'},
	{check: 'allocate.variable-names', plugin: plugin(each({envs: {GPU: 'x'.repeat(131067)}})), args, wanted: 'pass'},
	{check: 'allocate.permissions', plugin: plugin(each({devices: [{...answer.devices[0], permissions: 'm'}]})), args, reason: '\'m\' of /dev/null'},
	{check: 'allocate.variable-names', plugin: plugin(each({envs: {'gpu.0-id': '1'}})), args, wanted: 'pass'},
	// The kubelet compares paths as text, and runtimes mount both: the second hides the first.
	{
		check: 'allocate.unique-paths',
		plugin: plugin(each({mounts: mountsOf(['/opt/d', '/etc/hostname'], ['/opt/./d/', '/etc/passwd'])})),
		args,
		reason: '/opt/d is /etc/hostname and /etc/passwd',
	},
	{
		check: 'allocate.unique-paths',
		plugin: plugin(each({mounts: mountsOf(['/opt/d', '/etc/hostname'], ['/opt//d', '/etc/hostname'])})),
		args,
		wanted: 'pass',
	},
	{check: 'allocate.harmless-variables', plugin: plugin(each({envs: {PATH: '/opt'}})), args, reason: 'PATH'},
	{check: 'allocate.permissions', plugin: plugin(each({devices: [{...answer.devices[0], permissions: ''}]})), args, reason: '\'\''},
	{check: 'allocate.permissions', plugin: plugin(each({devices: [{...answer.devices[0], permissions: 'mrw'}]})), args, wanted: 'pass'},
	{check: 'allocate.across-resources', plugin: twoResources({envs: {DEVICES: '{id}'}}), args: any, reason: 'DEVICES: '},
	{check: 'allocate.across-resources', plugin: twoResources({envs: {MODE: 'shared', 'ID_{id}': 'x'}, annotations: {'cdi.k8s.io/{id}': 'example.com/gpu=0'}}), args: any, wanted: 'pass'},
	{check: 'allocate.cdi-names', plugin: plugin(each({annotations: {'cdi.k8s.io/x': 'example.com/gpu=0,gpu1'}})), args, reason: '\'gpu1\''},
	{check: 'allocate.cdi-names', plugin: plugin(each({annotations: {'cdi.k8s.io/x': 'example.com/gpu=0,example.com/gpu=1'}})), args, wanted: 'pass'},
	// Devices of a stable node stay in the lists.
	{check: 'list-and-watch.ids', plugin: plugin({lists: [{after_ms: 500, devices: []}]}), args, reason: 'devices of example.com/gpu: got 0, expected 2, as before'},
	{check: 'list-and-watch.idle', plugin: plugin({lists: [{after_ms: 2000, devices: []}]}), args, reason: 'devices listed before: got example.com/gpu gpu-0 is gone'},
	{
		check: 'list-and-watch.idle',
		plugin: plugin({lists: [{after_ms: 2000, devices: [devices[1]]}, {after_ms: 300, devices}]}),
		args,
		reason: 'gpu-0 is gone',
	},
	// One fault, one failure; and what the plugin does is no fault of the harness.
	{check: 'allocate.error-names-id', plugin: plugin({accept_unknown: true}), args, wanted: 'not-applicable', reason: 'allocate.unknown-id'},
	{check: 'list-and-watch.ids-stable', plugin: plugin({}, {on_sigterm: 'ignore'}), args, wanted: 'pass'},
	// Whoever takes kubelet.sock away harms every plugin of the node, whatever the check is about.
	...[
		['registration.arrives', '"$@" & p=$!; trap "kill $p; wait $p; rm $d/kubelet.sock" TERM; wait', 'got removed by the plugin'],
		['allocate.one-response', '"$@" & p=$!; trap "kill $p; wait $p; mv $d $d.old; mkdir $d" TERM; wait', 'got removed by the plugin'],
		['list-and-watch.idle', '(sleep 2; mv $d $d.old; cp -r $d.old $d) & exec "$@"', 'by the plugin'],
		['list-and-watch.idle', '(sleep 2; touch $d/other; mv $d/other $d/kubelet.sock) & exec "$@"', 'got replaced by the plugin'],
	].map(([check, harm, reason]) => ({
		check, plugin: `sh -c 'd=$1; shift; ${harm}' sh {plugin-dir} ${plugin({on_kubelet_socket: 'ignore', on_socket_removed: 'ignore'})}`, args: any, reason,
	})),
	// GetDevicePluginOptions has no deadline: Register came, and waits for it.
	...[
		['arrives', undefined, 'pass'], ['options-during-register', 'GetDevicePluginOptions: got no answer'],
		['accepted', 'which the plugin does not answer'], ['version', undefined, 'pass'], ['endpoint-accepts', undefined, 'pass'],
	].map(([check, reason, wanted]) => ({
		check: `registration.${check}`, plugin: plugin({register: {deadline_ms: 600000}, ...rpc('GetDevicePluginOptions', {hang: true})}), args, reason, wanted, alone: true,
	})),
	// What another resource of the plugin does is not this one's.
	...['registration.no-repeat', 'list-and-watch.idle', 'restart.leaks'].map((check) => ({
		check, plugin: scripted({plugins: [right, {...right, resource: 'example.com/other', register: {repeat: 30, repeat_ms: 400}}]}), args, wanted: 'pass',
	})),
	// Refused before the kubelet looked at the socket.
	{check: 'registration.endpoint-accepts', plugin: plugin({version: 'v1alpha'}), args, wanted: 'unsupported', reason: 'came to the dial-back'},
	// What a plugin printed before it ended, and that it ended, is the reason of whatever fails over it.
	...[
		// Go's trace of an error, function and place by turns.
		['registration.arrives', 'printf "lock is held\\nmain.serve\\n\\t/src/main.go:7\\nruntime.goexit\\n\\t/usr/lib/go/asm.s:1594\\n"; exit 1', 'exited with code 1, and last printed: lock is held (all'],
		['registration.arrives', 'echo usage: plugin DIR >&2; exit 64', 'the plugin exited with code 64, and last printed: usage: plugin DIR'],
		['registration.arrives', 'echo "dial unix: no such file"; echo panic: boom; echo; echo "goroutine 1:"; exit 2', 'last printed: panic: boom (all of its output: evidence/registration.arrives, plugin-output.txt)'],
		['registration.accepted', '"$@" & sleep 0.3; kill -9 $!; kill -11 $$', 'the plugin was killed by signal 11'],
	].map(([check, script, reason]) => ({check, plugin: `sh -c '${script}' sh ${plugin({register: {delay_ms: 60000}})}`, args: any, reason})),
	{check: 'registration.arrives', plugin: '/nonexistent/plugin {plugin-dir}', args: any, wanted: 'broken', reason: 'the plugin could not be started'},
	{check: 'allocate.one-response', plugin: plugin(rpc('Allocate', {exit: 3})), args: any, reason: 'the plugin exited with code 3, and last printed'},
	{check: 'list-and-watch.idle', plugin: plugin({}, {exit_after_ms: 2500, exit_code: 4}), args, reason: 'got the plugin exited with code 4'},
	// A pod that met the plugin while it served anew is made again by its controller.
	{check: 'restart.flapping', plugin: plugin(rpc('Allocate', {code: 14, times: 3})), args, wanted: 'pass'},
	{check: 'restart.flapping', plugin: plugin(rpc('Allocate', {code: 14})), args, reason: 'Allocate afterwards: got UNAVAILABLE'},
	{
		name: 'a misspelt --plugin',
		plugin: '/nonexistent/plugin {plugin-dir}',
		args: any,
		checks: ['registration.arrives'],
		outcomes: null,
		also: (report) => {
			const {advice} = report.checks.find((c) => c.id === 'registration.arrives');
			return advice.startsWith('Correct the command (--plugin)') ? null : advice;
		},
	},
	// A resource that nobody offers is the caller's error, and costs no time.
	{
		name: 'a misspelt --resource',
		plugin: plugin(),
		args: ['--launcher', 'process', '--resource', 'example.com/gup'],
		checks: ['registration', 'list-and-watch', 'allocate', 'restart'],
		outcomes: null,
		also: (report) => {
			const {outcome, reason, advice} = report.checks.find((c) => c.id === 'registration.accepted');
			return outcome === 'broken' && reason.includes("it offers example.com/gpu; did you mean 'example.com/gpu'?") && advice.startsWith('Correct --resource')
				? null : `${outcome}: ${reason}: ${advice}`;
		},
	},
	// gRPC parses the path as a URL: the kubelet never connects to the first, and connects to another name for the second.
	{check: 'registration.endpoint-name', plugin: plugin({socket: 'gpu#1.sock', fresh_socket: false}), args: unhurried, reason: 'gpu#1.sock, a URL to the kubelet'},
	{check: 'registration.accepted', plugin: plugin({socket: 'gpu#1.sock', fresh_socket: false}), args: unhurried, reason: 'the last attempt was refused'},
	{check: 'registration.endpoint-name', plugin: plugin({socket: 'gpu.sock', endpoint: '%67pu.sock', fresh_socket: false}), args, reason: 'which dials /'},
	// Characters are what is counted, and control characters are refused whatever they are made of.
	{check: 'list-and-watch.id-length', plugin: plugin({devices: [{id: '\u{1f3ae}'.repeat(63)}]}), args, wanted: 'pass'},
	{check: 'list-and-watch.id-length', plugin: plugin({devices: [{id: '\u00fc'.repeat(64)}]}), args, reason: 'got 64'},
	{check: 'list-and-watch.ids', plugin: plugin({devices: [{id: '\u00fc'.repeat(64)}]}), args, wanted: 'pass'},
	{check: 'list-and-watch.ids', plugin: plugin({devices: [{id: 'a\u001b[31m'}]}), args, reason: 'without control characters'},
	{check: 'list-and-watch.ids', plugin: plugin({devices: [{id: 'a\u0085'}]}), args, reason: 'without control characters'},
	{check: 'list-and-watch.ids', plugin: plugin({devices: [{id: 'gpu'}, {id: 'x'}, {id: 'gpu'}]}), args, reason: 'sent once'},
	{check: 'list-and-watch.ids', plugin: plugin({devices: [{id: 'a\\b'}]}), args, wanted: 'pass'},
	{check: 'list-and-watch.devices-present', plugin: plugin({devices: [{id: 'a', health: 'Unhealthy'}]}), args: any, reason: 'healthy'},
	// A resource without devices that registers first, and slowly.
	{
		check: 'allocate.before-list',
		plugin: scripted({plugins: [{...right, resource: 'example.com/none', devices: []}, right]}),
		args,
		wanted: 'pass',
	},
	// Where nobody names a resource, one that this node has no device for is not held against the plugin.
	{
		check: 'allocate.one-response',
		plugin: scripted({plugins: [right, {...right, resource: 'example.com/none', devices: []}]}),
		args: any,
		wanted: 'pass',
	},
	// A string does not end at NUL (U+2400 in a script): "a\0" and "a" are two ids, and none of them is text.
	{check: 'list-and-watch.ids', plugin: plugin({devices: [{id: 'gpu-0'}, {id: 'gpu-0␀'}]}), args: any, reason: 'UTF-8'},
	{check: 'list-and-watch.health', plugin: plugin({devices: [{id: 'gpu-0'}, {id: 'gpu-1', health: 'Healthy␀'}]}), args: any, reason: 'Healthy or Unhealthy'},
	{check: 'allocate.one-response', plugin: plugin({devices: []}), args: any, wanted: 'unsupported', reason: 'devices-present'},
	{
		check: 'registration.options-during-register',
		plugin: scripted({plugins: [right, {...right, resource: 'example.com/slow', ...rpc('GetDevicePluginOptions', {delay_ms: 900})}]}),
		args: any,
		wanted: 'pass',
	},
	{check: 'list-and-watch.cancel', args: ['--launcher', 'process', '--thorough'], wanted: 'pass'},
);
// Real places are judged, not their names.
const rootLink = join(work, 'root');
symlinkSync('/', rootLink);
const harmful = [
	[{host_path: rootLink}, 'root = / on'], [{host_path: '/var/run/containerd'}], [{host_path: '/etc/shadow'}], [{host_path: '/var/lib'}],
	[{host_path: '/sys/fs/cgroup'}], [{container_path: '/etc/passwd'}], [{container_path: '/bin/sh'}], [{container_path: '/lib64/ld-linux-x86-64.so.2'}],
];
for (const [changes, reason = 'harmless paths'] of harmful)
	rows.push({check: 'allocate.read-only', plugin: plugin(each({mounts: [{...answer.mounts[0], ...changes}]})), args, reason});
// A limit that a requirement states is the same in every run: waits are scaled, verdicts are not.
const scaled = (percent) => ['--launcher', 'process', '--timeout-percent', percent];
rows.push(
	{check: 'registration.arrives', plugin: plugin({register: {delay_ms: 31000}}), args: scaled('300'), reason: 'to the first Register'},
	{check: 'registration.arrives', plugin: plugin({register: {delay_ms: 5000}}), args: scaled('10'), wanted: 'pass'},
	{check: 'registration.options-prompt', plugin: plugin(rpc('GetDevicePluginOptions', {delay_ms: 1300})), args: scaled('300'), reason: 'at most 1000'},
	{check: 'registration.optional-calls', plugin: prepares(), args: [...args, '--optional-call', 'GetPreferredAllocation'], reason: 'GetPreferredAllocation: got not offered'},
	{check: 'registration.optional-calls', plugin: prefers(), args: [...args, '--optional-call', 'PreStartContainer'], reason: 'PreStartContainer: got not offered'},
	{check: 'registration.optional-calls', plugin: prefers(), args: [...args, '--optional-call', 'GetPreferredAllocation'], wanted: 'pass'},
	{check: 'restart.kubelet-restart', plugin: plugin(), args: ['--launcher', 'process', '--node', noDevices], wanted: 'unsupported', reason: 'needs 1 device'},
	// A question that was never asked has no answer.
	{check: 'registration.options-during-register', plugin: plugin({version: 'v1alpha'}), args, wanted: 'unsupported', reason: 'came to GetDevicePluginOptions'},
);
// On a Windows node: what containerd, HCS and the kubelet take there.
const store = 'C:\\Windows\\System32\\DriverStore\\FileRepository\\nvgridsw_aws.inf_amd64_1b50ef32b191cff1';
const t4 = {container_path: '', host_path: 'vpci-location-path://PCIROOT(0)#PCI({id})', permissions: ''};
const classOf = (guid) => ({...t4, host_path: `class/${guid}`});
const dll = {host_path: `${store}\\nvapi64.dll`, container_path: 'C:\\Windows\\System32\\nvapi64.dll', read_only: true};
const windowsPlugin = (each, listed = [{id: '1B00'}]) =>
	plugin({devices: listed, allocate: {each: {devices: [t4], mounts: [dll], ...each}}});
const mount = (changes) => ({mounts: [{...dll, ...changes}]});
const wrongOnWindows = [
	['empty-fields', windowsPlugin({devices: [{...t4, permissions: 'rw'}]}), 'devices[].permissions'],
	['empty-fields', windowsPlugin({devices: []}), 'a device string'],
	['string-form', windowsPlugin({devices: [{...t4, host_path: 'vpci-location-path/{id}'}]}), 'IDType://ID'],
	['string-form', windowsPlugin({devices: [{...t4, host_path: 'vpci-location-path://'}]}), 'no id'],
	['isolation-type', windowsPlugin({devices: [{...t4, host_path: 'gpu://{id}'}]}), 'gpu://1B00'],
	['class-guid', windowsPlugin({devices: [classOf('4D36E968-E325-11CE-BFC1-08002BE10318')]}), '4D36E968'],
	['location-path', windowsPlugin({}, [{id: '9900'}]), 'PCI(9900)'],
	['whole-answer', windowsPlugin({}, [{id: '1B00'}, {id: '1C00'}]), 'one, or a refusal'],
	['strings-differ', windowsPlugin({devices: [t4, t4]}), 'sent once'],
	['no-cdi', windowsPlugin({cdi_devices: ['example.com/gpu=0']}), 'CDI'],
	['no-topology', windowsPlugin({}, [{id: '1B00', numa: [0]}]), 'NUMA'],
	['mount-targets', windowsPlugin(mount({container_path: 'C:\\Windows\\System32\\drivers\\x.dll'})), 'System32 or SysWOW64'],
	['mount-targets', windowsPlugin(mount({container_path: 'C:\\Windows\\System32\\NUL'})), 'System32 or SysWOW64'],
	['mount-targets', windowsPlugin(mount({container_path: 'C:\\Windows\\SysWOW64\\com1.dll'})), 'com1.dll'],
	['mount-targets', windowsPlugin(mount({read_only: false})), 'nvapi64.dll: false'],
	['mount-targets', windowsPlugin({mounts: [dll, {...dll, container_path: 'c:\\windows\\system32\\NVAPI64.dll'}]}), 'whatever the case'],
	['mount-sources', windowsPlugin(mount({host_path: `${store}\\..\\other\\x.dll`})), 'below the driver store'],
	['mount-sources', windowsPlugin(mount({host_path: 'C:\\Users\\x.dll'})), 'below the driver store'],
	['mount-sources', windowsPlugin(mount({host_path: `${store}\\lpt1.dll`})), 'below the driver store'],
];
// A plugin that serves one device of a driver serves all of them; where only some answers are empty, their ids stand for none.
const all = ['1B00', '1C00', '1D00', '1E00'].map((id) => ({id}));
rows.push(
	{check: 'list-and-watch.devices-present', plugin: windowsPlugin({}, all), args: onWindows, wanted: 'pass'},
	{check: 'list-and-watch.devices-present', plugin: windowsPlugin({}, all.slice(1)), args: onWindows, reason: 'is granted by none'},
	{check: 'list-and-watch.devices-present', plugin: plugin({devices: all, allocate: {ids: {'1B00': answer}}}), args: any, reason: 'answers that hand nothing out: got 3 of 4'},
	// Where all are, something else hands out the devices.
	{check: 'list-and-watch.devices-present', plugin: plugin({devices: all, allocate: {}}), args: any, wanted: 'unsupported'},
	{check: 'allocate.independent', plugin: plugin({allocate: {}}), args: any, reason: 'gpu-0: got empty'},
	// Naming a resource asks no less of it. Ids that could stand for the missing devices leave it open, and so does an answer that shows nothing.
	{check: 'list-and-watch.devices-present', plugin: windowsPlugin({}, all), args: [...onWindows, '--resource', 'example.com/gpu'], wanted: 'pass'},
	{check: 'list-and-watch.devices-present', plugin: windowsPlugin({}, all.slice(0, 1)), args: [...onWindows, '--resource', 'example.com/gpu'], reason: 'is granted by none'},
	{
		check: 'list-and-watch.devices-present',
		plugin: scripted({plugins: [
			{...right, devices: all.slice(0, 2), allocate: {each: {devices: [t4]}}},
			{...right, resource: 'example.com/phantom', devices: [{id: '1F00'}], allocate: {each: {envs: {GPU: '{id}'}}}},
		]}),
		args: onWindows, wanted: 'unsupported', reason: 'may belong to one of 1 ids',
	},
	{
		check: 'list-and-watch.devices-present',
		plugin: plugin({devices: [{id: '1F00'}], allocate: {each: {envs: {GPU: '{id}'}}}}),
		args: [...onWindows, '--resource', 'example.com/gpu'], wanted: 'unsupported', reason: 'nothing was compared',
	},
);
// Devices of the nodes in discovery/nodes, as plugins hand them out or refer to them: all of them, and without the last.
const nvidiaIds = ['GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002', 'GPU-2a8f3c11-7d5c-11ee-b962-0242ac120002'];
const vmbus = ['47505500-0001-0000-3130-444531454238', '47505500-0002-0000-3130-444531454238'];
const node = (path) => ({devices: [{container_path: path, host_path: path, permissions: 'rw'}]});
const served = [
	['linux-2x-tesla-t4', nvidiaIds, {envs: {NVIDIA_VISIBLE_DEVICES: '{id}'}}],
	['linux-2x-tesla-t4', nvidiaIds.map((id) => `${id}::1`), {envs: {NVIDIA_VISIBLE_DEVICES: 'anything'}}],
	['linux-2x-tesla-t4', ['0', '1'], {envs: {NVIDIA_VISIBLE_DEVICES: '{id}'}}],
	['linux-2x-tesla-t4', nvidiaIds, {mounts: [{host_path: '/dev/null', container_path: '/var/run/nvidia-container-devices/{id}', read_only: false}]}],
	['linux-2x-tesla-t4', ['nvidia0', 'nvidia1'], {...node('/dev/{id}'), envs: {NVIDIA_VISIBLE_DEVICES: 'void'}}],
	['linux-h100-mig', ['nvidia1', 'nvidia-caps/nvidia-cap13', 'nvidia-caps/nvidia-cap22', 'nvidia-caps/nvidia-cap23'], node('/dev/{id}')],
	['linux-mi300x-cpx', [128, 129, 130, 131, 132, 133, 134, 135].map((n) => `renderD${n}`), node('/dev/dri/{id}')],
	['linux-virtio', ['renderD128', 'renderD130'], node('/dev/dri/{id}')],
	['windows-azure-2x-tesla-t4', vmbus, {
		devices: [{...t4, host_path: 'vpci-location-path://ACPI(_SB_)#ACPI(VMOD)#ACPI(VMBS)#VMBUS({{id}})#PCI(0000)'}],
	}],
];
for (const [name, ids, answer] of served) {
	const of = (some) => plugin({devices: some.map((id) => ({id})), allocate: {each: answer}});
	const on = {check: 'list-and-watch.devices-present', args: [...any, '--node', join(nodes, `${name}.json`)]};
	rows.push({...on, plugin: of(ids), wanted: 'pass'}, {...on, plugin: of(ids.slice(0, -1)), reason: 'is granted by none'});
}
// The profiles of partitions may be resources of their own.
rows.push({
	check: 'list-and-watch.devices-present',
	plugin: plugin({devices: [{id: '13'}], allocate: {each: node('/dev/nvidia-caps/nvidia-cap{id}')}}),
	args: [...any, '--node', join(nodes, 'linux-h100-mig.json'), '--resource', 'example.com/gpu'],
	wanted: 'unsupported', reason: 'another resource',
});
for (const [name, wrongPlugin, reason] of wrongOnWindows) rows.push({check: `windows.${name}`, plugin: wrongPlugin, args: onWindows, reason});
for (const name of new Set(wrongOnWindows.map(([n]) => n)))
	rows.push({
		check: `windows.${name}`,
		plugin: windowsPlugin(name === 'class-guid' ? {devices: [classOf('5b45201d-f2f2-4f3b-85bb-30ff1f953599')]} : {}),
		args: onWindows,
		wanted: 'pass',
	});
rows.push(
	{check: 'windows.class-guid', plugin: windowsPlugin({}), args: onWindows, wanted: 'not-applicable', reason: 'no device class'},
	{check: 'windows.mount-targets', plugin: windowsPlugin({mounts: []}), args: onWindows, wanted: 'not-applicable', reason: 'no mounts'},
	{check: 'windows.no-cdi', plugin: plugin(), args: any, wanted: 'not-applicable', reason: 'windows node'},
	// What is said about devices needs devices.
	...['list-and-watch.ids', 'list-and-watch.health', 'list-and-watch.numa-nodes'].map((check) => ({
		check, plugin: plugin({devices: []}), args: any, wanted: 'unsupported', reason: 'lists a device',
	})),
);
for (const node of readdirSync(nodes).filter((name) => name.endsWith('.json')))
	for (const check of ['registration.options-during-register', 'allocate.before-list', 'allocate.unique-paths', 'allocate.order'])
		rows.push({check, args: ['--launcher', 'process', '--node', join(nodes, node)], wanted: 'pass'});
// A single byte too many is one finding, and no other check speaks of it.
rows.push({
	name: 'a list of 4 MiB and one byte',
	plugin: plugin({devices: listOf4MiB(1)}),
	args,
	checks: ['registration.accepted', 'list-and-watch', 'allocate.one-response', 'restart.kubelet-restart'],
	outcomes: null,
	also: (report) => {
		const failed = report.checks.filter((c) => c.outcome === 'fail').map((c) => c.id).join();
		return failed === 'list-and-watch.message-size' ? null : `failed: ${failed}`;
	},
});
rows.push({check: 'environment.devices', args: ['--launcher', 'process', '--node', noDevices], reason: 'devices of the node'});

// This machine as discovery tells it, for what needs no more of it: a run does not read the drivers of a recorded node, which is
// what it has most work with.
const thisNode = file('node.json', discoveredNode());
const needsTheNode = new Set(['list-and-watch.numa-nodes', 'allocate.paths-exist', 'allocate.read-only', 'allocate.files-stay']);
for (const row of rows)
	if (row.plugin !== undefined && !row.args.includes('--node') && !needsTheNode.has(row.check)) row.args = [...row.args, '--node', thisNode];

await judgeAll(rows, 14);
