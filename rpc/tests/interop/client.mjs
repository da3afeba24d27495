// SPDX-License-Identifier: MIT
// A grpc-js client against the project's server: node client.mjs SERVER-PROGRAM INCLUDE-DIR...
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devicePlugin, failureText, grpc } from "./common.mjs";

const [program, ...includeDirs] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "rpc-interop-"));
const socket = join(directory, "server.sock");
const server = spawn(program, [`unix:${socket}`], { stdio: ["ignore", "pipe", "inherit"] });
const exited = once(server, "exit");
await Promise.race([once(server.stdout, "data"), exited]); // "ready"
const Client = devicePlugin(includeDirs);
const client = new Client(`unix:${socket}`, grpc.credentials.createInsecure());

function allocate(ids, options = {}) {
	const result = {};
	const promise = new Promise((resolve, reject) => {
		const request = { container_requests: [{ devices_ids: ids }] };
		result.call = client.Allocate(request, options, (error, reply) =>
			error ? reject(error) : resolve(reply));
	});
	result.reply = promise;
	return result;
}

async function env(...args) {
	const reply = await allocate(...args).reply;
	return reply.container_responses[0].envs;
}

async function fails(code, promise) {
	await assert.rejects(promise, (error) => {
		assert.equal(error.code, code, error.message);
		return true;
	});
}

async function ended() {
	return Number((await env(["ended"])).ID);
}

async function untilEnded(count) {
	while ((await ended()) < count);
}

function list() {
	return client.ListAndWatch({});
}

async function openList() {
	await env(["forever"]);
	return list();
}

const tests = {
	async "unary call with every field"() {
		const reply = await allocate(["gpu-0"]).reply;
		assert.deepEqual(reply.container_responses[0], {
			envs: { ID: "gpu-0" },
			mounts: [{ container_path: "/in", host_path: "/out", read_only: true }],
			devices: [{ container_path: "/dev/a", host_path: "/dev/b", permissions: "rw" }],
			annotations: { kind: "test" },
			cdi_devices: [{ name: "vendor.example/gpu=0" }],
		});
	},
	async "all status codes, with text that is no ASCII"() {
		for (let code = 1; code <= 16; code++) {
			await assert.rejects(allocate([`fail:${code}:${failureText}`]).reply, (error) => {
				assert.equal(error.code, code);
				assert.equal(error.details, failureText);
				return true;
			});
		}
	},
	async "unknown method and malformed request"() {
		const raw = (path, bytes) =>
			new Promise((resolve, reject) =>
				client.makeUnaryRequest(path, (x) => x, (x) => x, bytes, (error, reply) =>
					error ? reject(error) : resolve(reply)));
		await fails(12, raw("/v1beta1.DevicePlugin/Nothing", Buffer.alloc(0)));
		await fails(3, raw("/v1beta1.DevicePlugin/Allocate", Buffer.from([0x0a, 0x7f])));
	},
	async "server stream in order"() {
		let count = 0;
		for await (const reply of list()) {
			assert.equal(reply.devices[0].ID, `gpu-${count}`);
			count++;
		}
		assert.equal(count, 100);
	},
	async "deadline"() {
		const before = await ended();
		await fails(4, allocate(["hold"], { deadline: Date.now() + 50 }).reply);
		await untilEnded(before + 1);
	},
	async "cancellation of a unary call"() {
		const before = await ended();
		const held = allocate(["hold"]);
		await env(["gpu-0"]); // the held call is at the server by now
		held.call.cancel();
		await fails(1, held.reply);
		await untilEnded(before + 1);
	},
	async "cancellation of a stream"() {
		const before = await ended();
		const stream = await openList();
		const errors = once(stream, "error");
		await once(stream, "data");
		stream.cancel();
		assert.equal((await errors)[0].code, 1);
		await untilEnded(before + 1);
	},
	async "messages of 1 MiB both ways"() {
		const id = "0123456789abcdef".repeat(65536);
		assert.equal((await env([id])).ID, id);
	},
	async "message above the limit"() {
		await fails(8, allocate(["x".repeat(5 << 20)]).reply);
		assert.equal((await env(["gpu-0"])).ID, "gpu-0");
	},
	async "100 concurrent calls"() {
		const ids = Array.from({ length: 100 }, (_, i) => `gpu-${i}-${"x".repeat(i * 100)}`);
		const replies = await Promise.all(ids.map((id) => env([id])));
		replies.forEach((reply, i) => assert.equal(reply.ID, ids[i]));
	},
	async "100 concurrent streams"() {
		const count = async () => {
			let seen = 0;
			for await (const reply of list()) {
				assert.equal(reply.devices[0].ID, `gpu-${seen++}`);
			}
			return seen;
		};
		const counts = await Promise.all(Array.from({ length: 100 }, count));
		counts.forEach((seen) => assert.equal(seen, 100));
	},
	async "SIGTERM ends the server in peace"() {
		const stream = await openList();
		const errors = once(stream, "error");
		await once(stream, "data");
		server.kill("SIGTERM");
		const error = (await errors)[0];
		assert.equal(error.code, 14);
		assert.match(error.details, /shutting down/);
		assert.deepEqual(await exited, [0, null]);
		assert.equal(existsSync(socket), false);
	},
};

let failures = 0;
for (const [name, test] of Object.entries(tests)) {
	try {
		await test();
		console.log(`ok   ${name}`);
	} catch (error) {
		failures++;
		console.log(`FAIL ${name}: ${error.stack}`);
	}
}
client.close();
server.kill("SIGKILL");
rmSync(directory, { recursive: true });
process.exit(failures === 0 ? 0 : 1);
