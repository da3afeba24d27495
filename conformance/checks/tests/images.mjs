// SPDX-License-Identifier: MIT
// usage: node images.mjs BUILD
// Images that cannot work here, each by another rule, and what really becomes of their containers: an old C library, another architecture, a
// library that is missing, a driver that asks for a newer C library than the image has. Images whose configuration lies, and a rule that is
// wrong (a double): there prediction and outcome must disagree, and image.prediction says so.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {build, file, gpucert, judgeAll, scripted, work} from './harness.mjs';
import {device, needRoot, skip} from './machine.mjs';
import {withRuntime} from './runtime.mjs';

needRoot();
if (process.arch !== 'x64') skip('the C library and the programs of another architecture are made on x86-64');

const libraries = 'usr/lib/x86_64-linux-gnu';
const vulkan = device('lavapipe');
const folder = (path) => (mkdirSync(path, {recursive: true}), path);
const run = (program, ...args) => execFileSync(program, args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit']});

function oldLibc() {
	try {
		const script = join(import.meta.dirname, '../../../containers/judging/contents/tests/debian_root.sh');
		return join(run(script, 'bullseye', 'amd64', 'libc6').trim(), 'lib/x86_64-linux-gnu');
	} catch {
		skip('the C library of Debian 11 cannot be had');
	}
}

const composed = join(work, 'composed.tar');
run(gpucert, 'image', 'build', '--out', composed);

// An archive of the composed image, with another layer on it that `fill` puts files into, and another configuration.
function imageWith(name, fill, change = () => {}) {
	const layout = folder(join(work, name));
	const blobs = join(layout, 'blobs/sha256');
	const read = (digest) => JSON.parse(readFileSync(join(blobs, digest.slice('sha256:'.length))));
	const add = (content) => {
		const hex = createHash('sha256').update(content).digest('hex');
		writeFileSync(join(blobs, hex), content);
		return {digest: `sha256:${hex}`, size: content.length};
	};
	run('tar', '-xf', composed, '-C', layout);
	const index = JSON.parse(readFileSync(join(layout, 'index.json')));
	const manifest = read(index.manifests[0].digest);
	const configuration = read(manifest.config.digest);
	const top = folder(join(work, `${name}.layer`));
	fill(top);
	run('tar', '-cf', `${top}.tar`, '-C', top, '.');
	const layer = add(readFileSync(`${top}.tar`));
	manifest.layers.push({...manifest.layers[0], ...layer});
	configuration.rootfs.diff_ids.push(layer.digest);
	change(configuration);
	Object.assign(manifest.config, add(Buffer.from(JSON.stringify(configuration))));
	const reference = `docker.io/gpucert/${name}:1`;
	Object.assign(index.manifests[0], add(Buffer.from(JSON.stringify(manifest))), {
		annotations: {'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': '1'},
	});
	writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
	run('tar', '-cf', `${layout}.tar`, '-C', layout, '.');
	return {reference, archive: `${layout}.tar`};
}

function putOldLibc(top) {
	const from = oldLibc();
	const to = folder(join(top, libraries));
	for (const name of readdirSync(from)) if (/^lib(c|m|dl|pthread|rt)\.so\.\d+$/.test(name)) copyFileSync(join(from, name), join(to, name));
	copyFileSync(join(from, 'ld-linux-x86-64.so.2'), join(folder(join(top, 'usr/lib64')), 'ld-linux-x86-64.so.2'));
}

// The probes as programs of 64-bit Arm, which this processor does not run.
function putArmPrograms(top) {
	const EM_AARCH64 = 183;
	const to = folder(join(top, 'libexec/gpucert'));
	for (const name of readdirSync(join(build, 'libexec/gpucert')).filter((n) => n.startsWith('probe-'))) {
		const program = readFileSync(join(build, 'libexec/gpucert', name));
		program.writeUInt16LE(EM_AARCH64, 18);
		writeFileSync(join(to, name), program, {mode: 0o755});
	}
}

const toArm = (configuration) => (configuration.architecture = 'arm64');
const images = {
	oldLibc: imageWith('old-libc', putOldLibc),
	arm: imageWith('arm', putArmPrograms, toArm),
	noLoader: imageWith('no-loader', (top) => writeFileSync(join(folder(join(top, libraries)), '.wh.libvulkan.so.1'), '')),
	saysArm: imageWith('says-arm', () => {}, toArm),
	armUnsaid: imageWith('arm-unsaid', putArmPrograms),
};

// A driver of Vulkan in front of the double's; the newer one asks for a version of glibc that no image has.
function driver(newer) {
	const name = newer ? 'libnewer' : 'libplain';
	const path = (suffix) => join(work, `${name}${suffix}`);
	const libc = folder(path('.libc'));
	writeFileSync(path('.map'), 'GLIBC_2.99 { global: newer; };\n');
	writeFileSync(path('.stub.c'), 'void newer(void);\nvoid newer(void) {}\n');
	// A variable of the double in the answer could be one that a runtime acts on.
	writeFileSync(path('.c'), `#include <stdlib.h>
void newer(void);
void use(void);
void use(void) { ${newer ? 'newer();' : ''} }
__attribute__((constructor)) static void set(void) { setenv("GPUCERT_DOUBLE", "software,devices=1", 1); }
`);
	const link = (...args) => run('cc', '-shared', '-fPIC', ...args);
	link('-nostdlib', '-Wl,-soname,libc.so.6', `-Wl,--version-script,${path('.map')}`, '-o', join(libc, 'libc.so.6'), path('.stub.c'));
	const needed = newer ? [join(libc, 'libc.so.6')] : [];
	link('-Wl,--no-as-needed', '-o', path('.so'), path('.c'), `-L${join(build, 'tests')}`, '-l:libdouble_vulkan.so', ...needed);
	const manifest = file(`${name}.json`, {file_format_version: '1.0.0', ICD: {library_path: `/opt/double/${name}.so`, api_version: '1.3.0'}});
	const mount = (host_path, container_path) => ({host_path, container_path, read_only: true});
	return {
		mounts: [
			...vulkan.files.filter((f) => f.origin !== 'manifest').map((f) => mount(f.source, f.destination)),
			mount(path('.so'), `/opt/double/${name}.so`),
			mount(join(build, 'tests/libdouble_vulkan.so'), `/${libraries}/libdouble_vulkan.so`),
			mount(manifest, `/opt/double/${name}.json`),
		],
		envs: {VK_DRIVER_FILES: `/opt/double/${name}.json`, VK_ICD_FILENAMES: `/opt/double/${name}.json`},
	};
}
const plugin = (changes = {}) =>
	scripted({plugins: [{
		resource: 'example.com/v',
		devices: [{id: vulkan.id}],
		allocate: {once: {
			mounts: vulkan.files.map((f) => ({host_path: f.source, container_path: f.destination, read_only: true})),
			envs: vulkan.environment,
			...changes,
		}},
	}]});

// The checks of one image: without --launch-anyway what is predicted, with it what happens.
const of = ({reference}, rows) => rows.map((row) => ({plugin: plugin(), ...row, args: ['--image', reference, ...(row.args ?? [])]}));
const anyway = {args: ['--launch-anyway']};
const newer = plugin(driver(true));

// A gpucert whose checks have a wrong rule.
const installed = join(work, 'wrong-rule');
mkdirSync(installed);
execFileSync('cp', ['-rs', ...['bin', 'libexec', 'share'].map((name) => join(build, name)), installed]);
const program = join(installed, 'bin/gpucert');
execFileSync('cp', ['--remove-destination', join(build, 'bin/gpucert'), program]);
execFileSync('cp', ['--remove-destination', join(build, 'tests/run-check-wrong-rule'), join(installed, 'libexec/gpucert/run-check')]);
const wrongRule = {plugin: plugin(), program};

const rows = [
	...of(images.oldLibc, [
		{check: 'environment.container', reason: 'linux.missing-libraries: /libexec/gpucert/probe-visibility, which the image starts, needs GLIBC_2.34: the image has glibc 2.31'},
		{check: 'image.missing-library', reason: 'needs GLIBC_2.34'},
		{check: 'image.prediction', wanted: 'unsupported', reason: 'was not launched: linux.missing-libraries'},
		{check: 'environment.container', reason: 'exited with code 1', ...anyway},
		{check: 'image.prediction', wanted: 'pass', ...anyway},
	]),
	...of(images.arm, [
		{check: 'environment.container', reason: 'platform.architecture: image: arm64; host: amd64'},
		{check: 'image.architecture', reason: 'platform.architecture: image: arm64; host: amd64'},
		{check: 'image.prediction', wanted: 'unsupported', reason: 'platform.architecture'},
		{check: 'image.prediction', wanted: 'pass', ...anyway},
	]),
	...of(images.noLoader, [
		{check: 'environment.container', wanted: 'pass'},
		{check: 'api.vulkan', reason: 'linux.driver-library: vulkan needs libvulkan.so'},
		{check: 'image.missing-library', reason: 'neither in the image nor among the files'},
		{check: 'image.prediction', wanted: 'unsupported', reason: 'linux.driver-library'},
		{check: 'api.vulkan', reason: '/api/status', ...anyway},
		{check: 'image.prediction', wanted: 'pass', ...anyway},
	]),
	{check: 'api.vulkan', plugin: plugin(driver(false)), wanted: 'pass'},
	{check: 'image.driver-glibc', plugin: plugin(driver(false)), wanted: 'pass'},
	{check: 'api.vulkan', plugin: newer, reason: 'linux.driver-glibc: driver files of the host need glibc 2.99, that of the image is 2.36'},
	{check: 'image.driver-glibc', plugin: newer, reason: 'need glibc 2.99'},
	{check: 'image.prediction', plugin: newer, wanted: 'unsupported', reason: 'linux.driver-glibc'},
	{check: 'api.vulkan', plugin: newer, reason: '/api/status', ...anyway},
	{check: 'image.prediction', plugin: newer, wanted: 'pass', ...anyway},
	// What is said of the image is not so: the rule that believed it is named.
	...of(images.saysArm, [{check: 'image.prediction', reason: 'platform.architecture said cannot-work (image: arm64; host: amd64); it worked', ...anyway}]),
	// Its programs say what its configuration hides.
	...of(images.armUnsaid, [
		{check: 'image.prediction', wanted: 'unsupported', reason: 'needs a processor of arm64: the image is for amd64'},
		{check: 'image.prediction', wanted: 'pass', ...anyway},
	]),
	{check: 'api.vulkan', ...wrongRule, reason: 'linux.driver-library: the double says that nothing works'},
	{check: 'api.vulkan', ...wrongRule, ...anyway, wanted: 'pass'},
	{check: 'image.prediction', ...wrongRule, ...anyway, reason: 'linux.driver-library said cannot-work (the double says that nothing works); it worked'},
	{check: 'image.prediction', plugin: plugin(), wanted: 'pass'},
	{check: 'image.denied-device', wanted: 'pass'},
];

await withRuntime((importArchive) => {
	for (const {archive} of Object.values(images)) importArchive(archive);
	return judgeAll(rows);
});
