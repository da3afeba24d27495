// SPDX-License-Identifier: MIT
// The nodes of the set: 4 drivers × 3 builds of Windows, and some others; each a variant of a node that is recorded in discovery/nodes.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

const recorded = (name) => JSON.parse(readFileSync(join(import.meta.dirname, '../../../discovery/nodes', `${name}.json`)));
const devicesOf = (name, driver) => recorded(name).devices.filter((device) => device.driver.name === driver);
const changed = (devices, change) => devices.map((device) => ({...device, ...change(device)}));
const offering = (devices, ...apis) => changed(devices, (device) => ({apis: [...device.apis, ...apis]}));
const renamed = (devices, description) => changed(devices, () => ({description}));
const versioned = (devices, version) => changed(devices, ({driver}) => ({driver: {...driver, version}}));

const nvidia = (version) => versioned(devicesOf('windows-4x-tesla-t4', 'nvlddmkm'), version);
// Its recording has no AMF, whose library is among the driver's files.
const amd = offering(devicesOf('windows-mixed', 'amdwddmg'), 'amf');
const intel = devicesOf('windows-mixed', 'igfxnd');

export const drivers = [
	{name: 'nvidia-552.22', key: 'nvlddmkm', devices: nvidia('31.0.15.5222')},
	{name: 'nvidia-582.53', key: 'nvlddmkm', devices: nvidia('32.0.15.8253')},
	{name: 'amd-24027', key: 'amdwddmg', devices: amd},
	{name: 'intel-5186', key: 'igfxnd', devices: intel},
];

export const builds = [
	{name: '2019', product: 'Windows Server 2019 Datacenter', build: 17763, revision: 6532},
	{name: '2022', product: 'Windows Server 2022 Datacenter', build: 20348, revision: 2849},
	{name: '2025', product: 'Windows Server 2025 Datacenter', build: 26100, revision: 2454},
];

const [on2019, on2022, on2025] = builds;
const more = (devices) => offering(devices, 'opencl', 'opengl', 'vulkan');
// With HIP and Level Zero, two devices each, which no other node has.
const twoVendors = {
	name: 'amd-intel', key: 'amdwddmg',
	devices: [...twice(offering(amd, 'hip', 'opengl')), ...twice(offering(more(intel), 'levelzero'))],
};

// The second of a pair, in another slot.
function twice(devices) {
	const second = ({id, locationPath, pnpInstanceId, luid}) => ({
		id: `${id}-2`, pnpInstanceId: `${pnpInstanceId}2`, luid: luid + 1,
		locationPath: locationPath.replace(/PCI\(/, 'PCI(A'), locationPaths: [locationPath.replace(/PCI\(/, 'PCI(A')],
	});
	return [...devices, ...changed(devices, second)];
}

// Outside of the matrix: each shows faults for which the others have no device.
export const others = [
	// A driver that nobody made, in which each known fault of NVIDIA's is mended.
	[{name: 'nvidia-mended', key: 'nvlddmkm', devices: nvidia('99.0.0.1')}, on2025],
	[twoVendors, on2019],
	[twoVendors, on2022],
	[{name: 'amd-rdna4', key: 'amdwddmg', devices: renamed(amd, 'AMD Radeon RX 9070 XT')}, on2025],
	[{name: 'amd-rdna3.5', key: 'amdwddmg', devices: renamed(amd, 'AMD Radeon(TM) 890M Graphics')}, on2025],
];
export const severalDevices = [drivers[0], on2022];

export function nodeOf({devices}, {product, build, revision}) {
	const {system} = recorded('windows-4x-tesla-t4');
	return {schema: 'gpucert-node/1', system: {...system, product, build: `${build}.${revision}`}, devices, diagnostics: []};
}
