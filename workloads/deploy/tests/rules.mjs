// SPDX-License-Identifier: MIT
// usage: rules.mjs FOLDER
// What the project demands of its own deployments, file by file, beyond what the API accepts. Each rule is first broken on purpose, in
// a file that keeps all rules.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import YAML from "yaml";

const [folder] = process.argv.slice(2);
if (!existsSync(folder)) {
	console.log("skipped: nothing was rendered");
	process.exit(77);
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const podOf = (object) => object.spec?.template?.spec;
const isWindows = (pod) => pod.nodeSelector?.["kubernetes.io/os"] === "windows";
const buildLabel = "node.kubernetes.io/windows-build";
const termsOf = (pod) => pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
// The builds that a pod accepts; undefined: any.
function buildsOf(pod) {
	if (pod.nodeSelector?.[buildLabel] !== undefined)
		return [pod.nodeSelector[buildLabel]];
	const lists = termsOf(pod).map(({ matchExpressions = [] }) => matchExpressions.find(({ key, operator }) => key === buildLabel && operator === "In")?.values);
	return lists.length > 0 && lists.every(Boolean) ? lists.flat() : undefined;
}
const probesOf = (container) => ["livenessProbe", "readinessProbe", "startupProbe"].map((kind) => container[kind]).filter(Boolean);
// Only a run of gpucert on Linux mounts, makes device nodes and starts a containerd.
const needsPrivileges = (object, container) => object.kind === "Job" && container.name === "gpucert";
// What pods may write of the node.
const writable = ["/var/lib/kubelet/device-plugins", /^\/var\/lib\/gpucert\/fleet\/[^/]+$/];

// [what must be true, judge(pod, object, all objects), changes that must break it: [file, change(pod, object, all objects)]]
const linux = "plugins-linux.yaml", windows = "plugins-windows.yaml", job = "node-linux.yaml", windowsJob = "node-windows-2025.yaml";
const first = (pod) => pod.containers[0];
const rules = [
	["a HostProcess pod is on the node's network, has a system account, and says that it is for Windows", (pod) => {
		const options = pod.securityContext?.windowsOptions;
		return isWindows(pod) ? options?.hostProcess === true && pod.hostNetwork === true && pod.os?.name === "windows" &&
			options.runAsUserName === "NT AUTHORITY\\SYSTEM" : options === undefined;
	}, [
		[windows, (pod) => { delete pod.hostNetwork; }],
		[windows, (pod) => { delete pod.securityContext.windowsOptions.runAsUserName; }],
		[windowsJob, (pod) => { pod.nodeSelector["kubernetes.io/os"] = "linux"; }],
		[windowsJob, (pod) => { delete pod.os; }],
	]],
	["a pod is for one system and architecture, and on Windows for known builds", (pod) => isWindows(pod)
		? pod.nodeSelector["kubernetes.io/arch"] === "amd64" && (buildsOf(pod) ?? [""]).every((build) => ["10.0.20348", "10.0.26100"].includes(build))
		: pod.nodeSelector?.["kubernetes.io/os"] === "linux", [
		[windows, (pod) => { delete pod.affinity; }],
		[windows, (pod) => { termsOf(pod)[0].matchExpressions[0].values.push("10.0.17763"); }],
		[windows, (pod) => { termsOf(pod).push({ matchExpressions: [] }); }],
		[windowsJob, (pod) => { delete pod.nodeSelector[buildLabel]; }],
		[linux, (pod) => { delete pod.nodeSelector; }],
	]],
	["an image is named by its digest and no tag", (pod) => pod.containers.every(({ image }) => /^[^:@]+@sha256:(?!0{64})[0-9a-f]{64}$/.test(image)), [
		[linux, (pod) => { first(pod).image = "registry.example/device-plugin-gpu:latest"; }],
		[linux, (pod) => { first(pod).image = first(pod).image.replace("@", ":0.1.0@"); }],
		[job, (pod) => { first(pod).image = first(pod).image.replace(/[0-9a-f]{64}/, "0".repeat(64)); }],
	]],
	["a pod tolerates taints", (pod) => pod.tolerations?.length > 0, [[linux, (pod) => { pod.tolerations = []; }], [job, (pod) => { delete pod.tolerations; }]]],
	["a container has requests and a limit of memory", (pod) => pod.containers.every(({ resources }) =>
		resources?.limits?.memory !== undefined && resources.requests?.cpu !== undefined && resources.requests.memory !== undefined), [
		[linux, (pod) => { delete first(pod).resources.limits; }], [job, (pod) => { delete first(pod).resources.requests.cpu; }],
	]],
	["a container has no privilege that it does not need", (pod, object) => pod.containers.every((container) => {
		const security = container.securityContext;
		if (isWindows(pod))
			return security === undefined; // HostProcess is all there is
		return needsPrivileges(object, container) || (security?.privileged === undefined && security.allowPrivilegeEscalation === false &&
			same(security.capabilities, { drop: ["ALL"] }) && security.seccompProfile?.type === "RuntimeDefault");
	}) && !pod.hostPID && !pod.hostIPC, [
		[linux, (pod) => { first(pod).securityContext.privileged = true; }],
		[linux, (pod) => { first(pod).securityContext.capabilities.add = ["SYS_ADMIN"]; }],
		[linux, (pod) => { delete first(pod).securityContext.allowPrivilegeEscalation; }],
		[linux, (pod) => { delete first(pod).securityContext.seccompProfile; }],
		[job, (pod) => { pod.hostPID = true; }],
		[windows, (pod) => { first(pod).securityContext = { privileged: true }; }],
	]],
	["a pod has no token of the API server", (pod) => pod.automountServiceAccountToken === false && pod.serviceAccountName === undefined &&
		!(pod.volumes ?? []).some(({ projected }) => projected), [
		[linux, (pod) => { delete pod.automountServiceAccountToken; }],
		[job, (pod) => { pod.serviceAccountName = "admin"; }],
		[job, (pod) => { pod.volumes.push({ name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }); }],
	]],
	["a container's root is read-only on Linux", (pod) => isWindows(pod) || pod.containers.every(({ securityContext }) => securityContext?.readOnlyRootFilesystem === true), [
		[linux, (pod) => { delete first(pod).securityContext.readOnlyRootFilesystem; }],
		[job, (pod) => { first(pod).securityContext.readOnlyRootFilesystem = false; }],
	]],
	["a container writes only the node's folders that it must write", (pod) => (pod.volumes ?? []).filter(({ hostPath }) => hostPath).every((volume) =>
		writable.some((place) => place === volume.hostPath.path || (place.test && place.test(volume.hostPath.path))) ||
		pod.containers.flatMap(({ volumeMounts = [] }) => volumeMounts).every(({ name, readOnly }) => name !== volume.name || readOnly === true)), [
		[linux, (pod) => { delete first(pod).volumeMounts.find(({ name }) => name === "host").readOnly; }],
		[job, (pod) => { pod.volumes[0].hostPath.path = "/var/lib/gpucert/../../etc"; }],
	]],
	["an upgrade starts the new plugin before the old one ends, where Kubernetes can", (pod, object, objects, file) => {
		if (object.kind !== "DaemonSet")
			return true;
		const { type, rollingUpdate } = object.spec.updateStrategy ?? {};
		const wanted = /surge/.test(file) ? { maxUnavailable: 1 } : { maxSurge: "10%", maxUnavailable: 0 };
		return type === "RollingUpdate" && same(Object.entries(rollingUpdate ?? {}).sort(), Object.entries(wanted)) && object.spec.minReadySeconds >= 10 &&
			pod.terminationGracePeriodSeconds >= 10 && pod.containers.every(({ readinessProbe }) => readinessProbe);
	}, [
		[linux, (pod, object) => { object.spec.updateStrategy.rollingUpdate = { maxUnavailable: 1 }; }],
		[windows, (pod, object) => { object.spec.updateStrategy.type = "OnDelete"; }],
		[linux, (pod, object) => { delete object.spec.minReadySeconds; }],
		[linux, (pod) => { delete first(pod).readinessProbe; }],
		[linux, (pod) => { pod.terminationGracePeriodSeconds = 0; }],
	]],
	["a DaemonSet that the node needs is not evicted", (pod, object) => object.kind !== "DaemonSet" || pod.priorityClassName === "system-node-critical", [
		[linux, (pod) => { delete pod.priorityClassName; }],
	]],
	["a Job ends, and is not repeated after a verdict", (pod, object) => object.kind !== "Job" ||
		(object.spec.backoffLimit === 0 && object.spec.activeDeadlineSeconds > 0 && pod.restartPolicy === "Never"), [
		[job, (pod, object) => { delete object.spec.activeDeadlineSeconds; }], [windowsJob, (pod, object) => { object.spec.backoffLimit = 6; }],
	]],
	["a pod has the node's network and serves on loopback only, or a policy that refuses all traffic", (pod, object, objects) => {
		const labels = object.spec.template.metadata.labels;
		if (pod.hostNetwork)
			return pod.containers.every((container) => container.ports === undefined && probesOf(container).every(({ httpGet }) => httpGet?.host === "127.0.0.1") &&
				(container.args ?? []).every((argument) => !/^--metrics-address=(?!127\.0\.0\.1:)/.test(argument)));
		return objects.some(({ kind, metadata, spec }) => kind === "NetworkPolicy" && metadata.namespace === object.metadata.namespace &&
			same([...spec.policyTypes].sort(), ["Egress", "Ingress"]) && spec.ingress === undefined && spec.egress === undefined &&
			spec.podSelector.matchExpressions === undefined && Object.entries(spec.podSelector.matchLabels ?? {}).every(([key, value]) => labels[key] === value));
	}, [
		[linux, (pod) => { first(pod).args = first(pod).args.map((argument) => argument.replace("127.0.0.1", "0.0.0.0")); }],
		[linux, (pod) => { delete first(pod).readinessProbe.httpGet.host; }],
		[windows, (pod) => { first(pod).ports = [{ containerPort: 9478 }]; }],
		[linux, (pod) => { delete pod.hostNetwork; }],
		[job, (pod, object, objects) => { objects.find(({ kind }) => kind === "NetworkPolicy").spec.policyTypes.pop(); }],
		[job, (pod, object, objects) => { objects.find(({ kind }) => kind === "NetworkPolicy").spec.egress = [{}]; }],
		[job, (pod, object) => { object.spec.template.metadata.labels = {}; }],
	]],
	["two plugins of a node have their own ports", (pod, object, objects) => {
		const ports = objects.flatMap((other) => (podOf(other)?.containers ?? []).map((container) => [isWindows(podOf(other)), container.readinessProbe?.httpGet?.port]));
		return ports.every((port, i) => port[1] === undefined || ports.findIndex((other) => same(other, port)) === i);
	}, [[windows, (pod) => { first(pod).readinessProbe.httpGet.port = 9478; }]]],
];

const read = (file) => YAML.parseAllDocuments(readFileSync(path.join(folder, file), "utf8")).map((document) => document.toJS());
const breaks = (judge, objects, file) => objects.filter((object) => podOf(object) && !judge(podOf(object), object, objects, file));
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
let faults = 0;
const complain = (text) => {
	console.error(text);
	faults++;
};

for (const [rule, judge, changes] of rules) {
	for (const [file, change] of changes) {
		const objects = read(file);
		const object = objects.find(podOf);
		change(podOf(object), object, objects);
		if (breaks(judge, objects, file).length === 0)
			complain(`the rule "${rule}" accepts ${file} with ${change}`);
	}
	for (const file of files)
		for (const { kind, metadata } of breaks(judge, read(file), file))
			complain(`${file}: ${kind} ${metadata.name}: not true: ${rule}`);
}
const pods = files.flatMap(read).filter(podOf).length;
if (pods < files.length)
	complain(`${pods} pods in ${files.length} files`);
console.log(`${rules.length} rules, ${rules.flatMap(([, , changes]) => changes).length} of their violations, ${pods} pods, ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
