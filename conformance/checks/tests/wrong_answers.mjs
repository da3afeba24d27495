// SPDX-License-Identifier: MIT
// usage: node wrong_answers.mjs BUILD
// Answers that are wrong only for another id, for several, later, at the same time, or in what they do to the machine. Each row is one
// fault, of a kind that bug reports of real plugins and kubelets speak of, and what the reason must say.
import {mkdirSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {file, judgeAll, nodePlugin, numbers, scripted, work, wrongRows} from './harness.mjs';
import {discoveredNode} from './machine.mjs';
import {folderOf, spec} from './specs.mjs';

const devices = numbers(4, (i) => ({id: `gpu-${i}`}));
const nodes = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random'];
const node = (path) => ({devices: [{container_path: path, host_path: path, permissions: 'rw'}]});
const ids = Object.fromEntries(devices.map(({id}, i) => [id, node(nodes[i])]));
const right = {resource: 'example.com/gpu', devices, allocate: {ids}};
const plugin = (changes = {}, whole = {}) => scripted({plugins: [{...right, ...changes}], ...whole});
const answers = (changes) => plugin({allocate: {ids, ...changes}});
const variables = (envs) => plugin({allocate: {once: {envs}}});
const mounts = (host, container = '/opt/driver/a') => ({mounts: [{host_path: host, container_path: container, read_only: true}]});
const listed = (changes) => ({method: 'Allocate', skip: 2, devices: devices.map((d, i) => (i === 1 ? {...d, ...changes} : d))});
const replicas = numbers(3, (i) => ({id: `gpu-0::${i}`}));
const shared = (allocate = {once: node('/dev/null')}, changes = {}) => plugin({devices: replicas, allocate, ...changes});
const prefers = (changes) => plugin({options: {get_preferred_allocation_available: true}, ...changes});
const prepares = (changes) => plugin({options: {pre_start_required: true}, ...changes});
const touched = join(work, 'touched');
mkdirSync(touched);
const libraries = join(work, 'libraries');
mkdirSync(libraries);
writeFileSync(join(libraries, 'libgpu.so.1'), '');
const raw = (mode) => `'${process.execPath}' '${join(import.meta.dirname, '../doubles/raw_plugin.mjs')}' ${mode} {plugin-dir}`;

const wrong = {
	'security.log-environment': ['prints-its-environment', 'prints-its-environment-with-an-error'].map((fault) => [nodePlugin(fault), 'the value of CONFORMANCE_CANARY']),
	'allocate.independent': [
		[nodePlugin('allocates-what-it-prefers'), 'after GetPreferredAllocation of another id: got'],
		[nodePlugin('one-file-for-all'), 'files of gpu-0 after Allocate of another id: got'],
		[nodePlugin('three-devices-at-most'), 'the answer for 4 ids: got no device node /dev/random'],
		[nodePlugin('remembers-by-the-least-id'), 'answers for two of 4 ids: got no device node'],
		[nodePlugin('reads-the-second-device-only'), 'the answer for two ids: got /dev/zero (r), by itself (rw)'],
		[plugin({accumulate: true}), 'gpu-0 after Allocate of another id: got devices[/dev/random] = /dev/random (rw)'],
		[plugin({answered_ids: 1}), 'the answer for two ids: got no device node /dev/random'],
		[answers({later: {skip: 4, once: node('/dev/tty')}}), 'after Allocate of another id: got devices[/dev/tty]'],
		[plugin({accumulate: true, allocate: {once: {envs: {GPU_IDS: '{sorted}'}}}}), 'got envs[GPU_IDS] = gpu-0,gpu-3'],
		[variables({GPU_ID: '{first}'}), 'the answer for two ids: got no GPU_ID=gpu-3'],
		[plugin({answered_ids: 1, allocate: {each: {cdi_devices: ['example.com/gpu={id}']}}}), 'got no CDI device example.com/gpu=gpu-3'],
		[plugin({rpc: {Allocate: {code: 'INTERNAL', message: 'device busy', skip: 5}}}), 'after Allocate of another id: got INTERNAL: device busy'],
	],
	'allocate.cancelled': [[nodePlugin('prefers-and-locks'), 'GetPreferredAllocation afterwards: got no answer within']],
	'pre-start.succeeds': [[nodePlugin('prepares-in-one-order'), 'PreStartContainer of gpu-1 and gpu-0: got FAILED_PRECONDITION nobody has gpu-1,gpu-0']],
	'allocate.unknown-id': [
		[nodePlugin('knows-what-comes-with-others'), 'Allocate of a known and an unknown id: got OK'],
		[nodePlugin('knows-beginnings'), 'Allocate of gpu-0x, where gpu-0 is listed: got OK'],
		[nodePlugin('ends-streams-after-unknown-ids'), 'the stream of lists afterwards: got ended'],
		[nodePlugin('silent-about-unknown-ids'), 'Allocate is answered: got no answer within'],
		[nodePlugin('knows-any-case'), 'Allocate of GPU-0, where gpu-0 is listed: got OK'],
	],
	'allocate.unhealthy-id': [[nodePlugin('looks-at-the-first-only'), 'OK for gpu-1 together with a healthy one']],
	'allocate.lists-stay': [
		[nodePlugin('reserves-what-it-prefers'), 'is gone, expected listed and healthy, as before'],
		[nodePlugin('hides-what-it-hands-out'), 'gpu-0 is gone'],
		[nodePlugin('ill-after-allocate'), 'is Unhealthy'],
		[plugin({after_call: listed({health: 'Unhealthy'})}), 'devices after Allocate or GetPreferredAllocation: got gpu-1 is Unhealthy'],
		[plugin({after_call: {method: 'Allocate', skip: 2, devices: devices.slice(1)}}), 'gpu-0 is gone'],
	],
	'allocate.parallel': [
		[nodePlugin('ends-after-calls-at-once'), 'got the plugin exited with code 2, and last printed: fatal error: concurrent map writes'],
		[nodePlugin('prefers-in-a-deadlock'), 'calls of several methods at the same time: got'],
		[plugin({shared_state: true, rpc: {Allocate: {delay_ms: 30}}}), 'devices in their answers'],
		[plugin({shared_state: true, rpc: {Allocate: {delay_ms: 30}}, allocate: {once: {envs: {NVIDIA_VISIBLE_DEVICES: '{ids}'}}}}), 'got gpu-'],
		[plugin({rpc: {Allocate: {code: 'ABORTED', message: 'lock', skip: 30, times: 2}}}), 'ABORTED lock'],
	],
	'pre-start.cancelled': [
		[prepares({rpc: {PreStartContainer: {hang: true}}}), 'PreStartContainer after cancelled calls: got no answer within'],
		[prepares({rpc: {PreStartContainer: {code: 'ABORTED', message: 'in progress', skip: 3}}}), 'ABORTED in progress'],
	],
	'pre-start.repeat': [
		[nodePlugin('prepares-until-a-restart'), 'PreStartContainer after the kubelet\'s restart: got INTERNAL handle of the old session'],
		[nodePlugin('prepares-what-it-allocated'), 'PreStartContainer after the plugin\'s restart: got FAILED_PRECONDITION gpu-0 was not allocated'],
	],
	'pre-start.others-undisturbed': [
		[prepares({after_call: {method: 'PreStartContainer', devices: devices.map((d, i) => (i === 3 ? {...d, health: 'Unhealthy'} : d))}}), 'gpu-3 after PreStartContainer of gpu-0: got Unhealthy'],
		[prepares({after_call: {method: 'PreStartContainer', devices: devices.slice(0, 1)}}), 'got gone'],
		[nodePlugin('prepare-removes-files'), 'gpu-0.json is gone'],
		[nodePlugin('resets-all'), 'gpu-1 after PreStartContainer of gpu-0: got Unhealthy'],
	],
	'pre-start.leaks': [
		[nodePlugin('descriptor-a-start'), 'open descriptors of the plugin'],
		[prepares({rpc: {PreStartContainer: {code: 'RESOURCE_EXHAUSTED', message: 'no more', skip: 60}}}), 'PreStartContainer after others: got RESOURCE_EXHAUSTED no more'],
	],
	'preferred-allocation.only-available': [
		[nodePlugin('prefers-devices-in-use'), 'of 2 devices, expected one that is available'],
		[nodePlugin('prefers-one-twice'), '\'gpu-0\' again for 2 devices'],
	],
	'preferred-allocation.must-include': [
		[prefers({preferred: ['gpu-3', 'gpu-1']}), 'devices that must be included: got gpu-0 is not'],
		[nodePlugin('prefers-the-first'), 'devices that must be included: got gpu-'],
	],
	'preferred-allocation.size': [
		[nodePlugin('prefers-fewer-of-many'), 'preferred devices: got 2 for 3 of 4'],
		[nodePlugin('prefers-what-it-must'), 'preferred devices: got 1 for 2 of 4, of which 1 must be included'],
		[nodePlugin('prefers-what-it-never-allocated'), 'preferred devices after Allocate: got 0 for 2 of 4'],
		[nodePlugin('prefers-nothing'), 'preferred devices: got 0 for 2 of 4'],
		[nodePlugin('prefers-from-the-first-request'), 'preferred device of a second container request: got \'gpu-0\' for 2 of'],
		[nodePlugin('prefers-for-one-container'), 'preferred devices of a second container request: got 0, expected 2'],
	],
	'preferred-allocation.leaks': [
		[nodePlugin('descriptor-a-preference'), 'open descriptors of the plugin'],
		[prefers({rpc: {GetPreferredAllocation: {code: 'RESOURCE_EXHAUSTED', message: 'no more', skip: 60}}}), 'GetPreferredAllocation: got RESOURCE_EXHAUSTED no more'],
	],
	'allocate.read-only': [
		[nodePlugin('several-may-write'), 'mounts[].read_only: got /opt/driver.json: false'],
		[answers({once: {mounts: [{container_path: '/opt/driver', host_path: libraries, read_only: false}]}}), 'mounts[].read_only: got /opt/driver: false'],
		[answers({each: {devices: [{container_path: '/dev/null', host_path: '/dev/zero', permissions: 'rw'}]}}), '/dev/zero on /dev/null'],
		...['/', '/var/run/docker.sock', '/run/containerd/containerd.sock', '/run/podman/podman.sock', '/var/lib/kubelet/pods', '/root/.kube', '/proc', '/etc']
			.map((path) => [answers({once: mounts(path)}), `mounts[]: got ${path}`]),
		[answers({once: mounts('{env=DEVICE_PLUGIN_DIR}')}), '/dp on /opt/driver/a'],
		[answers({once: mounts('{env=KUBELET_SOCKET}')}), 'kubelet.sock on /opt/driver/a'],
		...['/', '/etc', '/proc', '/usr/bin', '/usr/lib'].map((path) => [answers({once: mounts('/etc/hostname', path)}), `/etc/hostname on ${path}`]),
	],
	'allocate.prompt': [
		[plugin({rpc: {Allocate: {delay_ms: 5300, skip: 1, times: 1}}}), 'milliseconds'],
		[plugin({rpc: {Allocate: {delay_ms: 5300, skip: 6, times: 1}}}), 'milliseconds'],
	],
	'allocate.paths-exist': [
		[answers({once: mounts('/etc/hostname', 'opt/driver')}), 'container_path: got \'opt/driver\' for /etc/hostname'],
		[answers({once: {devices: [{container_path: 'gpu0', host_path: '/dev/null', permissions: 'rw'}]}}), '\'gpu0\' for /dev/null'],
		[answers({once: {devices: [{container_path: '', host_path: '/dev/null', permissions: 'rw'}]}}), '\'\' for /dev/null'],
		[answers({once: mounts('etc/hostname')}), 'mounts[].host_path: got etc/hostname'],
		[nodePlugin('several-get-a-missing-file'), '/nonexistent/peers.json (missing)'],
	],
	'allocate.files-stay': [[nodePlugin('file-for-two-seconds'), '.json is gone']],
	'allocate.permissions': [[nodePlugin('second-without-permissions'), '\'\' of /dev/null']],
	'security.socket': [[nodePlugin('open-to-all-after-a-restart'), 'mode of the plugin\'s socket: got 0777']],
	'security.neighbours': [
		[nodePlugin('removes-sockets-in-a-restart'), 'neighbour.sock, another plugin\'s: got removed by the plugin'],
		[nodePlugin('removes-the-record'), 'kubelet_internal_checkpoint when the plugin starts again: got removed by the plugin'],
		[nodePlugin('checkpoint-of-its-own'), 'kubelet_internal_checkpoint after Allocate: got changed by the plugin'],
		[`sh -c 'rm -f "$1"/n*.sock; shift; exec "$@"' sh {plugin-dir} ${plugin()}`, 'neighbour.sock, another plugin\'s: got removed by the plugin'],
		[`sh -c 'd=$1; shift; trap "rm -f $d/*gpu*; kill \\$!" TERM; "$@" & wait; wait' sh {plugin-dir} ${plugin()}`, 'neighbour-gpu.sock'],
	],
	'sharing.one-device': [
		[shared({ids: {'gpu-0::0': node('/dev/null'), 'gpu-0::1': node('/dev/null'), 'gpu-0::2': node('/dev/zero')}}), 'replicas like gpu-0::0 of example.com/gpu: got device node /dev/zero'],
	],
	'sharing.two-replicas': [
		[shared(undefined, {rpc: {Allocate: {code: 'UNKNOWN', skip: 5, times: 1}}}), 'gpu-0::0 and gpu-0::1 in one container: got UNKNOWN: \'\''],
		[shared(undefined, {rpc: {Allocate: {empty: true, skip: 5, times: 1}}}), 'got no container response'],
		[shared({once: node('/dev/null'), later: {skip: 5, once: {envs: {A: 'b'}}}}), 'got A=b'],
	],
	'sharing.unknown-replica': [[shared(undefined, {accept_unknown: true}), 'OK for \'gpu-0::999999\'']],
	'sharing.health': [
		[shared(undefined, {devices: replicas.map((d, i) => (i === 2 ? {...d, health: 'Unhealthy'} : d))}), 'got gpu-0::2 is Unhealthy, and gpu-0::0 Healthy'],
	],
	'security.socket': [
		[plugin({socket_mode: 0o777}), 'mode of the plugin\'s socket: got 0777'],
		[plugin({directory_mode: 0o777}), 'mode of the plugin directory: got 0777'],
	],
	'security.device-nodes': [
		...['/dev/mem', '/dev/kmsg', '/dev/port', '/dev/mapper/control'].map((path) => [answers({once: node(path)}), `got ${path}, which is ${path}`]),
		[answers({once: {devices: [{container_path: '/dev/gpu', host_path: '/dev/kmsg', permissions: 'r'}]}}), 'got /dev/kmsg'],
	],
	'security.unrelated-nodes': ['/dev/kvm', '/dev/net/tun', '/dev/fuse'].map((path) => [answers({once: node(path), each: node('/dev/dri/renderD128')}), `${path} beside a GPU`]),
	'security.variables': [
		[variables({CANARY: '{env=CONFORMANCE_CANARY}'}), 'CANARY has the plugin\'s own environment'],
		[variables({DB_PASSWORD: 'hunter2'}), 'DB_PASSWORD has a secret'],
		[variables({AUTH: 'Bearer abc'}), 'AUTH has a secret'],
		[plugin({allocate: {once: {annotations: {'example.com/key': '-----BEGIN RSA PRIVATE KEY-----'}}}}), 'annotation example.com/key has a secret'],
		...(hostname().length < 4 ? [] : [[variables({NODE: 'on:{host}'}), 'NODE has the node\'s name']]),
	],
	'security.paths-in-ids': [
		[plugin({touch: join(touched, '{id}')}), 'the file that an id leads to: got changed or removed'],
		[plugin({touch: '{id}'}), 'the file that an id leads to: got changed or removed'],
		[nodePlugin('locks-any-id'), 'a file that does not exist, by an id: got made-by-an-id.lock, made by the plugin'],
		[nodePlugin('locks-beside-itself'), 'a file that does not exist, by an id: got ../made-by-an-id, made by the plugin'],
		...['bare', 'single', 'double'].map((quotes) => [nodePlugin('shell-gets-any-id', quotes), 'by an id: got made-by-an-id, made by the plugin']),
		[nodePlugin('shows-the-file-of-an-id'), 'grpc-message: got not the plugin\'s'],
	],
	'security.ports': [[nodePlugin('port-for-all'), 'on all addresses']],
	'security.log': [[plugin({log_ids: true}), 'got a line that the id made up']],
	'load.many-calls': [
		[nodePlugin('file-a-call'), 'more files in the plugin directory and the CDI folders: got'],
		[nodePlugin('descriptor-a-refusal'), 'open descriptors of the plugin'],
		[nodePlugin('temporary-file-a-call'), 'temporary files of the plugin'],
		[nodePlugin('remembers-unknown-ids'), 'bytes of memory of the plugin'],
		[plugin({leak: {method: 'Allocate', descriptors: 1}}), 'open descriptors of the plugin'],
		[plugin({leak: {method: 'Allocate', threads: 1}}), 'threads of the plugin'],
		[plugin({leak: {method: 'Allocate', bytes: 4000}}), 'bytes of memory of the plugin'],
		[raw('hoards'), 'bytes of memory of the plugin'],
		[plugin({rpc: {Allocate: {delay_ms: 130}}}), 'milliseconds for 99 of 100 calls'],
		[plugin({rpc: {Allocate: {delay_ms: 70, skip: 100}}}), 'milliseconds for a call after all others'],
		[plugin({allocate: {ids, later: {skip: 60, once: node('/dev/tty')}}}), 'calls: got devices[/dev/tty]'],
		[plugin({rpc: {Allocate: {code: 'RESOURCE_EXHAUSTED', message: 'no more', skip: 60}}}), 'RESOURCE_EXHAUSTED: no more'],
		[plugin({rpc: {Allocate: {exit: 139, skip: 60}}}), 'the plugin exited with code 139'],
	],
	'load.parallel-clients': [[plugin({rpc: {Allocate: {code: 'UNAVAILABLE', message: 'busy', skip: 5, times: 2}}}), 'UNAVAILABLE busy']],
	'load.slow-reader': [[plugin({devices: numbers(6000, (i) => ({id: `gpu-${i}`})), allocate: {}, storm_ms: 100, block_on_window: true}), 'Allocate while a stream is not read']],
	'load.idle': [
		[plugin({}, {spin: true}), 'percent of a processor, idle'],
		[`sh -c 'while sleep 0.05; do head -c 90000 /dev/zero | tr "\\0" "\\n"; done & exec "$@"' sh ${plugin()}`, 'bytes of output a second, idle'],
		[nodePlugin('spins-after-a-stream'), 'percent of a processor, idle'],
	],
};

const usual = {sharing: shared, 'pre-start': prepares, 'preferred-allocation': prefers};
// What a plain plugin gives no occasion for.
const maybe = {'allocate.files-stay': 'not-applicable', 'allocate.unhealthy-id': 'not-applicable', 'security.unrelated-nodes': 'not-applicable', 'security.variables': 'not-applicable'};
const args = ['--launcher', 'process', '--timeout-percent', '20', '--node', file('node.json', discoveredNode())];
// Which places are harmful is known of this machine only.
const ofThisMachine = new Set(['allocate.read-only', 'allocate.paths-exist', 'allocate.files-stay']);
const argsOf = (check) => (ofThisMachine.has(check) ? args.slice(0, -2) : args);
const rows = wrongRows(wrong, argsOf);
for (const [check, rightPlugin, wanted = 'pass'] of [
	...Object.keys(wrong).map((check) => [check, (usual[check.split('.')[0]] ?? plugin)(), maybe[check]]),
	['allocate.independent', plugin({devices: devices.slice(1, 2)}), 'not-applicable'],
	...['files-stay', 'unknown-id', 'independent', 'permissions', 'paths-exist'].map((name) => [`allocate.${name}`, nodePlugin('none')]),
	['security.paths-in-ids', nodePlugin('none')],
	// Names within the container, sums, and values that are made up.
	['allocate.independent', variables({MEMORY: '16384', GPU_IDS: '{ids}'})],
	['allocate.independent', variables({CALL: '{call}'})],
	['allocate.independent', nodePlugin('a-file-for-each')],
	['allocate.read-only', answers({each: node('/dev/null')})],
	['allocate.independent', plugin({allocate: {each: {envs: {'GPU_{id}': 'uuid-of-{id}'}}}})],
	['allocate.independent', plugin({max_ids: 1, allocate: {once: node('/dev/null')}})],
	// Ids that look like those of replicas, and a device that may be used once.
	['sharing.one-device', plugin({devices: devices.map(({id}, i) => ({id: `gpu::${i}`})), allocate: {each: {envs: {GPU: '{id}'}}}}), 'not-applicable'],
	['sharing.health', plugin({devices: [{id: 'gpu::0'}, {id: 'gpu::1', health: 'Unhealthy'}]}), 'not-applicable'],
	['sharing.two-replicas', shared(undefined, {max_ids: 1})],
	['sharing.two-replicas', shared({once: {envs: {GPU: 'a'}}, later: {skip: 5, once: {envs: {GPU: 'a', SHARE: '2'}}}})],
	['sharing.one-device', shared({once: {envs: {GPU: 'a', MEMORY: '4'}}})],
	['sharing.two-replicas', plugin({devices: replicas, allocate: {each: {devices: [{container_path: '/dev/{id}', host_path: '/dev/null', permissions: 'rw'}]}}})],
	// Virtual machines' nodes are a resource of their own.
	['security.device-nodes', answers({once: node('/dev/kvm')})],
	['security.unrelated-nodes', answers({once: node('/dev/kvm')}), 'not-applicable'],
	['security.unrelated-nodes', answers({each: node('/dev/dri/renderD128')})],
	['security.variables', variables({NVIDIA_VISIBLE_DEVICES: '{ids}', SOCKET_SECRET_PATH: '/run/secret', TOKEN: '{uuid}'})],
	['security.socket', plugin({socket_mode: 0o755})],
	['security.ports', plugin({})],
	['security.ports', nodePlugin('port-for-this-host')],
	['load.many-calls', raw('tidy')],
	['load.many-calls', plugin({leak: {method: 'Allocate', bytes: 150}})],
	['load.idle', raw('tidy')],
	['load.parallel-clients', raw('tidy')],
	['load.slow-reader', plugin({devices: numbers(3000, (i) => ({id: `gpu-${i}`})), allocate: {each: node('/dev/null')}, storm_ms: 20})],
	...['repeat', 'leaks'].map((name) => [`pre-start.${name}`, nodePlugin('prepares')]),
	...['only-available', 'must-include', 'size', 'leaks'].map((name) => [`preferred-allocation.${name}`, nodePlugin('prefers')]),
	...['only-available', 'must-include'].map((name) => [`preferred-allocation.${name}`, nodePlugin('prefers-nothing'), 'not-applicable']),
	['allocate.parallel', variables({TOKEN: '{uuid}', GPU: '{ids}'})],
])
	rows.push({check, plugin: rightPlugin, args: argsOf(check), wanted});

// Two GPUs of a recorded node by one id.
const t4 = ['--launcher', 'process', '--node', join(import.meta.dirname, '../../../discovery/nodes/linux-2x-tesla-t4.json')];
rows.push(
	{check: 'allocate.one-device', plugin: answers({each: node('/dev/nvidia0'), once: node('/dev/nvidia1')}), args: t4, reason: 'devices by the answer for one id'},
	{check: 'allocate.one-device', plugin: answers({once: node('/dev/nvidia1')}), args: t4, wanted: 'pass'},
	{check: 'allocate.one-device', plugin: plugin(), args: t4, wanted: 'not-applicable'},
);

rows.push({check: 'allocate.harmless-variables', plugin: nodePlugin('several-preload'), args, reason: 'LD_PRELOAD'});

// Variables that name devices.
const visible = (value, ids = devices.map(({id}) => id), name = 'NVIDIA_VISIBLE_DEVICES') =>
	plugin({devices: ids.map((id) => ({id})), allocate: {each: {envs: {[name]: value}}}});
const oneDevice = (rightPlugin) => ({check: 'allocate.one-device', plugin: rightPlugin, args, wanted: 'not-applicable'});
rows.push(
	{check: 'allocate.one-device', plugin: visible('all'), args, reason: 'NVIDIA_VISIBLE_DEVICES=all for gpu-0'},
	{check: 'allocate.one-device', plugin: nodePlugin('variable-of-the-next-device'), args, reason: 'GPU_VISIBLE_DEVICES=gpu-1 for gpu-0'},
	oneDevice(visible('{ids}')),
	oneDevice(visible('void')),
	// A place among the devices of the container, and all replicas of the only device.
	oneDevice(visible('0', ['0', '1'], 'CUDA_VISIBLE_DEVICES')),
	oneDevice(visible('all', ['gpu-0::0', 'gpu-0::1'])),
);

// The same node by a device of the Spec, which a runtime applies after the answer.
const cdi = ['--launcher', 'process', '--cdi-dir', folderOf({'gpu.json': spec('example.com/gpu', {'gpu-0': {deviceNodes: [{path: '/dev/null'}]}})})];
const specs = folderOf({});
const byCdi = (each) => plugin({devices: devices.slice(0, 1), allocate: {each: {cdi_devices: ['example.com/gpu={id}'], ...each}}});
rows.push(
	{check: 'allocate.cdi-once', plugin: byCdi(node('/dev/null')), args: cdi, reason: '/dev/null by'},
	{check: 'allocate.cdi-once', plugin: byCdi(node('/dev/zero')), args: cdi, wanted: 'pass'},
	{check: 'load.many-calls', plugin: nodePlugin('temporary-file-a-call', specs), args: ['--launcher', 'process', '--cdi-dir', specs], reason: 'more files in the plugin directory and the CDI folders: got'},
);

await judgeAll(rows, 8);
