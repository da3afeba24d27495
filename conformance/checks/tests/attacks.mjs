// SPDX-License-Identifier: MIT
// usage: node attacks.mjs BUILD
// Each attack on a probe's word is tried against each API: a table of attacks, and one of APIs. The node has three GPUs that no machine
// has (tree.mjs), at PCI addresses of this run, and their drivers are the doubles, in real containers. libva makes displays for
// nodes alone that /sys knows, and a container has the machine's own /sys: so VA-API is tried on the host.
import {cpSync, existsSync, mkdirSync, readdirSync, rmSync} from 'node:fs';
import {basename, join} from 'node:path';
import {build, file, judgeAll, scripted, work} from './harness.mjs';
import {discoveredNode, skip} from './machine.mjs';
import {withRuntime} from './runtime.mjs';
import {gpuLines, hex, hideDrivers, needNamespace, showTree} from './tree.mjs';

needNamespace(import.meta.url);
hideDrivers('vulkan', 'opencl', 'opengl');

const tests = join(build, 'tests');
const domain = 0x1000 + Math.floor(Math.random() * 0xe000);
// `number`: the device of this machine that the node of a GPU is, so that it can be opened.
const gpus = {
	nvidia: {bus: 0x40, render: 128, ids: ['0x10de', '0x1eb8'], driver: 'nvidia'},
	amd: {bus: 0x41, render: 129, ids: ['0x1002', '0x73bf'], driver: 'amdgpu', number: '1:3'},
	intel: {bus: 0x42, render: 190, ids: ['0x8086', '0x56a0'], driver: 'xe'},
};
for (const gpu of Object.values(gpus)) gpu.id = `${hex(domain, 4)}:${hex(gpu.bus, 2)}:00.0`;
showTree(Object.values(gpus).flatMap(gpuLines).join('\n'));
const found = discoveredNode();
for (const {id} of Object.values(gpus))
	if (!found.devices.some((d) => d.id === id)) skip(`discovery does not find ${id}: ${JSON.stringify(found.diagnostics)}`);

// One row for each API: its device, the driver, where a container finds it, and what else that takes.
const manifest = (path, content) => ({host_path: file('manifest', content), container_path: path, read_only: true});
const icd = (library) => ({file_format_version: '1.0.0', ICD: {library_path: library, api_version: '1.3.0'}});
const at = (name) => `/opt/double/${name}`;
const apis = {
	vulkan: {
		gpu: 'nvidia', library: 'libdouble_vulkan.so', at: at('vulkan.so'),
		mounts: [manifest('/etc/vulkan/icd.d/double.json', icd(at('vulkan.so')))],
	},
	vulkanvideo: {gpu: 'nvidia', library: 'libdouble_vulkan.so', at: at('vulkanvideo.so'), kind: 'encodes'}, // found by the manifest above
	opencl: {
		gpu: 'nvidia', library: 'libdouble_opencl.so', at: at('opencl.so'),
		mounts: [manifest('/etc/OpenCL/vendors/double.icd', `${at('opencl.so')}\n`)],
	},
	opengl: {
		gpu: 'nvidia', library: 'libdouble_opengl.so', at: at('opengl.so'),
		mounts: [manifest('/usr/share/glvnd/egl_vendor.d/10_double.json', icd(at('opengl.so')))],
	},
	cuda: {gpu: 'nvidia', library: 'cuda/libcuda.so.1'},
	nvml: {gpu: 'nvidia', library: 'cuda/libnvidia-ml.so.1', kind: 'lists'},
	nvenc: {gpu: 'nvidia', library: 'nvenc/libnvidia-encode.so.1', kind: 'encodes'},
	hip: {gpu: 'amd', library: 'hip/libamdhip64.so.6'},
	levelzero: {gpu: 'intel', library: 'libdouble_levelzero_1.so', at: at('levelzero.so'), envs: {ZE_ENABLE_ALT_DRIVERS: at('levelzero.so')}},
	vpl: {gpu: 'intel', library: 'vpl/libvpldouble.so.1', at: at('libvpldouble.so.1'), envs: {ONEVPL_SEARCH_PATH: at('')}, kind: 'encodes'},
	vaapi: {gpu: 'amd', library: 'va/double_drv_video.so', onHost: true, envs: {LIBVA_DRIVER_NAME: 'double'}, kind: 'encodes'},
};
for (const api of Object.values(apis)) {
	api.kind ??= 'computes';
	api.at ??= join('/usr/lib/x86_64-linux-gnu', basename(api.library));
}
// Each probe has a row, but for those whose API no device on Linux offers: test_document.c and test_video_streams.c try them, and FFmpeg's: test_ffmpeg.c.
const elsewhere = ['amf', 'd3d12', 'ffmpeg', 'visibility'];
const probes = readdirSync(join(build, 'libexec/gpucert')).filter((name) => name.startsWith('probe-')).map((name) => name.slice('probe-'.length));
const untried = probes.filter((name) => !(name in apis) && !elsewhere.includes(name));
if (untried.length !== 0) throw new Error(`no row for ${untried.join()}`);

