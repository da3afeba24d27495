// SPDX-License-Identifier: MIT
// usage: render.mjs TOOLS PLUGINS NODE WORK
// Each deployment is made twice, by `kubectl kustomize` with the overlays and by `helm template` with the chart of the folder PLUGINS or
// NODE, as docs/deployment.md says: both give the same objects. They stay in WORK/rendered, a file each. Values that the charts
// must refuse are refused.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import YAML from "yaml";
import { findTools, print } from "./tools.mjs";

const [toolsFolder, plugins, node, work] = process.argv.slice(2);
const { kubectl, helm } = findTools(toolsFolder);
const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
const image = (name) => `registry.example/${name}@${digest}`;
const rendered = path.join(work, "rendered");
rmSync(work, { recursive: true, force: true });
for (const [from, name] of [[plugins, "plugins"], [node, "node"]])
	cpSync(from, path.join(work, name), { recursive: true });
mkdirSync(rendered);

const parse = (text) => YAML.parseAllDocuments(text, { version: "1.1" }).map((document) => {
	assert.deepEqual(document.errors, []);
	return document.toJS();
});
const byName = (objects) => {
	const map = new Map(objects.map((object) => [`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`, object]));
	assert.equal(map.size, objects.length);
	return Object.fromEntries([...map].sort());
};
const valueFile = (values) => {
	const file = path.join(work, "values.yaml");
	writeFileSync(file, YAML.stringify(values));
	return file;
};
const template = (chart, namespace, values) => print(helm, "template", "gpucert", chart, "--namespace", namespace, "--values", valueFile(values));

// A user's kustomization next to the overlays of the plugins.
const ownPlugins = (name, overlays, rest = {}) => {
	const folder = path.join(work, "plugins", name);
	mkdirSync(folder);
	writeFileSync(path.join(folder, "kustomization.yaml"), YAML.stringify({
		resources: overlays.map((overlay) => `../overlays/${overlay}`),
		images: ["device-plugin-gpu", "directx-device-plugins"].map((program) => ({
			name: `gpucert.internal/${program}`, newName: `registry.example/${program}`, digest,
		})),
		...rest,
	}));
	return folder;
};
// A user's copy of an overlay for a node.
const ownNode = (overlay, nodeName, program, rest = {}) => {
	const folder = path.join(work, "node/overlays", `${overlay}-${nodeName}`);
	const file = path.join(folder, "kustomization.yaml");
	cpSync(path.join(node, "overlays", overlay), folder, { recursive: true });
	const kustomization = YAML.parse(readFileSync(file, "utf8"));
	kustomization.configMapGenerator[0].literals = [`node=${nodeName}`];
	kustomization.images = [{ name: `gpucert.internal/${program}`, newName: `registry.example/${program}`, digest }];
	kustomization.patches = [...kustomization.patches ?? [], ...rest.patches ?? []];
	writeFileSync(file, YAML.stringify(kustomization));
	return folder;
};
const patch = (kind, ...operations) => ({ target: { kind }, patch: JSON.stringify(operations) });

