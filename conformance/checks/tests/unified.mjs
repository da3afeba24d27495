// SPDX-License-Identifier: MIT
// usage: node unified.mjs BUILD
// The device allow-list on control groups of version 2, where it is an eBPF program. A machine that has version 1 shows a mount
// namespace with its version 2 alone to containerd and gpucert; there are fewer controllers in it, so no CPU share is set.
import {readFileSync} from 'node:fs';
import {release} from 'node:os';
import {deviceRules} from './device_rules.mjs';
import {judgeAll} from './harness.mjs';
import {needRoot} from './machine.mjs';
import {needHierarchy, withRuntime} from './runtime.mjs';

needRoot();
needHierarchy(2);

// Each answer of the kernel about the container without devices.
const usesPrograms = (result) => {
	const check = result.checks.find((c) => c.id === 'isolation.device-nodes');
	return check.notes.some((n) => /bare: device cgroup of version 2, [1-9]\d* eBPF program/.test(n)) ? null : `no eBPF: ${JSON.stringify(check.notes)}`;
};
const rules = deviceRules('delete spec.linux.resources.cpu;', 'plain');
const first = {
	name: 'eBPF programs are seen',
	plugin: rules.plain,
	args: ['--runtime-handler', 'plain'],
	checks: ['environment.container', 'isolation.no-allocation', 'isolation.single-device', 'isolation.device-nodes', 'isolation.driver-files', 'isolation.host-paths'],
	also: usesPrograms,
};
// Without the controller for memory of devices that is told, with the version of the kernel.
const memory = {
	check: 'isolation.device-memory',
	plugin: rules.plain,
	args: ['--runtime-handler', 'plain'],
	wanted: 'unsupported',
	reason: readFileSync('/sys/fs/cgroup/cgroup.controllers', 'utf8').includes('dmem') ? 'private containerd' : `Linux ${release()} has no dmem cgroup controller`,
};
await withRuntime(() => judgeAll([first, memory, ...rules.rows], 2), {handlers: rules.handlers});
