// SPDX-License-Identifier: MIT
// A test double of a web server that takes files by PUT, and breaks. Never part of a normal run.
//
//     node http_store.mjs DIRECTORY
//
// Prints one line of JSON with its port and runs until it is stopped. The first part of a path says what is to break; what is behind it
// is a file below DIRECTORY/store. DIRECTORY/recorded tells the requests, and who asked.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const directory = process.argv[2];
const recorded = (text) => fs.appendFileSync(path.join(directory, 'recorded'), `${text}\n`);
const seen = new Map(); // how often a method was asked for at a place
const nth = (key) => seen.set(key, (seen.get(key) ?? 0) + 1).get(key);

function get(request, response, file, edit = (body) => body, told = true) {
	if (!fs.existsSync(file))
		return response.writeHead(404).end();
	const whole = fs.readFileSync(file);
	const begin = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
	const body = edit(whole.subarray(begin));
	const headers = begin > 0 ? {'content-range': `bytes ${begin}-${whole.length - 1}/${whole.length}`} : {};
	if (told)
		headers['content-length'] = whole.length - begin;
	response.writeHead(begin > 0 ? 206 : 200, headers);
	if (!told || body.length === whole.length - begin)
		return response.end(body);
	return response.write(body, () => setTimeout(() => response.destroy(), 20));
}

function put(request, response, file, edit = (body) => body) {
	const parts = [];
	request.on('data', (data) => parts.push(data));
	request.on('end', () => {
		fs.mkdirSync(path.dirname(file), {recursive: true});
		fs.writeFileSync(file, edit(Buffer.concat(parts)));
		response.writeHead(201).end();
	});
}

const part = (share) => (body) => body.subarray(0, Math.floor(body.length * share));
const isLarge = (file, size = 1e6) => fs.existsSync(file) && fs.statSync(file).size > size;
const answer = (request, response, status, headers = {}) => request.resume().on('end', () => response.writeHead(status, headers).end());
const flip = (body) => {
	const flipped = Buffer.from(body);
	flipped[flipped.length - 1] ^= 1;
	return flipped;
};

// Each has (request, response, file, how often this was asked for) and does nothing where nothing breaks.
const faults = {
	plain: () => false,
	'put-cut': (q, s, file, n) => q.method === 'PUT' && n === 1 && q.once('data', () => q.destroy()),
	'put-busy': (q, s, file, n) => q.method === 'PUT' && n === 1 && answer(q, s, 429, {'retry-after': '2'}),
	'put-broken': (q, s) => q.method === 'PUT' && answer(q, s, 500),
	'put-full': (q, s) => q.method === 'PUT' && answer(q, s, 507),
	'put-large': (q, s) => q.method === 'PUT' && answer(q, s, 413),
	'put-part': (q, s, file) => q.method === 'PUT' && (put(q, s, file, part(0.5)), true),
	'put-away': (q, s) => q.method === 'PUT' && answer(q, s, 307, {location: `http://localhost:${port}/elsewhere/r/x?signature=secret`}),
	'put-denied': (q, s) => q.method === 'PUT' && answer(q, s, 403),
	'put-void': (q, s) => q.method === 'PUT' && answer(q, s, 200),
	'put-page': (q, s) => q.resume().on('end', () => s.writeHead(200, {'content-type': 'text/html'}).end('<html>')),
	'no-get': (q, s) => q.method === 'GET' && answer(q, s, 403),
	'get-cut': (q, s, file, n) => q.method === 'GET' && n === 1 && isLarge(file) && (get(q, s, file, part(0.4)), true),
	// 2 MiB at a time are enough to come to an end.
	'get-crumbs': (q, s, file) => q.method === 'GET' && isLarge(file) && (get(q, s, file, (body) => body.subarray(0, 2 << 20)), true),
	'get-die': (q, s, file, n) => q.method === 'GET' && isLarge(file) &&
		(n === 1 ? (get(q, s, file, part(0.4)), true) : n <= 5 && answer(q, s, 503)),
	'get-stuck': (q, s, file) => q.method === 'GET' && isLarge(file, 2e4) &&
		(s.writeHead(200, {'content-length': fs.statSync(file).size}).write(part(0.4)(fs.readFileSync(file))), true),
	'get-no-range': (q, s, file, n) => {
		delete q.headers.range;
		return q.method === 'GET' && n === 1 && isLarge(file) && (get(q, s, file, part(0.4)), true);
	},
	'get-flip': (q, s, file) => q.method === 'GET' && isLarge(file) && (get(q, s, file, flip), true),
	'get-long': (q, s, file) => q.method === 'GET' && isLarge(file) && (get(q, s, file, (body) => Buffer.concat([body, body]), false), true),
	'get-short': (q, s, file) => q.method === 'GET' && isLarge(file) && (get(q, s, file, part(0.9), false), true),
	'get-slow': (q, s, file) => q.method === 'GET' && isLarge(file) && s.writeHead(200).write('x'),
	'get-lies': (q, s, file) => q.method === 'GET' && isLarge(file) && s.writeHead(200, {'content-length': 7}).end('1234567'),
	'get-away': (q, s) => q.method === 'GET' && answer(q, s, 302, {location: `http://localhost:${port}/elsewhere${q.url.replace(/^\/[^/]+/, '')}`}),
	'get-loop': (q, s) => q.method === 'GET' && answer(q, s, 302, {location: q.url}),
	'get-huge': (q, s, file) => q.method === 'GET' && file.endsWith('manifest.json') && s.writeHead(200).end(Buffer.alloc(5 << 20, ' ')),
	dav: (q, s, file) => q.method === 'MKCOL' ? answer(q, s, fs.existsSync(file) ? 405 : !fs.existsSync(path.dirname(file)) ? 409 :
		(fs.mkdirSync(file), 201)) : q.method === 'PUT' && !fs.existsSync(path.dirname(file)) && answer(q, s, 409),
	token: (q, s) => q.headers.authorization !== 'Bearer open-sesame' && answer(q, s, 401),
	elsewhere: () => false,
};

const server = http.createServer((request, response) => {
	const [, fault, rest] = /^\/([^/]+)\/(.*)$/.exec(decodeURIComponent(request.url.replace(/\?.*/, ''))) ?? [];
	if (!faults[fault])
		return answer(request, response, 405); // the root is a folder
	recorded(`${fault} ${request.method} ${rest} ${request.headers.range ?? '-'} ${request.headers.authorization ?? 'nobody'}`);
	const file = path.join(directory, 'store', path.normalize(`/${rest}`));
	if (faults[fault](request, response, file, nth(`${request.method} ${request.url}`)))
		return;
	if (request.method === 'PUT')
		put(request, response, file);
	else
		get(request, response, file);
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({store: server.address().port})));
const port = await new Promise((resolve) => server.on('listening', () => resolve(server.address().port)));
for (const signal of ['SIGTERM', 'SIGINT'])
	process.on(signal, () => process.exit(0));
