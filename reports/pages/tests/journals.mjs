// SPDX-License-Identifier: MIT
// Journals of runs that never were, for pages to look at: made, and marked as such (node kind "recorded", its file "made").
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const digestOf = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const EPOCH = Date.parse('2026-11-20T10:15:02.123Z');

export function write(folder, records) {
	let prev = digestOf('');
	const lines = records.map((record, i) => {
		const line = `${JSON.stringify({seq: i + 1, prev, ...record})}\n`;
		prev = digestOf(line);
		return line;
	});
	mkdirSync(folder, {recursive: true});
	writeFileSync(join(folder, 'journal.ndjson'), lines.join(''));
}

// The records of a journal, without the chain and a torn last line.
export const read = (path) => readFileSync(path, 'utf8').split('\n').slice(0, -1).map((line) => {
	const {seq, prev, ...record} = JSON.parse(line);
	return record;
});

// What `outcomeOf` knows of a check: an outcome, or one with its reason.
const told = (answer) => (typeof answer === 'string' ? {outcome: answer, reason: answer === 'pass' ? '' : `it ended with ${answer}`} : answer);

const titleOf = (id) => `What ${id.replace(/[.-]/g, ' ')} is about`;

// One run: {id, ids, outcomeOf(check), driver: {key, name, version}, build, revision, product, start (minutes later)}.
export function records({id, ids, outcomeOf, driver, product = 'Windows Server 2022 Datacenter', build = '20348', revision = '1547', start = 0}) {
	let at = 0;
	const record = (type, rest) => {
		at += 4;
		return {atMs: at, time: new Date(EPOCH + start * 60000 + at).toISOString(), type, ...rest};
	};
	const devices = [0, 1].map((i) => ({
		ref: `dev${i}`, driver: driver.key, name: `${driver.name} ${i}`, hardwareId: 'PCI\\VEN_10DE&DEV_1EB8', kind: 'display',
	}));
	const digest = digestOf(driver.key);
	return [
		record('run-begin', {
			schema: 'gpucert-journal/2', id,
			harness: {version: '0.1.0', commit: '90c40ab', compiler: 'gcc 12.2.0', tableDigest: digestOf('table')},
			invocation: {argv: ['run', '--out', id], timeoutPercent: 100, minRun: 0, conformanceRequired: false},
		}),
		record('environment', {environment: {
			node: {kind: 'recorded', file: 'made', digest, recorded: '2026-11-19T08:00:00.000Z'},
			os: {name: 'windows', product, build, revision, architecture: 'x86_64'},
			runtime: {name: 'containerd', version: '1.7.0', shim: 'runhcs-v1'},
			drivers: [{...driver, model: 'WDDM 3.1'}], devices,
			plugin: {name: 'device-plugin-wddm', version: '0.1.0'},
		}}),
		record('plan', {
			settings: {launcher: 'containerd', profile: '1.36', thorough: false}, filteredOut: 0,
			requirements: [{id: 'API-01', level: 'must', sentence: 'An allocated device works.', source: 'made'}],
			checks: ids.map((check) => ({
				id: check, revision: 1, requirement: 'API-01', severity: 'high', title: titleOf(check),
				advice: `Look at what ${check} says, and mend it.`,
			})),
		}),
		...ids.flatMap((check) => {
			const {outcome, reason} = told(outcomeOf(check));
			return [
				record('check-begin', {check, timeoutMs: 30000}),
				record('assertion', {check, what: '/answer', wanted: '42', saw: outcome === 'pass' ? '42' : '41', ok: outcome === 'pass', at: 'made.c:1'}),
				record('check-end', {
					check, outcome, reason, durationMs: 100, leftOut: 0,
					phasesMs: {setup: 10, cri: 40, probe: 30, plugin: 10, wait: 0, cleanup: 10},
				}),
			];
		}),
		record('run-end', {}),
	];
}
