// SPDX-License-Identifier: MIT
// usage: node grpc_js_plugin.mjs NPM-FOLDER PLUGIN-DIR
// A device plugin that conforms, on @grpc/grpc-js of the folder's node_modules and without any code of gpucert: four healthy shares
// of two devices, and a third device that is ill.
import {statSync, unlinkSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const [npm, directory] = process.argv.slice(2);
const require = createRequire(join(npm, 'package.json'));
const grpc = require('@grpc/grpc-js');
const source = (path) => fileURLToPath(new URL(`../../../../rpc/${path}`, import.meta.url));
const {v1beta1} = grpc.loadPackageDefinition(require('@grpc/proto-loader').loadSync('services.proto', {
	includeDirs: [source('tests/interop'), source('proto')],
	keepCase: true,
	defaults: true,
}));

const LOOK_MS = 200;
const REGISTER_MS = 5000;
const RETRY_MS = [500, 1000, 2000, 4000];
const END_MS = 2000;
const options = {pre_start_required: true, get_preferred_allocation_available: true};
const kubeletSocket = join(directory, 'kubelet.sock');

const devices = new Map(['gpu-0::0', 'gpu-0::1', 'gpu-1::0', 'gpu-1::1', 'gpu-2::0'].map((id) => [id, id.startsWith('gpu-2') ? 'Unhealthy' : 'Healthy']));
const physical = (id) => id.split('::')[0];

class Refusal extends Error {
	code = grpc.status.INVALID_ARGUMENT;
}
function requireHealthy(ids) {
	for (const id of ids) {
		if (!devices.has(id)) throw new Refusal(`there is no device ${JSON.stringify(id)}`);
		if (devices.get(id) !== 'Healthy') throw new Refusal(`device ${id} is not healthy`);
	}
}

function allocateContainer({devices_ids: ids}) {
	requireHealthy(ids);
	const names = [...new Set(ids.map(physical))].sort();
	return {
		envs: names.length > 0 ? {EXAMPLE_GPUS: names.join()} : {},
		mounts: names.length > 0 ? [{container_path: '/opt/driver/driver.json', host_path: '/etc/hostname', read_only: true}] : [],
		devices: names.map((name) => ({container_path: `/dev/gpu/${name}`, host_path: '/dev/null', permissions: 'rw'})),
	};
}

// What must be in it, then ids of devices that are not in it yet.
function preferFor({available_deviceIDs: available, must_include_deviceIDs: wanted, allocation_size: size}) {
	const chosen = [...wanted];
	const rest = available.filter((id) => !wanted.includes(id)).sort();
	while (chosen.length < size && rest.length > 0) {
		const taken = chosen.map(physical);
		const other = rest.findIndex((id) => !taken.includes(physical(id)));
		chosen.push(...rest.splice(Math.max(other, 0), 1));
	}
	return {deviceIDs: chosen};
}

const unary = (answer) => (call, reply) => {
	try {
		reply(null, answer(call.request));
	} catch (error) {
		reply({code: error.code ?? grpc.status.INTERNAL, details: error.message});
	}
};

// One server on a socket of its own, from its start until the next one replaces it.
class Instance {
	static #count = 0;
	path = join(directory, `grpc-js-${process.pid}-${Instance.#count++}.sock`);
	streams = new Set();
	failures = 0;
	over = false;

	constructor() {
		this.server = new grpc.Server();
		this.server.addService(v1beta1.DevicePlugin.service, {
			GetDevicePluginOptions: unary(() => options),
			Allocate: unary(({container_requests: requests}) => ({container_responses: requests.map(allocateContainer)})),
			GetPreferredAllocation: unary(({container_requests: requests}) => ({container_responses: requests.map(preferFor)})),
			PreStartContainer: unary(({devices_ids: ids}) => (requireHealthy(ids), {})),
			ListAndWatch: (call) => this.watch(call),
		});
		this.server.bindAsync(`unix:${this.path}`, grpc.ServerCredentials.createInsecure(), (error) => {
			if (error) fail(`cannot serve ${this.path}: ${error.message}`);
			this.identity = identity(this.path);
			this.register();
		});
	}

	watch(call) {
		this.streams.add(call);
		call.on('cancelled', () => {
			this.streams.delete(call);
			// A kubelet up to 1.36 ends the stream of a newer instance together with that of an older one.
			if (this.streams.size === 0) this.later();
		});
		call.write({devices: [...devices].map(([ID, health]) => ({ID, health}))});
	}

	register() {
		if (this.over) return;
		const client = new v1beta1.Registration(`unix:${kubeletSocket}`, grpc.credentials.createInsecure());
		const request = {version: 'v1beta1', endpoint: basename(this.path), resource_name: 'example.com/gpu', options};
		client.Register(request, {deadline: Date.now() + REGISTER_MS}, (error) => {
			client.close();
			if (!error) this.failures = 0;
			else {
				console.error(`Register: ${error.message}`);
				this.later();
			}
		});
	}
	later() {
		clearTimeout(this.timer);
		if (!this.over) this.timer = setTimeout(() => this.register(), RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
	}

	// Calls done once the calls that run have ended.
	end(done = () => {}) {
		this.over = true;
		clearTimeout(this.timer);
		if (this.identity && identity(this.path) === this.identity) unlinkSync(this.path);
		for (const call of this.streams) call.emit('error', {code: grpc.status.UNAVAILABLE, details: 'the plugin stops serving here'});
		const force = setTimeout(() => (this.server.forceShutdown(), done()), END_MS);
		this.server.tryShutdown(() => (clearTimeout(force), done()));
	}
}

function identity(path) {
	const {ino, birthtimeNs} = statSync(path, {bigint: true, throwIfNoEntry: false}) ?? {};
	return ino === undefined ? null : `${ino} ${birthtimeNs}`;
}

function fail(why) {
	console.error(why);
	process.exit(1);
}

let kubelet = identity(kubeletSocket);
if (identity(directory) === null) fail(`there is no ${directory}`);
let instance = new Instance();
setInterval(() => {
	const now = identity(kubeletSocket);
	const lost = instance.identity && identity(instance.path) !== instance.identity;
	if (now === null || (now === kubelet && !lost)) return;
	kubelet = now;
	instance.end();
	instance = new Instance();
}, LOOK_MS);
process.on('SIGTERM', () => instance.end(() => process.exit(0)));
