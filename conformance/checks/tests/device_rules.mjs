// SPDX-License-Identifier: MIT
// Runtimes that keep the device allow-list badly, and well in an unusual way: rows and handlers for whichever control groups a test
// runs on. Each runtime is runc behind one change of what containerd asks for.
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {scripted, work} from './harness.mjs';
import {device} from './machine.mjs';
import {runcThat} from './runtime.mjs';

export const capabilities = (...names) =>
	`for (const set of ['bounding', 'effective', 'permitted']) spec.process.capabilities[set] = ${JSON.stringify(names)};`;

let count = 0;
// A plugin with lavapipe, and beside it nodes of 10:229, one for each of these permissions; "r250" is one of 10:250, which no host has.
export function plugin(...permissions) {
	const vulkan = device('lavapipe');
	const devices = permissions.map((text, i) => {
		const [, letters, minor] = text.match(/^([rwm]+)(\d*)$/);
		const path = join(work, `node-${++count}`);
		execFileSync('mknod', [path, 'c', '10', minor || '229']);
		return {host_path: path, container_path: `/dev/granted-${i}`, permissions: letters};
	});
	return scripted({plugins: [{
		resource: 'example.com/v',
		devices: [{id: vulkan.id}],
		allocate: {once: {
			mounts: vulkan.files.map((f) => ({host_path: f.source, container_path: f.destination, read_only: true})),
			envs: vulkan.environment,
			devices,
		}},
	}]});
}

const nodeOf = (name, major, minor) => `(spec.linux.devices ??= []).push({path: '/dev/${name}', type: 'c', major: ${major}, minor: ${minor}, fileMode: 0o666});`;
const allow = (major, minor) => `spec.linux.resources.devices.push({allow: true, type: 'c', major: ${major}, minor: ${minor}, access: 'rw'});`;
const giving = (letters) => `for (const rule of spec.linux.resources.devices) if (rule.major === 10 && rule.minor >= 229) rule.access = '${letters}';`;

// `always`: a change that each runtime makes, of sandboxes, too. `alone`: a runtime that changes nothing else.
export function deviceRules(always = '', alone = 'runc') {
	const plain = plugin();
	const wrong = [
		['any-device', "spec.linux.resources.devices = [{allow: true, access: 'rwm'}];", plain, 'device-nodes', ', which its cgroup lets it use ('],
		['one-more-rule', allow(10, 237), plain, 'device-nodes', '(character 10:237)'],
		['one-more-rule-of-a-gpu', allow(226, 128), plain, 'device-nodes', 'tried in the container: got character 226:128: read ENXIO, write ENXIO'],
		['one-more-node', nodeOf('one-more', 10, 237), plain, 'device-nodes', '/dev/one-more (character 10:237)'],
		['mknod', capabilities('CAP_MKNOD'), plain, 'device-nodes', 'device nodes: got made in /'],
		['more-letters', giving('rwm'), plugin('r'), 'device-access', "by its cgroup: got character 10:229: 'rw', granted 'r'"],
		['more-letters', giving('rwm'), plugin('r250'), 'device-access', "tried in the container: got character 10:250: 'rw', granted 'r'"],
		['fewer-letters', giving('r'), plugin('rw'), 'device-access', "character 10:229: 'r', granted 'rw'"],
	];
	const right = [
		[alone, plain, 'device-nodes'],
		...['r', 'w', 'rw', 'rwm'].map((letters) => [alone, plugin(letters), 'device-access']),
		[alone, plugin('r', 'w'), 'device-access'],
		['fuse-for-all', plain, 'device-nodes'],
		['fuse-for-all', plugin('r'), 'device-access', 'not-applicable'],
	];
	const row = (handler, of, check) => ({check: `isolation.${check}`, plugin: of, args: ['--runtime-handler', handler]});
	return {
		plain,
		rows: [
			...wrong.map(([handler, , of, check, reason]) => ({...row(handler, of, check), reason})),
			...right.map(([handler, of, check, wanted = 'pass']) => ({...row(handler, of, check), wanted})),
		],
		handlers: Object.fromEntries([
			['fuse-for-all', `${nodeOf('fuse', 10, 229)} ${allow(10, 229)}`],
			...(alone === 'runc' ? [] : [[alone, '']]),
			...wrong,
		].map(([name, change]) => [name, {program: runcThat(name, change, always)}])),
	};
}
