/* SPDX-License-Identifier: MIT */
/* The Windows program that the tests run in containers: counts adapters through each API, and tells
 * which of the files that it is given are there. One "NAME=VALUE" a line. */
#define COBJMACROS
#define INITGUID
#include <stdint.h>
#include <stdio.h>
#include <windows.h>

#include <d3d11.h>
#include <d3d12.h>
#include <dxgi1_4.h>

static FARPROC function_of(const char *library, const char *name)
{
	HMODULE module = LoadLibraryA(library);
	return module != NULL ? GetProcAddress(module, name) : NULL;
}

static int count_vulkan(void)
{
	typedef int(WINAPI * create_function)(const void *info, const void *allocator, void **out);
	typedef int(WINAPI * list_function)(void *instance, uint32_t *count, void **devices);
	const struct {
		int type;
		const void *next;
		int flags;
		const void *application;
		uint32_t layer_count;
		const char *const *layers;
		uint32_t extension_count;
		const char *const *extensions;
	} info = {.type = 1};
	create_function create =
		(create_function)(void *)function_of("vulkan-1.dll", "vkCreateInstance");
	list_function list =
		(list_function)(void *)function_of("vulkan-1.dll", "vkEnumeratePhysicalDevices");
	void *instance = NULL;
	uint32_t count = 0;
	if (create == NULL || list == NULL)
		return -1;
	if (create(&info, NULL, &instance) != 0 || list(instance, &count, NULL) != 0)
		return 0;
	return (int)count;
}

static int count_opencl(void)
{
	typedef int(WINAPI * list_function)(uint32_t size, void **platforms, uint32_t *count);
	list_function list = (list_function)(void *)function_of("opencl.dll", "clGetPlatformIDs");
	uint32_t count = 0;
	if (list == NULL)
		return -1;
	return list(0, NULL, &count) == 0 ? (int)count : 0;
}

static void show_direct3d(void)
{
	IDXGIFactory1 *factory = NULL;
	IDXGIAdapter1 *adapter = NULL;
	int count = 0, d3d11 = 0, d3d12 = 0;
	if (CreateDXGIFactory1(&IID_IDXGIFactory1, (void **)&factory) != S_OK)
		factory = NULL;
	while (factory != NULL &&
	       IDXGIFactory1_EnumAdapters1(factory, (UINT)count, &adapter) == S_OK) {
		ID3D11Device *device11 = NULL;
		ID3D12Device *device12 = NULL;
		count++;
		d3d11 += D3D11CreateDevice((IDXGIAdapter *)adapter, D3D_DRIVER_TYPE_UNKNOWN, NULL,
					   0, NULL, 0, D3D11_SDK_VERSION, &device11, NULL,
					   NULL) == S_OK;
		d3d12 += D3D12CreateDevice((IUnknown *)adapter, D3D_FEATURE_LEVEL_11_0,
					   &IID_ID3D12Device, (void **)&device12) == S_OK;
	}
	printf("dxgi=%d\nd3d11=%d\nd3d12=%d\n", count, d3d11, d3d12);
}

int main(int argc, char **argv)
{
	show_direct3d();
	printf("vulkan=%d\nopencl=%d\n", count_vulkan(), count_opencl());
	for (int i = 1; i < argc; i++)
		printf("%s=%s\n", argv[i],
		       GetFileAttributesA(argv[i]) != INVALID_FILE_ATTRIBUTES ? "there"
									      : "missing");
	return 0;
}
