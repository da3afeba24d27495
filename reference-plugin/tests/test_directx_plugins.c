/* SPDX-License-Identifier: MIT */
/* device-plugin-wddm and device-plugin-mcdm as programs, on recorded nodes of Windows. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/tests/plugin_rig.h"

#include <signal.h>
#include <string.h>

#define DIRECTX_DISPLAY "directx.microsoft.com/display"
#define DIRECTX_COMPUTE "directx.microsoft.com/compute"

static void open_with(struct rig *rig, const char *program, const char *devices, const char *more,
		      const char *value)
{
	rig_open(rig);
	rig->program = program;
	rig_kubelet(rig);
	rig_start_with_node(rig, devices, more, value);
}

static void close_after_stop(struct rig *rig)
{
	UNIT_INT(rig_stop(rig, SIGTERM), 0);
	rig_close(rig);
}

static void expect_allocate(struct rig *rig, const char *resource, const char *ids, int code,
			    const char *wanted)
{
	struct text answer CLEANUP_TEXT = {0};
	UNIT_INT(rig_allocate(rig, resource, ids, &answer), code);
	UNIT_CONTAINS(text_string(&answer), wanted);
}

static void test_wddm(void)
{
	struct rig rig;
	struct listing listing;
	char *endpoint CLEANUP_FREE = NULL;
	open_with(&rig, "device-plugin-wddm", "a b npu/c/1 acpi/x old/d", "--multitenancy", "2");
	rig_await_registrations(&rig, DIRECTX_DISPLAY, 1);
	endpoint = rig_endpoint_path(&rig, DIRECTX_DISPLAY);
	CU_ASSERT_TRUE(text_starts_with(path_base(endpoint), "wddm-display-"));
	CU_ASSERT_PTR_NULL(registrar_find(&rig.registrar, DIRECTX_COMPUTE));
	CU_ASSERT_PTR_NULL(registrar_find(&rig.registrar, DISPLAY));
	listing_open(&rig, DIRECTX_DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0 a::1 b::0 b::1");
	rig_await_log(&rig,
		      "device acpi () is not offered: it has no location path to assign it by");
	rig_await_log(&rig, "device old () is not offered: it renders and does not compute");
	expect_allocate(&rig, DIRECTX_DISPLAY, "a::0 a::1", RPC_OK,
			"vpci-location-path://PCIROOT(0)#a;");
	expect_allocate(&rig, DIRECTX_DISPLAY, "a::0 b::0", RPC_FAILED_PRECONDITION,
			"one container cannot have 2 devices ('a', 'b')");
	expect_allocate(&rig, DIRECTX_DISPLAY, "acpi::0", RPC_NOT_FOUND, "acpi::0");
	listing_close(&listing);
	close_after_stop(&rig);
}

static void test_mcdm(void)
{
	struct rig rig;
	struct listing listing;
	open_with(&rig, "device-plugin-mcdm", "a npu/c/1", NULL, NULL);
	rig_await_registrations(&rig, DIRECTX_COMPUTE, 1);
	CU_ASSERT_PTR_NULL(registrar_find(&rig.registrar, DIRECTX_DISPLAY));
	listing_open(&rig, DIRECTX_COMPUTE, &listing);
	listing_await(&rig, &listing, "npu::0");
	expect_allocate(&rig, DIRECTX_COMPUTE, "npu::0", RPC_OK,
			"vpci-location-path://PCIROOT(0)#npu;");
	expect_allocate(&rig, DIRECTX_COMPUTE, "a::0", RPC_NOT_FOUND, "a::0");
	listing_close(&listing);
	close_after_stop(&rig);
}

/* A device without a location path can be given by its class. */
static void test_class(void)
{
	struct rig rig;
	open_with(&rig, "device-plugin-wddm", "a acpi/x", "--allocation", "class");
	rig_await_registrations(&rig, DIRECTX_DISPLAY, 1);
	expect_allocate(&rig, DIRECTX_DISPLAY, "acpi::0", RPC_OK,
			"class/5B45201D-F2F2-4F3B-85BB-30FF1F953599;");
	close_after_stop(&rig);
}

