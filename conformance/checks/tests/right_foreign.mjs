// SPDX-License-Identifier: MIT
// usage: node right_foreign.mjs BUILD
// Plugins of other vendors, as their sources say that they register, list and answer, on a machine without their hardware: in a mount
// namespace of the test's own /sys shows the AMD GPUs of discovery/tests/trees/amd, and /dev holds the nodes of all of them. Each
// passes every MUST that applies to it; why a SHOULD fails, or what cannot be known here, is written down in its row.
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {judgeAll, numbers, scripted, withoutKubeletFaults, work} from './harness.mjs';
import {discoveredNode, skip} from './machine.mjs';
import {folderOf, mount, spec} from './specs.mjs';
import {hideDrivers, makeNode, needNamespace, showTree} from './tree.mjs';

needNamespace(import.meta.url);
hideDrivers('vulkan', 'opencl', 'opengl');
showTree(readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../../../discovery/tests/trees/amd/tree'), 'utf8'));
const nodes = {
	'/dev/nvidia0': [0, 195], '/dev/nvidia1': [1, 195], '/dev/nvidiactl': [255, 195], '/dev/nvidia-modeset': [254, 195],
	'/dev/nvidia-uvm': [0, 511], '/dev/nvidia-uvm-tools': [1, 511], '/dev/kfd': [0, 234],
	...Object.fromEntries([12, 13, 21, 22].map((n) => [`/dev/nvidia-caps/nvidia-cap${n}`, [n, 237]])),
	'/dev/dri/card7': [7, 226], '/dev/dri/renderD135': [135, 226],
	'/dev/vfio/vfio': [196, 10], '/dev/vfio/17': [17, 510], '/dev/vfio/18': [18, 510], '/dev/fuse': [229, 10], '/dev/video0': [0, 81],
};
for (const [path, [number, major]] of Object.entries(nodes)) {
	execFileSync('rm', ['-f', path]);
	makeNode(path, number, major);
}
mkdirSync('/dev/dri/by-path', {recursive: true});
symlinkSync('../card7', '/dev/dri/by-path/pci-0000:00:02.0-card');
symlinkSync('../renderD135', '/dev/dri/by-path/pci-0000:00:02.0-render');
execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/home']);
mkdirSync('/home/kubernetes/bin/nvidia/vulkan/icd.d', {recursive: true});

const handOut = (permissions, ...paths) => paths.map((path) => ({host_path: path, container_path: path, permissions}));
const readOnly = (from, to = from) => ({host_path: from, container_path: to, read_only: true});
const ids = (...names) => names.map((id) => ({id, numa: [0]}));
const quick = ['--launcher', 'process', '--timeout-percent', '20'];

const suites = ['registration', 'list-and-watch', 'allocate', 'preferred-allocation', 'pre-start', 'sharing', 'security', 'restart'];

// The checks that look at a plugin without containers. Two instances of a plugin side by side are right_plugins' business. Of plugins that
// notice a kubelet in the same way one meets also the kubelets that fail, frames as no kubelet sends them, and load.
const row = (name, plugin, {on_sigterm = 'stop', args = [], outcomes = {}, whole = false} = {}) => ({
	name,
	plugin: scripted({plugins: [plugin], on_sigterm}),
	checks: [...suites, ...(whole ? ['protocol', 'load'] : [])],
	args: [...quick, '--jobs', '4', '--exclude', 'restart.rolling-update', ...(whole ? [] : withoutKubeletFaults), ...args],
	// There is no such GPU here, so which device an id stands for cannot be known.
	outcomes: {'list-and-watch.devices-present': 'unsupported', ...outcomes},
});

// One name for the socket in each run; a stale one is removed first.
const fixed = (socket) => ({socket, fresh_socket: false, remove_stale: true});
const oneName = {'registration.fresh-socket-name': 'fail'};
// Looks for a new kubelet.sock, and not at its own socket.
const watchesKubelet = {on_kubelet_socket: 'register', on_socket_removed: 'ignore'};
const ownSocketUnseen = {'restart.socket-removed': 'fail'};
// Looks at its own socket, which a kubelet removes when it starts, and not for kubelet.sock.
const watchesItself = (delay) => ({on_kubelet_socket: 'ignore', on_socket_removed: 'register', reaction_delay_ms: delay});
const kubeletSocketUnseen = {'restart.kubelet-socket-recreated': 'fail'};

/*
 * NVIDIA/k8s-device-plugin: internal/plugin/server.go, internal/rm.
 */
const gpus = ['GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002', 'GPU-2a8f3c11-7d5c-11ee-b962-0242ac120002'];
const control = handOut('rw', '/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia-uvm-tools', '/dev/nvidia-modeset');
const nvidia = (allocate, changes = {}) => ({
	resource: 'nvidia.com/gpu',
	...fixed('nvidia-gpu.sock'),
	...watchesKubelet,
	options: {get_preferred_allocation_available: true},
	devices: ids(...gpus),
	allocate,
	...changes,
});
const asNvidia = {...oneName, ...ownSocketUnseen};
const variable = {envs: {NVIDIA_VISIBLE_DEVICES: '{ids}'}};
const nodesOf = Object.fromEntries(gpus.map((gpu, i) => [gpu, {devices: handOut('rw', `/dev/nvidia${i}`)}]));
const kind = 'k8s.device-plugin.nvidia.com/gpu';
const library = join(work, 'libnvidia-ml.so.550.54.15');
writeFileSync(library, 'a library');
const nvidiaSpec = spec(kind, Object.fromEntries(gpus.map((gpu, i) => [gpu, {deviceNodes: [{path: `/dev/nvidia${i}`}]}])), {
	containerEdits: {
		env: ['NVIDIA_VISIBLE_DEVICES=void'],
		deviceNodes: control.map((c) => ({path: c.host_path})),
		mounts: [mount(library, '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.15')],
	},
});
const cdi = {
	args: ['--cdi-dir', folderOf({'k8s.device-plugin.nvidia.com-gpu.json': nvidiaSpec})],
	outcomes: {
		...asNvidia,
		'allocate.cdi-resolves': 'pass', 'allocate.cdi-specs': 'pass', 'allocate.cdi-files': 'pass', 'allocate.cdi-agrees': 'pass',
		// There is no such GPU here.
		'allocate.cdi-one-device': 'unsupported',
	},
};
const annotation = {annotations: {'cdi.k8s.io/nvidia-device-plugin_{uuid}': `{ids=${kind}=}`}};
const marks = {
	once: {envs: {NVIDIA_VISIBLE_DEVICES: '/var/run/nvidia-container-devices'}},
	each: {mounts: [{host_path: '/dev/null', container_path: '/var/run/nvidia-container-devices/{id}', read_only: false}]},
};
const migs = ['MIG-5b1d0f0c-6a47-5fd4-9f2e-3a1a1f0d8c11', 'MIG-9e0c2c52-1c1a-5a0e-8f55-77a1c2f0b2d4'];
const capabilities = [[12, 13], [21, 22]].map((pair) => pair.map((n) => `/dev/nvidia-caps/nvidia-cap${n}`));
const replicas = ids(...gpus.flatMap((gpu) => numbers(2, (i) => `${gpu}::${i}`)));

/*
 * ROCm/k8s-device-plugin: internal/pkg/plugin/plugin.go, kubevirt/device-plugin-manager. Its GPUs are those of the tree, so what the
 * ids stand for is known.
 */
const amds = discoveredNode().devices.filter((d) => d.driver === 'amdgpu' || d.nodes?.some((n) => /renderD(128|129|130)$/.test(n.path)));
if (amds.length < 2) skip(`discovery finds ${amds.length} GPUs in the tree`);
const amdId = (gpu) => gpu.pci?.address ?? gpu.id;
const amd = {
	resource: 'amd.com/gpu',
	...fixed('amd.com_gpu'),
	...watchesKubelet,
	devices: ids(...amds.map(amdId)),
	storm_ms: 2000, // the heartbeat: the list is sent again with the health of now
	needs_stream: true,
	accept_unknown: true,
	allocate: {
		once: {devices: handOut('rw', '/dev/kfd')},
		ids: Object.fromEntries(
			amds.map((gpu) => [amdId(gpu), {devices: handOut('rw', ...gpu.nodes.map((n) => n.path).filter((path) => path !== '/dev/kfd'))}]),
		),
	},
};
const asAmd = {
	...oneName,
	'list-and-watch.devices-present': 'pass',
	// Any id gets /dev/kfd, which every container needs for compute.
	'allocate.unknown-id': 'fail', 'allocate.error-names-id': 'not-applicable',
	// The table of GPUs is filled by ListAndWatch: before, an id gets /dev/kfd and no GPU.
	'allocate.before-list': 'fail',
};

/* GoogleCloudPlatform/container-engine-accelerators: pkg/gpu/nvidia. The driver is in a folder of the node's system. */
const gke = (names, changes = {}) => ({
	resource: 'nvidia.com/gpu',
	...watchesItself(1000),
	sent_options: null,
	devices: ids(...names),
	allocate: {
		once: {
			devices: control.map((c) => ({...c, permissions: 'mrw'})),
			mounts: [
				readOnly('/home/kubernetes/bin/nvidia', '/usr/local/nvidia'),
				readOnly('/home/kubernetes/bin/nvidia/vulkan/icd.d', '/etc/vulkan/icd.d'),
			],
		},
		ids: Object.fromEntries(names.map((id) => [id, {devices: handOut('mrw', `/dev/${id.split('/')[0]}`)}])),
	},
	...changes,
});
const asGke = {on_sigterm: 'die', outcomes: kubeletSocketUnseen};
const giOf = (pair) => handOut('mrw', '/dev/nvidia0', ...pair);

/* intel/intel-device-plugins-for-kubernetes: cmd/gpu_plugin, pkg/deviceplugin. */
const intel = (driver, changes = {}) => ({
	resource: `gpu.intel.com/${driver}`,
	...fixed(`gpu.intel.com-${driver}.sock`),
	one_instance: true,
	...watchesItself(0),
	devices: ids('card7-0', 'card7-1'), // shared-dev-num=2
	allocate: {
		once: {},
		each: {
			devices: handOut('rw', '/dev/dri/card7', '/dev/dri/renderD135'),
			mounts: ['card', 'render'].map((end) => readOnly(`/dev/dri/by-path/pci-0000:00:02.0-${end}`)),
		},
	},
	...changes,
});
const asIntel = {on_sigterm: 'die', outcomes: {...oneName, ...kubeletSocketUnseen}};

const rows = [
	row('NVIDIA, envvar', nvidia({once: variable}), {outcomes: asNvidia}),
	row('NVIDIA, envvar with device specs', nvidia({once: {...variable, devices: control}, ids: nodesOf}), {outcomes: asNvidia, whole: true}),
	row('NVIDIA, volume-mounts', nvidia(marks), {outcomes: asNvidia}),
	row('NVIDIA, cdi-annotations', nvidia({once: annotation}), cdi),
	row('NVIDIA, cdi-cri', nvidia({each: {cdi_devices: [`${kind}={base}`]}}), cdi),
	// The Spec's NVIDIA_VISIBLE_DEVICES=void keeps NVIDIA's own runtime from acting on what the answer lists for it.
	row('NVIDIA, envvar and both of CDI', nvidia({once: {...annotation, ...variable}, each: {cdi_devices: [`${kind}={base}`]}}), cdi),
	row('NVIDIA, MIG', nvidia({
		once: {...variable, devices: control},
		ids: Object.fromEntries(migs.map((mig, i) => [mig, {devices: handOut('rw', '/dev/nvidia0', ...capabilities[i])}])),
	}, {resource: 'nvidia.com/mig-1g.5gb', socket: 'nvidia-mig-1g.5gb.sock', devices: ids(...migs)}), {outcomes: asNvidia}),
	row('NVIDIA, time-slicing with failRequestsGreaterThanOne', nvidia({each: {envs: {NVIDIA_VISIBLE_DEVICES: '{base}'}}}, {
		resource: 'nvidia.com/gpu.shared', devices: replicas, max_ids: 1,
	}), {outcomes: asNvidia}),
	row('AMD', amd, {outcomes: {...asAmd, ...ownSocketUnseen}, whole: true}),
	// It ends over a new kubelet.sock, and its DaemonSet starts it again; so it learns of its own socket's loss as well.
	row('AMD, which ends for its supervisor', {...amd, on_kubelet_socket: 'exit', on_socket_removed: 'exit'}, {outcomes: asAmd, whole: true}),
	row('Intel, i915', intel('i915'), {...asIntel, whole: true}),
	row('Intel, xe with a preference', intel('xe', {options: {get_preferred_allocation_available: true}, preferred: 'last'}), asIntel),
	row('GKE', gke(['nvidia0', 'nvidia1']), asGke),
	row('GKE, which ends for its supervisor', gke(['nvidia0', 'nvidia1'], {on_kubelet_socket: 'exit', on_socket_removed: 'exit'}), {...asGke, outcomes: {}}),
	row('GKE, partitions', gke(['nvidia0/gi1', 'nvidia0/gi2'], {
		allocate: {
			once: {devices: control.map((c) => ({...c, permissions: 'mrw'})), mounts: [readOnly('/home/kubernetes/bin/nvidia', '/usr/local/nvidia')]},
			ids: {'nvidia0/gi1': {devices: giOf(capabilities[0])}, 'nvidia0/gi2': {devices: giOf(capabilities[1])}},
		},
	}), asGke),
	// Of a shared GPU a container gets one share: larger requests are refused.
	row('GKE, time-sharing', gke(numbers(4, (i) => `nvidia0/vgpu${i}`), {max_ids: 1}), asGke),
	// squat/generic-device-plugin: deviceplugin/plugin.go looks at its own socket each second, and comes back after five.
	row('generic-device-plugin, ten times /dev/fuse', {
		resource: 'squat.ai/fuse', ...watchesItself(6000), sent_options: null,
		devices: ids(...numbers(10, (i) => `b7c6f3a1-${i}`)), allocate: {each: {devices: handOut('mrw', '/dev/fuse')}},
	}, {outcomes: kubeletSocketUnseen, whole: true}),
	// NVIDIA/kubevirt-gpu-device-plugin: pkg/device_plugin/generic_device_plugin.go. It ends when its socket goes.
	row('kubevirt-gpu', {
		resource: 'nvidia.com/TU104GL_Tesla_T4', ...fixed('kubevirt-TU104GL_Tesla_T4.sock'), on_kubelet_socket: 'ignore', on_socket_removed: 'exit',
		options: {get_preferred_allocation_available: true}, sent_options: null,
		devices: ids('0000:3b:00.0', '0000:d8:00.0'),
		allocate: {
			ids: Object.fromEntries([['0000:3b:00.0', 17], ['0000:d8:00.0', 18]].map(([id, group]) => [id, {devices: handOut('mrw', '/dev/vfio/vfio', `/dev/vfio/${group}`)}])),
			once: {envs: {PCI_RESOURCE_NVIDIA_COM_TU104GL_TESLA_T4: '{ids}'}},
		},
	}, {outcomes: {...oneName, ...kubeletSocketUnseen}}),
	// smarter-project/smarter-device-manager: server.go. The one node of the resource is in every answer.
	row('smarter-device-manager', {
		resource: 'smarter-devices/video0', ...fixed('smarter-video0.sock'), ...watchesKubelet, sent_options: null,
		devices: ids(...numbers(10, (i) => `smarter-${i}`)), allocate: {once: {devices: handOut('rw', '/dev/video0')}},
	}, {outcomes: asNvidia}),
];

await judgeAll(rows);
