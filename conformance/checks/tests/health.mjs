// SPDX-License-Identifier: MIT
// usage: node health.mjs BUILD
// Plugins whose devices fail and come back: the file that FAILED_DEVICES names holds the ids of those that failed. The reference plugin
// has a device whose driver is taken away.
import {execFileSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {judgeAll, nodePlugin, work} from './harness.mjs';
import {needNamespace} from './tree.mjs';

needNamespace(import.meta.url);
let count = 0;
const row = (check, fault, more) => {
	const file = join(work, `failed-${++count}`);
	return {
		check,
		plugin: nodePlugin(fault),
		args: [
			'--launcher', 'process', '--timeout-percent', '20', '--resource', 'example.com/gpu',
			'--fail-device', `sh -c 'echo $DEVICE_ID >${file}'`, '--restore-device', `rm -f '${file}'`,
		],
		env: {FAILED_DEVICES: file},
		...more,
	};
};
const wrong = (check, fault, reason) => row(check, fault, {reason});
const right = (check, fault) => row(check, fault, {wanted: 'pass'});
// A second check of the same run.
const sameRun = (first, second) => [first, {...first, ...second, needsOthers: true}];
// Several devices can be failed at the same time.
const several = (each) => {
	const {FAILED_DEVICES: file} = each.env;
	const args = each.args.slice(0, each.args.indexOf('--fail-device'));
	return {...each, args: [...args, '--fail-device', `sh -c 'echo $DEVICE_ID >>${file}'`, '--restore-device', `sh -c 'sed -i /^$DEVICE_ID$/d ${file}'`]};
};

// The command knows one device.
const ofOneDevice = (each) => ({...each, args: each.args.map((arg) => arg.replace('$DEVICE_ID', 'gpu-0'))});

// Of a plugin with two resources.
const ofBoth = (each) => ({...each, args: each.args.filter((arg) => arg !== '--resource' && arg !== 'example.com/gpu')});

// In this mount namespace the folder of Vulkan drivers can change.
const icds = '/usr/share/vulkan/icd.d';
const away = join(work, 'away');
const lavapipe = existsSync(icds) && execFileSync('ls', [icds], {encoding: 'utf8'}).includes('lvp_icd');
if (lavapipe) {
	cpSync(icds, join(work, 'icd.d'), {recursive: true});
	mkdirSync(away);
	execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', icds]);
	cpSync(join(work, 'icd.d'), icds, {recursive: true});
}
const referencePlugin = {
	name: 'the reference plugin, whose Vulkan driver goes and comes',
	checks: ['health'],
	args: [
		// On a busy machine it takes more than a second to load the drivers.
		'--launcher', 'process', '--timeout-percent', '500', '--fail-device', `sh -c 'mv ${icds}/lvp_icd* ${away}'`, '--restore-device', `sh -c 'mv ${away}/* ${icds}'`,
	],
};

await judgeAll([
	...(lavapipe ? [referencePlugin] : []),
	...sameRun(wrong('health.device-fails', 'looks-at-no-device', 'gpu-0 after it failed: got Healthy after 60 s'), {
		check: 'health.device-returns', wanted: 'unsupported', reason: 'see health.device-fails',
	}),
	wrong('health.every-stream', 'serves-no-more-after-a-closed-stream', 'the stream of example.com/gpu after gpu-0 failed: got ended, and the plugin did not register again'),
	right('health.device-fails', 'serves-no-more-after-a-closed-stream'),
	wrong('health.others-stay', 'refuses-the-last-while-another-is-ill', 'Allocate of gpu-2 after gpu-0 failed: got INTERNAL gpu-2 is unhealthy'),
	wrong('health.settles', 'ends-when-the-change-is-sent', 'the plugin after SIGTERM, when gpu-0 failed without a kubelet: got still running'),
	...['lists-on-the-last-stream', 'lists-on-the-first-stream'].map((fault) => right('health.device-fails', fault)),
	wrong('health.every-stream', 'lists-on-the-last-stream', 'gpu-0 on the kubelet\'s stream after it failed: got Healthy'),
	wrong('health.every-stream', 'lists-on-the-first-stream', 'gpu-0 on a second stream after it failed: got Healthy'),
	...['looks-at-no-device', 'second-stream-never'].map((fault) => row('health.every-stream', fault, {wanted: 'unsupported', reason: 'see '})),
	wrong('health.device-fails', 'last-device-unwatched', 'gpu-1, the last device of example.com/gpu, after it failed: got Healthy'),
	ofOneDevice(right('health.device-fails', 'last-device-unwatched')),
	wrong('health.idle', 'prints-while-ill', 'bytes a second that the plugin printed while gpu-0 was failed'),
	wrong('health.idle', 'lists-while-ill', 'device lists a second while gpu-0 was failed'),
	wrong('health.leaks', 'opens-a-file-at-each-change', 'open descriptors of the plugin'),
	...['none', 'device-vanishes'].map((fault) => right('health.leaks', fault)),
	right('health.idle', 'none'),
	ofBoth(wrong('health.device-fails', 'shared-too looks-at-no-device', 'shared-0 of example.com/shared, which is gpu-0 of example.com/gpu, after it failed: got Healthy')),
	ofBoth(right('health.device-fails', 'shared-too')),
	ofBoth(wrong('health.device-fails', 'others-too looks-at-no-device', 'other-1, the last device of example.com/other, after it failed: got Healthy')),
	ofBoth(right('health.device-fails', 'others-too')),
	ofBoth(ofOneDevice(right('health.device-fails', 'others-too looks-at-no-device'))),
	wrong('health.others-stay', 'slow-while-ill', 'milliseconds of Allocate of other devices after gpu-0 failed'),
	wrong('health.device-fails', 'another-fails', 'gpu-0 after it failed: got Healthy after 60 s, and Unhealthy is gpu-1'),
	wrong('health.device-fails', 'well-every-other-second', 'gpu-0 in the 10 s after its failure was listed: got Healthy for a time'),
	wrong('health.device-returns', 'ill-every-other-second-after-it', 'gpu-0 in the 3 s after its return was listed: got not Healthy for a time'),
	wrong('health.every-stream', 'first-list-of-the-start', 'gpu-0 on a stream that was opened after it failed: got Healthy'),
	...['second-stream-never', 'two-streams-at-a-time'].map((fault) => right('health.device-fails', fault)),
	...sameRun(wrong('health.device-returns', 'ill-for-good', 'gpu-0 after it was restored: got Unhealthy after 60 s'), {
		check: 'health.settles', wanted: 'unsupported', reason: 'see health.device-returns',
	}),
	wrong('health.device-returns', 'ends-when-a-device-fails', 'got Unhealthy, and the plugin ended'),
	wrong('health.device-fails', 'well-again-by-itself', 'gpu-0 in the 10 s after its failure was listed: got Healthy for a time'),
	...sameRun(right('health.device-returns', 'listed-twice-after-it'), {check: 'list-and-watch.later-lists', wanted: 'fail', reason: 'lists gpu-0 twice (health.device-returns)'}),
	wrong('health.device-returns', 'node-of-the-failed-time', 'what the answer hands out, after gpu-0 returned: got /dev/nowhere is gone'),
	wrong('health.settles', 'registers-when-all-are-well', 'example.com/gpu, after a kubelet\'s restart while gpu-0 was failed: got not within 60 s'),
	wrong('health.device-returns', 'places-until-a-failure', 'NUMA nodes of gpu-0 after it returned: got none, expected 1'),
	right('health.device-returns', 'places-while-all-are-well'),
	wrong('health.device-returns', 'returns-under-another-id', 'gpu-0 after it was restored: got not listed after 60 s; listed are gpu-0-1, gpu-1'),
	wrong('health.device-returns', 'refuses-what-returned', 'Allocate of gpu-0 after it returned: got INTERNAL'),
	wrong('health.allocated-device', 'device-vanishes', 'gone from the list at once'),
	wrong('health.settles', 'drops-changes-for-20-s', 'gpu-0 after it was restored: got Unhealthy'),
	several(wrong('health.settles', 'notices-one-at-a-time', 'gpu-0 after it failed, while gpu-1 was failed: got Healthy after 60 s')),
	wrong('health.settles', 'finds-devices-at-its-start', 'gpu-0 after it was restored, and the plugin was started again: got not listed after 60 s'),
	several(wrong('health.settles', 'all-return-with-one', 'gpu-0, when gpu-1 worked again: got Healthy, expected still failed')),
	several(wrong('health.settles', 'loses-the-second-of-two', 'together with')),
	wrong('health.settles', 'ignores-what-flaps', ', again and again: got'),
	several(wrong('health.settles', 'sends-no-list-without-a-healthy-one', 'gpu-0 after it failed, as the last one of the resource: got Healthy')),
	several(right('health.settles', 'none')),
	// A command that makes all devices work.
	(({args, ...each}) => ({...each, args: [...args.slice(0, -1), `rm -f '${each.env.FAILED_DEVICES}'`]}))(several(right('health.settles', 'none'))),
	wrong('health.settles', 'forgets-what-failed-before-its-start', 'gpu-0 after it was restored, and the plugin was started again: got Unhealthy'),
	wrong('health.settles', 'all-are-well-at-its-start', 'gpu-0 after it failed, and the plugin was started again: got Healthy'),
	// A command for one device only.
	{...right('health.settles', 'notices-one-at-a-time')},
	wrong('health.settles', 'looks-until-a-restart', 'gpu-0 after it failed, after a kubelet\'s restart: got Healthy'),
	wrong('health.settles', 'well-after-a-restart', 'gpu-0 after it failed, and the kubelet restarted: got Healthy'),
	wrong('health.settles', 'changes-need-a-stream', 'gpu-0 after it failed, without a kubelet: got Healthy'),
	wrong('health.device-fails', 'replicas-fail-one-by-one', 'gpu-0::1, which is the same as gpu-0::0, after it failed: got Healthy'),
	right('health.device-fails', 'replicas'),
	wrong('health.device-fails', 'all-nodes-for-each', 'gpu-1, which is the same as gpu-0, after it failed: got Healthy'),
	wrong('health.device-fails', 'listed-twice-when-ill', 'gpu-0 after it failed: got Healthy and Unhealthy, listed twice after 60 s'),
	wrong('health.others-stay', 'allocates-while-all-are-well', 'Allocate of other devices after gpu-0 failed: got INTERNAL a device is lost'),
	wrong('health.others-stay', 'prepares-while-all-are-well', 'PreStartContainer of other devices after gpu-0 failed: got INTERNAL a device is lost'),
	wrong('health.others-stay', 'prefers-while-all-are-well', 'GetPreferredAllocation of other devices after gpu-0 failed: got INTERNAL'),
	wrong('health.others-stay', 'places-while-all-are-well', 'gpu-1 on NUMA nodes: none, before: 1'),
	...['others-stay', 'settles'].map((name) => right(`health.${name}`, 'places')),
	right('health.others-stay', 'prepares-for-6-s'),
	wrong('health.others-stay', 'prefers-what-failed', 'preferred device: got gpu-0, which failed'),
	wrong('health.others-stay', 'all-fail-together', 'gpu-1 is Unhealthy, too'),
	wrong('health.others-stay', 'counts-healthy-devices', 'after gpu-0 failed: got /dev/null for gpu-1, which is that of gpu-0'),
	wrong('health.others-stay', 'counts-healthy-devices-in-their-order', 'after gpu-1 failed: got /dev/null for gpu-0, which is that of gpu-1'),
	wrong('health.others-stay', 'swaps-what-returned', 'after gpu-0 returned: got /dev/zero for gpu-0, which is that of gpu-1'),
	...['prefers', 'nodes-of-their-own', 'shares-fail-together'].map((fault) => right('health.others-stay', fault)),
	wrong('health.allocate', 'allocates-what-failed', 'Allocate of gpu-0 after it failed: got OK'),
	wrong('health.allocate', 'looks-at-the-first-id', 'Allocate of gpu-1 and gpu-0, which failed: got OK'),
	...['device-vanishes', 'ends-when-a-device-fails'].map((fault) => row('health.allocate', fault, {wanted: 'not-applicable', reason: 'does not list a device that failed'})),
	wrong('health.others-stay', 'lists-what-changed', 'gpu-1 is missing from a list of 1'),
	wrong('health.others-stay', 'lists-what-returned', 'gpu-1 is missing from a list of 1'),
	row('health.others-stay', 'ends-when-a-device-fails', {wanted: 'unsupported', reason: 'see health.device-returns'}),
	...['device-fails', 'every-stream', 'device-returns', 'allocated-device', 'allocate', 'others-stay', 'settles'].map((name) => right(`health.${name}`, 'none')),
	...['device-fails', 'device-returns', 'others-stay', 'settles'].map((name) => right(`health.${name}`, 'device-vanishes')),
	right('health.others-stay', 'replicas-vanish'),
	...['device-fails', 'every-stream'].map((name) => right(`health.${name}`, 'ends-when-a-device-fails')),
	{...right('health.device-fails', 'none'), wanted: 'unsupported', args: ['--launcher', 'process'], reason: '--fail-device'},
]);