static void test_several_devices(void)
{
	struct rig rig;
	open_with(&rig, "device-plugin-wddm", "a b", "--several-devices", "allow");
	rig_await_registrations(&rig, DIRECTX_DISPLAY, 1);
	expect_allocate(&rig, DIRECTX_DISPLAY, "b::0 a::0", RPC_OK,
			"vpci-location-path://PCIROOT(0)#a;vpci-location-path://PCIROOT(0)#b;");
	close_after_stop(&rig);
}

/* A driver that is reset or updated takes its device away for a while. */
static void test_device_goes_and_returns(void)
{
	struct rig rig;
	struct listing listing;
	open_with(&rig, "device-plugin-wddm", "a b", NULL, NULL);
	rig_await_registrations(&rig, DIRECTX_DISPLAY, 1);
	listing_open(&rig, DIRECTX_DISPLAY, &listing);
	listing_await(&rig, &listing, "a::0 b::0");
	rig_write_node(&rig, "b");
	listing_await(&rig, &listing, "a::0! b::0");
	expect_allocate(&rig, DIRECTX_DISPLAY, "a::0", RPC_UNAVAILABLE, "the device is gone");
	rig_write_node(&rig, "a b!");
	listing_await(&rig, &listing, "a::0 b::0!");
	rig_write_node(&rig, "a b");
	listing_await(&rig, &listing, "a::0 b::0");
	listing_close(&listing);
	close_after_stop(&rig);
}

/* One that has no device yet registers, and lists what comes later. */
static void test_no_device(void)
{
	struct rig rig;
	struct listing listing;
	open_with(&rig, "device-plugin-mcdm", "", NULL, NULL);
	rig_await_registrations(&rig, DIRECTX_COMPUTE, 1);
	listing_open(&rig, DIRECTX_COMPUTE, &listing);
	listing_await(&rig, &listing, "");
	rig_write_node(&rig, "npu/c");
	listing_await(&rig, &listing, "npu::0");
	listing_close(&listing);
	close_after_stop(&rig);
}

static void expect_end(const char *program, const char *option, const char *value, int code,
		       const char *message)
{
	struct rig rig;
	const char *const arguments[] = {option, value, NULL};
	rig_open(&rig);
	rig.program = program;
	rig_start(&rig, arguments);
	UNIT_INT(rig_stop(&rig, 0), code);
	UNIT_CONTAINS(text_string(&rig.log), message);
	rig_close(&rig);
}

static void test_every_failure_has_an_exit_code(void)
{
	static const char linux_node[] = GPUCERT_SOURCE_DIR "/discovery/nodes/linux-intel-amd.json";
	expect_end("device-plugin-wddm", "--node", linux_node, 1,
		   "device-plugin-wddm offers the devices of Windows nodes, and this node runs "
		   "linux");
	expect_end("device-plugin-mcdm", "--node", "/nonexistent/node.json", 1,
		   "/nonexistent/node.json");
	expect_end("device-plugin-wddm", "--resource", "display", 2, "--resource");
	expect_end("device-plugin-mcdm", "--multitenancy", "-1", 2,
		   "'-1' is not a whole number from 0 to 10000");
	expect_end("device-plugin-mcdm", "--config", "/nonexistent/mcdm.yaml", 2,
		   "/nonexistent/mcdm.yaml");
#ifndef _WIN32
	expect_end("device-plugin-wddm", "--service", NULL, 2, "--service");
	expect_end("device-plugin-wddm", NULL, NULL, 1, "name a recorded one with --node");
#endif
	(void)uv_os_setenv("WDDM_DEVICE_PLUGIN_CONFIG_FILE", "relative.yaml");
	expect_end("device-plugin-wddm", NULL, NULL, 2, "is not an absolute path");
	(void)uv_os_unsetenv("WDDM_DEVICE_PLUGIN_CONFIG_FILE");
}

UNIT_MAIN("DirectX plugins", {"wddm", test_wddm}, {"mcdm", test_mcdm}, {"class", test_class},
	  {"several devices", test_several_devices},
	  {"a device goes and returns", test_device_goes_and_returns},
	  {"no device", test_no_device},
	  {"every failure has an exit code", test_every_failure_has_an_exit_code})
