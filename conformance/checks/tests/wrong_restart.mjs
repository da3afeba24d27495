// SPDX-License-Identifier: MIT
// usage: node wrong_restart.mjs BUILD
// Plugins that fail when kubelets come, go, refuse and come again: each check on a plugin that is right and on ones that are wrong in
// exactly the way that the check is about.
import {judgeAll, nodePlugin} from './harness.mjs';

const args = ['--launcher', 'process', '--timeout-percent', '40', '--resource', 'example.com/gpu'];

// For each check the faults, and what the reason of its failure must speak of.
const wrong = {
	'registration.refused': {
		'retry-at-once': 'attempts of a refused plugin', 'exit-0-when-refused': 'exit code of the refused plugin: got 0',
		'crash-when-refused': 'the plugin when Register was refused: got the plugin was killed by signal 11',
		'nil-when-refused': 'and last printed: panic: runtime error',
	},
	'registration.unavailable': {'no-retry': 'an attempt after refusal 1', 'four-attempts': 'an attempt after refusal 4', 'no-retry-after-restarts': 'an attempt after refusal 1', 'socket-an-attempt': 'which is left'},
	'registration.answer-delayed': {'deadline-300-ms': 'attempts to register example.com/gpu'},
	'registration.kubelet-late': {'waits-only-at-start': 'the plugin registers', 'spins-without-kubelet': '% of a processor that the plugin needed before the kubelet came'},
	'registration.other-file': {
		'removes-foreign-file': 'the file at kubelet.sock: got removed', 'crash-on-foreign-file': 'before the kubelet came: got the plugin was killed by signal 6',
	},
	'registration.no-repeat': {'storms-after-a-restart': 'further Register calls: got', 'registers-twice-after-a-restart': 'after the kubelet\'s restart: got 2'},
	'registration.no-directory': {'spins-without-directory': '% of a processor', 'crash-without-directory': 'before the kubelet came: got the plugin was killed by signal 6'},
	'registration.deprecation-file': {'removes-deprecation': 'the file DEPRECATION: got removed', 'crash-on-deprecation': 'the plugin registers: got the plugin was killed'},
	'registration.files-of-others': {'sweeps-the-directory': 'the file other-vendor.sock: got removed'},
	'allocate.after-restart': {'variable-of-the-process': 'answers after the plugin\'s restart: got gpu-0: envs[SESSION] = '},
	'restart.flapping': {
		'lists-late-after-a-restart 6000': 'milliseconds to the first list after the last restart',
		'options-at-first-only': 'get_preferred_allocation_available after the restarts: got 0, expected 1',
		'prefers-anything-after-a-restart': 'preferred device after the kubelet\'s restarts: got gpu-0',
		'places-until-a-restart': 'example.com/gpu gpu-0 on NUMA nodes 1 is gone',
		'variable-of-the-registration': 'gpu-0 after the kubelet\'s restarts: got envs[SESSION] = 5',
	},
	'restart.again': {
		'first-restart-only': 'a registration after kubelet restart 2', 'two-restarts': 'a registration after kubelet restart 3',
		'stale-endpoint-later': 'kubelet restart 3',
		'empty-list-later': 'devices of example.com/gpu: got 0', 'allocate-fails-later': 'Allocate afterwards: got INTERNAL',
		'prefers-until-a-restart': 'GetPreferredAllocation afterwards: got INTERNAL no topology of the old session',
		'prepares-until-a-restart': 'PreStartContainer afterwards: got INTERNAL handle of the old session',
		'other-ids-each-restart': 'devices listed after kubelet restart 1: got example.com/gpu gpu-0 is gone',
	},
	'restart.leaks': {
		'spins-after-a-restart': '% of a processor that the plugin needed after these restarts',
		'descriptor-a-restart': 'open descriptors of the plugin', 'old-listener-kept': 'open descriptors of the plugin',
		'temporary-folder-a-restart': 'temporary files of the plugin',
	},
	'restart.socket-removed': {'misses-its-socket-later': 'the removal of the plugin\'s socket, a second time'},
	'restart.at-once': {'watches-late': 'the plugin registers'},
	'restart.during-allocate': {'allocate-lost-in-restart': 'Allocate afterwards: got no answer within'},
	'restart.kubelet-absent': {
		'ends-with-a-kubelet': 'the plugin without a kubelet: got running after SIGTERM',
		'spins-without-kubelet': '% of a processor that the plugin needed while the kubelet was away', 'stuck-after-absence': 'a registration after the kubelet\'s return',
		'no-retry-later': 'the last attempt was refused: starting',
	},
	'restart.register-unanswered': {'stuck-in-register': 'the restart of a kubelet that did not answer Register'},
	'restart.kubelet-disconnects': {
		'serves-one-connection': 'after the kubelet closed its own', 'second-stream-never': 'after the kubelet closed its own',
		'no-devices-after-a-stream': 'Allocate on a new connection: got no devices[/dev/gpu/gpu-0]',
	},
	'restart.directory-recreated': {'directory-not-watched-anew': 'the return of the plugin directory'},
	'restart.side-by-side': {
		'fights-for-its-socket': 'kubelet 1.36: Register calls of two instances', 'one-socket-name-until-listed': 'kubelet 1.37: Register calls of two instances',
	},
	'restart.rolling-update': {
		none: 'kubelet 1.36: allocatable again after the older instance\'s end', 'one-socket-name': 'kubelet 1.37: allocatable again after the older instance\'s end',
	},
	'restart.answer-stays': {
		'file-of-the-registration': 'what the answer hands out, after the kubelet\'s restart: got',
		'files-go-with-it': 'what the answer hands out, after the plugin\'s end: got',
	},
	'restart.both': {'other-ids-each-start': 'devices listed after both restarted: got example.com/gpu gpu-0-'},
	'restart.terminate': {
		'waits-for-streams': 'the plugin after SIGTERM: got still running', 'leaves-its-second-socket': 'the plugin\'s socket: got still there',
	},
	'restart.every-end': {
		'panics-at-its-end': 'the plugin\'s end in each check: got panic: send on closed channel (restart.every-end)',
		'aborts-at-its-end': 'got killed by signal 6',
	},
};

