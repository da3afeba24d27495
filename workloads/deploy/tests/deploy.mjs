// SPDX-License-Identifier: MIT
// usage: deploy.mjs SOURCES BUILD VERSION
// The pods start the probes that there are, each with the image and the program that the build makes; the Containerfiles name
// the bases of images.json, and these the builds that the project knows.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const [sources, build, version] = process.argv.slice(2);
const folder = path.join(sources, "workloads/deploy");
const read = (...parts) => readFileSync(path.join(...parts), "utf8");
const list = (place, end) => readdirSync(place).filter((n) => n.endsWith(end)).map((n) => n.slice(0, -end.length)).sort();
let failed = 0;

function expect(what, saw, wanted) {
	if (JSON.stringify(saw) === JSON.stringify(wanted))
		return;
	console.error(`${what}: ${JSON.stringify(saw)}, wanted ${JSON.stringify(wanted)}`);
	failed++;
}

// The table again, read another way than by CMake.
const table = read(sources, "base/gpu_apis.def").replace(/\/\*.*?\*\//gs, "");
const rows = [...table.matchAll(/^API(?:_WITHOUT_CHECK)?\((\w+),\s*(\w+),(.*?)(?=^API|^#undef)/gms)]
	.map(([, name, system, rest]) => ({ name, system, display: /\.encodes = true|\.family = "graphics"/.test(rest) }));
expect("the table has rows", rows.length > 10, true);
rows.push({ name: "visibility", system: "ANY", display: true });
for (const [os, not] of [["linux", "WINDOWS"], ["windows", "LINUX"]]) {
	const here = rows.filter((r) => r.system !== not);
	expect(`${os}: the pods`, list(path.join(build, "deploy", os), ".yaml"), here.map((r) => r.name).sort());
	for (const row of here) {
		const pod = read(build, "deploy", os, `${row.name}.yaml`);
		const value = (key) => pod.match(new RegExp(`^ *${key}: (.*)$`, "m"))?.[1];
		const program = os === "linux" ? `[/libexec/gpucert/probe-${row.name}]`
			: `['C:\\gpucert\\libexec\\gpucert\\probe-${row.name}.exe']`;
		expect(`${os}/${row.name}: name`, value("name"), `probe-${row.name}`);
		expect(`${os}/${row.name}: command`, value("command"), program);
		expect(`${os}/${row.name}: image`, value("image"),
			`gpucert.internal/probes:${version}${os === "linux" ? "" : "-ltsc2022"}`);
		expect(`${os}/${row.name}: one device`, value(os === "windows" ? "directx.microsoft.com/display"
			: `gpucert.internal/${row.display ? "display" : "compute"}`), "1");
		expect(`${os}/${row.name}: placeholders`, pod.match(/@\w+@/g), null);
		if (os === "linux")
			expect(`probe-${row.name} is built`, existsSync(path.join(build, "libexec/gpucert", `probe-${row.name}`)), true);
	}
}

// Builds that the project knows: "{20348, "Windows Server 2022", ..."
const builds = new Map([...read(sources, "containers/compat/windows_builds.c").matchAll(/\{(\d{5}), "([^",]+)/g)]
	.map(([, number, name]) => [name, number]));
const { channels } = JSON.parse(read(folder, "windows/images.json"));
expect("Containerfiles", list(path.join(folder, "windows"), ".Containerfile"), channels.map((c) => c.channel).sort());
for (const { channel, name, osVersion, seen, source, editions } of channels) {
	const [, number] = osVersion.match(/^10\.0\.(\d{5})\.\d+$/) ?? [];
	expect(`${channel}: the build of ${name}`, number, builds.get(name));
	expect(`${channel}: seen`, /^20\d\d-\d\d-\d\d$/.test(seen) && source.startsWith("https://"), true);
	expect(`${channel}: editions`, Object.keys(editions), ["server", "servercore", "nanoserver"]);
	const text = read(folder, "windows", `${channel}.Containerfile`);
	expect(`${channel}: comment`, text.includes(`${name} nodes (build ${number})`) &&
		text.includes(`${channel}.Containerfile -t gpucert.internal/probes:${version}-${channel} .`), true);
	const steps = text.split("\n").filter((l) => l !== "" && !l.startsWith("#")).map((l) => l.split(/ (.*)/s).slice(0, 2));
	expect(`${channel}: instructions`, steps.map(([i]) => i), ["ARG", "FROM", "LABEL", "COPY", "COPY", "COPY", "CMD"]);
	expect(`${channel}: base`, steps[0][1], `BASE=${editions.server}`);
	expect(`${channel}: from`, steps[1][1], "${BASE}");
	for (const [, copy] of steps.filter(([i]) => i === "COPY")) {
		const [, part] = copy.match(/^(bin|libexec|share)\/ C:\/gpucert\/\1\/$/) ?? [];
		expect(`${channel}: COPY ${copy}`, part !== undefined, true);
	}
	expect(`${channel}: CMD`, JSON.parse(steps.at(-1)[1]), ["C:\\gpucert\\libexec\\gpucert\\probe-visibility.exe"]);
}
for (const { editions, channel } of channels)
	for (const base of Object.values(editions))
		expect(`${channel}: ${base} is Microsoft's`, base.startsWith("mcr.microsoft.com/windows"), true);
expect("README names the version", read(folder, "README.md").includes(`gpucert.internal/probes:${version} `), true);
process.exit(failed === 0 ? 0 : 1);
