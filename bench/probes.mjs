// SPDX-License-Identifier: MIT
// usage: probes.mjs BUILD
// Prints what probes cost by themselves: the time from start to the first call of an API, the memory beyond the driver's, and
// the time of the whole grid of APIs. An exit code of 1: a figure is above its target. See README.md.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const STARTS = 15;
const build = path.resolve(process.argv[2]);
const tests = path.join(build, "tests");
const programs = path.join(build, "libexec/gpucert");
const meter = path.join(tests, "libfirst_call.so");
const scratch = mkdtempSync(path.join(os.tmpdir(), "gpucert-bench-"));
let missed = 0;

// With which driver a probe works: none named is the one that the machine has. vaapi: none does without a device node.
const drivers = {
	amf: { LD_LIBRARY_PATH: `${tests}/amf`, VK_DRIVER_FILES: `${tests}/double_vulkan.json`, VK_ICD_FILENAMES: `${tests}/double_vulkan.json` },
	cuda: { LD_LIBRARY_PATH: `${tests}/cuda` },
	hip: { LD_LIBRARY_PATH: `${tests}/hip` },
	levelzero: { ZE_ENABLE_ALT_DRIVERS: `${tests}/libdouble_levelzero_1.so` },
	nvenc: { LD_LIBRARY_PATH: `${tests}/cuda:${tests}/nvenc` },
	nvml: { LD_LIBRARY_PATH: `${tests}/cuda` },
	vpl: { ONEVPL_SEARCH_PATH: `${tests}/vpl` },
};
// What probes load first.
const libraries = ["libvulkan.so.1", "libOpenCL.so.1", "libEGL.so.1", "libcuda.so.1", "libnvidia-ml.so.1", "libze_loader.so.1",
	"libnvidia-encode.so.1", "libamdhip64.so.7", "libamfrt64.so.1", "libva.so.2", "libva-drm.so.2", "libvpl.so.2", "libvkd3d.so.1"];

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

function row(what, value, unit, most) {
	const met = most === undefined ? "" : `${most.toFixed(2).padStart(8)} ${unit.padEnd(2)}  ${value <= most ? "met" : "MISSED"}`;
	console.log(`${what.padEnd(64)} ${value.toFixed(2).padStart(9)} ${unit.padEnd(2)}${met}`);
	missed += most !== undefined && value > most ? 1 : 0;
}

function run(program, args, env) {
	const ended = spawnSync(program, args, { env: { ...process.env, ...env }, encoding: "utf8", maxBuffer: 64 << 20 });
	if (ended.status !== 0)
		throw new Error(`${path.basename(program)}: ${ended.error ?? ended.signal ?? ended.status} ${ended.stderr}`);
	return ended.stdout;
}

// Median of milliseconds from start to the first call, and of kilobytes then; null: no such call.
function firstCall(program, args, env) {
	const file = path.join(scratch, "first");
	const samples = [];
	for (let i = 0; i < STARTS; i++) {
		rmSync(file, { force: true });
		const began = process.hrtime.bigint();
		run(program, args, { BENCH_FIRST_CALL: file, ...env });
		if (!existsSync(file))
			return null;
		const [ns, kb] = readFileSync(file, "utf8").trim().split(" ");
		samples.push([Number(BigInt(ns) - began) / 1e6, Number(kb)]);
	}
	return { ms: median(samples.map((s) => s[0])), kb: median(samples.map((s) => s[1])) };
}

// Kilobytes at most, and the work that was done.
function peak(name, args) {
	const file = path.join(scratch, "peak");
	const document = JSON.parse(run(path.join(programs, `probe-${name}`), args, { LD_PRELOAD: meter, BENCH_PEAK: file, ...drivers[name] }));
	return { kb: Number(readFileSync(file, "utf8").trim().split(" ")[1]), status: document.work?.status, encodes: document.work?.video != null };
}

// What the work adds to what is there before the driver is: arrays, the reference, the document; the driver's own, too, which
// for software drivers has the arrays once more. Of encoders, whose work has one size, all that their doubles take is in it.
function workMemory(name) {
	const whole = peak(name, []);
	if (whole.status !== "ok" && whole.status !== "encoded")
		return null;
	return whole.kb - peak(name, whole.encodes ? ["--list"] : ["--size", "1"]).kb;
}

function measure(name) {
	const args = name === "visibility" ? ["--api", "vulkan"] : [];
	const program = path.join(scratch, `probe-${name}`); // a copy: probe-ffmpeg starts the ffmpeg beside it
	copyFileSync(path.join(programs, `probe-${name}`), program);
	const first = firstCall(program, args, { LD_LIBRARY_PATH: scratch });
	if (first === null) {
		console.log(`${`probe-${name}`.padEnd(64)} not measured: it loads none of the known libraries, and starts no ffmpeg`);
		missed++;
		return;
	}
	row(`probe-${name}, start to first API call`, first.ms, "ms", 15);
	if (name === "ffmpeg") { // a process of its own
		row(`probe-${name}, memory`, peak(name, []).kb / 1024, "MB", 64);
		return;
	}
	const work = name === "visibility" ? null : workMemory(name);
	row(`probe-${name}, memory beyond the driver's${work === null ? " (no work here)" : ""}`, (first.kb + (work ?? 0)) / 1024, "MB", 64);
}

try {
	symlinkSync(path.join(tests, "first_call_program"), path.join(scratch, "ffmpeg"));
	libraries.forEach((library) => symlinkSync(meter, path.join(scratch, library)));
	row("empty program, start to main", firstCall(path.join(tests, "bench_empty"), [], { LD_PRELOAD: meter }).ms, "ms");
	readdirSync(programs).filter((n) => n.startsWith("probe-")).forEach((n) => measure(n.slice("probe-".length)));
	if (process.getuid() === 0) {
		const began = process.hrtime.bigint();
		run(path.join(build, "bin/gpucert"), ["run", "api", "--quiet", "--out", path.join(scratch, "out")], {});
		row("gpucert run api, the software node", Number(process.hrtime.bigint() - began) / 1e9, "s", 30);
	}
} finally {
	rmSync(scratch, { recursive: true });
}
process.exit(missed === 0 ? 0 : 1);