// What is tried: what the drivers do, the bus that they tell, whether they replay, whether the probe is another; and why each kind of API
// fails of it. null: the attack is none there. `but`: what is special about an API; the device of VA-API is told by the kernel, not the driver.
const documents = join(work, 'documents');
mkdirSync(documents);
const attacks = [
	{name: 'work that is not done', settings: 'idle,empty', computes: 'results are wrong', encodes: 'the stream is empty', lists: null},
	{name: 'one wrong result, a picture twice', settings: 'wrong=7,repeat=4', computes: '1 result', encodes: 'frame 4 shows frame 3', lists: null},
	{name: 'work done twice, the frames of another seed', settings: 'twice,other=8', computes: 'results are wrong', encodes: 'frame 0 is unlike', lists: null},
	{name: 'results beyond the end, a black picture', settings: 'overrun,black=5', computes: 'beyond the end', encodes: 'frame 5 is of one colour', lists: null},
	{name: 'another device', elsewhere: 1, computes: '/devices/0/pciAddress', encodes: '/devices/0/pciAddress', lists: '/devices/0/pciAddress', but: {opengl: '/devices/0/drm/render', vaapi: null}},
	{name: 'a device more', settings: 'devices=2', computes: '/devices/count', encodes: '/devices/count', lists: '/devices/count', but: {vaapi: null}},
	{name: 'the document of another run', replay: true, computes: '/nonce', encodes: '/nonce', lists: '/nonce'},
	{name: 'another program in its place', program: true, computes: 'hides the image', encodes: 'hides the image', lists: 'hides the image', but: {vaapi: null}},
];

const own = (name) => Object.entries(apis).filter(([, api]) => api.gpu === name);
const mountsOf = (name, api, {replay, program}) => [
	...(api.mounts ?? []),
	{host_path: join(tests, replay ? 'libdouble_replay.so' : api.library), container_path: api.at, read_only: true},
	...(program ? [{host_path: join(tests, 'container-programs/probe-test'), container_path: `/libexec/gpucert/probe-${name}`, read_only: true}] : []),
];
function driversOnHost(api, replay) {
	const folder = join(work, replay ? 'replaying-drivers' : 'drivers');
	mkdirSync(folder, {recursive: true});
	cpSync(join(tests, replay ? 'libdouble_replay.so' : api.library), join(folder, basename(api.library)));
	return {...api.envs, LIBVA_DRIVERS_PATH: folder};
}
function resource(name, attack, onHost) {
	const gpu = gpus[name];
	const node = `/dev/dri/renderD${gpu.render}`;
	const settings = ['video', attack.settings, `pci-domain=${domain}`, `pci-bus=${gpu.bus + (attack.elsewhere ?? 0)}`, `render=${gpu.render + (attack.elsewhere ?? 0)}`].filter(Boolean);
	const mounts = own(name).flatMap(([api, row]) => (row.onHost ? [] : mountsOf(api, row, attack)));
	if (attack.replay) mounts.push({host_path: documents, container_path: documents, read_only: true});
	return {
		resource: `example.com/${name}`,
		devices: [{id: name}],
		allocate: {
			once: {
				devices: [{host_path: node, container_path: node, permissions: 'rw'}],
				mounts: onHost ? [] : mounts,
				envs: Object.assign(
					{GPUCERT_DOUBLE: settings.join()},
					attack.replay ? {GPUCERT_REPLAY: documents} : {},
					...own(name).map(([, row]) => (row.onHost ? driversOnHost(row, attack.replay) : row.envs)),
				),
			},
		},
	};
}

// The APIs in three runs: those that other GPUs offer, too, are asked of one of them alone.
const groups = [
	{members: own('nvidia'), resources: ['nvidia'], args: ['--resource', 'example.com/nvidia']},
	{members: [...own('amd'), ...own('intel')].filter(([, row]) => !row.onHost), resources: ['amd', 'intel'], args: []},
	{members: own('amd').filter(([, row]) => row.onHost), resources: ['amd'], args: ['--resource', 'example.com/amd', '--launcher', 'process'], onHost: true},
];
const runs = (attack, judge) => groups.flatMap(({members, resources, args, onHost}) => {
	const tried = members.filter(([api, row]) => attack[row.kind] !== null && attack.but?.[api] !== null);
	if (tried.length === 0) return [];
	return {
		kind: `${resources} ${onHost}`,
		wanted: attack.wanted,
		name: `${attack.name}: ${tried.map(([api]) => api).join(' ')}`,
		checks: tried.map(([api]) => `api.${api}`),
		plugin: scripted({plugins: resources.map((name) => resource(name, attack, onHost))}),
		args,
		outcomes: null,
		also: (report) => tried.flatMap(([api, row]) => judge(api, row, report.checks.find((c) => c.id === `api.${api}`), report) ?? []).join('; '),
	};
});

