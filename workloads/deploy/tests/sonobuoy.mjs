// SPDX-License-Identifier: MIT
// usage: sonobuoy.mjs pod MANIFEST
//        sonobuoy.mjs run MANIFEST FOLDER [ARGUMENT...]
// Plays Sonobuoy for a plugin with a DaemonSet and results of the format "manual". `pod` prints the pod that Sonobuoy would make, without
// its worker. `run` starts the plugin's container as a process, with these arguments and FOLDER as the results folder; waits for the done
// file as the worker does, reads the results below the path in it as the aggregator does, prints them, and ends the container. Whatever
// Sonobuoy would refuse or misread is an error.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, statSync, watch } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import YAML from "yaml";

const [mode, file, folder, ...args] = process.argv.slice(2);
const manifest = YAML.parse(readFileSync(file, "utf8"));
const statuses = ["passed", "failed", "skipped", "unknown", "timeout"];

function checkManifest({ "sonobuoy-config": config, spec, podSpec, ...rest }) {
	assert.deepEqual(rest, {});
	const known = ["driver", "plugin-name", "result-format", "result-files", "description", "source-url", "skip-cleanup", "order"];
	assert.deepEqual(Object.keys(config).filter((key) => !known.includes(key)), []);
	assert.equal(config.driver, "DaemonSet");
	assert.equal(config["result-format"], "manual");
	assert.match(config["plugin-name"], /^[a-z0-9-]+$/);
	assert.deepEqual(podSpec.containers, []);
	// The volume of the results is Sonobuoy's; the worker has it at the same place.
	assert.ok(!podSpec.volumes.some((volume) => volume.name === "results"));
	const place = spec.volumeMounts.find((mount) => mount.name === "results").mountPath;
	assert.equal(spec.env.find((variable) => variable.name === "SONOBUOY_RESULTS_DIR")?.value ?? place, place);
}

function pod({ spec, podSpec }) {
	const volumes = [...podSpec.volumes, { name: "results", emptyDir: {} }];
	return { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { ...podSpec, containers: [spec], volumes } };
}

function checkItem(item, place) {
	const { name, status, meta = {}, details = {}, items = [], ...rest } = item;
	assert.deepEqual(rest, {}, place);
	assert.equal(typeof name, "string", place);
	assert.ok(statuses.includes(status), `${place}: status ${status}`);
	assert.ok(Object.values(meta).every((value) => typeof value === "string"), `${place}: meta`);
	assert.ok(details !== null && typeof details === "object" && !Array.isArray(details), `${place}: details`);
	items.forEach((child, i) => checkItem(child, `${place}.items[${i}]`));
	// The aggregator takes the status of a whole as it is: it must be that of its items.
	if (items.some((child) => ["failed", "timeout"].includes(child.status)))
		assert.equal(status, "failed", place);
	if (place === "results" && !items.some((child) => child.status === "passed"))
		assert.notEqual(status, "passed", place);
}

// The aggregator reads every file of that name, wherever it is.
function read(place) {
	const name = "sonobuoy_results.yaml";
	const found = statSync(place).isDirectory()
		? readdirSync(place, { recursive: true }).filter((entry) => path.basename(entry) === name).map((entry) => path.join(place, entry))
		: [place];
	assert.equal(found.length, 1, `${found.length} files ${name}`);
	const results = YAML.parse(readFileSync(found[0], "utf8"), { version: "1.1" });
	checkItem(results, "results");
	assert.ok(results.items.length > 0, "no item");
	return results;
}

async function run({ spec }) {
	const done = path.join(folder, "done");
	const env = Object.fromEntries(spec.env.map(({ name, value }) => [name, value]));
	const [program, ...rest] = [...spec.command, ...args];
	const container = spawn(program, rest, {
		env: { ...process.env, ...env, SONOBUOY_RESULTS_DIR: folder }, stdio: ["ignore", 2, 2],
	});
	process.on("exit", () => container.kill("SIGTERM"));
	const ended = once(container, "exit");
	const written = new Promise((resolve) => {
		const look = () => existsSync(done) && resolve();
		watch(folder, look);
		look();
	});
	await Promise.race([written, ended.then(() => assert.ok(existsSync(done), "the container ended without a done file"))]);

	const place = readFileSync(done, "utf8");
	assert.ok(path.isAbsolute(place) && place === place.trim(), `done: '${place}'`);
	assert.ok(!path.relative(folder, place).startsWith(".."), `done: '${place}' is not in the volume of the results`);
	const results = read(place);
	// A DaemonSet would start a container that ended again, and with it the run: it must come to wait.
	while (container.exitCode === null && spawnSync("pgrep", ["-P", container.pid, "-x", "sleep"]).status !== 0)
		await setTimeout(20);
	assert.equal(container.exitCode, null, "the container ended");
	container.kill("SIGTERM");
	await ended;
	return results;
}

checkManifest(manifest);
console.log(JSON.stringify(mode === "pod" ? pod(manifest) : await run(manifest), null, 2));
process.exit(0);
