// SPDX-License-Identifier: MIT
// Finds the commands in a job's output in the way that each CI system does (sources: reports/ci/ci.h).

const github = (line) => {
	const begun = line.replace(/^[\s\u00a0\u3000\ufeff]+/u, '').match(/^::([a-z-]+)(?: (.*?))?::(.*)$/i);
	const unescape = (text) => text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
	if (begun) {
		const properties = Object.fromEntries((begun[2] ?? '').split(',').filter(Boolean).map((pair) => {
			const [name, ...value] = pair.split('=');
			return [name, unescape(value.join('=').replaceAll('%3A', ':').replaceAll('%2C', ','))];
		}));
		return {name: begun[1], ...properties, text: unescape(begun[3])};
	}
	const old = line.match(/##\[([^\] ]*)[^\]]*\](.*)$/);
	return old && {name: `##[${old[1]}]`, text: old[2]};
};

const azure = (line) => {
	const unescape = (text) =>
		text.replaceAll('%3B', ';').replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%5D', ']').replaceAll('%AZP25', '%');
	const command = line.match(/##vso\[([^\] ]*) ?([^\]]*)\](.*)$/);
	if (command) {
		const type = command[2].match(/type=([a-z]*);/)?.[1];
		return {name: command[1], type, text: unescape(command[3])};
	}
	const format = line.match(/##\[([a-z]+)\](.*)$/);
	return format && {name: format[1], text: format[2]};
};

const teamcity = (line) => {
	const message = line.match(/##teamcity\[([\w-]+)((?: \w+='(?:[^'|[\]\r\n]|\|['|[\]nr])*')*)\]$/);
	if (!message) return line.includes('##teamcity[') ? {name: 'malformed', text: line} : null;
	const letters = {n: '\n', r: '\r'};
	const unescape = (text) => text.replace(/\|(.)/g, (_, letter) => letters[letter] ?? letter);
	const pairs = [...message[2].matchAll(/ (\w+)='((?:[^'|]|\|.)*)'/g)].map(([, name, value]) => [name, unescape(value)]);
	return {...Object.fromEntries(pairs), name: message[1], of: Object.fromEntries(pairs).name};
};

const gitlab = (line) => {
	const mark = line.match(/section_(start|end):\d+:([\w.-]+)(?:\[[^\]]*\])?\r\x1b\[0K(.*)$/);
	return mark && {name: mark[1], section: mark[2], text: mark[3]};
};

const systems = {github, azure, teamcity, gitlab};

export const commands = (system, output) => output.split('\n').map(systems[system]).filter(Boolean);
