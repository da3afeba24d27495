/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#ifndef _WIN32
#include <unistd.h>
#endif

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
		"RegisterPlugin error -- no handler registered for plugin type: CSIPlugin");
	refused("{'register': {'via': 'watcher'}, 'version': 'v1'}",
		"manager version, v1beta1, is not among plugin supported versions [v1]");
	refused("{'register': {'via': 'watcher', 'name': 'gpu'}}",
		"RegisterPlugin error -- plugin validation failed with err: invalid name of device "
		"plugin socket: the ResourceName \"gpu\" is invalid");
	refused("{'register': {'via': 'watcher'}, 'rpc': {'GetDevicePluginOptions': {'code': 2}}}",
		"RegisterPlugin error -- plugin registration failed with err: failed to get device "
		"plugin options");
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

/* A plugin that cannot be told so is not registered; it is tried again. */
static void test_failed_notification_deregisters(void)
{
	struct rig rig;
	start_with_watcher(&rig);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'device_count': 4, 'register': {'via': 'watcher'}, 'rpc':"
				 " {'NotifyRegistrationStatus': {'code': 2, 'message': 'no',"
				 " 'delay_ms': 100, 'times': 2}}}");
	rig_wait_allocatable(&rig, 4);
	rig_wait_event(&rig, KUBELET_EVENT_WATCHER_NOTIFIED, 1);
	UNIT_CONTAINS(rig.last_text[KUBELET_EVENT_WATCHER_NOTIFIED],
		      ", err: : rpc error: code = Unknown desc = no");
	CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).connected);
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 0);
	rig_wait(&rig, was_told, plugin, "the third notification");
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_NOTIFY), 3);
	rig_wait_allocatable(&rig, 4);
	rig_close(&rig);
}

/* DeRegisterPlugin goes by name in 1.36, by socket in 1.37. */
static void test_one_of_two_sockets_goes(void)
{
	for (int profile = KUBELET_PROFILE_1_36; profile <= KUBELET_PROFILE_1_37; profile++) {
		struct rig rig;
		rig_init(&rig);
		const struct kubelet_options options = {.registry_dir = rig.registry_dir,
							.profile = (enum kubelet_profile)profile};
		rig_make(&rig, &options);
		CHECK_OK(kubelet_start(rig.kubelet, ERR));
		struct scripted_plugin *first =
			rig_plugin(&rig, "{'device_count': 4, 'register': {'via': 'watcher'}}");
		rig_wait(&rig, was_told, first, "the first notification");
		struct scripted_plugin *second =
			rig_plugin(&rig, "{'device_count': 4, 'register': {'via': 'watcher'}}");
		rig_wait(&rig, was_told, second, "the second notification");
		rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
		(void)remove(scripted_plugin_socket(first));
		rig_wait_event(&rig, KUBELET_EVENT_WATCHER_SOCKET, 3);
		UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable,
			 profile == KUBELET_PROFILE_1_36 ? 0 : 4);
		rig_close(&rig);
	}
}

static void test_sockets_are_found_at_any_depth(void)
{
	struct rig rig;
	start_with_watcher(&rig);
	char *deep CLEANUP_FREE = path_join(rig.registry_dir, "a/b/c/d/e/f");
	char *link CLEANUP_FREE = path_join(rig.registry_dir, "a/b/link");
	CHECK_OK(file_make_directories(deep, 0750, ERR));
#ifndef _WIN32
	CU_ASSERT_FATAL(symlink("..", link) == 0); /* not followed: it leads back for ever */
#endif
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'device_count': 1, 'socket': 'a/b/c/d/e/f/x.sock',"
				 " 'register': {'via': 'watcher'}}");
	rig_wait(&rig, was_told, plugin, "the notification");
	UNIT_INT(scripted_plugin_registered(plugin), 1);
	UNIT_INT(rig.events[KUBELET_EVENT_WATCHER_SOCKET], 1);
	rig_close(&rig);
}

UNIT_MAIN("kubelet plugin watcher",
	  {"a socket is found and registered", test_socket_is_found_and_registered},
	  {"wrong plugins are refused", test_wrong_plugins_are_refused},
	  {"a failed notification deregisters", test_failed_notification_deregisters},
	  {"one of two sockets goes", test_one_of_two_sockets_goes},
	  {"sockets are found at any depth", test_sockets_are_found_at_any_depth},
	  {"GetInfo is tried again", test_get_info_is_tried_again})
