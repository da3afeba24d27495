// SPDX-License-Identifier: MIT
// usage: node tutorials.mjs BUILD TUTORIAL.md
// Runs a tutorial as a reader does, in an empty folder: writes each file that it shows (<!-- file: NAME --> in front of a block), and
// runs its blocks marked "sh" one after another in one shell. Each command must succeed.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const [build, tutorial] = process.argv.slice(2);
const text = readFileSync(tutorial, 'utf8');
const blocks = [...text.matchAll(/(?:<!-- file: (\S+) -->\n)?```(\w*)\n(.*?)```\n/gs)];
if (process.getuid() !== 0) {
	console.log('needs root for containers');
	process.exit(77);
}

let script = 'set -eu\n';
let commands = 0;
for (const [, file, language, body] of blocks) {
	if (file !== undefined) script += `cat >'${file}' <<'END-OF-FILE'\n${body}END-OF-FILE\n`;
	if (language === 'sh') {
		script += `set -x\n${body}{ set +x; } 2>/dev/null\n`;
		commands++;
	}
}
if (commands < 3) throw new Error(`${tutorial}: ${commands} blocks of commands`);

const work = mkdtempSync(join(tmpdir(), 'gpucert-tutorial-'));
try {
	writeFileSync(join(work, 'tutorial.sh'), script);
	const env = {...process.env, PATH: `${join(resolve(build), 'bin')}:${process.env.PATH}`};
	const run = spawnSync('sh', ['tutorial.sh'], {cwd: work, env, stdio: ['ignore', 'inherit', 'inherit']});
	process.exitCode = run.status ?? 1;
} finally {
	rmSync(work, {recursive: true, force: true});
}
