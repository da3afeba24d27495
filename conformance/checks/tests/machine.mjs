// SPDX-License-Identifier: MIT
// What a test that launches containers needs of this machine, and the devices that gpu-discovery finds on it.
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {build} from './harness.mjs';

// Ends the test as skipped.
export function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(77);
}

export function needRoot() {
	if (process.getuid() !== 0) skip('needs root');
}

let found = null;

// This machine as gpu-discovery tells it, asked once.
export function discoveredNode() {
	found ??= JSON.parse(execFileSync(join(build, 'bin', 'gpu-discovery'), ['--json'], {maxBuffer: 1 << 26}));
	return found;
}

export const device = (id) => discoveredNode().devices.find((d) => d.id === id) ?? skip(`${id} is not installed`);
