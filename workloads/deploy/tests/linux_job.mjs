// SPDX-License-Identifier: MIT
// usage: linux_job.mjs GPUCERT FILE [--write]
// The Job for one Linux node that Kustomize and Helm start from is what `gpucert fleet plan` prints for a node of the name "node"; the
// waiting time and the name, which depend on a hash, are its own, each Job runs anew, and the kubelet names the node. --write makes it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import YAML from "yaml";

const [gpucert, file, mode] = process.argv.slice(2);
const node = {
	metadata: { name: "node", labels: { "kubernetes.io/hostname": "node" } },
	status: { conditions: [{ type: "Ready", status: "True" }] },
};
const tolerated = ["node.kubernetes.io/unschedulable", "nvidia.com/gpu", "amd.com/gpu"];
const folder = mkdtempSync(path.join(tmpdir(), "linux-job-"));
const nodes = path.join(folder, "nodes.json");
writeFileSync(nodes, JSON.stringify({ apiVersion: "v1", kind: "List", items: [node] }));
const printed = execFileSync(gpucert, [
	"fleet", "plan", nodes, "--image", `gpucert.internal/gpucert@sha256:${"0".repeat(64)}`, "--name", "single", "--retries", "0",
	...tolerated.flatMap((key) => ["--toleration", key]),
], { encoding: "utf8" });
rmSync(folder, { recursive: true });
const [job] = JSON.parse(printed).items;
job.metadata.name = "gpucert";
const [container] = job.spec.template.spec.containers;
const own = {
	FLEET_DELAY: { value: "0" },
	FLEET_OUT: { value: "/report/$(NODE_NAME)" },
	FLEET_PLAN: { valueFrom: { fieldRef: { fieldPath: "metadata.labels['controller-uid']" } } },
};
const ordered = [...container.env].sort((a, b) => (b.name === "NODE_NAME") - (a.name === "NODE_NAME")); // what is named must come first
container.env = ordered.map((variable) => (own[variable.name] ? { name: variable.name, ...own[variable.name] } : variable));
if (mode === "--write")
	writeFileSync(file, `# gpucert on one Linux node, made from what \`gpucert fleet plan\` prints (linux_job.mjs --write).\n${YAML.stringify(job, { lineWidth: 0 })}`);
assert.deepEqual(YAML.parse(readFileSync(file, "utf8")), job, "run linux_job.mjs --write");
