// SPDX-License-Identifier: MIT
// usage: deploy.mjs SOURCES BUILD VERSION
// The pods start the probes that there are, each with the image and the program that the build makes; the Containerfiles and the
// matrix name the bases of images.json, and these the builds that the project knows.
import { spawnSync } from "node:child_process";
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
	console.error(`${what}: ${JSON.stringify(saw)}, expected ${JSON.stringify(wanted)}`);
	failed++;
}

// The table again, read another way than by CMake.
const table = read(sources, "base/gpu_apis.def").replace(/\/\*.*?\*\//gs, "");
const rows = [...table.matchAll(/^API[A-Z_]*\((\w+),\s*(\w+),(.*?)(?=^API|^#)/gms)]
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
const builds = new Map([...read(sources, "containers/judging/compat/windows_builds.c").matchAll(/\{(\d{5}), "([^",]+)/g)]
	.map(([, number, name]) => [name, number]));
const { channels } = JSON.parse(read(folder, "windows/images.json"));
const kinds = ["server", "servercore", "nanoserver"];
const tagOf = (channel, edition) => (edition === "server" ? channel : `${channel}-${edition}`);
expect("Containerfiles", list(path.join(build, "deploy/windows"), ".Containerfile"),
	channels.flatMap((c) => kinds.map((edition) => `${c.channel}-${edition}`)).sort());
// The long-term releases by which images are judged, without 2016, which gives containers no GPU.
const images = read(sources, "containers/judging/compat/windows_images.c");
const constants = new Map([...(images + read(sources, "containers/judging/compat/windows_builds.h")).matchAll(/(\w*BUILD_\w+) = (\d{5})/g)]
	.map(([, name, number]) => [name, number]));
const longTerm = [...images.matchAll(/long_term\[\] = \{([^}]+)\}/g)].map(([, names]) => names.split(",").map((n) => constants.get(n.trim())));
expect("channels are the long-term releases", channels.map((c) => c.osVersion.split(".")[2]),
	longTerm.reduce((a, b) => (a.length > b.length ? a : b), []).filter((b) => b !== constants.get("WINDOWS_BUILD_2016")));
for (const { channel, name, osVersion, seen, source, runsOn, editions } of channels) {
	const [, number] = osVersion.match(/^10\.0\.(\d{5})\.\d+$/) ?? [];
	expect(`${channel}: the build of ${name}`, number, builds.get(name));
	expect(`${channel}: seen`, /^20\d\d-\d\d-\d\d$/.test(seen) && source.startsWith("https://"), true);
	expect(`${channel}: runs on`, runsOn[0] === `windows-${channel.slice(4)}` || runsOn[0] === "self-hosted", true);
	expect(`${channel}: editions`, Object.keys(editions), kinds);
	for (const [edition, moving] of Object.entries(editions)) {
		const [repository, tag] = moving.split(":");
		const file = `${channel}-${edition}.Containerfile`;
		expect(`${file}: ${moving} is Microsoft's`, /^mcr\.microsoft\.com\/windows(\/\w+)?$/.test(repository) && tag !== "latest", true);
		const text = read(build, "deploy/windows", file);
		expect(`${file}: comment`, text.includes(`${name} nodes (build ${number}), edition ${edition}`) && text.includes(`BASE=${moving}\n`) &&
			text.includes(`${file} -t gpucert.internal/probes:${version}-${tagOf(channel, edition)} .`), true);
		const steps = text.split("\n").filter((l) => l !== "" && !l.startsWith("#")).map((l) => l.split(/ (.*)/s).slice(0, 2));
		expect(`${file}: instructions`, steps.map(([i]) => i), ["ARG", "FROM", "LABEL", "COPY", "COPY", "COPY", "CMD"]);
		expect(`${file}: base`, steps[0][1], `BASE=${repository}:${osVersion}`);
		expect(`${file}: from`, steps[1][1], "${BASE}");
		for (const [, copy] of steps.filter(([i]) => i === "COPY")) {
			const [, part] = copy.match(/^(bin|libexec|share)\/ C:\/gpucert\/\1\/$/) ?? [];
			expect(`${file}: COPY ${copy}`, part !== undefined, true);
		}
		expect(`${file}: CMD`, JSON.parse(steps.at(-1)[1]), ["C:\\gpucert\\libexec\\gpucert\\probe-visibility.exe"]);
		expect(`${file}: placeholders`, text.match(/@\w+@/g), null);
	}
}

// The matrix of a CI: every image once, and what its arguments leave of them.
const matrix = (...argv) => spawnSync(process.execPath, [path.join(folder, "windows/matrix.mjs"), ...argv], { encoding: "utf8" });
const { include } = JSON.parse(matrix().stdout);
expect("matrix", include.map((m) => `${m.channel}-${m.edition}`), channels.flatMap((c) => kinds.map((e) => `${c.channel}-${e}`)));
for (const { channel, edition, osVersion, base, containerfile, tag, runsOn } of include) {
	const from = channels.find((c) => c.channel === channel);
	const text = read(build, "deploy/windows", containerfile);
	expect(`matrix: ${containerfile}`, [osVersion, text.includes(`\nARG BASE=${base}\n`), tag, runsOn],
		[from.osVersion, true, tagOf(channel, edition), from.runsOn]);
}
expect("matrix ltsc2022 nanoserver", JSON.parse(matrix("ltsc2022", "nanoserver").stdout).include.map((m) => m.containerfile),
	["ltsc2022-nanoserver.Containerfile"]);
expect("matrix servercore", JSON.parse(matrix("servercore").stdout).include.map((m) => m.channel), channels.map((c) => c.channel));
const wrong = matrix("ltsc2016");
expect("matrix ltsc2016", [wrong.status, wrong.stdout, wrong.stderr.includes("ltsc2016 is not one of ltsc2019, ltsc2022")], [2, "", true]);
expect("README names the version", read(folder, "README.md").includes(`gpucert.internal/probes:${version} `), true);
process.exit(failed === 0 ? 0 : 1);