// Honest drivers pass, and what their probes said is what is replayed.
const honest = runs({name: 'honest drivers', wanted: 'pass'}, (api, row, check, report) => {
	if (check.outcome !== 'pass') return `api.${api}: ${check.outcome}: ${check.reason}`;
	const folder = join(report.out, 'evidence', check.id);
	cpSync(join(folder, readdirSync(folder).find((name) => /probe-.*\.json$/.test(name))), join(documents, `probe-${api}.json`));
	return null;
});
const attacked = attacks.flatMap((attack) => runs(attack, (api, row, check) => {
	const why = attack.but?.[api] ?? attack[row.kind];
	return check.outcome === 'fail' && check.reason.includes(why) ? null : `api.${api}: ${check.outcome}: '${check.reason}', not about '${why}'`;
}));

// What the kernel says while a check runs: /dev/kmsg is a file here, to which the plugin writes as it is started.
const kernel = (facility, text) => `${facility << 3 | 3},1,5000000,-;${text}`;
const saying = (command, ...lines) => `sh -c "cat '${file('kmsg', lines.map((line) => `${line}\n`).join(''))}' >> /dev/kmsg && exec ${command}"`;
const judgeLog = (name, group, checks, lines, judge) => ({
	name,
	checks,
	plugin: saying(scripted({plugins: group.resources.map((of) => resource(of, {}))}), ...lines),
	args: group.args,
	outcomes: null,
	also: (report) => checks.map((id) => judge(report.checks.find((c) => c.id === id))).filter(Boolean).join('; '),
});
const told = (check) => JSON.stringify([check.id, check.outcome, check.reason, check.notes]);
const xid = `NVRM: Xid (PCI:${gpus.nvidia.id.slice(0, -2)}): 79, GPU has fallen off the bus.`;
const spoken = [
	judgeLog('a fault of the device', groups[0], ['api.cuda', 'registration.version'], [kernel(0, xid)], (check) => {
		const kept = check.evidence.some((e) => e.name === 'system-log.txt');
		const fails = check.id === 'api.cuda';
		const right = fails ? check.outcome === 'fail' && check.reason.includes(xid) : check.outcome === 'pass' && check.notes.some((n) => n.includes(xid));
		const device = check.deviceOutcomes.find((d) => d.ref === gpus.nvidia.id)?.outcome;
		return right && kept && device === (fails ? 'fail' : undefined) ? null : told(check);
	}),
	judgeLog('a fault of others', groups[1], ['api.hip', 'api.levelzero'], [
		kernel(0, `amdgpu ${hex(domain, 4)}:7f:00.0: amdgpu: GPU reset begin!`), // no device of the node
		kernel(1, `amdgpu ${gpus.amd.id}: amdgpu: GPU reset begin!`), // said by user space
	], (check) => (check.outcome === 'pass' && !check.notes.some((n) => n.includes('GPU reset')) ? null : told(check))),
];
const unread = {
	name: 'a log that cannot be read',
	checks: ['api.hip', 'api.levelzero'],
	plugin: scripted({plugins: groups[1].resources.map((name) => resource(name, {}))}),
	args: groups[1].args,
	also: (report) => (report.run.events.filter((e) => e.kind === 'system-log-unread').length === 1 ? null : JSON.stringify(report.run.events)),
};

// FFmpeg finds a GPU whose encoder it cannot use, takes the processor instead, and exits with 0. The driver's libraries are left out.
const alone = resource('nvidia', {name: 'no libraries'});
alone.allocate.once.mounts = alone.allocate.once.mounts.filter(({container_path}) => !container_path.startsWith('/usr/lib'));
const fallsBack = {
	check: 'api.ffmpeg',
	plugin: scripted({plugins: [alone]}),
	args: ['--resource', 'example.com/nvidia'],
	...(existsSync(join(build, 'libexec/gpucert/ffmpeg'))
		? {wanted: 'fail', reason: 'wanted true, for the device offers nvenc'}
		: {wanted: 'unsupported', reason: 'there is no ffmpeg'}),
};

// A driver that works on the processor holds no node open: what it says is right, and proves nothing of the GPU.
const closed = runs({name: 'a driver without its device', settings: 'closed', wanted: 'unsupported'}, (api, row, check) => {
	const wanted = row.kind === 'lists' || row.onHost || row.gpu === 'amd' ? ['pass'] : ['unsupported']; // the node of the AMD GPU is /dev/null here
	const right = wanted.includes(check.outcome) && (check.outcome === 'pass' || check.reason.includes(`did not have /dev/dri/renderD${gpus[row.gpu].render} open`));
	return right ? null : `api.${api}: ${check.outcome}: '${check.reason}'`;
});

let sound = true;
await withRuntime(async () => {
	for (const rows of [[...honest, fallsBack], [...attacked, ...closed], spoken, [unread]]) {
		if (rows[0] === unread) rmSync('/dev/kmsg');
		await judgeAll(rows, 3);
		sound &&= process.exitCode === 0;
	}
});
process.exitCode = sound ? 0 : 1;
