// SPDX-License-Identifier: MIT
// A test double of a registry's surroundings: real registries (Debian's docker-registry) without and with
// authentication, a server of tokens, and a proxy in front of the first that breaks what passes through it. Never part of a
// normal run.
//
//     node registry_rig.mjs DIRECTORY
//
// Prints one line of JSON with the ports when everything listens, and runs until it is stopped. The name of a
// repository says what is to break: "cut/tool" is "tool" behind the fault "cut".
import {spawn, spawnSync} from 'node:child_process';
import {createSign, randomUUID} from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';

const directory = process.argv[2];
const file = (name) => path.join(directory, name);
const children = [];

function run(...argv) {
	const result = spawnSync(argv[0], argv.slice(1), {stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8'});
	if (result.status !== 0)
		throw new Error(`${argv.join(' ')}: ${result.stderr}`);
}

// An authority, and a certificate of it for this machine's names.
function makeCertificates() {
	fs.writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
	run('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', file('ca.key'), '-out', file('ca.crt'),
		'-subj', '/CN=gpucert test authority', '-days', '2');
	run('openssl', 'req', '-newkey', 'rsa:2048', '-nodes', '-keyout', file('tls.key'), '-out', file('tls.csr'), '-subj', '/CN=localhost');
	run('openssl', 'x509', '-req', '-in', file('tls.csr'), '-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial',
		'-out', file('tls.crt'), '-days', '2', '-extfile', file('names'));
}

// docker-registry on a port of its own choice, which its log tells.
function startRegistry(name, more) {
	const config = file(`${name}.yml`);
	fs.writeFileSync(config, `version: 0.1
log: {level: info}
storage: {filesystem: {rootdirectory: ${file(name)}}, delete: {enabled: true}}
http:
  addr: 127.0.0.1:0
${more}`);
	const child = spawn('docker-registry', ['serve', config], {stdio: ['ignore', 'pipe', 'pipe']});
	children.push(child);
	return new Promise((resolve, reject) => {
		let log = '';
		const read = (data) => {
			log += data;
			const found = /listening on 127\.0\.0\.1:(\d+)/.exec(log);
			if (found)
				resolve(Number(found[1]));
		};
		child.stdout.on('data', read);
		child.stderr.on('data', read);
		child.on('error', reject);
		child.on('exit', (code) => reject(new Error(`docker-registry ended with ${code}: ${log}`)));
	});
}

function listen(server) {
	return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
}

// ---- Tokens, as docker-registry verifies them: a JSON Web Token whose certificate the authority signed.
const base64url = (data) => Buffer.from(data).toString('base64url');

function makeToken(account, scope) {
	const [type, name, actions] = scope.split(':');
	const certificate = fs.readFileSync(file('tls.crt'), 'utf8').replace(/-----[^-]*-----|\s/g, '');
	const now = Math.floor(Date.now() / 1000);
	const header = {typ: 'JWT', alg: 'RS256', x5c: [certificate]};
	const claims = {
		iss: 'rig', sub: account, aud: 'registry', iat: now, nbf: now - 10, exp: now + 300, jti: randomUUID(),
		access: [{type, name, actions: actions.split(',')}],
	};
	const body = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
	return `${body}.${createSign('RSA-SHA256').update(body).sign(fs.readFileSync(file('tls.key'))).toString('base64url')}`;
}

const recorded = (text) => fs.appendFileSync(file('recorded'), `${text}\n`);

// GET with alice's password, or POST with her refresh token. Its clock is of 1970.
function serveTokens(request, response) {
	let body = '';
	request.on('data', (data) => body += data);
	request.on('end', () => {
		const url = new URL(request.url, 'https://rig');
		const query = request.method === 'POST' ? new URLSearchParams(body) : url.searchParams;
		const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
		const known = request.method === 'POST' ? query.get('refresh_token') === 'refresh me' : basic === 'alice:open:sesame';
		recorded(`token ${request.method} ${query.get('scope')} ${known}`);
		if (url.pathname === '/bad')
			return response.end('{"token": "a\\r\\nX-Injected: 1"}');
		if (!known)
			return response.writeHead(401).end();
		const token = makeToken('alice', query.get('scope'));
		response.end(JSON.stringify({[request.method === 'POST' ? 'access_token' : 'token']: token, issued_at: '1970-01-01T00:00:00Z',
			expires_in: 0}));
	});
}

// ---- The proxy.
const ports = {};
const seen = new Map(); // how often a place was asked for

function upstream(request, url, onAnswer) {
	const headers = {...request.headers, host: `127.0.0.1:${ports.plain}`};
	const passed = http.request({port: ports.plain, host: '127.0.0.1', method: request.method, path: url, headers}, onAnswer);
	passed.on('error', () => request.destroy());
	request.pipe(passed);
}

function collect(answer, onBody) {
	const parts = [];
	answer.on('data', (data) => parts.push(data));
	answer.on('end', () => onBody(Buffer.concat(parts)));
}

function pass(request, response, url) {
	upstream(request, url, (answer) => {
		response.writeHead(answer.statusCode, answer.headers);
		answer.pipe(response);
	});
}

// Changes the body of an answer; its length is not told then unless `told`.
function change(request, response, url, edit) {
	upstream(request, url, (answer) => collect(answer, (body) => {
		const {'content-length': ignored, ...headers} = answer.headers;
		response.writeHead(answer.statusCode, headers);
		response.end(answer.statusCode < 300 ? edit(body) : body);
	}));
}

function cut(request, response, url, part) {
	upstream(request, url, (answer) => collect(answer, (body) => {
		response.writeHead(answer.statusCode, answer.headers);
		response.write(body.subarray(0, Math.floor(body.length * part)));
		response.socket.destroySoon();
	}));
}

const flip = (body) => {
	body[body.length - 1] ^= 1;
	return body;
};
const redirect = (response, to) => response.writeHead(307, {location: to}).end();
const refuse = (response, status, headers) => response.writeHead(status, headers).end('{"errors": [{"code": "TOOMANYREQUESTS", "message": "x"}]}');
const challenge = (response, value) => response.writeHead(401, value === null ? {} : {'www-authenticate': value}).end();

// ---- Uploads, of which the n-th request of a method breaks. The places that the registry tells lead through the proxy again.
const uploads = new Map();

function passUpload(name, request, response, url, edit = (headers) => headers) {
	upstream(request, url, (answer) => {
		const headers = {...answer.headers, connection: 'close'}; // libcurl itself repeats what failed on a connection that it kept
		if (headers.location)
			headers.location = headers.location.replace(`:${ports.plain}/v2/`, `:${ports.proxy}/v2/push-${name}/`);
		response.writeHead(answer.statusCode, edit(headers));
		answer.pipe(response);
	});
}

// Sends on what of a piece was not lost; nobody reads the answer.
function passPart(request, url, part) {
	collect(request, (body) => {
		const begin = Number(request.headers['content-range'].split('-')[0]);
		const kept = body.subarray(0, Math.floor(body.length * part));
		const headers = {...request.headers, host: `127.0.0.1:${ports.plain}`, 'content-length': kept.length,
			'content-range': `${begin}-${begin + kept.length - 1}`};
		http.request({port: ports.plain, host: '127.0.0.1', method: 'PATCH', path: url, headers}, (answer) => {
			answer.resume();
			answer.on('end', () => request.destroy());
		}).on('error', () => request.destroy()).end(kept);
	});
}

function push(name, request, response, url) {
	const key = `${name} ${request.method}`;
	const n = (uploads.get(key) ?? 0) + 1;
	uploads.set(key, n);
	recorded(`push ${key}`);
	const on = (method, ...times) => request.method === method && (times.length === 0 || times.includes(n));
	const go = (edit) => passUpload(name, request, response, url, edit);
	const cutOff = () => request.once('data', () => request.destroy());
	const status = (code, headers) => request.resume().on('end', () => refuse(response, code, headers ?? {}));
	const broken = {
		cut: () => on('PATCH', 2) && cutOff(),
		'cut-piece': () => on('PUT', 1) && cutOff(),
		half: () => on('PATCH', 2) && passPart(request, url, 0.5),
		lost: () => on('PATCH', 2) && passPart(request, url, 1),
		busy: () => on('PATCH', 1) && status(429, {'retry-after': '2'}),
		flaky: () => n === 1 && status(503),
		broken: () => on('PATCH') && status(500),
		slow: () => on('PATCH', 1) && request.resume(),
		forget: () => on('GET') ? status(404) : on('PATCH', 2) && cutOff(),
		'forget-always': () => on('GET') ? status(404) : on('PATCH') && n % 2 === 0 && cutOff(),
		range: () => on('PATCH') && (go((headers) => ({...headers, range: '0-5'})), true),
		nowhere: () => on('POST') && (go((headers) => ({...headers, location: 'file:///etc/passwd'})), true),
		'no-head': () => on('HEAD') && status(405),
		away: () => request.headers.authorization !== `Basic ${Buffer.from('alice:open:sesame').toString('base64')}` ?
			(challenge(response, 'Basic realm="rig"'), true) :
			on('POST') && (go((headers) => ({...headers, location: headers.location.replace(/127.0.0.1:\d+\/v2\/push-away/,
				`localhost:${ports.proxy}/recorded/v2`)})), true),
		downgrade: () => false, // the places that it tells are of plain HTTP in any case
		flip: () => on('PUT') && (collect(request, (body) => {
			const headers = {...request.headers, host: `127.0.0.1:${ports.plain}`};
			http.request({port: ports.plain, host: '127.0.0.1', method: 'PUT', path: url, headers}, (answer) => {
				response.writeHead(answer.statusCode, answer.headers);
				answer.pipe(response);
			}).on('error', () => response.destroy()).end(flip(body));
		}), true),
	};
	return broken[name]() || go();
}

// Each has (request, response, url behind the proxy, how often this was asked for).
const faults = {
	cut: (q, s, url, times) => times <= 2 && /blobs/.test(url) ? cut(q, s, url, 0.4) : pass(q, s, url),
	'cut-always': (q, s, url) => /blobs/.test(url) ? cut(q, s, url, 0) : pass(q, s, url),
	// Of what is large 40 % at first, then nothing for a while.
	die: (q, s, url, times) => times > 1 && times <= 5 ? s.writeHead(503).end() : /blobs/.test(url) && times === 1 ?
		upstream(q, url, (answer) => collect(answer, (body) => {
			s.writeHead(answer.statusCode, answer.headers);
			if (body.length < 1e6)
				return s.end(body);
			s.write(body.subarray(0, Math.floor(body.length * 0.4)));
			s.socket.destroySoon();
		})) : (recorded(`range ${q.headers.range ?? 'none'}`), pass(q, s, url)),
	'no-range': (q, s, url, times) => {
		delete q.headers.range;
		return times === 1 && /blobs/.test(url) ? cut(q, s, url, 0.4) : pass(q, s, url);
	},
	'wrong-range': (q, s, url, times) => {
		if (times === 1 && /blobs/.test(url))
			return cut(q, s, url, 0.4);
		if (q.headers.range)
			q.headers.range = 'bytes=1-';
		return pass(q, s, url);
	},
	slow: (q, s) => s.writeHead(200, {'content-length': 1000}).write('{'),
	silent: () => {},
	busy: (q, s, url, times) => times <= 2 ? refuse(s, 429, {'retry-after': '2'}) : pass(q, s, url),
	'busy-date': (q, s, url, times) =>
		times <= 1 ? refuse(s, 429, {'retry-after': new Date(Date.now() + 5000).toUTCString()}) : pass(q, s, url),
	'busy-long': (q, s) => refuse(s, 429, {'retry-after': '3600'}),
	'busy-always': (q, s) => refuse(s, 429, {}),
	flaky: (q, s, url, times) => times <= 2 ? s.writeHead(503).end() : pass(q, s, url),
	broken: (q, s) => s.writeHead(500).end('alice open sesame'),
	teapot: (q, s) => s.writeHead(418).end(),
	digest: (q, s, url) => change(q, s, url, flip),
	'header-digest': (q, s, url) => upstream(q, url, (answer) => {
		s.writeHead(answer.statusCode, {...answer.headers, 'docker-content-digest': `sha256:${'0'.repeat(64)}`});
		answer.pipe(s);
	}),
	huge: (q, s) => {
		s.writeHead(200, {'content-type': 'application/vnd.oci.image.index.v1+json'});
		s.end(Buffer.alloc(5 << 20, ' '));
	},
	'huge-told': (q, s) => s.writeHead(200, {'content-length': 2 ** 40}).write('{'),
	many: (q, s) => s.end(`{"manifests": [${'0,'.repeat(300000)}0]}`),
	long: (q, s, url) => /blobs/.test(url) ? change(q, s, url, (body) => Buffer.concat([body, body])) : pass(q, s, url),
	short: (q, s, url) => /blobs/.test(url) ? change(q, s, url, (body) => body.subarray(0, 3)) : pass(q, s, url),
	'length-lies': (q, s, url) => /blobs/.test(url) ? s.writeHead(200, {'content-length': 7}).end('1234567') : pass(q, s, url),
	loop: (q, s) => redirect(s, q.url),
	nowhere: (q, s) => s.writeHead(302).end(),
	file: (q, s) => redirect(s, 'file:///etc/passwd'),
	upgrade: (q, s, url) => redirect(s, `https://localhost:${ports.proxyTls}${url}`),
	downgrade: (q, s, url) => redirect(s, `http://127.0.0.1:${ports.proxy}${url}`),
	away: (q, s, url) => /blobs/.test(url) ? redirect(s, `${q.socket.encrypted ? 'https' : 'http'}://localhost:${
		q.socket.encrypted ? ports.proxyTls : ports.proxy}/recorded${url}?signature=secret`) : pass(q, s, url),
	// Where it leads wants a password, and says who is to be told it.
	'away-denied': (q, s, url) => /blobs/.test(url) ? redirect(s, `https://localhost:${ports.proxyTls}/denied`) : pass(q, s, url),
	head: (q, s) => {
		s.socket.write('HTTP/1.1 200 OK\r\n');
		for (let i = 0; i < 5000; i++)
			s.socket.write(`X-Header-${i}: ${'x'.repeat(200)}\r\n`);
	},
	garbage: (q, s) => s.socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
	pages: (q, s, url) => pass(q, s, url.replace('n=1000', 'n=2')),
	'pages-loop': (q, s) => s.writeHead(200, {link: `<${q.url}>; rel="next"`}).end('{"tags": ["a"]}'),
	'pages-on': (q, s, url, times) => s.writeHead(200, {link: `<?last=${Math.random()}>; rel="next"`}).end('{"tags": ["a"]}'),
	'pages-away': (q, s) => s.writeHead(200, {link: '<http://127.0.0.2/v2/>; rel="next"'}).end('{"tags": ["a"]}'),
	// A registry that keeps referrers itself, unlike Debian's, and has no tags for them.
	referrers: (q, s, url) => {
		const index = 'application/vnd.oci.image.index.v1+json';
		if (/manifests\/sha256-/.test(url))
			return s.writeHead(404).end();
		if (!/referrers/.test(url))
			return pass(q, s, url);
		q.headers.accept = index;
		return upstream(q, url.replace(/referrers\/sha256:/, 'manifests/sha256-'), (answer) => collect(answer, (body) => {
			s.writeHead(200, {'content-type': index});
			s.end(answer.statusCode === 200 ? body : `{"schemaVersion": 2, "mediaType": "${index}", "manifests": []}`);
		}));
	},
	'referrers-denied': (q, s, url) => /referrers/.test(url) ? s.writeHead(403).end() : pass(q, s, url),
	basic: (q, s, url) => q.headers.authorization === `Basic ${Buffer.from('alice:open:sesame').toString('base64')}` ?
		faults.away(q, s, url) : challenge(s, 'Basic realm="rig"'),
	'no-challenge': (q, s) => challenge(s, null),
	'bad-challenge': (q, s) => challenge(s, 'Bearer realm="'),
	'realm-file': (q, s) => challenge(s, 'Bearer realm="file:///etc/passwd"'),
	'realm-plain': (q, s) => challenge(s, `Bearer realm="http://127.0.0.1:${ports.proxy}/token"`),
	...Object.fromEntries(['cut', 'cut-piece', 'half', 'lost', 'busy', 'flaky', 'broken', 'slow', 'forget', 'forget-always', 'flip',
		'range', 'nowhere', 'away', 'downgrade', 'no-head'].map((name) => [`push-${name}`, (q, s, url) => push(name, q, s, url)])),
	'realm-bad': (q, s) => challenge(s, `Bearer realm="https://localhost:${ports.tokens}/bad"`),
};

function serveProxy(request, response) {
	if (request.url.startsWith('/recorded/')) {
		recorded(`away ${request.headers.authorization ?? 'nobody'}`);
		return pass(request, response, request.url.replace('/recorded', '').replace(/\?signature.*/, ''));
	}
	if (request.url === '/denied')
		return challenge(response, `Bearer realm="https://localhost:${ports.tokens}/token",service="registry"`);
	const found = /^\/v2\/([^/]+)(\/.*)$/.exec(request.url);
	const fault = found && faults[found[1]];
	if (!fault)
		return pass(request, response, request.url);
	const times = (seen.get(request.url) ?? 0) + 1;
	seen.set(request.url, times);
	return fault(request, response, `/v2${found[2]}`, times);
}

makeCertificates();
// alice, "open:sesame"
fs.writeFileSync(file('htpasswd'), 'alice:$2y$05$3yMLnqaMq8wuohQNXAx8v.NNXEp9eip.BeMTQRUbgiz4OzO0.t9YK\n');
const tls = {key: fs.readFileSync(file('tls.key')), cert: fs.readFileSync(file('tls.crt'))};
ports.tokens = await listen(https.createServer(tls, serveTokens));
ports.proxy = await listen(http.createServer(serveProxy));
ports.proxyTls = await listen(https.createServer(tls, serveProxy));
ports.nothing = await listen(net.createServer((socket) => socket.destroy()));
const encrypted = `  tls: {certificate: ${file('tls.crt')}, key: ${file('tls.key')}}\n`;
[ports.plain, ports.password, ports.token] = await Promise.all([
	startRegistry('plain', ''),
	startRegistry('password', `${encrypted}auth: {htpasswd: {realm: rig, path: ${file('htpasswd')}}}\n`),
	startRegistry('token', `${encrypted}auth: {token: {realm: "https://localhost:${ports.tokens}/token", service: registry, issuer: rig, rootcertbundle: ${
		file('ca.crt')}}}\n`),
]);
console.log(JSON.stringify(ports));
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGTERM', 'SIGINT'])
	process.on(signal, () => process.exit(0));
