// SPDX-License-Identifier: MIT
// usage: node node_plugin.mjs PLUGIN-DIR [FAULT]
// A device plugin on Node's HTTP/2, without a gRPC library, and with at most one fault: each entry of `faults` changes the plugin in
// one way in which plugins of others have failed, or could.
import {spawn, spawnSync} from 'node:child_process';
import {chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, watch, writeFileSync} from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import {tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {Duplex} from 'node:stream';

const [directory, fault = 'none', ...values] = process.argv.slice(2);
const kubeletSocket = join(directory, 'kubelet.sock');

/*
 * Protobuf and gRPC's framing.
 */

const varint = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
const bytes = (number, value) => {
	const data = Buffer.from(value);
	return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(data.length)]), data]);
};
const message = (...parts) => Buffer.concat(parts);

// The fields of a message as [number, value]; throws when it is malformed.
function fields(data) {
	const found = [];
	let at = 0;
	const number = () => {
		let value = 0;
		for (let shift = 0; ; shift += 7) {
			if (at >= data.length || shift > 63) throw new Error('malformed message');
			const byte = data[at++];
			value += (byte & 127) * 2 ** shift;
			if (byte < 128) return value;
		}
	};
	while (at < data.length) {
		const tag = number();
		if ((tag & 7) === 0) found.push([tag >>> 3, number()]);
		else if ((tag & 7) === 2) {
			const size = number();
			if (at + size > data.length) throw new Error('malformed message');
			found.push([tag >>> 3, data.subarray(at, (at += size))]);
		} else throw new Error('malformed message');
	}
	return found;
}

const framed = (data) => Buffer.concat([Buffer.from([0, data.length >>> 24, data.length >>> 16, data.length >>> 8, data.length]), data]);
const escaped = (text) => Buffer.from(text).reduce((out, c) => out + (c >= 32 && c < 127 && c !== 37 ? String.fromCharCode(c) : `%${c.toString(16).padStart(2, '0')}`), '');

class Status extends Error {
	constructor(code, text) {
		super(text);
		this.code = code;
	}
}
const [UNKNOWN_ID, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, UNIMPLEMENTED, INTERNAL] = [5, 8, 9, 12, 13];
const MESSAGE_MAX = 4 << 20;

/*
 * The plugin. Faults replace members.
 */

let generation = 0;
const plugin = {
	resource: 'example.com/gpu',
	ids: ['gpu-0', 'gpu-1'],
	options: message(),
	settings: {maxConcurrentStreams: 256},
	streams: new Set(), // open ListAndWatch
	sessions: new Set(),
	retryMs: 1000,
	registered: 0,
	allocations: 0,

	socketName: () => `node-${process.pid}-${generation++}.sock`,
	endpoint: () => basename(plugin.socket),
	// The ids of devices that failed are in the file that FAILED_DEVICES names.
	failed: () => (existsSync(process.env.FAILED_DEVICES ?? '') ? readFileSync(process.env.FAILED_DEVICES, 'utf8').split('\n') : []),
	device: (id, failed) => bytes(1, message(bytes(1, id), bytes(2, failed ? 'Unhealthy' : 'Healthy'))),
	list: () => message(...plugin.ids.map((id) => plugin.device(id, plugin.failed().includes(id)))),
	sent: '',
	lookAtDevices() {
		const failed = plugin.failed().join();
		if (failed === plugin.sent) return;
		plugin.sent = failed;
		for (const stream of plugin.streams) stream.write(framed(plugin.list()));
	},
	mount: (to, from) => bytes(2, message(bytes(1, to), bytes(2, from), Buffer.from([24, 1]))),
	variable: (name, value) => bytes(1, message(bytes(1, name), bytes(2, value))),
	files: () => [plugin.mount('/opt/driver.json', '/etc/hostname')],
	node: () => '/dev/null',
	permissions: () => 'rw',
	answer(ids) {
		const nodes = ids.map((id, i) => bytes(3, message(bytes(1, `/dev/gpu/${id}`), bytes(2, plugin.node(id)), bytes(3, plugin.permissions(i)))));
		return message(...nodes, ...(ids.length > 0 ? plugin.files(ids) : []));
	},
	knows: (id) => plugin.ids.includes(id),
	refuse(id) {
		throw new Status(UNKNOWN_ID, `unknown device ${id}`);
	},

	// The ids of an AllocateRequest.
	requested: (data) => fields(data).filter(([n]) => n === 1).map(([, container]) => fields(container).filter(([n]) => n === 1).map(([, id]) => id.toString())),
	refuses: (id) => plugin.failed().includes(id),
	allocate(data) {
		plugin.allocations++;
		return message(...plugin.requested(data).map((ids) => {
			for (const id of ids) if (!plugin.knows(id, ids)) plugin.refuse(id);
			for (const id of ids) if (plugin.refuses(id, ids)) throw new Status(INTERNAL, `${id} is unhealthy`);
			return bytes(1, plugin.answer(ids));
		}));
	},
	prefer: (available, must, size) => [...must, ...available.filter((id) => !must.includes(id))].slice(0, size),
	preferred: (data) => message(...fields(data).filter(([n]) => n === 1).map(([, container]) => {
		const members = fields(container);
		const texts = (number) => members.filter(([n]) => n === number).map(([, id]) => id.toString());
		const size = members.find(([n]) => n === 3)?.[1] ?? 0;
		return bytes(1, message(...plugin.prefer(texts(1), texts(2), size).map((id) => bytes(1, id))));
	})),
	methods: {
		GetDevicePluginOptions: () => plugin.options,
		Allocate: (data) => plugin.allocate(data),
		GetPreferredAllocation: () => { throw new Status(UNIMPLEMENTED, 'not offered'); },
		PreStartContainer: () => message(),
	},
	find: (path) => (path.startsWith('/v1beta1.DevicePlugin/') ? path.slice('/v1beta1.DevicePlugin/'.length) : null),
	acceptsType: (type) => type?.startsWith('application/grpc') ?? false,

	// One message of a request; throws a Status.
	unframe(data) {
		const size = data.length >= 5 ? data.readUInt32BE(1) : 0;
		if (size > MESSAGE_MAX) throw new Status(RESOURCE_EXHAUSTED, 'message too large');
		if (data.length < 5 || data.length !== size + 5) throw new Status(INTERNAL, 'incomplete message');
		if (data[0] !== 0) throw new Status(INTERNAL, 'compressed without an encoding');
		return data.subarray(5);
	},
	tooLong: (size) => size > MESSAGE_MAX + 5,
	readRequest(stream, done) {
		const parts = [];
		let size = 0;
		stream.on('data', (part) => {
			size += part.length;
			if (!plugin.tooLong(size)) parts.push(part);
		});
		stream.on('end', () => done(plugin.tooLong(size) ? new Status(RESOURCE_EXHAUSTED, 'message too large') : Buffer.concat(parts)));
	},
	finish(stream, code, text = '') {
		if (stream.closed || stream.destroyed) return;
		const trailers = {'grpc-status': `${code}`, ...(text !== '' && {'grpc-message': escaped(text)})};
		if (!stream.headersSent) stream.respond({':status': 200, 'content-type': 'application/grpc', ...trailers}, {endStream: true});
	},
	reply(stream, data) {
		if (stream.closed || stream.destroyed) return;
		stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
		stream.on('wantTrailers', () => stream.sendTrailers({'grpc-status': '0'}));
		stream.end(framed(data));
	},
	unary(stream, name, data) {
		try {
			plugin.reply(stream, plugin.methods[name](plugin.unframe(data)));
		} catch (error) {
			plugin.finish(stream, error.code ?? INTERNAL, error.message);
		}
	},
	watch(stream) {
		plugin.streams.add(stream);
		stream.on('close', () => plugin.streams.delete(stream));
		stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
		stream.on('wantTrailers', () => stream.sendTrailers({'grpc-status': '14', 'grpc-message': 'stopping'}));
		stream.write(framed(plugin.list()));
	},
	unknown: (stream) => plugin.finish(stream, UNIMPLEMENTED, 'unknown method'),
	onStream(stream, headers) {
		stream.on('error', () => {});
		if (!plugin.acceptsType(headers['content-type'])) {
			stream.respond({':status': 415}, {endStream: true});
			return;
		}
		const name = plugin.find(headers[':path']);
		plugin.readRequest(stream, (data) => {
			if (stream.destroyed) return;
			if (name === 'ListAndWatch') plugin.watch(stream);
			else if (plugin.methods[name] === undefined) plugin.unknown(stream, name);
			else if (data instanceof Status) plugin.finish(stream, data.code, data.message);
			else plugin.unary(stream, name, data);
		});
	},
	onSessionError(session) {
		session.destroy();
	},
	incoming: null, // (frame) => frames: what the server sees of a client's frames
	outgoing: null,
	accept: (socket) => plugin.http.emit('connection', plugin.incoming || plugin.outgoing ? filtered(socket) : socket),
	onConnection(socket) {
		socket.on('error', () => socket.destroy());
		plugin.accept(socket);
	},

	listen(done) {
		plugin.inode = 0;
		plugin.socket = join(directory, plugin.socketName());
		plugin.server = net.createServer((socket) => plugin.onConnection(socket));
		plugin.server.listen(plugin.socket, done);
		// Bound by now, while by the time of the callback another instance may have replaced it.
		plugin.inode = inode(plugin.socket);
	},
	closeServer() {
		plugin.server?.close(); // which removes the file, if it is its own
	},
	disconnect() {
		for (const session of plugin.sessions) session.destroy();
	},
	stop() {
		for (const stream of plugin.streams) stream.end();
		if (inode(plugin.socket) === plugin.inode && plugin.inode !== 0) unlinkSync(plugin.socket);
		setTimeout(() => process.exit(plugin.endCode), 20);
	},
	endCode: 0,

	refused: () => setTimeout(() => plugin.register(), plugin.retryMs),
	succeeded: () => plugin.registered++,
	version: 'v1beta1',
	register() {
		const {socket} = plugin;
		callKubelet('/v1beta1.Registration/Register', message(bytes(1, plugin.version), bytes(2, plugin.endpoint()), bytes(3, plugin.resource), bytes(4, plugin.options)), (code, answered) => {
			if (code === 0) plugin.succeeded();
			else if (socket === plugin.socket) plugin.refused(code, answered);
		});
	},
	begin() {
		if (existsSync(directory)) plugin.listen(() => plugin.register());
	},
	restarts: 0,
	again() {
		plugin.restarts++;
		plugin.disconnect();
		plugin.closeServer();
		plugin.begin();
	},
	// Something changed in the directory.
	look() {
		const now = inode(kubeletSocket);
		const fresh = now !== 0 && now !== plugin.kubelet;
		const gone = plugin.inode !== 0 && inode(plugin.socket) !== plugin.inode;
		plugin.kubelet = now;
		if (fresh || (gone && now !== 0)) plugin.again();
	},
	watchDirectory() {
		// A directory that is made anew has another identity, which a watch does not follow.
		const own = inode(directory);
		plugin.watcher?.close();
		plugin.directory = own;
		if (own === 0) return;
		plugin.watcher = watch(directory, () => plugin.look());
		plugin.watcher.on('error', () => {});
	},
	poll() {
		if (inode(directory) === plugin.directory || inode(directory) === 0) return;
		plugin.watchDirectory();
		plugin.look();
	},
	start() {
		plugin.kubelet = inode(kubeletSocket);
		plugin.watchDirectory();
		setInterval(() => plugin.poll(), 500);
		plugin.sent = plugin.failed().join();
		if (process.env.FAILED_DEVICES) setInterval(() => plugin.lookAtDevices(), 100);
		process.on('SIGTERM', () => plugin.stop());
		plugin.begin();
	},
};

