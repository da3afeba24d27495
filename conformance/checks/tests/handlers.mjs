// SPDX-License-Identifier: MIT
// usage: node handlers.mjs BUILD
// Isolation with each runtime handler of a run: runc and crun, of a private containerd and of one that is only used, and handlers of
// which the second one does not isolate, or does not work.
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {deviceRules} from './device_rules.mjs';
import {judgeAll} from './harness.mjs';
import {needRoot, skip} from './machine.mjs';
import {needHierarchy, withRuntime} from './runtime.mjs';

needRoot();
try {
	execFileSync('crun', ['--version'], {stdio: 'ignore'});
} catch {
	skip('needs crun');
}
needHierarchy(1);

const rules = deviceRules();
const suite = ['no-allocation', 'single-device', 'device-nodes', 'device-access', 'driver-files', 'host-paths'].map((name) => `isolation.${name}`);
const handlers = (...names) => names.flatMap((name) => ['--runtime-handler', name]);

// Each container that was looked into is told with the handler that it had, and the handlers with their programs.
const containersOf = (...names) => (result) => {
	const folder = join(result.out, 'evidence', 'isolation.single-device');
	const seen = readdirSync(folder).filter((f) => f.endsWith('.container.json'))
		.map((f) => JSON.parse(readFileSync(join(folder, f))).handler);
	const programs = result.environment.runtime.handlers.map((h) => `${h.name}: ${h.oci.split(' ')[0]}`);
	if (names.some((n) => seen.filter((s) => s === n).length < 2) || seen.some((s) => !names.includes(s))) return `containers: ${seen}`;
	return programs.join() === names.map((n) => `${n}: ${n}`).join() ? null : `handlers: ${programs}`;
};
const right = (...names) => ({
	name: names.join(' and '),
	plugin: rules.plain,
	args: handlers(...names),
	checks: ['environment.container', ...suite],
	outcomes: {'isolation.device-access': 'not-applicable'},
	also: containersOf(...names),
});
const second = (name, check, reason, wanted) => ({check, plugin: rules.plain, args: handlers('runc', name), reason, wanted, alone: wanted !== undefined});

await judgeAll([right('crun'), right('runc', 'crun')], 1);
const rows = [
	right('runc', 'crun'),
	second('any-device', 'isolation.device-nodes', ', which its cgroup lets it use (character '),
	second('crippled', 'environment.container', 'crippled-bare-container'),
	second('crippled', 'isolation.single-device', 'crippled-bare', 'broken'),
	second('crippled', 'isolation.host-paths', 'crippled-bare', 'broken'),
	{check: 'isolation.device-nodes', plugin: rules.plain, args: handlers('crun', 'one-more-node'), reason: 'one-more-node-bare: device nodes: got /dev/one-more'},
];
if (process.exitCode === 0)
	await withRuntime(() => judgeAll(rows, 2), {handlers: {...rules.handlers, crun: {program: 'crun'}, crippled: {program: '/bin/false'}}});
