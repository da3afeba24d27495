// SPDX-License-Identifier: MIT
// kubectl and helm of the npm project `kubectl`; the process ends with 77 and the reason where they cannot run.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

export function findTools(folder) {
	const tools = Object.fromEntries(["kubectl", "helm"].map((name) => [name, path.join(folder, name, name)]));
	const why = process.platform !== "linux" || process.arch !== "x64" ? `the npm package has kubectl and helm for Linux on x86-64 only`
		: Object.values(tools).every(existsSync) ? undefined : `the npm package with kubectl and helm is not in ${folder}`;
	if (why !== undefined) {
		console.log(`skipped: ${why}`);
		process.exit(77);
	}
	return tools;
}

// Returns what the program prints; an error names what it said.
export function print(program, ...args) {
	const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 26 });
	if (status !== 0)
		throw new Error(`${path.basename(program)} ${args.join(" ")}: ${error ?? stderr}`);
	return stdout;
}
