// SPDX-License-Identifier: MIT
// usage: manifests.mjs FILE|FOLDER...
// Each document of each YAML file is valid by the types of the Kubernetes API: as literals in TypeScript, where a field
// that is unknown, missing or of another type is an error. First that is tried with wrong pods.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import YAML from "yaml";

const here = path.dirname(fileURLToPath(import.meta.url));
const scratch = path.join(here, `manifests-${process.pid}.ts`);

// The faults of [place, document] pairs.
function check(documents) {
	const lines = documents.map(([, { apiVersion, kind, ...rest }], i) => {
		if (!/^[\w./]+$/.test(apiVersion) || !/^\w+$/.test(kind))
			throw new Error(`${documents[i][0]}: apiVersion ${apiVersion}, kind ${kind}`);
		const type = `import("kubernetes-models/${apiVersion}/${kind}").I${kind}`;
		return `export const d${i}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })};`;
	});

	writeFileSync(scratch, lines.join("\n"));
	try {
		const program = ts.createProgram([scratch], {
			noEmit: true, strict: true, skipLibCheck: true, types: [],
			module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
		});
		return ts.getPreEmitDiagnostics(program).map((d) => {
			const line = d.file?.getLineAndCharacterOfPosition(d.start).line ?? 0;
			return `${documents[line][0]}: ${ts.flattenDiagnosticMessageText(d.messageText, " ")}`;
		});
	} finally {
		rmSync(scratch);
	}
}

function* files(name) {
	if (!existsSync(name)) {
		console.log(`skipped: there is no ${name}`);
		process.exit(77);
	}
	if (!statSync(name).isDirectory())
		yield name;
	else
		for (const entry of readdirSync(name, { recursive: true }).filter((e) => e.endsWith(".yaml")))
			yield path.join(name, entry);
}

const pod = (spec) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec });
const wrong = [
	["no containers", pod({})],
	["unknown field", pod({ containers: [{ name: "x" }], restartpolicy: "Never" })],
	["wrong type", pod({ containers: [{ name: "x", command: "sh" }] })],
	["unknown field below", pod({ containers: [{ name: "x", securityContext: { windowsOptions: { hostprocess: true } } }] })],
];
for (const [what, document] of wrong) {
	if (check([[what, document]]).length === 0) {
		console.error(`a pod with '${what}' is taken`);
		process.exit(1);
	}
}

const documents = process.argv.slice(2).flatMap((name) => [...files(name)]).flatMap((file) =>
	YAML.parseAllDocuments(readFileSync(file, "utf8")).map((d) => {
		if (d.errors.length > 0)
			throw new Error(`${file}: ${d.errors[0].message}`);
		return [file, d.toJS()];
	}));
const faults = check(documents);
faults.forEach((fault) => console.error(fault));
console.log(`${documents.length} documents, ${faults.length} faults`);
process.exit(faults.length === 0 && documents.length > 0 ? 0 : 1);
