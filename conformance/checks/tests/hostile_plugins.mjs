// SPDX-License-Identifier: MIT
// usage: node hostile_plugins.mjs BUILD
// Plugins that harm whoever runs them: floods, messages without end, daemons, other users. Each gets a verdict that names what it did,
// in time, and leaves neither a full disk nor a process behind.
import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {file, judgeAll, scripted} from './harness.mjs';
import {discoveredNode} from './machine.mjs';

const raw = (mode) => `'${process.execPath}' '${join(import.meta.dirname, '../doubles/raw_plugin.mjs')}' ${mode} {plugin-dir}`;
const plain = scripted({plugins: [{devices: [{id: 'gpu-0'}], allocate: {once: {envs: {GPU: '0'}}}}]});
const beside = (command) => `sh -c '${command} & exec "$@"' sh ${plain}`;
const args = ['--launcher', 'process', '--timeout-percent', '20', '--node', file('node.json', discoveredNode())];
const size = (folder) =>
	readdirSync(folder, {withFileTypes: true})
		.map((entry) => (entry.isDirectory() ? size(join(folder, entry.name)) : statSync(join(folder, entry.name)).size))
		.reduce((sum, n) => sum + n, 0);
const OUT_MAX = 40 << 20;

// What the checks of a run end with: [outcome, what the reason speaks of].
const row = (name, plugin, wanted) => ({
	name, plugin, args, checks: Object.keys(wanted), outcomes: null,
	also: (report) => {
		const complaints = report.checks
			.filter(({id, outcome, reason}) => outcome !== wanted[id][0] || !reason.includes(wanted[id][1] ?? ''))
			.map(({id, outcome, reason}) => `${id}: ${outcome}: ${reason}`);
		const bytes = size(report.out);
		if (bytes > OUT_MAX) complaints.push(`${bytes} bytes of output are kept`);
		return complaints.length === 0 ? null : complaints.join('; ');
	},
});

const rows = [
	row('lists without end', raw('flood'), {
		'registration.accepted': ['pass'], 'list-and-watch.no-storm': ['fail', 'lists in the time watched'], 'list-and-watch.ids': ['pass'],
		'allocate.one-response': ['pass'],
	}),
	row('a list of 4 GiB', raw('giant'), {
		'registration.accepted': ['pass'], 'list-and-watch.message-size': ['fail', 'ListAndWatch ended with RESOURCE_EXHAUSTED'],
	}),
	row('half a list', raw('half'), {'list-and-watch.arrives': ['fail', 'without a device list of each resource']}),
	row('an error in place of a list', raw('refuses'), {'list-and-watch.arrives': ['fail', 'ListAndWatch ended with INTERNAL (no NVML)']}),
	row('a daemon', raw('daemon'), {'registration.arrives': ['fail', 'the plugin exited with code 0']}),
	row('a log without end', beside('yes "a line of the log of a plugin that has much to say about nothing"'), {
		'registration.accepted': ['pass'], 'list-and-watch.arrives': ['pass'], 'allocate.one-response': ['pass'],
	}),
	row('a line without end', beside('cat /dev/zero'), {'registration.accepted': ['pass'], 'allocate.one-response': ['pass']}),
	row('another user', `setpriv --reuid=65534 --regid=65534 --clear-groups ${plain}`, {'registration.arrives': ['fail', 'ermission denied']}),
];

await judgeAll(rows, 4);
