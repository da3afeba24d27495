// SPDX-License-Identifier: MIT
// usage: node forging.mjs BUILD
// Plugins whose answers forge what a probe says: each fails, and for its own reason. Beside them the innocent answers that look
// alike: they pass.
import {execFileSync} from 'node:child_process';
import {cpSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {build, file, judgeAll, scripted, work} from './harness.mjs';
import {device} from './machine.mjs';
import {withRuntime} from './runtime.mjs';
import {hideDrivers, needNamespace} from './tree.mjs';

needNamespace(import.meta.url);
hideDrivers('opencl');

const vulkan = device('lavapipe');
const opengl = device('llvmpipe');

const mount = (f) => ({host_path: f.source, container_path: f.destination, read_only: true});
const plugin = ({mounts = [], envs = {}, devices = [], of = vulkan}) =>
	scripted({
		plugins: [
			{
				resource: 'example.com/gpu',
				devices: [{id: 'gpu'}],
				allocate: {once: {mounts: [...of.files.map(mount), ...mounts], envs: {...of.environment, ...envs}, devices}},
			},
		],
	});
const over = (source, target) => ({mounts: [{host_path: source, container_path: target, read_only: true}]});

// A program that answers at once, and a library that does nothing: that either is there is enough to fail.
const program = join(build, 'tests', 'container-programs', 'probe-test');
const library = file('libnothing.so', 'not even a library');
const folder = (name) => {
	const path = join(work, name);
	mkdirSync(path, {recursive: true});
	return path;
};
const programs = folder('programs');
cpSync(program, join(programs, 'probe-vulkan'));
const libraries = folder('libraries');
const libc = execFileSync('sh', ['-c', "ldd /bin/sh | sed -n 's/.*=> \\(.*libc[.]so[.]6\\) .*/\\1/p'"], {encoding: 'utf8'}).trim();
writeFileSync(join(libraries, 'libc.so.6'), 'another C library');
const layers = folder('home');
mkdirSync(join(layers, '.local/share/vulkan/implicit_layer.d'), {recursive: true});
// What is innocent: the driver's folder on the library path, the image's own library once more, a link to a driver's file.
const driver = folder('driver');
for (const f of vulkan.files.filter((f) => f.destination.includes('.so'))) cpSync(f.source, join(driver, basename(f.destination)));
const manifest = vulkan.files.find((f) => f.origin === 'manifest' || f.destination.endsWith('.json'));
const linked = join(work, 'linked.json');
symlinkSync(manifest.source, linked);

// Links inside of an answer's own mount: to where the runtime puts later mounts, and to where loaders look.
const links = folder('links');
symlinkSync('/etc/vulkan', join(links, 'vulkan'));
symlinkSync('/opt/loader', join(links, 'libraries'));
symlinkSync('/sys/class', join(links, 'class'));
symlinkSync('/libexec/gpucert', join(links, 'programs'));
const loader = folder('loader');
writeFileSync(join(loader, 'libvulkan.so.1'), 'another loader');
const dispatch = folder('dispatch');
writeFileSync(join(dispatch, 'libGLdispatch.so.0'), 'what the loader of OpenGL needs');
const better = folder('better');
mkdirSync(join(better, 'glibc-hwcaps/x86-64-v2'), {recursive: true});
writeFileSync(join(better, 'glibc-hwcaps/x86-64-v2/libvulkan.so.1'), 'another loader');
const onward = folder('onward');
symlinkSync('/opt/layers', join(onward, 'implicit_layer.d'));
const both = (...pairs) => ({mounts: pairs.flatMap(([source, target]) => over(source, target).mounts)});
const throughLink = both([links, '/opt/lk'], [loader, '/opt/loader']);

const forged = (_, change, reason, check = 'api.vulkan') => ({check, plugin: plugin(change), reason});
const rows = [
	forged('the probe is another program', over(program, '/libexec/gpucert/probe-vulkan'), 'hides the image'),
	forged('so is its folder, and isolation is not judged by it', over(programs, '/libexec'), 'hides the image', 'isolation.single-device'),
	forged('so is its folder', over(programs, '/libexec/gpucert'), 'hides the image'),
	forged('the C library is another', over(library, libc), `hides the image's`),
	forged('by the name that a link has', over(library, libc.replace(/^\/usr/, '')), `hides the image's`),
	forged('so is its folder', over(libraries, dirname(libc)), `hides the image's`),
	forged('a library before all others', over(file('preload', '/x.so'), '/etc/ld.so.preload'), '/etc/ld.so.preload'),
	forged('LD_PRELOAD', {envs: {LD_PRELOAD: '/x.so'}}, 'LD_PRELOAD steers'),
	forged('and isolation is not judged by it', {envs: {LD_PRELOAD: '/x.so'}}, 'LD_PRELOAD steers', 'isolation.single-device'),
	forged('LD_AUDIT', {envs: {LD_AUDIT: '/x.so'}}, 'LD_AUDIT steers'),
	forged('tunables', {envs: {GLIBC_TUNABLES: 'glibc.malloc.check=3'}}, 'GLIBC_TUNABLES steers'),
	forged('a layer', {envs: {VK_INSTANCE_LAYERS: 'x'}}, 'VK_INSTANCE_LAYERS puts layers'),
	forged('an implicit layer of another home', {
		...over(layers, '/opt/home'),
		envs: {HOME: '/opt/home'},
	}, 'puts a layer'),
	forged('an implicit layer', over(file('layer.json', '{}'), '/etc/vulkan/implicit_layer.d/x.json'), 'puts a layer'),
	forged('a library in front', {...over(libraries, '/opt/x'), envs: {LD_LIBRARY_PATH: '/opt/x'}}, 'in front of the image'),
	forged('a layer by a link', both([links, '/opt/lk'], [join(layers, '.local/share/vulkan/implicit_layer.d'), '/opt/lk/vulkan/implicit_layer.d']), 'puts a layer'),
	forged('a link to a layer', both([onward, '/etc/vulkan'], [driver, '/opt/layers']), 'gives loaders their /etc/vulkan/implicit_layer.d'),
	forged('the kernel by a link', both([links, '/opt/lk'], [libraries, '/opt/lk/class/net']), 'hides what the kernel reports'),
	forged('another program by a link', both([links, '/opt/lk'], ['/bin/true', '/opt/lk/programs/probe-vulkan']), 'ended before it could be inspected'),
	forged('a library by a link', {...throughLink, envs: {LD_LIBRARY_PATH: '/opt/lk/libraries'}}, 'puts /opt/lk/libraries/libvulkan.so.1 in front of'),
	forged('a library behind a semicolon', {...throughLink, envs: {LD_LIBRARY_PATH: '/x;/opt/loader'}}, 'in front of the image'),
	forged('a library for a better processor', {
		...over(better, '/opt/better'),
		envs: {LD_LIBRARY_PATH: '/opt/better'},
	}, 'in front of the image'),
	forged('the way of the results', over(program, '/run/gpucert/launch'), 'path of the results'),
	forged('another ffmpeg beside the probes', over('/bin/true', '/libexec/gpucert/ffmpeg'), '/libexec/gpucert/ffmpeg', 'api.ffmpeg'),
	forged('the kernel', over(libraries, '/sys/class'), 'hides what the kernel reports'),
	forged('a device node over the probe', {
		devices: [{host_path: '/dev/null', container_path: '/libexec/gpucert/probe-vulkan', permissions: 'rw'}],
	}, 'hides the image'),
	forged('the probe of OpenGL is another program', {...over(program, '/libexec/gpucert/probe-opengl'), of: opengl}, 'hides the image', 'api.opengl'),
	forged('the loader of OpenGL is another', {...over(dispatch, '/opt/x'), envs: {LD_LIBRARY_PATH: '/opt/x'}, of: opengl}, 'in front of the image', 'api.opengl'),
	{check: 'api.opengl', plugin: plugin({envs: {__EGL_VENDOR_LIBRARY_DIRS: '/usr/share/glvnd/egl_vendor.d', LIBGL_ALWAYS_SOFTWARE: '1'}, of: opengl}), wanted: 'pass'},
	{check: 'api.vulkan', plugin: plugin({...over(driver, '/opt/driver'), envs: {LD_LIBRARY_PATH: '/opt/driver'}}), wanted: 'pass'},
	{check: 'api.vulkan', plugin: plugin(over(libc, libc)), wanted: 'pass'},
	{check: 'api.vulkan', plugin: plugin({...both([links, '/opt/lk'], [driver, '/opt/loader']), envs: {LD_LIBRARY_PATH: '/opt/lk/libraries:'}}), wanted: 'pass'},
	{check: 'api.vulkan', plugin: plugin(both(['/sys/class', '/opt/class'], ['/sys/class', '/sys/class'])), wanted: 'pass'},
	{check: 'api.vulkan', plugin: plugin({envs: {NVIDIA_VISIBLE_DEVICES: 'all', VK_DRIVER_FILES: manifest.destination}}), wanted: 'pass'},
	{check: 'api.vulkan', plugin: plugin(over(linked, '/opt/linked.json')), wanted: 'pass'},
];

await withRuntime(() => judgeAll(rows));