function inode(path) {
	try {
		const {ino, birthtimeMs} = statSync(path);
		return `${ino} ${birthtimeMs}`;
	} catch {
		return 0;
	}
}

function callKubelet(path, data, done) {
	let over = false;
	let status;
	const end = (code) => {
		if (over) return;
		over = true;
		session.destroy();
		done(code, status !== undefined);
	};
	const session = http2.connect('http://localhost', {createConnection: () => net.connect(kubeletSocket)});
	session.on('error', () => end(14));
	session.on('close', () => end(14));
	if (plugin.deadlineMs) setTimeout(() => end(4), plugin.deadlineMs);
	const stream = session.request({':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers'});
	stream.on('error', () => end(14));
	stream.on('response', (headers) => (status ??= headers['grpc-status']));
	stream.on('trailers', (headers) => (status ??= headers['grpc-status']));
	stream.on('data', () => {});
	stream.on('end', () => setImmediate(() => end(Number(status ?? 2))));
	stream.end(framed(data));
}

// The socket with its frames passed through plugin.incoming and plugin.outgoing: (type, flags, stream, payload) => payload, or null.
function filtered(socket) {
	const PREFACE = 24;
	const cut = (pass, preface) => {
		let rest = Buffer.alloc(0);
		let due = preface;
		return (data) => {
			const out = [];
			rest = Buffer.concat([rest, data]);
			if (due > 0) {
				if (rest.length < due) return Buffer.alloc(0);
				out.push(rest.subarray(0, due));
				rest = rest.subarray(due);
				due = 0;
			}
			while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
				const size = rest.readUIntBE(0, 3);
				const frame = Buffer.from(rest.subarray(0, 9 + size));
				rest = rest.subarray(9 + size);
				const payload = pass === null ? frame.subarray(9) : pass(frame[3], frame[4], frame.readUInt32BE(5), frame.subarray(9), socket);
				if (payload !== null) out.push(frame.subarray(0, 9), payload);
			}
			return Buffer.concat(out);
		};
	};
	const into = cut(plugin.incoming, PREFACE);
	const from = cut(plugin.outgoing, 0);
	const duplex = new Duplex({
		read() {},
		write(data, encoding, done) {
			if (!socket.destroyed) socket.write(from(data));
			done();
		},
		final(done) {
			socket.end();
			done();
		},
		destroy(error, done) {
			socket.destroy();
			done(error);
		},
	});
	socket.on('data', (data) => duplex.push(into(data)));
	socket.on('close', () => duplex.destroy());
	return duplex;
}

const [, HEADERS, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION] = [0, 1, 4, 6, 8, 9];
const ACK = 1;
const die = (why) => {
	console.error(`panic: ${why}`);
	process.exit(2);
};
const unlike = (name, change) => {
	const before = plugin[name];
	plugin[name] = (...args) => change(before, ...args);
};

