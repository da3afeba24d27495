// SPDX-License-Identifier: MIT
// usage: node wrong_protocol.mjs BUILD
// Every check of HTTP/2 and gRPC, on a plugin that is right and on ones that are wrong in exactly the way that the check is about.
import {judgeAll, nodePlugin} from './harness.mjs';

const args = ['--launcher', 'process', '--timeout-percent', '40', '--resource', 'example.com/gpu'];

// For each check the faults, and what the reason of its failure must speak of.
const wrong = {
	settings: {'settings-unacknowledged': 'acknowledgements of our SETTINGS: got 0'},
	authority: {'authority-crash': 'the plugin exited with code 2'},
	'content-types': {'content-type-exact': 'content-type application/grpc+proto: got HTTP status 415'},
	'unknown-methods': {
		'unknown-method-ok': 'an unknown method: got OK', 'unknown-method-hang': 'an unknown method: got no end of the call',
		'unknown-method-internal': 'an unknown method: got INTERNAL', 'unknown-method-crash': 'an unknown method: got the end of the connection',
		'service-ignored': 'an unknown service: got',
	},
	'path-case': {'path-without-case': 'getdevicepluginoptions: got OK', 'service-ignored': '/v1alpha.DevicePlugin/GetDevicePluginOptions: got OK'},
	trailers: {
		'error-without-status': 'grpc-status of Allocate of an id that does not exist: got 0 times',
		'message-unescaped': 'grpc-message of Allocate of an id that does not exist: got unknown device 100 % of',
	},
	ping: {'ping-unanswered': 'PING on a new connection', 'ping-unanswered-idle': 'PING while ListAndWatch is idle'},
	'flow-control': {
		'window-ignored': 'bytes that came for a window of 0', 'window-never-reopened': 'when the window is opened',
		'no-connection-window': 'Allocate of a long id, after',
	},
	'split-frames': {'one-frame-a-message': 'in frames of one byte: got INTERNAL', 'no-continuation': 'in frames of one byte: got the end of the connection'},
	'header-compression': {'no-literal-fields': 'literal header fields: got', 'no-table-size-update': 'a header table of 0 bytes: got'},
	'parallel-calls': {'ten-calls-at-once': 'calls at the same time on one connection: got RESOURCE_EXHAUSTED'},
	'malformed-messages': {
		'malformed-accepted': 'a field that is longer than its message: got OK', 'malformed-crash': 'the plugin exited with code 2',
	},
	'unknown-fields': {'unknown-fields-refused': 'fields of a later API: got INTERNAL'},
	'invalid-text': {'invalid-text-crash': 'the plugin exited with code 2'},
	'message-length': {
		'length-believed': 'KiB of address space more', 'length-crash': 'the plugin exited with code 2',
		'long-request-hang': 'a request of 5 MiB is answered',
	},
	'foreign-bytes': {
		'garbage-crash': 'a call of the kubelet after garbage: got the plugin exited', 'garbage-disconnects-all': 'a call of the kubelet after garbage: got',
		'garbage-kept-open': 'the connection after garbage: got open',
	},
	'slow-clients': {
		'one-connection-at-a-time': 'a new connection after clients that stopped half-way', 'one-call-at-a-time': 'a call of the kubelet after clients that stopped half-way',
	},
	'abrupt-ends': {'descriptor-a-connection': 'open descriptors of the plugin afterwards', 'descriptor-an-open-stream': 'open descriptors of the plugin afterwards'},
	'client-goaway': {'goaway-crash': 'after GOAWAY from a client'},
	deadlines: {'timeout-crash': 'the plugin exited with code 2', 'timeout-refused': 'grpc-timeout 30000000u: got INTERNAL'},
	'reset-flood': {'cancelled-calls-kept': 'after a flood of cancelled calls'},
	'header-flood': {'headers-collected': 'KiB of memory that a flood of headers took'},
};

const rows = Object.entries(wrong).flatMap(([check, byFault]) => [
	...Object.entries(byFault).map(([fault, reason]) => ({check: `protocol.${check}`, plugin: nodePlugin(fault), args, reason})),
	{check: `protocol.${check}`, plugin: nodePlugin(), args, wanted: 'pass'},
]);

rows.push({check: 'protocol.client-goaway', plugin: nodePlugin('goaway-ends-calls'), args, wanted: 'pass'});
// No list on a further stream is no fault of its HTTP/2.
rows.push(...['protocol.ping', 'protocol.flow-control', 'load.slow-reader'].map((check) => ({
	check, plugin: nodePlugin('second-stream-never'), args, wanted: 'unsupported', reason: 'see list-and-watch.two-streams',
})));
rows.push(...['reset-flood', 'abrupt-ends'].map((name) => (
	{check: `protocol.${name}`, plugin: nodePlugin('serves-anew-after-cancelled-streams'), args, wanted: 'pass'})));

await judgeAll(rows, 6);
