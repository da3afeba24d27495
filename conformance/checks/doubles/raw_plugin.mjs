// SPDX-License-Identifier: MIT
// usage: node raw_plugin.mjs MODE PLUGIN-DIR
// A device plugin on nothing but HTTP/2, whose memory is collected as garbage, as that of most plugins is, and which can send what no
// gRPC library sends. MODE:
//   tidy      makes much garbage in each call, and keeps nothing
//   hoards    keeps some memory for each call
//   flood     sends lists as fast as it can, whether they are read or not
//   giant     announces a list of 4 GiB
//   half      sends half a list and no more
//   refuses   ends ListAndWatch before it has listed anything, each time
//   daemon    starts itself again, in a session of its own, and ends
import {spawn} from 'node:child_process';
import {connect as connectHttp2, createServer} from 'node:http2';
import {connect} from 'node:net';
import {join} from 'node:path';

const [mode, directory] = process.argv.slice(2);
if (mode === 'daemon') {
	spawn(process.execPath, [process.argv[1], 'tidy', directory], {detached: true, stdio: 'ignore'}).unref();
	process.exit(0);
}

const devices = ['gpu-0', 'gpu-1'];

// Protocol Buffers: members that are strings or messages.
const varint = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
const member = (number, content) => {
	const bytes = Buffer.from(content);
	return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
};
const message = (...members) => Buffer.concat(members);
function members(bytes) {
	const found = [];
	for (let at = 0; at < bytes.length;) {
		const number = bytes[at++] >> 3;
		let size = 0;
		for (let shift = 0, more = true; more; shift += 7) {
			size |= (bytes[at] & 127) << shift;
			more = bytes[at++] > 127;
		}
		found.push({number, content: bytes.subarray(at, at + size)});
		at += size;
	}
	return found;
}
const framed = (bytes) => {
	const head = Buffer.alloc(5);
	head.writeUInt32BE(bytes.length, 1);
	return Buffer.concat([head, bytes]);
};

const list = framed(message(...devices.map((id) => member(1, message(member(1, id), member(2, 'Healthy'))))));
const kept = [];

function finish(stream, status, text, bytes) {
	stream.once('wantTrailers', () => stream.sendTrailers({'grpc-status': `${status}`, 'grpc-message': text}));
	stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
	stream.end(bytes);
}

function allocate(stream, request) {
	const responses = [];
	for (const {content} of members(request.subarray(5))) {
		const ids = members(content).map((m) => `${m.content}`);
		const unknown = ids.find((id) => !devices.includes(id));
		if (unknown !== undefined) return finish(stream, 5, `unknown device ${encodeURIComponent(unknown)}`);
		const nodes = ids.map((id) => member(3, message(member(1, `/dev/${id}`), member(2, '/dev/null'), member(3, 'rw'))));
		responses.push(member(1, message(...nodes)));
	}
	const garbage = Array.from({length: 200}, (_, i) => ({i, text: `${Math.random()}`.repeat(4)}));
	if (mode === 'hoards') kept.push(garbage);
	finish(stream, 0, '', framed(message(...responses)));
}

function watch(stream) {
	if (mode === 'refuses') return finish(stream, 13, 'no NVML');
	stream.respond({':status': 200, 'content-type': 'application/grpc'});
	if (mode === 'giant') return stream.write(Buffer.concat([Buffer.from([0, 255, 255, 255, 255]), list]));
	if (mode === 'half') return stream.write(list.subarray(0, list.length - 3));
	stream.write(list);
	const more = () => {
		for (let i = 0; i < 100 && !stream.destroyed && stream.writableLength < 1 << 26; i++) stream.write(list);
		if (!stream.destroyed) setImmediate(more);
	};
	if (mode === 'flood') more();
}

const socket = `raw-${process.pid}.sock`;
const server = createServer();
server.on('stream', (stream, headers) => {
	const chunks = [];
	stream.on('error', () => {});
	stream.on('data', (chunk) => chunks.push(chunk));
	stream.on('end', () => {
		const method = headers[':path'].split('/')[2];
		if (method === 'ListAndWatch') watch(stream);
		else if (method === 'Allocate') allocate(stream, Buffer.concat(chunks));
		else if (method === 'GetDevicePluginOptions' || method === 'PreStartContainer') finish(stream, 0, '', framed(Buffer.alloc(0)));
		else finish(stream, 12, `unknown method ${method}`);
	});
});
server.on('sessionError', () => {});
server.listen(join(directory, socket), () => {
	const client = connectHttp2('http://localhost', {createConnection: () => connect(join(directory, 'kubelet.sock'))});
	client.on('error', (error) => {
		console.error(error.message);
		process.exit(1);
	});
	const call = client.request({
		':method': 'POST', ':path': '/v1beta1.Registration/Register', 'content-type': 'application/grpc', te: 'trailers',
	});
	call.on('trailers', (trailers) => {
		if (trailers['grpc-status'] !== '0') console.error(`Register: ${trailers['grpc-message']}`);
	});
	call.on('error', (error) => console.error(error.message));
	call.on('close', () => client.close());
	call.resume();
	call.end(framed(message(member(1, 'v1beta1'), member(2, socket), member(3, 'example.com/gpu'))));
});
process.on('SIGTERM', () => process.exit(0));
