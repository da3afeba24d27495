// SPDX-License-Identifier: MIT
// usage: node neighbours.mjs BUILD
// What containers do to each other: the software drivers of this machine keep them apart, and the double of an OpenCL driver has
// one thing wrong that all of its processes share through a file (workloads/doubles/shared.h).
import {join} from 'node:path';
import {build, file, judgeAll, scripted} from './harness.mjs';
import {device, needRoot} from './machine.mjs';
import {withRuntime} from './runtime.mjs';

needRoot();

const opencl = device('pocl');
const vulkan = device('lavapipe');
const mount = (f) => ({host_path: f.source, container_path: f.destination, read_only: true});
const manifest = file('double.icd', '/opt/double/libdouble_opencl.so\n');
const resource = (id, ids, allocate) => ({resource: `example.com/${id}`, devices: ids.map((name) => ({id: name})), allocate: {once: allocate}});
const answer = (d) => ({mounts: d.files.map(mount), envs: d.environment});
// The answer is PoCL's, the driver the double. Every plugin has a device of its own.
const double = (words, ids = ['a', 'b'], shared = file('shared', ''), icd = manifest) =>
	scripted({
		plugins: [
			resource('double', ids, {
				mounts: [
					...opencl.files.map(mount),
					{host_path: join(build, 'tests', 'libdouble_opencl.so'), container_path: '/opt/double/libdouble_opencl.so', read_only: true},
					{host_path: icd, container_path: '/opt/double/double.icd', read_only: true},
					{host_path: shared, container_path: '/opt/double/shared', read_only: false},
				],
				envs: {...opencl.environment, OCL_ICD_VENDORS: '/opt/double/double.icd', GPUCERT_DOUBLE: `shared=/opt/double/shared,${words}`},
			}),
		],
	});
const checks = ['isolation.residue', 'isolation.faults', 'isolation.contention', 'isolation.lifetime', 'isolation.plugin-restart'];
const [residue, faults, contention, lifetime, restart] = checks;
// At its end the plugin does something to what its containers use.
const atItsEnd = (action, plugin) => `sh -c '${plugin.replaceAll("'", '"')} & p=$!; trap "kill $p; wait $p; ${action}" TERM; wait' sh`;
const resets = file('resets', '');
const removed = file('removed.icd', '/opt/double/libdouble_opencl.so\n');
const cdi = scripted({plugins: [{resource: 'example.com/cdi', devices: [{id: 'cdi'}], allocate: {each: {cdi_devices: ['example.com/gpu=0']}}}]});

const rows = [
	...checks.map((check) => ({check, wanted: 'pass'})),
	...checks.map((check) => ({check, plugin: double('clean'), wanted: 'pass'})),
	// Each of the faults is that of one check alone.
	{check: residue, plugin: double('residue'), reason: 'memory of the container before'},
	{check: contention, plugin: double('residue'), reason: 'results are wrong'},
	{check: faults, plugin: double('lost'), reason: 'CL_OUT_OF_RESOURCES'},
	{check: faults, plugin: double('lost', ['a']), reason: 'CL_OUT_OF_RESOURCES'},
	{check: contention, plugin: double('lost'), wanted: 'pass'},
	{check: contention, plugin: double('mixed'), reason: 'results are wrong'},
	{check: contention, plugin: double('alone'), reason: 'one gets nothing done'},
	{check: lifetime, plugin: double('mixed'), wanted: 'pass'},
	{check: lifetime, plugin: double('kept'), reason: 'CL_MEM_OBJECT_ALLOCATION_FAILURE'},
	{check: residue, plugin: double('kept'), wanted: 'pass'},
	{check: restart, plugin: atItsEnd(`printf 1 | dd of=${resets} conv=notrunc status=none`, double('lost', ['a', 'b'], resets)), reason: 'a container that ran while the plugin restarted'},
	{check: restart, plugin: atItsEnd(`mv ${removed} ${removed}.old`, double('clean', ['a', 'b'], undefined, removed)), reason: 'removed.icd'},
	{check: restart, plugin: double('lost'), wanted: 'pass'},
	// Nobody is beside; two devices without replicas.
	{check: faults, plugin: double('clean', ['a']), wanted: 'pass'},
	{check: contention, plugin: double('clean', ['a']), wanted: 'not-applicable', reason: 'no two containers run at the same time'},
	{check: contention, plugin: scripted({plugins: [resource('v', ['v'], answer(vulkan)), resource('o', ['o'], answer(opencl))]}), wanted: 'pass'},
	// What cannot be shown: no device that can be named, none that works.
	{check: residue, plugin: cdi, wanted: 'unsupported', reason: 'CDI'},
	...checks.map((check) => ({check, plugin: double('fail=clCreateContext:-6'), wanted: 'unsupported', reason: 'CL_OUT_OF_HOST_MEMORY'})),
	{check: lifetime, args: ['--launcher', 'process'], wanted: 'unsupported', reason: 'containers'},
];

await withRuntime(() => judgeAll(rows, 2));
