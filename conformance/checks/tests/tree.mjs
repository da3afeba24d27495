// SPDX-License-Identifier: MIT
// GPUs on a machine without any: in a mount namespace of the test's own /sys shows the devices of a tree of discovery/tests/trees, and
// /dev/dri holds their nodes, behind which there is no driver.
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {needRoot} from './machine.mjs';

// Of DRM: the names tell it.
export const minor = (path) => Number(/\d+$/.exec(path)[0]);

// Makes `path` the device node of a DRM device, or of another one.
export function makeNode(path, number, major = 226) {
	mkdirSync(dirname(path), {recursive: true});
	execFileSync('mknod', [path, 'c', String(major), String(number)]);
	return path;
}

// Runs the test `url` in a mount namespace of its own; comes back there alone.
export function needNamespace(url) {
	needRoot();
	if (process.env.GPUCERT_TEST_NAMESPACE) return;
	const run = spawnSync('unshare', ['--mount', '--propagation', 'private', process.execPath, fileURLToPath(url), ...process.argv.slice(2)], {
		stdio: 'inherit',
		env: {...process.env, GPUCERT_TEST_NAMESPACE: '1'},
	});
	process.exit(run.status ?? 1);
}

const mountOn = (...args) => execFileSync('mount', args);

// Where discovery finds the software drivers of an API. A run reads and digests every driver of its node, hundreds of megabytes with
// PoCL and LLVM: a test hides those that it has no row for.
const drivers = {vulkan: '/usr/share/vulkan/icd.d', opencl: '/etc/OpenCL/vendors', opengl: '/usr/share/glvnd/egl_vendor.d'};
export function hideDrivers(...apis) {
	for (const api of apis) if (existsSync(drivers[api])) mountOn('-t', 'tmpfs', 'tmpfs', drivers[api]);
}

const unescape = (text) => text.replace(/\\(n|t|\\|x..)/g, (_, c) => ({n: '\n', t: '\t', '\\': '\\'})[c] ?? String.fromCharCode(parseInt(c.slice(1), 16)));

// The machine's /sys and /dev, with the tree's PCI devices, DRM classes and DRM nodes in the place of its own. A node whose line in the
// tree names a number is that device of the machine. The kernel's log is an empty file.
export function showTree(text) {
	// On a file system that goes with the namespace: nothing here is removed by hand, for /sys lies in it.
	const place = '/mnt';
	mountOn('-t', 'tmpfs', 'tmpfs', place);
	const sys = join(place, 'sys');
	const dev = join(place, 'dev');
	mkdirSync(dev);
	for (const name of readdirSync('/dev')) if (!['dri', 'kmsg'].includes(name)) execFileSync('cp', ['-a', join('/dev', name), dev]);
	writeFileSync(join(dev, 'kmsg'), '');
	for (const line of text.split('\n')) {
		const [, node, number] = /^dev\/dri\/(\S+) = ?(.*)$/.exec(line) ?? [];
		if (node !== undefined) makeNode(join(dev, 'dri', node), ...(number === '' ? [minor(node)] : number.split(':').reverse()));
		const [, path, kind, value] = /^(sys\/\S+) (=|->) ?(.*)$/.exec(line) ?? [];
		if (path === undefined) continue;
		mkdirSync(join(place, dirname(path)), {recursive: true});
		if (kind === '->') symlinkSync(value, join(place, path));
		else writeFileSync(join(place, path), unescape(value));
	}
	for (const kept of ['fs/cgroup', 'kernel', 'module']) {
		mkdirSync(join(sys, kept), {recursive: true});
		mountOn('--rbind', join('/sys', kept), join(sys, kept));
	}
	mountOn('--rbind', sys, '/sys');
	mountOn('--rbind', dev, '/dev');
}

export const hex = (number, digits) => number.toString(16).padStart(digits, '0');

// The lines of a tree for one GPU at the PCI address `id`: its PCI ids, kernel driver, and render node, and a card's node where there is one.
// `number`: the device of this machine that its nodes are, so that they can be opened.
export function gpuLines({id, render, card, ids: [vendor, device], driver, kind = '0x030000', number = `226:${render}`}) {
	const folder = `devices/pci${id.slice(0, 7)}/${id}`;
	const facts = {vendor, device, subsystem_vendor: vendor, subsystem_device: '0x0001', revision: '0x01', class: kind, numa_node: '-1'};
	const node = (name) => [
		`sys/${folder}/drm/${name}/dev = ${number}\\n`,
		`sys/${folder}/drm/${name}/device -> ../..`,
		`sys/class/drm/${name} -> ../../${folder}/drm/${name}`,
		`dev/dri/${name} = ${number}`,
	];
	return [
		...Object.entries(facts).map(([name, value]) => `sys/${folder}/${name} = ${value}\\n`),
		`sys/${folder}/driver -> ../../../bus/pci/drivers/${driver}`,
		`sys/bus/pci/drivers/${driver}/bind =`,
		`sys/bus/pci/devices/${id} -> ../../../${folder}`,
		...node(`renderD${render}`),
		...(card === undefined ? [] : node(`card${card}`)),
		`sys/dev/char/${number} -> ../../${folder}/drm/renderD${render}`,
	];
}