const rows = Object.entries(wrong).flatMap(([check, byFault]) => [
	...Object.entries(byFault).map(([fault, reason]) => ({check, plugin: nodePlugin(fault), args, reason})),
	{check, plugin: nodePlugin(check === 'restart.rolling-update' ? 'registers-at-the-end-of-a-stream' : 'none'), args, wanted: 'pass'},
]);
// In a check that judges something else.
rows.push(...['list-and-watch.two-streams', 'restart.every-end'].map((check, i) => ({
	check, plugin: nodePlugin('panics-after-two-streams'), args, needsOthers: true,
	...(i === 0 ? {wanted: 'pass'} : {reason: 'panic: close of closed channel (list-and-watch.two-streams)'}),
})));
// A supervisor starts what ends.
rows.push(
	...['exit', 'panic', 'trace'].flatMap((end) => ['refused', 'unavailable', 'kubelet-late'].map((name) => (
		{check: `registration.${name}`, plugin: nodePlugin(`${end}-when-refused`), args, wanted: 'pass'}))),
	{check: 'restart.rolling-update', plugin: nodePlugin('one-socket-name'), args: [...args, '--profile', '1.36'], wanted: 'pass'},
	{check: 'restart.rolling-update', plugin: nodePlugin('exit-on-disconnect'), args, wanted: 'pass'},
	{check: 'restart.kubelet-disconnects', plugin: nodePlugin('exit-on-disconnect'), args, wanted: 'pass'},
	// Below a supervisor of its own.
	{
		check: 'restart.kubelet-disconnects',
		plugin: `sh -c 'trap "kill $!; exit" TERM; while :; do "$@" & wait $!; done' sh ${nodePlugin('exit-on-disconnect')}`,
		args,
		wanted: 'pass',
	},
	{check: 'restart.terminate', plugin: nodePlugin('ends-with-1'), args, wanted: 'pass'},
	{check: 'registration.deprecation-file', plugin: nodePlugin('heeds-deprecation'), args, wanted: 'pass'},
);

await judgeAll(rows, 10);
