// SPDX-License-Identifier: MIT
// usage: node right_grpc_js.mjs BUILD
// A plugin that shares no code with gpucert, doubles/grpc_js_plugin.mjs, through every check that looks at a plugin without
// containers: it passes each MUST and each SHOULD that applies to it.
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build, judgeAll} from './harness.mjs';

const plugin = fileURLToPath(new URL('doubles/grpc_js_plugin.mjs', import.meta.url));
await judgeAll([{
	name: '@grpc/grpc-js',
	plugin: `'${process.execPath}' '${plugin}' '${join(build, 'npm', 'rpc_interop')}' {plugin-dir}`,
	checks: ['registration', 'list-and-watch', 'allocate', 'preferred-allocation', 'pre-start', 'sharing', 'security', 'restart', 'protocol', 'load'],
	args: ['--launcher', 'process', '--jobs', '4'],
	outcomes: {
		// Its answers hand out /dev/null: no GPU of the machine that an id could stand for.
		'list-and-watch.devices-present': 'unsupported',
		// What it offers, and the checks of plugins that do not.
		'preferred-allocation.not-offered': 'not-applicable', 'pre-start.not-required': 'not-applicable',
	},
}]);
