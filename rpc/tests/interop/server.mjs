// SPDX-License-Identifier: MIT
// A grpc-js server for the project's client: node server.mjs CLIENT-PROGRAM INCLUDE-DIR...
// Runs the client program with the server's address and exits with its code.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devicePlugin, grpc } from "./common.mjs";

const [program, ...includeDirs] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "rpc-interop-"));
const address = `unix:${join(directory, "server.sock")}`;
const server = new grpc.Server();
let ended = 0;
let wish = ""; // of the next ListAndWatch

server.addService(devicePlugin(includeDirs).service, {
	GetDevicePluginOptions(call, reply) {
		reply(null, { pre_start_required: true, get_preferred_allocation_available: false });
	},
	ListAndWatch(call) {
		const forever = wish === "forever" || wish === "shutdown";
		call.on("cancelled", () => ended++);
		for (let i = 0; i < (forever ? 1 : 100); i++) {
			call.write({ devices: [{ ID: `gpu-${i}`, health: "Healthy" }] });
		}
		if (wish === "shutdown") {
			server.tryShutdown(() => {});
		}
		if (!forever) {
			call.end();
		}
	},
	Allocate(call, reply) {
		const id = call.request.container_requests[0].devices_ids[0];
		wish = id;
		const failure = /^fail:(\d+):([^]*)$/.exec(id);
		if (failure) {
			reply({ code: Number(failure[1]), details: failure[2] });
		} else if (id === "hold") {
			call.on("cancelled", () => ended++);
		} else {
			const value = id === "ended" ? String(ended) : id;
			reply(null, { container_responses: [{ envs: { ID: value } }] });
		}
	},
});
await new Promise((resolve, reject) =>
	server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) =>
		error ? reject(error) : resolve()));
const client = spawn(program, { stdio: "inherit", env: { ...process.env, RPC_INTEROP_ADDRESS: address } });
const [code] = await once(client, "exit");
server.forceShutdown();
rmSync(directory, { recursive: true });
process.exit(code ?? 1);
