// SPDX-License-Identifier: MIT
// usage: node left_behind.mjs BUILD
// Kills a cluster while pods run in it: its processes and its control groups are gone, and those of the machine as before.
import {spawn, spawnSync} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

const here = import.meta.dirname;
const child = spawn(join(here, 'isolated'), [process.execPath, join(here, 'deployment.mjs'), process.argv[2]], {stdio: ['ignore', 'pipe', 'inherit']});
const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
let output = '';
const running = (async () => {
	for await (const data of child.stdout) {
		output += data;
		if (output.includes('ok the overlay makes')) return true;
	}
	return false;
})();
if (!(await running)) {
	console.log(`${output}The cluster ended before a device was allocatable, or deployment.mjs calls that step something else.`);
	process.exit(await ended || 1);
}

// A control group with processes, or with groups that have any, cannot be removed.
const root = '/sys/fs/cgroup';
const left = () => {
	const folders = readdirSync(root).map((name) => join(root, name));
	return spawnSync('find', [...folders, '-type', 'd', '-path', `*/gpucert-cluster-${child.pid}*`], {encoding: 'utf8'}).stdout.split('\n').filter(Boolean);
};
const before = left().length;
child.kill('SIGKILL');
await ended;
for (const end = Date.now() + 120000; left().length > 0 && Date.now() < end;) await sleep(100);
console.log(`${before} control groups while it ran, ${left().length} afterwards`);
process.exit(before > 0 && left().length === 0 ? 0 : 1);
