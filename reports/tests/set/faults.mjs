// SPDX-License-Identifier: MIT
// What happens in containers cannot be had from a recorded node, so the set plants it: each fault of a public source where its
// condition holds for the node, and a pass elsewhere. The rows of reports/expectations are not read here: that both agree is a test.

const nvidia = ({driver}) => driver.key === 'nvlddmkm' && driver.name !== 'nvidia-mended';
const of = (suite, names) => names.map((name) => `${suite}.${name}`);
const one = (check) => check.slice(check.indexOf('.') + 1);
const directx = ['dxcore', 'dxgi', 'd3d11', 'd3d12', 'directml', 'mediafoundation'];
const others = ['vulkan', 'opencl', 'cuda', 'opengl', 'levelzero', 'nvml', 'nvenc', 'hip', 'amf', 'vulkanvideo'];
const offeredAs = (api) => (directx.includes(api) ? 'directx' : api === 'vulkanvideo' ? 'vulkan' : api);

// The devices that a check of an API is about.
export const devicesOf = (check, devices) => devices.filter((device) => device.apis.includes(offeredAs(one(check))));

// The checks that are planted on a node: of the APIs that its devices offer, and of isolation.
export function plantedOn({devices, os}) {
	const apis = of('api', [...others, ...directx]).filter((check) => devicesOf(check, devices).length > 0);
	const there = apis.filter((check) => check !== 'api.dxcore' || os.build >= 19041);
	const pair = devices.length > 1 ? ['two-containers'] : [];
	const nvml = apis.includes('api.nvml') ? ['management-apis'] : [];
	return [...there, ...of('isolation', ['single-device', ...pair, ...nvml, 'residue', 'faults', 'contention', 'lifetime'])];
}

// Of several that hold for a check the first is what is seen: the assertion of `sees` does not hold, and the check fails, or has
// the `outcome`.
export const faults = [
	{
		name: 'no location path before HCS schema 2.2',
		source: 'https://github.com/TensorWorks/DirectX-Device-Plugins/issues/1',
		when: ({os}) => os.build < 18362,
		hits: () => true,
		// Checks of APIs fail on what cannot work, the others cannot be done.
		outcome: (check) => (check.startsWith('api.') ? 'fail' : 'unsupported'),
		sees: (check, {os}) => ({
			what: `probe-${one(check)}`, wanted: 'can work',
			saw: `windows.device-schema: devices of type 'vpci-location-path' need HCS schema 2.2, build ${os.build} has 2.1: 0x8037010D (HCS_E_INVALID_JSON)`,
		}),
	},
	{
		name: 'no Vulkan in Windows containers',
		source: 'https://github.com/TensorWorks/DirectX-Device-Plugins#known-limitations',
		when: nvidia,
		hits: (check) => offeredAs(one(check)) === 'vulkan',
		sees: () => ({what: '/api/status', wanted: 'ok', saw: 'failed (vkCreateInstance: VK_ERROR_INCOMPATIBLE_DRIVER)'}),
	},
	{
		name: 'nvcuda.dll and a GPU in one container',
		source: 'https://github.com/AppMana/cloud-provisioning/tree/main/providers/windows-gpu-device-plugin',
		when: (cell) => nvidia(cell) && cell.os.build >= 26100,
		hits: () => true,
		// It looks at the containers of others.
		outcome: (check) => (check === 'isolation.management-apis' ? 'unsupported' : 'fail'),
		sees: (check) => ({what: `probe-${one(check)}`, wanted: 'exited with code 0', saw: 'launch refused: hcs::CreateComputeSystem failed'}),
	},
	{
		name: 'all GPUs visible',
		source: 'https://github.com/microsoft/Windows-Containers/issues/333',
		when: ({os, devices}) => os.build === 20348 && devices.length > 1,
		hits: (check, {devices}) =>
			check.startsWith('api.')
				? !/nvml|opengl|amf/.test(check) && devicesOf(check, devices).length > 1
				: /single-device|two-containers|management-apis/.test(check),
		sees: (check, {devices}) =>
			check.startsWith('api.')
				? {what: '/devices/count', wanted: '1', saw: `${devicesOf(check, devices).length} devices of hardware`}
				: {what: 'devices that the container sees', wanted: 'those that were granted', saw: devices.map(({id}) => id).join(', ')},
	},
	{
		name: 'AMF in process isolation',
		source: 'https://github.com/microsoft/Windows-Containers/issues/504',
		when: ({driver}) => driver.key === 'amdwddmg',
		hits: (check) => check === 'api.amf',
		sees: () => ({what: '/work/status', wanted: 'encoded', saw: 'failed (AMFComponent::Init: AMF_FAIL)'}),
	},
	{
		name: 'a layer stays open',
		source: 'https://github.com/microsoft/Windows-Containers/issues/623',
		when: ({devices}) => devices.some(({description}) => /^AMD Radeon( RX 90|.*890M)/.test(description)),
		hits: (check) => check === 'isolation.lifetime',
		sees: () => ({what: 'probe-again', wanted: 'exited with code 0', saw: 'container could not be set up: hcsshim::ActivateLayer failed: 0x20'}),
	},
];
