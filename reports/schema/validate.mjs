// SPDX-License-Identifier: MIT
// usage: validate.mjs SCHEMA [FILE...] [--run PROGRAM [ARGUMENT...]]
// Exits 0 when every document is valid by SCHEMA (JSON Schema 2020-12), 1 with one line for each fault
// otherwise. A file named *.ndjson holds one document a line; a last line without a newline is left out.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

function compile(schemaPath) {
	const ajv = new Ajv2020({
		allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true,
	});

	addFormats(ajv);
	ajv.addVocabulary(["x-volatile", "x-identifying"]);
	const folder = path.dirname(path.resolve(schemaPath));
	const wanted = path.resolve(schemaPath);
	let id = null;
	for (const name of readdirSync(folder).filter((name) => name.endsWith(".schema.json"))) {
		const file = path.join(folder, name);
		const schema = JSON.parse(readFileSync(file, "utf8"));

		ajv.addSchema(schema, schema.$id ?? name);
		if (file === wanted)
			id = schema.$id ?? name;
	}
	if (id === null)
		throw new Error(`${schemaPath}: the name of a schema ends in .schema.json`);
	return ajv.getSchema(id);
}

function* documents(file) {
	const text = readFileSync(file, "utf8");

	if (!file.endsWith(".ndjson")) {
		yield [file, text];
		return;
	}
	const lines = text.split("\n").slice(0, -1);
	for (const [index, line] of lines.entries())
		yield [`${file}:${index + 1}`, line];
}

function runOutput(command) {
	const ended = spawnSync(command[0], command.slice(1), {
		encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: ["ignore", "pipe", "inherit"],
	});

	if (ended.error)
		throw ended.error;
	if (ended.status !== 0)
		throw new Error(`${command[0]}: exit code ${ended.status}, signal ${ended.signal}`);
	return ended.stdout;
}

function faults(validate, place, text) {
	let document = null;

	try {
		document = JSON.parse(text);
	} catch (error) {
		return [`${place}: ${error.message}`];
	}
	if (validate(document))
		return [];
	return validate.errors.map((error) =>
		`${place}: ${error.instancePath || "/"}: ${error.message} ${JSON.stringify(error.params)}`);
}

function main(argv) {
	const run = argv.indexOf("--run");
	const files = argv.slice(1, run < 0 ? undefined : run);
	const command = run < 0 ? [] : argv.slice(run + 1);

	if (argv.length === 0 || files.length + command.length === 0) {
		console.error("usage: validate.mjs SCHEMA [FILE...] [--run PROGRAM [ARGUMENT...]]");
		return 2;
	}
	const validate = compile(argv[0]);
	const found = [];
	let count = 0;
	for (const file of files) {
		for (const [place, text] of documents(file)) {
			found.push(...faults(validate, place, text));
			count++;
		}
	}
	if (command.length !== 0) {
		found.push(...faults(validate, `output of ${command[0]}`, runOutput(command)));
		count++;
	}
	if (count === 0)
		found.push("no document to validate");
	for (const fault of found)
		console.error(fault);
	return found.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
