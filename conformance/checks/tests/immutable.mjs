// SPDX-License-Identifier: MIT
// usage: node immutable.mjs BUILD
// `gpucert run --immutable`: an image that carries its own driver needs no file of the node, and works; whatever else is mounted is told.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {cpSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {gpucert, judgeAll, scripted, work} from './harness.mjs';
import {device, needRoot} from './machine.mjs';
import {withRuntime} from './runtime.mjs';

needRoot();

const vulkan = device('lavapipe');
const reference = 'registry.example/immutable-probes:1';

// The image of the probes with the driver's files as one layer more.
function imageWithDriver() {
	const layout = join(work, 'layout');
	const tree = join(work, 'tree');
	const archive = join(work, 'probes.tar');
	mkdirSync(layout);
	execFileSync(gpucert, ['image', 'build', 'graphics', '--name', reference, '--out', archive]);
	execFileSync('tar', ['-x', '-f', archive, '-C', layout]);
	for (const {source, destination} of vulkan.files) {
		mkdirSync(join(tree, dirname(destination)), {recursive: true});
		cpSync(source, join(tree, destination), {dereference: true, recursive: true});
	}
	execFileSync('tar', ['-c', '-f', join(work, 'layer.tar'), '--owner=0', '--group=0', '-C', tree, '.']);
	const place = (digest) => join(layout, 'blobs', digest.replace(':', '/'));
	const get = ({digest}) => JSON.parse(readFileSync(place(digest)));
	const put = (old, bytes, changes = {}) => {
		const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
		writeFileSync(place(digest), bytes);
		return {...old, digest, size: bytes.length, ...changes};
	};
	const index = JSON.parse(readFileSync(join(layout, 'index.json')));
	index.manifests = index.manifests.map((entry) => {
		const manifest = get(entry);
		const config = get(manifest.config);
		const layer = put({mediaType: 'application/vnd.oci.image.layer.v1.tar'}, readFileSync(join(work, 'layer.tar')));
		config.rootfs.diff_ids.push(layer.digest);
		manifest.layers.push(layer);
		manifest.config = put(manifest.config, Buffer.from(JSON.stringify(config)));
		return put(entry, Buffer.from(JSON.stringify(manifest)));
	});
	writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
	execFileSync('tar', ['-c', '-f', archive, '-C', layout, '.']);
	return archive;
}

// A variable that could be a runtime's makes the run ask the container which device it has.
const asked = {GPUCERT_TEST_DEVICE: vulkan.id};
const plugin = (allocate) => scripted({plugins: [{resource: 'example.com/gpu', devices: [{id: vulkan.id}], allocate: {once: allocate}}]});
const mounts = vulkan.files.map((f) => ({host_path: f.source, container_path: f.destination, read_only: true}));
const immutable = ['--immutable', '--image', reference];
const check = 'isolation.host-paths';
const row = (name, allocate, args, reason) => ({check, kind: name, plugin: plugin(allocate), args, wanted: reason === undefined ? 'pass' : 'fail', reason});

const rows = [
	row('the driver is the image\'s', {envs: asked}, immutable),
	{...row('and it works', {envs: asked}, immutable), check: 'api.vulkan'},
	row('files of the node beside it', {mounts: mounts.slice(0, 1), envs: asked}, immutable, 'of the node at'),
	row('a folder of the node', {mounts: [{host_path: work, container_path: '/var/scratch', read_only: false}], envs: asked}, immutable, '/var/scratch'),
	row('the driver is the node\'s', {mounts, envs: vulkan.environment}, ['--immutable'], 'of the node at'),
	row('no driver that works', {mounts: mounts.filter((m) => m.host_path.endsWith('.json')), envs: asked}, ['--immutable'],
		"device by the image's own drivers"),
	row('the same where nobody says otherwise', {mounts, envs: vulkan.environment}, []),
];
await withRuntime(async (importArchive) => {
	importArchive(imageWithDriver());
	await judgeAll(rows);
});
