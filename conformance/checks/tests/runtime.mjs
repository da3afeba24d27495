// SPDX-License-Identifier: MIT
// A container runtime for the runs of one test: started once, and the image of the probes is in it before they begin.
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {file, gpucert, useRuntime} from './harness.mjs';
import {skip} from './machine.mjs';

const folder = (path) => (mkdirSync(path, {recursive: true}), path);

function chooseSnapshotter(root) {
	const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => folder(join(root, 'trial', name)));
	const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
	if (spawnSync('mount', ['-t', 'overlay', '-o', options, 'overlay', merged]).status !== 0) return 'native';
	execFileSync('umount', [merged]);
	return 'overlayfs';
}

// A runc that first lets a line of JavaScript change `spec`, the container's config.json; `always`: that of a sandbox, too.
export function runcThat(name, change, always = '') {
	const edit = file(`${name}.mjs`, `import {readFileSync, writeFileSync} from 'node:fs';
const path = process.argv[2] + '/config.json';
const spec = JSON.parse(readFileSync(path));
const sandbox = spec.annotations?.['io.kubernetes.cri.container-type'] === 'sandbox';
${always}
if (!sandbox) { ${change} }
writeFileSync(path, JSON.stringify(spec));
`);
	const path = file(name, `#!/bin/sh
bundle= previous= create=
for word; do
	[ "$previous" != --bundle ] || bundle=$word
	[ "$word" != create ] || create=yes
	previous=$word
done
[ -z "$create" ] || '${process.execPath}' '${edit}' "$bundle" || exit 1
exec runc "$@"
`);
	chmodSync(path, 0o755);
	return path;
}

// handlers: name → the options of a runtime handler beside "runc".
function configuration(root, socket, snapshotter, handlers) {
	const table = (name, {program = 'runc', spec}) => `
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}]
runtime_type = "io.containerd.runc.v2"
${spec === undefined ? '' : `base_runtime_spec = "${spec}"`}
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}.options]
BinaryName = "${program}"
Root = "${root}/runc"
`;
	return `version = 2
root = "${root}/root"
state = "${root}/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.internal.v1.restart", "io.containerd.nri.v1.nri"]
[grpc]
address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/gpucert/pause:1"
restrict_oom_score_adj = true
stream_server_address = "127.0.0.1"
stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "${snapshotter}"
default_runtime_name = "runc"
${Object.entries({runc: {}, ...handlers}).map(([name, options]) => table(name, options)).join('')}`;
}

// Ends with this process, however that ends.
async function start(config) {
	const containerd = spawn('setpriv', ['--pdeathsig', 'TERM', 'containerd', '--config', config], {stdio: ['ignore', 'ignore', 'pipe']});
	let log = '';
	await new Promise((resolve, reject) => {
		containerd.stderr.on('data', (data) => {
			log += data;
			if (log.includes('containerd successfully booted')) resolve();
		});
		containerd.on('exit', () => reject(new Error(`containerd ended:\n${log}`)));
	});
	containerd.removeAllListeners('exit');
	return containerd;
}

// Of whatever architecture.
const importArchive = (socket, snapshotter, archive) =>
	execFileSync('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', '--all-platforms', '--snapshotter', snapshotter, archive]);

// Runs this test in a mount namespace with control groups of one version alone: crun refuses a machine that mounts both. Returns
// in that namespace, or where the machine is like that. Version 2 has the mount of version 1's machine, without most controllers.
export function needHierarchy(version) {
	const groups = '/sys/fs/cgroup';
	const typeOf = (path) => spawnSync('stat', ['-f', '-c', '%T', path], {encoding: 'utf8'}).stdout.trim();
	const unified = typeOf(groups) === 'cgroup2fs';
	const hybrid = !unified && typeOf(`${groups}/unified`) === 'cgroup2fs';
	if (version === 2 ? unified : !unified && !hybrid) return;
	if (!hybrid) skip(`needs control groups of version ${version}`);
	const change = version === 2 ? `mount --bind ${groups}/unified ${groups}` : `umount ${groups}/unified`;
	const inner = spawnSync('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', `${change} && exec "$@"`, 'sh', process.execPath, ...process.execArgv, ...process.argv.slice(1)], {stdio: 'inherit'});
	process.exit(inner.status ?? 1);
}

// The image that a run with these arguments would import and remove again. Imported by us, it is there for all runs, and stays.
function importImage(root, socket, snapshotter, args) {
	const archive = join(root, 'images.tar');
	const path = folder(join(root, 'path'));
	writeFileSync(join(path, 'ctr'), `#!/bin/sh\nfor archive; do :; done\ncp "$archive" '${archive}'\nexit 1\n`);
	chmodSync(join(path, 'ctr'), 0o755);
	const run = spawnSync(gpucert, ['run', '--quiet', '--out', join(root, 'out'), '--cri', `unix://${socket}`, ...args, 'environment.devices'], {
		env: {...process.env, PATH: `${path}:${process.env.PATH}`},
		encoding: 'utf8',
	});
	if (!existsSync(archive)) throw new Error(`no image: ${run.stderr}`);
	importArchive(socket, snapshotter, archive);
	rmSync(archive);
}

// While `body` runs, the runs of judgeAll() that need containers and name no runtime have them from one, into which it can import
// archives of images. `images`: for each image that
// they need the arguments of gpucert that choose it.
export async function withRuntime(body, {images = [[]], handlers = {}} = {}) {
	if (spawnSync('containerd', ['--version']).status !== 0) skip('needs containerd');
	const root = mkdtempSync('/run/gpucert-test-');
	const socket = join(root, 'c.sock');
	const snapshotter = chooseSnapshotter(root);
	writeFileSync(join(root, 'config.toml'), configuration(root, socket, snapshotter, handlers));
	const containerd = await start(join(root, 'config.toml'));
	try {
		for (const args of images) importImage(root, socket, snapshotter, args);
		useRuntime(`unix://${socket}`);
		await body((archive) => importArchive(socket, snapshotter, archive));
	} finally {
		useRuntime(null);
		const ended = new Promise((resolve) => containerd.on('exit', resolve));
		containerd.kill('SIGTERM');
		await ended;
		rmSync(root, {recursive: true, force: true});
	}
}