const faults = {
	none() {},
	/* The protocol. */
	'settings-unacknowledged': () => (plugin.outgoing = (type, flags, id, data) => (type === SETTINGS && flags === ACK ? null : data)),
	'authority-crash': () => unlike('onStream', (before, stream, headers) => (headers[':authority']?.startsWith('%') ? die('authority') : before(stream, headers))),
	'content-type-exact': () => (plugin.acceptsType = (type) => type === 'application/grpc'),
	'unknown-method-ok': () => (plugin.unknown = (stream) => plugin.reply(stream, message())),
	'unknown-method-hang': () => (plugin.unknown = () => {}),
	'unknown-method-internal': () => (plugin.unknown = (stream) => plugin.finish(stream, INTERNAL, 'what?')),
	'unknown-method-crash': () => (plugin.unknown = () => die('unknown method')),
	'service-ignored': () => (plugin.find = (path) => path.split('/').at(-1)),
	'path-without-case': () => {
		const names = [...Object.keys(plugin.methods), 'ListAndWatch'];
		plugin.find = (path) => names.find((name) => path.toLowerCase() === `/v1beta1.deviceplugin/${name.toLowerCase()}`) ?? null;
	},
	'error-without-status': () => (plugin.finish = (stream) => stream.respond({':status': 200, 'content-type': 'application/grpc'}, {endStream: true})),
	'message-unescaped': () => (plugin.finish = (stream, code, text) => stream.respond({':status': 200, 'content-type': 'application/grpc', 'grpc-status': `${code}`, 'grpc-message': text.replace(/[^ -~]/g, '?')}, {endStream: true})),
	'ping-unanswered': () => (plugin.incoming = (type, flags, id, data) => (type === PING ? null : data)),
	'ping-unanswered-idle': () => (plugin.incoming = (type, flags, id, data) => (type === PING && plugin.streams.size > 1 ? null : data)),
	'window-ignored': () => (plugin.incoming = (type, flags, id, data) => (type === SETTINGS && flags !== ACK ? Buffer.alloc(data.length).fill(Buffer.from([0, 4, 127, 255, 255, 255])) : data)),
	'window-never-reopened': () => (plugin.incoming = (type, flags, id, data) => (type === WINDOW_UPDATE && id !== 0 ? null : data)),
	'one-frame-a-message': () => (plugin.readRequest = (stream, done) => {
		stream.once('data', done);
		stream.resume();
	}),
	'no-continuation': () => (plugin.incoming = (type, flags, id, data, socket) => (type === CONTINUATION ? (socket.destroy(), null) : data)),
	'no-literal-fields': () => (plugin.incoming = (type, flags, id, data, socket) => (type === HEADERS && data[0] === 0 ? (socket.destroy(), null) : data)),
	'no-table-size-update': () => (plugin.incoming = (type, flags, id, data, socket) => (type === HEADERS && data[0] === 0x20 ? (socket.destroy(), null) : data)),
	'ten-calls-at-once': () => {
		let open = 0;
		unlike('onStream', (before, stream, headers) => {
			if (++open > 10) return plugin.finish(stream, RESOURCE_EXHAUSTED, 'busy');
			stream.on('close', () => open--);
			before(stream, headers);
		});
	},
	'malformed-accepted': () => unlike('allocate', (before, data) => {
		try {
			return before(data);
		} catch (error) {
			return error instanceof Status ? (() => { throw error; })() : message();
		}
	}),
	'malformed-crash': () => unlike('requested', (before, data) => {
		try {
			return before(data);
		} catch {
			return die('unexpected EOF');
		}
	}),
	'unknown-fields-refused': () => unlike('requested', (before, data) => {
		if (fields(data).some(([n]) => n > 1)) throw new Status(INTERNAL, 'unknown field');
		return before(data);
	}),
	'invalid-text-crash': () => unlike('requested', (before, data) => {
		try {
			for (const [n, container] of fields(data)) if (n === 1) for (const [, id] of fields(container)) new TextDecoder('utf-8', {fatal: true}).decode(id);
		} catch (error) {
			if (error instanceof TypeError) die(error);
		}
		return before(data);
	}),
	'length-believed': () => unlike('unframe', (before, data) => {
		plugin.buffer = Buffer.allocUnsafeSlow(data.length >= 5 ? data.readUInt32BE(1) : 0);
		return before(data);
	}),
	'length-crash': () => unlike('unframe', (before, data) => (data.length >= 5 && data.readUInt32BE(1) > 1 << 30 ? die('makeslice: len out of range') : before(data))),
	'long-request-hang': () => unlike('readRequest', (before, stream, done) => before(stream, (data) => (data instanceof Status ? undefined : done(data)))),
	'garbage-crash': () => (plugin.onSessionError = () => die('bad preface')),
	'garbage-disconnects-all': () => (plugin.onSessionError = () => plugin.disconnect()),
	'garbage-kept-open': () => (plugin.onConnection = (socket) => {
		socket.on('error', () => {});
		socket.once('data', (data) => {
			if (!data.toString().startsWith('PRI')) return;
			socket.pause();
			socket.unshift(data);
			plugin.accept(socket);
		});
	}),
	'one-connection-at-a-time': () => {
		const waiting = [];
		let busy = false;
		const next = () => {
			const socket = waiting.shift();
			busy = socket !== undefined;
			if (!busy) return;
			let seen = 0;
			const on = (data) => {
				seen += data.length;
				if (seen < 24) return;
				socket.off('data', on);
				socket.pause();
				socket.unshift(data);
				plugin.accept(socket);
				next();
			};
			socket.on('close', () => seen < 24 && next());
			socket.on('error', () => {});
			socket.on('data', on);
		};
		plugin.onConnection = (socket) => {
			waiting.push(socket);
			if (!busy) next();
		};
	},
	'one-call-at-a-time': () => {
		const waiting = [];
		let busy = null;
		const next = () => {
			busy = waiting.shift() ?? null;
			busy?.();
		};
		unlike('onStream', (before, stream, headers) => {
			if (headers[':path'].endsWith('ListAndWatch')) return before(stream, headers);
			waiting.push(() => {
				stream.on('close', next);
				before(stream, headers);
			});
			if (busy === null) next();
		});
	},
	'descriptor-a-connection': () => unlike('onConnection', (before, socket) => {
		openSync('/dev/null');
		before(socket);
	}),
	'descriptor-an-open-stream': () => unlike('watch', (before, stream) => {
		const fd = openSync('/dev/null');
		stream.on('end', () => closeSync(fd)); // which does not come for one that is reset
		before(stream);
	}),
	'no-connection-window': () => (plugin.outgoing = (type, flags, id, data) => (type === 8 && id === 0 ? null : data)),
	'goaway-crash': () => (plugin.onSession = (session) => session.on('goaway', () => die('GOAWAY'))),
	'goaway-ends-calls': () => (plugin.onSession = (session) => session.on('goaway', () => session.destroy())),
	'timeout-crash': () => unlike('onStream', (before, stream, headers) => (/^\d+[HMSmun]$/.test(headers['grpc-timeout'] ?? '1S') ? before(stream, headers) : die('invalid duration'))),
	'timeout-refused': () => unlike('onStream', (before, stream, headers) => (headers['grpc-timeout'] ? plugin.finish(stream, INTERNAL, 'what?') : before(stream, headers))),
	'cancelled-calls-kept': () => {
		let free = 1000;
		unlike('onStream', (before, stream, headers) => {
			if (free <= 0) return;
			free--;
			stream.on('close', () => stream.rstCode === 0 && free++);
			before(stream, headers);
		});
	},
	'headers-collected': () => {
		const collected = new Map();
		plugin.incoming = (type, flags, id, data) => {
			if (type !== HEADERS && type !== CONTINUATION) return data;
			const whole = [...(collected.get(id) ?? []), data];
			if ((flags & 4) !== 0) return data;
			collected.set(id, whole);
			return null;
		};
	},
	/* Registration. */
	'no-retry': () => (plugin.refused = () => {}),
	'four-attempts': () => {
		let count = 0;
		unlike('refused', (before) => ++count < 4 && before());
	},
	'no-retry-after-restarts': () => unlike('refused', (before) => plugin.registered === 0 && before()),
	// Of an attempt that was refused its socket stays.
	'socket-an-attempt': () => (plugin.refused = () => setTimeout(() => plugin.begin(), plugin.retryMs)),
	// Two of its goroutines notice a restart of the kubelet.
	'registers-twice-after-a-restart': () => unlike('succeeded', (before) => {
		before();
		if (plugin.registered === 2) setTimeout(() => plugin.register(), 100);
	}),
	'retry-at-once': () => (plugin.retryMs = 5),
	'exit-0-when-refused': () => (plugin.refused = () => process.exit(0)),
	'crash-when-refused': () => (plugin.refused = () => process.kill(process.pid, 'SIGSEGV')),
	'nil-when-refused': () => (plugin.refused = () => die('runtime error: invalid memory address or nil pointer dereference')),
	/* Right: they end with an error, or print where it came from and try again. */
	'exit-when-refused': () => (plugin.refused = () => process.exit(1)),
	'panic-when-refused': () => (plugin.refused = () => die('rpc error: code = Unavailable')),
	'trace-when-refused': () => unlike('refused', (before, ...args) => (console.error(new Error('Register')), before(...args))),
	'deadline-300-ms': () => (plugin.deadlineMs = 300),
	'waits-only-at-start': () => unlike('start', (before) => (existsSync(kubeletSocket) ? before() : (process.on('SIGTERM', () => process.exit(0)), setInterval(() => {}, 1000)))),
	'spins-without-kubelet': () => setInterval(() => {
		for (const end = Date.now() + 300; !existsSync(kubeletSocket) && Date.now() < end;);
	}, 300),
	'removes-foreign-file': () => unlike('start', (before) => {
		rmSync(kubeletSocket, {force: true});
		before();
	}),
	'crash-on-foreign-file': () => unlike('refused', (before, code) => (existsSync(kubeletSocket) && !statSync(kubeletSocket).isSocket() ? process.kill(process.pid, 'SIGABRT') : before(code))),
	/* Right, as upstream's stub does. */
	'heeds-deprecation': () => unlike('register', (before) => existsSync(join(directory, 'DEPRECATION')) || before()),
	'removes-deprecation': () => rmSync(join(directory, 'DEPRECATION'), {force: true}),
	'crash-on-deprecation': () => existsSync(join(directory, 'DEPRECATION')) && process.kill(process.pid, 'SIGABRT'),
	/* Restarts. */
	'first-restart-only': () => unlike('again', (before) => plugin.restarts === 0 && before()),
	'two-restarts': () => unlike('again', (before) => plugin.restarts < 2 && before()),
	'stale-endpoint-later': () => {
		unlike('endpoint', (before) => {
			plugin.first ??= before();
			return plugin.restarts >= 3 ? plugin.first : before();
		});
	},
	'empty-list-later': () => unlike('list', (before) => (plugin.restarts >= 2 ? message() : before())),
	'allocate-fails-later': () => unlike('allocate', (before, data) => {
		if (plugin.restarts >= 2) throw new Status(INTERNAL, 'unknown context');
		return before(data);
	}),
	'descriptor-a-restart': () => unlike('again', (before) => {
		openSync('/dev/null');
		before();
	}),
	'temporary-folder-a-restart': () => unlike('again', (before) => {
		mkdtempSync(join(tmpdir(), 'plugin-'));
		before();
	}),
	'remembers-unknown-ids': () => {
		const unknown = new Map();
		unlike('refuse', (before, id) => {
			if (!unknown.has(id)) unknown.set(id, Buffer.alloc(1 << 18, 1));
			before(id);
		});
	},
	'temporary-file-a-call': (folder = tmpdir()) => unlike('answer', (before, ids) => {
		writeFileSync(join(folder, `plugin-${plugin.allocations}`), '');
		return before(ids);
	}),
	'old-listener-kept': () => (plugin.closeServer = () => plugin.server.ref()),
	'watches-late': () => {
		plugin.start = () => {
			process.on('SIGTERM', () => plugin.stop());
			plugin.begin();
		};
		unlike('succeeded', (before) => {
			before();
			if (plugin.registered > 1) return;
			setTimeout(() => {
				plugin.kubelet = inode(kubeletSocket);
				plugin.watchDirectory();
			}, 1000);
		});
	},
	'stuck-after-absence': () => unlike('look', (before) => {
		if (!existsSync(kubeletSocket)) plugin.lost ??= Date.now();
		else if (plugin.lost && Date.now() - plugin.lost > 1500) return;
		else plugin.lost = undefined;
		before();
	}),
	'stuck-in-register': () => {
		let hung = false;
		unlike('register', (before) => {
			hung = true;
			before();
		});
		unlike('succeeded', (before) => {
			hung = false;
			before();
		});
		plugin.refused = () => {};
		unlike('again', (before) => !hung && before());
	},
	'serves-one-connection': () => unlike('onConnection', (before, socket) => {
		socket.on('close', () => (plugin.onConnection = () => {}));
		before(socket);
	}),
	'exit-on-disconnect': () => unlike('watch', (before, stream) => {
		before(stream);
		stream.on('close', () => process.exit(1));
	}),
	'second-stream-never': () => {
		let opened = 0;
		unlike('watch', (before, stream) => (opened++ === 0 ? before(stream) : stream.respond({':status': 200, 'content-type': 'application/grpc'})));
	},
	// Bound under another name first: otherwise another instance may replace it before its identity is known, which ends the fight.
	'fights-for-its-socket': () => {
		plugin.socketName = () => `.node-${process.pid}-${generation++}.sock`;
		unlike('listen', (before, done) => before(() => {
			const shared = join(directory, 'node.sock');
			renameSync(plugin.socket, shared);
			plugin.socket = shared;
			done();
		}));
	},
	/* Right: its second device turns unhealthy now and then, and is refused then. */
	flickers: () => {
		let ill = false;
		plugin.failed = () => (ill ? ['gpu-1'] : []);
		setInterval(() => {
			ill = !ill;
			plugin.lookAtDevices();
		}, 150);
	},
	/* Right: it knows no device for its first two seconds. */
	'devices-come-late': () => {
		const {ids} = plugin;
		plugin.ids = [];
		setTimeout(() => {
			plugin.ids = ids;
			for (const stream of plugin.streams) stream.write(framed(plugin.list()));
		}, 2000);
	},
	/* Right: the first list of a stream comes late. */
	'lists-late': (ms) => unlike('onStream', (before, stream, headers) => setTimeout(() => before(stream, headers), headers[':path'].endsWith('ListAndWatch') ? ms : 0)),
	'lists-late-after-a-restart': (ms) => unlike('onStream', (before, stream, headers) => setTimeout(() => before(stream, headers), plugin.restarts > 0 && headers[':path'].endsWith('ListAndWatch') ? ms : 0)),
	'lists-late-and-leaks': (ms) => {
		faults['descriptor-an-open-stream']();
		faults['lists-late'](ms);
	},
	/* Right: one stream and one call are what a kubelet needs. */
	'one-stream-at-a-time': () => (plugin.settings = {maxConcurrentStreams: 1}),
	'two-streams-at-a-time': () => (plugin.settings = {maxConcurrentStreams: 2}),
	/* Right: whatever kubelet comes, it is back when its stream ends. */
	'registers-at-the-end-of-a-stream': () => {
		unlike('watch', (before, stream) => {
			before(stream);
			stream.on('close', () => setTimeout(() => plugin.register(), 100));
		});
	},
	/* A data race that ends it, which no answer shows. */
	'ends-after-calls-at-once': () => {
		let calls = 0;
		faults.prefers();
		unlike('allocate', (before, data) => {
			if (++calls === 8) setTimeout(() => { console.error('fatal error: concurrent map writes'); process.exit(2); }, 5);
			setTimeout(() => calls--, 5);
			return before(data);
		});
	},
	/* Right: its supervisor starts it again when the kubelet has left its last stream. */
	'ends-with-its-streams': () => {
		unlike('watch', (before, stream) => {
			before(stream);
			stream.on('close', () => plugin.streams.size === 0 && plugin.stop());
		});
	},
	/* Kubelets from 1.37 take the second instance's registration for the first's. */
	'one-socket-name': () => {
		faults['registers-at-the-end-of-a-stream']();
		plugin.socketName = () => 'node.sock';
		unlike('listen', (before, done) => {
			rmSync(join(directory, 'node.sock'), {force: true});
			before(done);
		});
		unlike('look', (before) => {
			if (inode(kubeletSocket) !== plugin.kubelet) before();
		});
	},
	'one-socket-name-until-listed': () => {
		faults['one-socket-name']();
		plugin.succeeded = () => setTimeout(() => plugin.streams.size === 0 && plugin.register(), 100);
	},
	/* Right, as is a socket in a folder of the plugin's own, which no kubelet removes. */
	'ends-with-1': () => (plugin.endCode = 1),
	'socket-in-a-folder': () => {
		mkdirSync(join(directory, 'node'), {recursive: true});
		plugin.socketName = () => `node/${process.pid}-${generation++}.sock`;
		plugin.endpoint = () => plugin.socket.slice(directory.length + 1);
	},
	'files-go-with-it': () => {
		const path = join(dirname(directory), `node-${process.pid}.json`);
		writeFileSync(path, '{}');
		plugin.files = () => [bytes(2, message(bytes(1, '/opt/driver.json'), bytes(2, path), Buffer.from([24, 1])))];
		unlike('stop', (before) => {
			rmSync(path);
			before();
		});
	},
	/* Answers. */
	'three-devices-at-most': () => {
		plugin.ids = ['gpu-0', 'gpu-1', 'gpu-2', 'gpu-3'];
		plugin.node = (id) => ['/dev/null', '/dev/zero', '/dev/full', '/dev/random'][plugin.ids.indexOf(id)];
		unlike('answer', (before, ids) => before(ids.slice(0, 3)));
	},
	'reads-the-second-device-only': () => {
		faults['nodes-of-their-own']();
		plugin.permissions = (i) => (i === 0 ? 'rw' : 'r');
	},
	'remembers-by-the-least-id': () => {
		const answers = new Map();
		plugin.ids = ['gpu-0', 'gpu-1', 'gpu-2', 'gpu-3'];
		plugin.node = (id) => ['/dev/null', '/dev/zero', '/dev/full', '/dev/random'][plugin.ids.indexOf(id)];
		unlike('answer', (before, ids) => {
			const key = `${ids.length} ${[...ids].sort()[0]}`;
			if (!answers.has(key)) answers.set(key, before(ids));
			return answers.get(key);
		});
	},
	'looks-at-the-first-only': () => {
		let first = '';
		plugin.ids = ['gpu-0', 'gpu-1'];
		plugin.failed = () => ['gpu-1'];
		unlike('knows', (before, id, ids) => {
			first = ids[0];
			return before(id);
		});
		unlike('refuses', (before, id) => id === first && before(id));
	},
	'knows-what-comes-with-others': () => unlike('knows', (before, id, ids) => ids.some((other) => before(other))),
	'knows-beginnings': () => (plugin.knows = (id) => plugin.ids.some((known) => id.startsWith(known))),
	'knows-any-case': () => (plugin.knows = (id) => plugin.ids.includes(id.toLowerCase())),
	'variable-of-the-process': () => unlike('answer', (before, ids) => message(before(ids), plugin.variable('SESSION', `${process.pid}`))),
	'variable-of-the-registration': () => unlike('answer', (before, ids) => message(before(ids), plugin.variable('SESSION', `${plugin.restarts}`))),
	'variable-of-the-next-device': () => unlike('answer', (before, ids) =>
		message(before(ids), plugin.variable('GPU_VISIBLE_DEVICES', ids.map((id) => plugin.ids.find((other) => other !== id)).join()))),
	// CDI devices in Specs that Allocate writes: one file for each device, or one that each call replaces.
	'a-spec-for-each': (folder, path = (ids) => `${ids.join('_')}.json`) => (plugin.answer = (ids) => {
		const devices = ids.map((name) => ({name, containerEdits: {deviceNodes: [{path: `/dev/gpu/${name}`, hostPath: '/dev/null'}]}}));
		if (ids.length > 0) writeFileSync(join(folder, path(ids)), JSON.stringify({cdiVersion: '0.6.0', kind: 'example.com/gpu', devices}));
		return message(...ids.map((id) => bytes(5, bytes(1, `example.com/gpu=${id}`))));
	}),
	'a-spec-for-the-latest': (folder) => faults['a-spec-for-each'](folder, () => 'gpu.json'),
	'specs-of-the-registration': (folder) => {
		faults['a-spec-for-each'](folder);
		unlike('again', (before) => {
			for (const name of readdirSync(folder)) rmSync(join(folder, name));
			before();
		});
	},
	'one-file-for-all': () => (plugin.files = (ids) => {
		const path = join(dirname(directory), `node-${process.pid}.conf`);
		writeFileSync(path, ids.join());
		return [plugin.mount('/etc/gpu.conf', path)];
	}),
	'a-file-for-each': () => (plugin.files = (ids) => ids.map((id) => {
		const path = join(dirname(directory), `node-${process.pid}-${id}.conf`);
		writeFileSync(path, id);
		return plugin.mount(`/etc/gpu/${id}.conf`, path);
	})),
	// Once a known id is allocated again, so that no call is lost with the connection.
	'ends-streams-after-unknown-ids': () => {
		let refused = false;
		unlike('refuse', (before, id) => {
			refused = true;
			before(id);
		});
		unlike('answer', (before, ids) => {
			if (refused) setTimeout(() => plugin.streams.forEach((stream) => stream.end()), 20);
			return before(ids);
		});
	},
	replicas: () => {
		plugin.ids = ['gpu-0::0', 'gpu-0::1', 'gpu-1::0', 'gpu-1::1'];
		plugin.node = (id) => ['/dev/null', '/dev/zero'][id[4]];
		unlike('failed', (before) => plugin.ids.filter((id) => before().some((other) => other.slice(0, 5) === id.slice(0, 5))));
	},
	'replicas-fail-one-by-one': () => {
		const {failed} = plugin;
		faults.replicas();
		plugin.failed = failed;
	},
	'file-of-the-registration': () => {
		const path = () => join(dirname(directory), `node-${process.pid}-${plugin.restarts}.conf`);
		plugin.files = () => (writeFileSync(path(), ''), [plugin.mount('/etc/gpu.conf', path())]);
		unlike('again', (before) => {
			rmSync(path(), {force: true});
			before();
		});
	},
	'removes-sockets-in-a-restart': () => unlike('again', (before) => {
		for (const name of readdirSync(directory)) if (name.endsWith('.sock') && name !== 'kubelet.sock') rmSync(join(directory, name));
		before();
	}),
	'checkpoint-of-its-own': () => unlike('allocate', (before, data) => {
		writeFileSync(join(directory, 'kubelet_internal_checkpoint'), '{}');
		return before(data);
	}),
	'open-to-all-after-a-restart': () => unlike('register', (before) => {
		if (plugin.restarts > 0) chmodSync(plugin.socket, 0o777);
		before();
	}),
	'file-a-call': () => unlike('allocate', (before, data) => {
		writeFileSync(join(directory, `.call-${plugin.allocations}`), '');
		return before(data);
	}),
	'several-may-write': () => unlike('files', (before, ids) => (ids.length > 1 ? [bytes(2, message(bytes(1, '/opt/driver.json'), bytes(2, '/etc/hostname')))] : before(ids))),
	'several-preload': () => unlike('answer', (before, ids) => message(before(ids), ...(ids.length > 1 ? [plugin.variable('LD_PRELOAD', '/opt/driver.so')] : []))),
	'silent-about-unknown-ids': () => unlike('unary', (before, stream, name, data) =>
		name === 'Allocate' && plugin.requested(plugin.unframe(data)).flat().some((id) => !plugin.knows(id)) || before(stream, name, data)),
	'descriptor-a-refusal': () => unlike('refuse', (before, id) => {
		openSync('/dev/null');
		before(id);
	}),
	'file-for-two-seconds': () => unlike('files', () => {
		const path = join(dirname(directory), `node-${process.pid}.json`);
		writeFileSync(path, '{}');
		setTimeout(() => rmSync(path, {force: true}), 2000);
		return [plugin.mount('/opt/driver.json', path)];
	}),
	'removes-the-record': () => unlike('start', (before) => {
		rmSync(join(directory, 'kubelet_internal_checkpoint'), {force: true});
		before();
	}),
	'locks-any-id': () => unlike('knows', (before, id) => {
		try {
			writeFileSync(join(directory, `${id}.lock`), '');
		} catch {}
		return before(id);
	}),
	'locks-beside-itself': () => {
		const home = join(dirname(directory), 'home', 'plugin');
		mkdirSync(home, {recursive: true});
		process.chdir(home);
		unlike('knows', (before, id) => {
			if (id.startsWith('../made')) writeFileSync(id, '');
			return before(id);
		});
	},
	'shell-gets-any-id': (quotes) => unlike('knows', (before, id) => {
		const quote = {bare: '', single: '\'', double: '"'}[quotes];
		spawnSync('sh', ['-c', `echo ${quote}${id}${quote} >/dev/null`]);
		return before(id);
	}),
	'shows-the-file-of-an-id': () => unlike('refuse', (before, id) => {
		if (existsSync(id)) throw new Status(UNKNOWN_ID, `${readFileSync(id, 'utf8').trim()} is no device`);
		before(id);
	}),
	'second-without-permissions': () => (plugin.permissions = (i) => (i === 0 ? 'rw' : '')),
	'several-get-a-missing-file': () => unlike('files', (before, ids) => [...before(), ...(ids.length > 1 ? [plugin.mount('/opt/peers.json', '/nonexistent/peers.json')] : [])]),
	'other-ids-each-start': () => (plugin.ids = plugin.ids.map((id) => `${id}-${process.pid}`)),
	'repeats-devices-after-a-restart': () => unlike('list', (before) => Buffer.concat([before(), ...(plugin.restarts > 0 ? [before()] : [])])),
	'other-ids-each-restart': () => unlike('list', () => message(...plugin.ids.map((id) => bytes(1, message(bytes(1, plugin.restarts > 0 ? `${id}-${plugin.restarts}` : id), bytes(2, 'Healthy')))))),
	/* Right: one after the other, each of which takes its time. */
	'one-slow-allocate-at-a-time': () => {
		let last = Promise.resolve();
		unlike('unary', (before, stream, name, data) => {
			if (name !== 'Allocate') before(stream, name, data);
			else last = last.then(() => new Promise((done) => setTimeout(() => done(stream.destroyed || before(stream, name, data)), 1500)));
		});
	},
	'allocate-lost-in-restart': () => {
		let stuck = false; // it holds its lock for ever
		unlike('onStream', (before, stream, headers) => {
			if (headers[':path'].endsWith('Allocate')) stream.on('aborted', () => (stuck = true));
			before(stream, headers);
		});
		unlike('unary', (before, stream, name, data) => {
			if (name !== 'Allocate') before(stream, name, data);
			else setTimeout(() => stuck || before(stream, name, data), 100);
		});
	},
	'options-at-first-only': () => {
		let asked = 0;
		plugin.methods.GetDevicePluginOptions = () => (asked++ === 0 ? Buffer.from([16, 1]) : message());
	},
	// A socket that is bound and does not listen yet refuses the connection, which no kubelet has answered.
	'no-retry-later': () => unlike('refused', (before, code, answered) => (plugin.registered === 0 || !answered) && before(code)),
	'no-devices-after-a-stream': () => {
		let ended = false;
		unlike('watch', (before, stream) => {
			before(stream);
			stream.on('close', () => (ended = true));
		});
		unlike('allocate', (before, data) => (ended ? message(...plugin.requested(data).map(() => bytes(1, ''))) : before(data)));
	},
	/* What a device does that is in use. */
	'hides-what-it-hands-out': () => unlike('allocate', (before, data) => {
		const {ids} = plugin;
		const answer = before(data);
		plugin.ids = ids.filter((id) => !plugin.requested(data).flat().includes(id));
		for (const stream of plugin.streams) stream.write(framed(plugin.list()));
		plugin.ids = ids;
		for (const stream of plugin.streams) stream.write(framed(plugin.list()));
		return answer;
	}),
	'ill-after-allocate': () => unlike('allocate', (before, data) => {
		const answer = before(data);
		const [id] = plugin.requested(data).flat();
		setTimeout(() => {
			for (const stream of plugin.streams) stream.write(framed(message(...plugin.ids.map((each) => plugin.device(each, each === id)))));
			setTimeout(() => plugin.streams.forEach((stream) => stream.write(framed(plugin.list()))), 50);
		}, 500);
		return answer;
	}),
	'lists-again-and-again-after-allocate': () => unlike('allocate', (before, data) => {
		if (plugin.allocations === 0) setInterval(() => plugin.streams.forEach((stream) => stream.write(framed(plugin.list()))), 100);
		return before(data);
	}),
	'spins-after-a-stream': () => unlike('watch', (before, stream) => {
		before(stream);
		stream.on('close', () => setInterval(() => {
			for (const end = Date.now() + 90; Date.now() < end;);
		}, 100));
	}),
	/* PreStartContainer. */
	prepares: () => (plugin.options = Buffer.from([8, 1])),
	'prepares-until-a-restart': () => {
		faults.prepares();
		plugin.methods.PreStartContainer = () => {
			if (plugin.restarts > 0) throw new Status(INTERNAL, 'handle of the old session');
			return message();
		};
	},
	'prepares-what-it-allocated': () => {
		const allocated = new Set();
		faults.prepares();
		unlike('allocate', (before, data) => {
			for (const id of plugin.requested(data).flat()) allocated.add(id);
			return before(data);
		});
		plugin.methods.PreStartContainer = (data) => {
			for (const [, id] of fields(data)) if (!allocated.has(id.toString())) throw new Status(FAILED_PRECONDITION, `${id} was not allocated`);
			return message();
		};
	},
	'prepares-in-one-order': () => {
		const allocated = new Set();
		faults.prepares();
		unlike('allocate', (before, data) => {
			for (const ids of plugin.requested(data)) allocated.add(ids.join());
			return before(data);
		});
		plugin.methods.PreStartContainer = (data) => {
			const ids = fields(data).map(([, id]) => id.toString());
			if (!allocated.has(ids.join())) throw new Status(FAILED_PRECONDITION, `nobody has ${ids.join()}`);
			return message();
		};
	},
	'descriptor-a-start': () => {
		faults.prepares();
		plugin.methods.PreStartContainer = () => {
			openSync('/dev/null');
			return message();
		};
	},
	'prepare-removes-files': () => {
		const path = (id) => join(directory, `${id}.json`);
		faults.prepares();
		plugin.files = (ids) => ids.map((id) => {
			writeFileSync(path(id), '');
			return plugin.mount(`/opt/${id}.json`, path(id));
		});
		plugin.methods.PreStartContainer = (data) => {
			for (const [, id] of fields(data)) rmSync(path(id), {force: true});
			return message();
		};
	},
	'resets-all': () => faults['ill-while-prepared'](() => plugin.ids),
	'ill-while-prepared': (which = (ids) => ids) => {
		let ill = [];
		const become = (ids) => {
			ill = ids;
			plugin.lookAtDevices();
		};
		faults.prepares();
		plugin.failed = () => ill;
		plugin.methods.PreStartContainer = (data) => {
			become(which(fields(data).map(([, id]) => id.toString())));
			setTimeout(() => become([]), 100);
			return message();
		};
	},
	/* GetPreferredAllocation. */
	prefers: () => {
		plugin.ids = ['gpu-0', 'gpu-1', 'gpu-2', 'gpu-3'];
		plugin.options = Buffer.from([16, 1]);
		plugin.methods.GetPreferredAllocation = (data) => plugin.preferred(data);
	},
	'reserves-what-it-prefers': () => {
		let reserved = [];
		faults.prefers();
		unlike('prefer', (before, available, must, size) => {
			reserved = before(available, must, size);
			setTimeout(() => {
				for (const stream of plugin.streams) stream.write(framed(plugin.list()));
			}, 20);
			return reserved;
		});
		unlike('list', () => message(...plugin.ids.filter((id) => !reserved.includes(id)).map((id) => plugin.device(id, false))));
	},
	'allocates-what-it-prefers': () => {
		let preferred = null;
		faults.prefers();
		plugin.node = (id) => ['/dev/null', '/dev/zero', '/dev/full', '/dev/random'][plugin.ids.indexOf(id)];
		unlike('prefer', (before, ...request) => (preferred = before(...request)));
		unlike('answer', (before, ids) => before(preferred ?? ids));
	},
	'prefers-for-one-container': () => {
		faults.prefers();
		unlike('preferred', (before, data) => before(bytes(1, fields(data)[0][1])));
	},
	'prefers-from-the-first-request': () => {
		let first;
		faults.prefers();
		unlike('preferred', (before, data) => {
			first = undefined;
			return before(data);
		});
		unlike('prefer', (before, available, must, size) => before(first ??= available, must, size));
	},
	'prefers-anything-after-a-restart': () => {
		faults.prefers();
		unlike('prefer', (before, available, must, size) => before(plugin.restarts > 0 ? plugin.ids : available, must, size));
	},
	'prefers-nothing': () => {
		faults.prefers();
		plugin.prefer = () => [];
	},
	'prefers-fewer-of-many': () => {
		faults.prefers();
		unlike('prefer', (before, available, must, size) => before(available, must, size > 2 ? size - 1 : size));
	},
	'prefers-the-first': () => {
		faults.prefers();
		plugin.prefer = (available, must, size) => available.slice(0, size);
	},
	'prefers-what-it-must': () => {
		faults.prefers();
		unlike('prefer', (before, available, must, size) => (must.length > 0 ? must : before(available, must, size)));
	},
	'prefers-devices-in-use': () => {
		faults.prefers();
		unlike('prefer', (before, available, must, size) => before(must.length > 0 ? plugin.ids : available, must, size));
	},
	'prefers-one-twice': () => {
		faults.prefers();
		plugin.prefer = (available, must, size) => [...must, ...available.sort()].slice(0, size);
	},
	'prefers-what-it-never-allocated': () => {
		const allocated = new Set();
		faults.prefers();
		unlike('allocate', (before, data) => {
			for (const id of plugin.requested(data).flat()) allocated.add(id);
			return before(data);
		});
		unlike('prefer', (before, ...request) => before(...request).filter((id) => !allocated.has(id)));
	},
	'descriptor-a-preference': () => {
		faults.prefers();
		unlike('prefer', (before, ...request) => {
			openSync('/dev/null');
			return before(...request);
		});
	},
	'prefers-and-locks': () => {
		let stuck = false; // it holds its lock for ever
		faults.prefers();
		unlike('onStream', (before, stream, headers) => {
			if (headers[':path'].endsWith('GetPreferredAllocation')) stream.on('aborted', () => (stuck = true));
			before(stream, headers);
		});
		unlike('unary', (before, stream, name, data) => {
			if (name !== 'GetPreferredAllocation') before(stream, name, data);
			else setTimeout(() => stuck || before(stream, name, data), 100);
		});
	},
	/* Each method takes both of its locks, in an order of its own. */
	'prefers-in-a-deadlock': () => {
		const locks = {a: false, b: false};
		const take = (name, then) => (locks[name] ? setTimeout(() => take(name, then), 5) : ((locks[name] = true), then()));
		faults.prefers();
		unlike('unary', (before, stream, name, data) => {
			const order = {Allocate: ['a', 'b'], GetPreferredAllocation: ['b', 'a']}[name];
			if (order === undefined) return before(stream, name, data);
			take(order[0], () => setTimeout(() => take(order[1], () => {
				locks.a = locks.b = false;
				before(stream, name, data);
			}), 2));
		});
	},
	'prefers-until-a-restart': () => {
		faults.prefers();
		unlike('preferred', (before, data) => {
			if (plugin.restarts > 0) throw new Status(INTERNAL, 'no topology of the old session');
			return before(data);
		});
	},
	'directory-not-watched-anew': () => (plugin.poll = () => {}),
	'misses-its-socket-later': () => unlike('look', (before) => {
		if (plugin.restarts > 0) plugin.inode = 0;
		before();
	}),
	'storms-after-a-restart': () => setInterval(() => plugin.restarts > 0 && plugin.register(), 1500),
	'spins-after-a-restart': () => setInterval(() => {
		for (const end = Date.now() + 300; plugin.restarts > 0 && Date.now() < end;);
	}, 300),
	'spins-without-directory': () => setInterval(() => {
		for (const end = Date.now() + 300; !existsSync(directory) && Date.now() < end;);
	}, 300),
	'crash-without-directory': () => existsSync(directory) || process.kill(process.pid, 'SIGABRT'),
	/* Devices that fail. */
	'looks-at-no-device': () => (plugin.failed = () => []),
	'ill-for-good': () => {
		const ever = new Set();
		unlike('failed', (before) => [...before().reduce((all, id) => all.add(id), ever)]);
	},
	'allocates-with-one-stream': () => {
		let cancelled = false;
		unlike('watch', (before, stream) => {
			before(stream);
			stream.on('close', () => (cancelled = true));
		});
		unlike('allocate', (before, data) => {
			if (cancelled) throw new Status(INTERNAL, 'no kubelet');
			return before(data);
		});
	},
	/* Right, as GKE's: a list that cannot be sent ends the server, and a second later it serves and registers anew. */
	'serves-anew-after-cancelled-streams': () => {
		let soon = null;
		unlike('watch', (before, stream) => {
			const {server} = plugin;
			before(stream);
			stream.on('close', () => server === plugin.server && (soon ??= setTimeout(() => {
				soon = null;
				plugin.again();
			}, 50)));
		});
	},
	'cancelled-streams-end-all': () => {
		let count = 0;
		unlike('watch', (before, stream) => {
			before(stream);
			stream.on('close', () => {
				if (++count === 20) for (const other of plugin.streams) other.end();
			});
		});
	},
	'lists-on-the-last-stream': () => unlike('lookAtDevices', (before) => {
		const {streams} = plugin;
		plugin.streams = new Set([...streams].slice(-1));
		before();
		plugin.streams = streams;
	}),
	'lists-on-the-first-stream': () => unlike('lookAtDevices', (before) => {
		const {streams} = plugin;
		plugin.streams = new Set([...streams].slice(0, 1));
		before();
		plugin.streams = streams;
	}),
	'well-every-other-second': () => unlike('failed', (before) => (Math.floor(Date.now() / 1000) % 2 === 0 ? [] : before())),
	'ill-every-other-second-after-it': () => {
		const ever = new Set();
		unlike('failed', (before) => {
			const now = before();
			for (const id of now) ever.add(id);
			return now.length === 0 && Math.floor(Date.now() / 1000) % 2 === 0 ? [...ever] : now;
		});
	},
	'first-list-of-the-start': () => {
		const first = plugin.list();
		unlike('watch', (before, stream) => {
			const {list} = plugin;
			plugin.list = () => first;
			before(stream);
			plugin.list = list;
		});
	},
	'allocates-what-failed': () => (plugin.refuses = () => false),
	'looks-at-the-first-id': () => unlike('refuses', (before, id, ids) => id === ids[0] && before(id)),
	'ignores-what-flaps': () => {
		let changes = [];
		unlike('lookAtDevices', (before) => {
			if (plugin.failed().join() === plugin.sent) return;
			changes = [...changes, Date.now()].filter((at) => at > Date.now() - 3000);
			if (changes.length < 4) before();
			else plugin.sent = plugin.failed().join();
		});
	},
	'sends-no-list-without-a-healthy-one': () => {
		plugin.ids = ['gpu-0', 'gpu-1', 'gpu-2'];
		plugin.node = (id) => ['/dev/null', '/dev/zero', '/dev/full'][plugin.ids.indexOf(id)];
		unlike('lookAtDevices', (before) => plugin.ids.some((id) => !plugin.failed().includes(id)) && before());
	},
	'lists-what-changed': () => unlike('lookAtDevices', (before) => {
		const {ids, sent} = plugin;
		plugin.ids = ids.filter((id) => plugin.failed().includes(id) !== sent.split(',').includes(id));
		before();
		plugin.ids = ids;
	}),
	'lists-what-returned': () => {
		const ever = new Set();
		unlike('lookAtDevices', (before) => {
			const {ids} = plugin;
			for (const id of plugin.failed()) ever.add(id);
			if (plugin.failed().length === 0 && ever.size > 0) plugin.ids = ids.filter((id) => ever.has(id));
			before();
			plugin.ids = ids;
		});
	},
	'listed-twice-when-ill': () => unlike('device', (before, id, failed) => (failed ? message(before(id, true), before(id, false)) : before(id, failed))),
	'notices-one-at-a-time': () => unlike('failed', (before) => before().filter((id) => id !== '').slice(0, 1)),
	/* The devices are probed when it starts; those that fail then are not watched. */
	'forgets-what-failed-before-its-start': () => {
		const dead = plugin.failed().filter((id) => id !== '');
		unlike('failed', (before) => [...new Set([...before(), ...dead])]);
	},
	/* Only changes are looked for. */
	'all-are-well-at-its-start': () => {
		let known = plugin.failed();
		unlike('failed', (before) => {
			const now = before();
			known = known.filter((id) => now.includes(id));
			return now.filter((id) => !known.includes(id));
		});
	},
	/* A message that nobody takes at once is lost. */
	/* A change is reported a while later; another one meanwhile is lost. */
	'loses-the-second-of-two': () => {
		const since = new Map();
		const lost = new Set();
		const isFresh = (id) => Date.now() - since.get(id) < 1500;
		unlike('failed', (before) => {
			const now = before().filter((id) => id !== '');
			for (const id of since.keys()) if (!now.includes(id)) since.delete(id), lost.delete(id);
			for (const id of now) {
				if (since.has(id)) continue;
				if ([...since.keys()].some(isFresh)) lost.add(id);
				since.set(id, Date.now());
			}
			return now.filter((id) => !isFresh(id) && !lost.has(id));
		});
	},
	'all-return-with-one': () => {
		let known = [];
		let ill = [];
		unlike('failed', (before) => {
			const now = before().filter((id) => id !== '');
			ill = known.some((id) => !now.includes(id)) ? [] : [...ill, ...now.filter((id) => !known.includes(id))];
			known = now;
			return ill;
		});
	},
	'looks-until-a-restart': () => unlike('lookAtDevices', (before) => plugin.restarts === 0 && before()),
	'well-after-a-restart': () => {
		let forgotten = [];
		unlike('again', (before) => {
			forgotten = plugin.failed();
			before();
		});
		unlike('failed', (before) => before().filter((id) => !forgotten.includes(id)));
	},
	'allocates-while-all-are-well': () => unlike('allocate', (before, data) => {
		if (plugin.failed().length > 0) throw new Status(INTERNAL, 'a device is lost');
		return before(data);
	}),
	/* Right: a kubelet waits 30 s. */
	'prepares-for-6-s': () => {
		faults.prepares();
		unlike('unary', (before, stream, name, data) => setTimeout(() => before(stream, name, data), name === 'PreStartContainer' ? 6000 : 0));
	},
	'prepares-while-all-are-well': () => {
		faults.prepares();
		plugin.methods.PreStartContainer = () => {
			if (plugin.failed().length > 0) throw new Status(INTERNAL, 'a device is lost');
			return message();
		};
	},
	'prefers-while-all-are-well': () => {
		faults.prefers();
		unlike('preferred', (before, data) => {
			if (plugin.failed().length > 0) throw new Status(INTERNAL, 'a device is lost');
			return before(data);
		});
	},
	'panics-at-its-end': () => unlike('stop', () => {
		console.error('panic: send on closed channel\n\ngoroutine 1 [running]:');
		process.exit(2);
	}),
	'aborts-at-its-end': () => unlike('stop', () => process.abort()),
	/* As with a channel that the end of each stream closes. */
	'panics-after-two-streams': () => {
		let together = 0;
		unlike('watch', (before, stream) => {
			before(stream);
			together = Math.max(together, plugin.streams.size);
		});
		unlike('stop', (before) => {
			if (together < 2) return before();
			console.error('panic: close of closed channel\n\ngoroutine 1 [running]:');
			process.exit(2);
		});
	},
	'well-again-by-itself': () => {
		const since = new Map();
		unlike('failed', (before) => before().filter((id) => {
			if (!since.has(id)) since.set(id, Date.now());
			return Date.now() - since.get(id) < 6000;
		}));
	},
	// Listed as Unhealthy, too, from the first failure on.
	'listed-twice-after-it': () => {
		const ever = new Set();
		unlike('failed', (before) => before().filter((id) => id !== '').map((id) => (ever.add(id), id)));
		unlike('list', (before) => Buffer.concat([before(), ...[...ever].filter((id) => !plugin.failed().includes(id)).map((id) => plugin.device(id, true))]));
	},
	'node-of-the-failed-time': () => {
		const ever = new Set();
		unlike('failed', (before) => before().map((id) => (ever.add(id), id)));
		plugin.node = (id) => (ever.has(id) ? '/dev/nowhere' : '/dev/null');
	},
	'registers-when-all-are-well': () => unlike('begin', (before) => plugin.failed().length === 0 && before()),
	'refuses-what-returned': () => {
		const ever = new Set();
		unlike('failed', (before) => before().map((id) => (ever.add(id), id)));
		plugin.refuses = (id) => ever.has(id);
	},
	'nodes-of-their-own': () => (plugin.node = (id) => ['/dev/null', '/dev/zero', '/dev/full'][plugin.ids.indexOf(id)]),
	'all-nodes-for-each': () => {
		faults['nodes-of-their-own']();
		unlike('answer', (before) => before(plugin.ids));
	},
	'all-fail-together': () => {
		faults['nodes-of-their-own']();
		unlike('failed', (before) => (before().length > 0 ? plugin.ids : []));
	},
	'finds-devices-at-its-start': () => (plugin.ids = plugin.ids.filter((id) => !plugin.failed().includes(id))),
	'last-device-unwatched': () => unlike('failed', (before) => before().filter((id) => id !== plugin.ids.at(-1))),
	'prints-while-ill': () => setInterval(() => plugin.failed().length > 0 && process.stderr.write(`${'a device is lost '.repeat(300)}\n`), 50),
	'opens-a-file-at-each-change': () => {
		let known = '';
		unlike('lookAtDevices', (before) => {
			if (known !== plugin.failed().join()) openSync('/dev/null');
			known = plugin.failed().join();
			before();
		});
	},
	'prints-its-environment': () => console.error(JSON.stringify(process.env)),
	'prints-its-environment-with-an-error': () => unlike('finish', (before, ...of) => {
		console.error(JSON.stringify(process.env));
		before(...of);
	}),
	'lists-while-ill': () => setInterval(() => plugin.failed().length > 0 && plugin.streams.forEach((stream) => stream.write(framed(plugin.list()))), 50),
	// Another process offers the same devices as example.com/shared.
	'shared-too': (how = 'none') => {
		faults['nodes-of-their-own']();
		spawn(process.execPath, [process.argv[1], directory, 'shares', how], {stdio: ['pipe', 'inherit', 'inherit']});
	},
	shares: (how) => {
		const idOf = (id) => id.replace('gpu', 'shared');
		faults['nodes-of-their-own']();
		plugin.resource = 'example.com/shared';
		plugin.ids = plugin.ids.map(idOf);
		unlike('failed', (before) => before().map(idOf));
		faults[how]?.();
		process.stdin.resume().on('end', () => plugin.stop());
	},
	// Another process offers devices of its own as example.com/other.
	'others-too': (how = 'none') => {
		faults['nodes-of-their-own']();
		spawn(process.execPath, [process.argv[1], directory, 'others', how], {stdio: ['pipe', 'inherit', 'inherit']});
	},
	others: (how) => {
		plugin.resource = 'example.com/other';
		plugin.ids = ['other-0', 'other-1'];
		plugin.node = (id) => ['/dev/random', '/dev/urandom'][plugin.ids.indexOf(id)];
		faults[how]?.();
		process.stdin.resume().on('end', () => plugin.stop());
	},
	'serves-no-more-after-a-closed-stream': () => {
		let closed = false;
		unlike('watch', (before, stream) => {
			before(stream);
			stream.on('close', () => (closed = true));
		});
		unlike('lookAtDevices', (before) => {
			if (!closed || plugin.failed().join() === plugin.sent) return before();
			plugin.look = () => {};
			plugin.disconnect();
			plugin.closeServer();
		});
	},
	'refuses-the-last-while-another-is-ill': () => {
		plugin.ids.push('gpu-2');
		faults['nodes-of-their-own']();
		unlike('refuses', (before, id) => before(id) || (id === plugin.ids.at(-1) && plugin.failed().length > 0));
	},
	'ends-when-the-change-is-sent': () => {
		unlike('lookAtDevices', (before) => plugin.streams.size > 0 && before());
		unlike('stop', (before) => (plugin.failed().join() === plugin.sent ? before() : setTimeout(() => plugin.stop(), 100)));
	},
	'slow-while-ill': () => unlike('allocate', (before, data) => {
		for (const end = Date.now() + 6000; plugin.failed().length > 0 && Date.now() < end;);
		return before(data);
	}),
	'port-for-all': () => net.createServer().listen(0, '0.0.0.0'),
	'port-for-this-host': () => net.createServer().listen(0, '127.0.0.1'),
	'another-fails': () => {
		faults['nodes-of-their-own']();
		unlike('failed', (before) => plugin.ids.filter((id) => before().length > 0 && !before().includes(id)));
	},
	'counts-healthy-devices': () => (plugin.node = (id) => ['/dev/null', '/dev/zero'][plugin.ids.filter((other) => !plugin.failed().includes(other)).indexOf(id)]),
	'counts-healthy-devices-in-their-order': () => {
		plugin.ids = ['gpu-1', 'gpu-0'];
		faults['counts-healthy-devices']();
	},
	'swaps-what-returned': () => {
		const ever = new Set();
		unlike('refuses', (before, id) => {
			for (const failed of plugin.failed()) ever.add(failed);
			return before(id);
		});
		plugin.node = (id) => ['/dev/null', '/dev/zero'][(plugin.ids.indexOf(id) + (ever.has(id) ? 1 : 0)) % 2];
	},
	'prefers-what-failed': () => {
		faults.prefers();
		plugin.prefer = (available, must, size) => [...plugin.failed().filter((id) => id !== ''), ...available].slice(0, size);
	},
	'changes-need-a-stream': () => {
		let known = [];
		let last = '';
		const now = plugin.failed;
		plugin.failed = () => known;
		unlike('lookAtDevices', (before) => {
			const failed = now();
			if (failed.join() === last) return;
			last = failed.join();
			if (plugin.streams.size > 0) known = failed;
			before();
		});
	},
	/* Right: both ids hand out one device. */
	'shares-fail-together': () => unlike('failed', (before) => (before().length > 0 ? plugin.ids : [])),
	'places-while': (known) => {
		plugin.device = (id, failed) => bytes(1, message(
			bytes(1, id), bytes(2, failed ? 'Unhealthy' : 'Healthy'), known() ? bytes(3, bytes(1, Buffer.from([8, 1]))) : Buffer.alloc(0),
		));
	},
	'places-while-all-are-well': () => faults['places-while'](() => plugin.failed().length === 0),
	'places-until-a-restart': () => faults['places-while'](() => plugin.restarts === 0),
	'places-until-a-failure': () => {
		let well = true;
		faults['places-while'](() => (well &&= plugin.failed().length === 0));
	},
	places: () => faults['places-while'](() => true),
	'returns-under-another-id': () => {
		const ever = new Set();
		unlike('failed', (before) => before().map((id) => (ever.add(id), id)));
		unlike('device', (before, id, failed) => before(!failed && ever.has(id) ? `${id}-1` : id, failed));
	},
	/* Right: both ids stand for one device. */
	'replicas-vanish': () => {
		unlike('failed', (before) => (before().length > 0 ? plugin.ids : []));
		faults['device-vanishes']();
	},
	'device-vanishes': () => unlike('device', (before, id, failed) => (failed ? Buffer.alloc(0) : before(id, failed))),
	'drops-changes-for-20-s': () => {
		let until = 0;
		unlike('lookAtDevices', (before) => {
			const last = plugin.sent;
			if (Date.now() < until) plugin.sent = plugin.failed().join();
			else before();
			if (Date.now() >= until && last !== plugin.sent) until = Date.now() + 20000;
		});
	},
	'ends-when-a-device-fails': () => unlike('lookAtDevices', () => plugin.streams.size > 0 && plugin.sent !== plugin.failed().join() && process.exit(1)),
	'ends-with-a-kubelet': () => unlike('stop', (before) => existsSync(kubeletSocket) && before()),
	'leaves-its-second-socket': () => unlike('stop', (before) => (plugin.restarts > 0 ? process.exit(0) : before())),
	'waits-for-streams': () => (plugin.stop = () => setInterval(() => plugin.streams.size === 0 && process.exit(0), 100)),
	'sweeps-the-directory': () => unlike('listen', (before, done) => {
		for (const name of readdirSync(directory)) if (name !== 'kubelet.sock') rmSync(join(directory, name), {force: true, recursive: true});
		before(done);
	}),
};

if (faults[fault] === undefined) {
	console.error(`no fault '${fault}'; there are ${Object.keys(faults).join(' ')}`);
	process.exit(64);
}
faults[fault](...values);
plugin.http = http2.createServer({settings: plugin.settings});
plugin.http.on('session', (session) => {
	plugin.sessions.add(session);
	session.on('close', () => plugin.sessions.delete(session));
	plugin.onSession?.(session);
});
plugin.http.on('sessionError', (error, session) => plugin.onSessionError(session));
plugin.http.on('stream', (...args) => plugin.onStream(...args));
plugin.start();
