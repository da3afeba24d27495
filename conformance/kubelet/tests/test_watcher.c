/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"

static void start_with_watcher(struct rig *rig)
{
	rig_init(rig);
	const struct kubelet_options options = {.registry_dir = rig->registry_dir};
	rig_make(rig, &options);
	CHECK_OK(kubelet_start(rig->kubelet, ERR));
}

static bool was_told(void *user)
{
	return scripted_plugin_registered(user) + scripted_plugin_refused(user) > 0;
}

static void test_socket_is_found_and_registered(void)
{
	struct rig rig;
	start_with_watcher(&rig);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'device_count': 2, 'register': {'via': 'watcher'}}");
	rig_wait(&rig, was_told, plugin, "the notification");
	UNIT_INT(scripted_plugin_registered(plugin), 1);
	rig_wait_listed(&rig);
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 2);
	const struct kubelet_registration *seen = kubelet_registration_at(rig.kubelet, 0);
	CU_ASSERT(seen->by_watcher);
	UNIT_STRING(seen->socket, scripted_plugin_socket(plugin));
	UNIT_STRING(seen->version, "v1beta1");
	/* The socket disappears: the plugin is deregistered. */
	rig_stop_plugin(&rig, plugin);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 0);
	rig_close(&rig);
}

static void refused(const char *script, const char *reason)
{
	struct rig rig;
	start_with_watcher(&rig);
	struct scripted_plugin *plugin = rig_plugin(&rig, script);
	rig_wait(&rig, was_told, plugin, "the notification");
	UNIT_INT(scripted_plugin_refused(plugin), 1);
	UNIT_CONTAINS(scripted_plugin_last_error(plugin), reason);
	CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).known);
	rig_close(&rig);
}

static void test_wrong_plugins_are_refused(void)
{
	refused("{'register': {'via': 'watcher', 'type': 'CSIPlugin'}}",
		"no handler registered for plugin type: CSIPlugin");
	refused("{'register': {'via': 'watcher'}, 'version': 'v1'}",
		"manager version, v1beta1, is not among plugin supported versions v1");
	refused("{'register': {'via': 'watcher', 'name': 'gpu'}}",
		"invalid name of device plugin socket: gpu");
	refused("{'register': {'via': 'watcher'}, 'rpc': {'GetDevicePluginOptions': {'code': 2}}}",
		"failed to get device plugin options");
}

static void test_get_info_is_tried_again(void)
{
	struct rig rig;
	start_with_watcher(&rig);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'device_count': 1, 'register': {'via': 'watcher'}, 'rpc':"
				 " {'GetInfo': {'code': 14, 'times': 1}}}");
	rig_wait(&rig, was_told, plugin, "the notification");
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_GET_INFO), 2);
	rig_close(&rig);
}

UNIT_MAIN("kubelet plugin watcher",
	  {"a socket is found and registered", test_socket_is_found_and_registered},
	  {"wrong plugins are refused", test_wrong_plugins_are_refused},
	  {"GetInfo is tried again", test_get_info_is_tried_again})
