// SPDX-License-Identifier: MIT
// Folders of CDI Specs, and the edits that stand for a device of this machine.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {work} from './harness.mjs';

let count = 0;

// A folder of its own with these files: name → a Spec, or text.
export function folderOf(files) {
	const path = join(work, `cdi-${++count}`);
	mkdirSync(path);
	for (const [name, content] of Object.entries(files))
		writeFileSync(join(path, name), typeof content === 'string' ? content : JSON.stringify(content));
	return path;
}

// devices: name → edits.
export const spec = (kind, devices, more = {}) => ({
	cdiVersion: '1.1.0',
	kind,
	devices: Object.entries(devices).map(([name, containerEdits]) => ({name, containerEdits})),
	...more,
});

export const mount = (hostPath, containerPath = hostPath) => ({hostPath, containerPath, options: ['ro', 'nosuid', 'nodev', 'bind']});

// What a container needs to use the device, by CDI alone.
export const editsOf = (device) => ({
	env: Object.entries(device.environment).map(([name, value]) => `${name}=${value}`),
	mounts: device.files.map((f) => mount(f.source, f.destination)),
});