const pluginChart = path.join(work, "plugins/chart");
const nodeChart = path.join(work, "node/chart");
const linux = { image: image("device-plugin-gpu") };
const windows = { image: image("directx-device-plugins") };
const tolerations = [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }];
const settings = "multitenancy: 4\nvendors: [\"0x10de\"]\n";
const pod = "/spec/template/spec";
const cases = [
	["plugins-linux", ownPlugins("own-linux", ["linux"]), pluginChart, { linux }],
	["plugins-windows", ownPlugins("own-windows", ["windows"]), pluginChart, { windows }],
	["plugins-windows-2022", ownPlugins("own-2022", ["windows-2022"]), pluginChart, { windows: { ...windows, builds: ["10.0.20348"] } }],
	["plugins-windows-2025", ownPlugins("own-2025", ["windows-2025"]), pluginChart, { windows: { ...windows, builds: ["10.0.26100"] } }],
	["plugins-without-surge", ownPlugins("own-all", ["linux", "windows"], { components: ["../components/without-surge"] }), pluginChart,
		{ linux, windows, surge: false }],
	["plugins-changed", ownPlugins("own-changed", ["linux"], {
		patches: [
			patch("DaemonSet", { op: "add", path: `${pod}/nodeSelector/nvidia.com~1gpu.present`, value: "true" },
				{ op: "replace", path: `${pod}/tolerations`, value: tolerations }),
			patch("ConfigMap", { op: "replace", path: "/data/device-plugin-gpu.yaml", value: settings }),
		],
	}), pluginChart, { linux, nodeSelector: { "nvidia.com/gpu.present": "true" }, tolerations, configuration: { "device-plugin-gpu.yaml": settings } }],
	["node-linux", ownNode("linux", "gpu-7.example", "gpucert"), nodeChart, { node: "gpu-7.example", image: image("gpucert") }],
	["node-linux-changed", ownNode("linux", "gpu-8", "gpucert", {
		patches: [patch("Job", { op: "replace", path: `${pod}/tolerations`, value: tolerations }, { op: "add", path: `${pod}/runtimeClassName`, value: "nvidia" },
			{ op: "replace", path: `${pod}/containers/0/args`, value: ["--require-conformant", "isolation", "api"] })],
	}), nodeChart, {
		node: "gpu-8", image: image("gpucert"), tolerations, runtimeClassName: "nvidia", arguments: ["--require-conformant", "isolation", "api"],
	}],
	...["windows-2022", "windows-2025"].map((system) => [`node-${system}`, ownNode(system, "win-3", "gpucert-windows"), nodeChart,
		{ system, node: "win-3", image: image("gpucert-windows") }]),
];
for (const [name, folder, chart, values] of cases) {
	const objects = byName(parse(print(kubectl, "kustomize", folder)));
	const namespace = Object.values(objects)[0].metadata.namespace;
	assert.deepEqual(byName(parse(template(chart, namespace, values))), objects, `${name}: helm (actual) and kustomize (expected) differ`);
	writeFileSync(path.join(rendered, `${name}.yaml`), Object.values(objects).map((object) => YAML.stringify(object)).join("---\n"));
}
print(helm, "lint", "--strict", pluginChart, "--values", valueFile({ linux, windows }));
print(helm, "lint", "--strict", nodeChart, "--values", valueFile({ node: "a", image: image("gpucert") }));

const refused = [
	["no image", pluginChart, {}, /set linux.image or windows.image/],
	["a tag", pluginChart, { linux: { image: "registry.example/device-plugin-gpu:latest" } }, /linux\/image/],
	["a tag and a short digest", pluginChart, { linux: { image: "registry.example/a:1@sha256:0" } }, /linux\/image/],
	["Windows Server 2019", pluginChart, { windows: { ...windows, builds: ["10.0.17763"] } }, /windows\/builds/],
	["no build", pluginChart, { windows: { ...windows, builds: [] } }, /windows\/builds/],
	["an unknown value", pluginChart, { linux, surge: true, surges: true }, /surges/],
	["an unknown file", pluginChart, { linux, configuration: { "device-plugin.yaml": "" } }, /device-plugin.yaml/],
	["no node", nodeChart, { image: image("gpucert") }, /\/node/],
	["a wrong node", nodeChart, { node: "../etc", image: image("gpucert") }, /\/node/],
	["no image for a node", nodeChart, { node: "a" }, /\/image/],
	["an unknown system", nodeChart, { node: "a", image: image("gpucert"), system: "windows-2019" }, /\/system/],
];
for (const [what, chart, values, words] of refused)
	assert.throws(() => template(chart, "x", values), words, what);
console.log(`${cases.length} deployments are equal, ${refused.length} are refused`);
