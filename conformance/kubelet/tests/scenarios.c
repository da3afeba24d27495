/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/tests/scenarios.h"

#include "base/cleanup.h"

/* clang-format off */

#define FOUR "plugin {'device_count': 4, 'on_socket_removed': 'ignore'}\n" LISTED_FOUR
#define LISTED_FOUR "< registered\n< list 4\n< resource 4/4\n"
#define ONE(members) "plugin {'device_count': 1, " members "}\n< registered\n< list 1\n< resource 1/1\n"
#define SINGLE_SHOT "'register': {'retries': 0}"
#define ALL "device-0,device-1,device-2,device-3"

/* helpers.go, IsExtendedResourceName; server.go, Register */
#define NAME(name) {.title = "name " name, "plugin {'resource': '" name "', 'device_count': 1}\n" \
	"< registered\n< list 1\n< resource 1/1"}
#define NO_NAME(name) {.title = "name " name, "plugin {'resource': '" name "', " SINGLE_SHOT "}\n" \
	"< answer UNKNOWN the ResourceName \"" name "\" is invalid\n= unknown"}
#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A52 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* manager.go, genericDeviceUpdateCallback: health is exactly "Healthy" */
#define HEALTH(word, counts) {.title = "health " word, "plugin {'devices': [{'id': 'a'}, {'id': 'b', 'health': '" word "'}]}\n" \
	"< registered\n< list 2\n< resource 2/" counts}

/* client.go, dial: ten seconds, shortened here */
#define NO_DIAL "< answer UNKNOWN failed to dial device plugin: context deadline exceeded\n= unknown"
#define ENDPOINT(name, endpoint) {.title = "endpoint " name, \
	"plugin {'socket': 'x.sock', 'device_count': 4, 'endpoint': '" endpoint "'}\n" LISTED_FOUR}
#define NO_ENDPOINT(name, endpoint) {.title = "endpoint " name, \
	"plugin {'endpoint': '" endpoint "', " SINGLE_SHOT "}\n" NO_DIAL, .dial_ms = 60}
/* net/url refuses the target of grpc.DialContext */
#define NO_TARGET(name, endpoint, shown, cause) {.title = "endpoint " name, \
	"plugin {'endpoint': '" endpoint "', " SINGLE_SHOT "}\n" \
	"< answer UNKNOWN failed to dial device plugin: parse \"passthrough:///DIR/" shown "\": " cause "\n= unknown"}
#define CONTROL "net/url: invalid control character in URL"
#define ESCAPE(shown) "invalid URL escape \"" shown "\""
/* the socket has the endpoint's name, and net/url reads another one */
#define MISREAD(name, endpoint) {.title = "endpoint " name, \
	"plugin {'socket': '" endpoint "', 'endpoint': '" endpoint "', " SINGLE_SHOT "}\n" NO_DIAL, .dial_ms = 60}

#define OPTIONS(name, fault, text) {.title = "options " name, \
	"plugin {'rpc': {'GetDevicePluginOptions': {" fault "}}, " SINGLE_SHOT "}\n" \
	"< answer UNKNOWN failed to get device plugin options: rpc error: code = " text "\n= unknown"}

/* the end of a stream disconnects the plugin, whatever its status (client.go, Run) */
#define END(name, end, text) {.title = "stream ends, " name, ONE("'end': {" end "}") \
	"< end " text "\n< resource 1/0\n= 1/0 0"}

#define ALLOCATE_ERROR(name, fault, code, text) {.title = "Allocate fails, " name, \
	ONE("'rpc': {'Allocate': {" fault "}}") "admit p/c 1\n< allocate device-0 " code "\n" \
	"< rejected Allocate failed due to rpc error: code = " text ", which is unexpected\n= 1/1 0"}

#define PREFERRED "'options': {'get_preferred_allocation_available': true}"
#define UNAVAILABLE(requested, available) "< rejected Allocate failed due to requested number of devices " \
	"unavailable for example.com/gpu. Requested: " requested ", Available: " available ", which is unexpected\n"
#define ILL "< rejected Allocate failed due to previously allocated devices are no longer healthy; cannot " \
	"allocate unhealthy devices example.com/gpu, which is unexpected\n"
#define NO_HEALTHY "< rejected Allocate failed due to no healthy devices present; cannot allocate unhealthy " \
	"devices example.com/gpu, which is unexpected\n"

#define PRE_START "'options': {'pre_start_required': true}"
#define NOTHING "container envs=0 mounts=0 devices=0 annotations=0 cdi=0"

#define WATCHED "'on_socket_removed': 'ignore', 'device_count': 4, 'register': {'via': 'watcher'}"
#define TOLD(name, members, text) {.title = "plugins_registry, " name, "plugin {" members "}\n" \
	"< told RegisterPlugin error -- " text "\nstop 0\n= unknown"}

const struct scenario scenarios[] = {
	/* Register */
	NAME("example.com/gpu"),
	NAME("a/b"),
	NAME("microsoft.com/directx_1.x"),
	NAME("directx.microsoft.com/display"),
	NAME("x.y.z/A-b_c.9"),
	NAME("example.com/GPU"),
	NAME("example.com/g"),
	NAME("1.2/3"),
	NAME("a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	NAME(A64 A64 A64 A52 "/b"),
	NO_NAME("gpu"),
	NO_NAME(""),
	NO_NAME("/gpu"),
	NO_NAME("example.com/"),
	NO_NAME("example.com/a/b"),
	NO_NAME("Example.com/gpu"),
	NO_NAME("-example.com/gpu"),
	NO_NAME("example..com/gpu"),
	NO_NAME("example.com/-gpu"),
	NO_NAME("example.com/gpu-"),
	NO_NAME("example.com/gp u"),
	NO_NAME("kubernetes.io/gpu"),
	NO_NAME("vendor.kubernetes.io/gpu"),
	NO_NAME("requests.example.com/gpu"),
	NO_NAME("example.com/gp\xc3\xbc"),
	NO_NAME("example_com/gpu"),
	NO_NAME("a/" A64),
	NO_NAME(A64 A64 A64 A52 "a/b"),
	{.title = "name with NUL", "plugin {'resource': 'example.com/gpu\xe2\x90\x80x', " SINGLE_SHOT "}\n"
		"< answer UNKNOWN the ResourceName \"example.com/gpu\\x00x\" is invalid"},
	{.title = "name with a quote", "plugin {'resource': 'example.com/g\\\"\\n', " SINGLE_SHOT "}\n"
		"< answer UNKNOWN the ResourceName \"example.com/g\\\"\\n\" is invalid"},
	{.title = "version v1beta2", "plugin {'version': 'v1beta2', " SINGLE_SHOT "}\n"
		"< answer UNKNOWN requested API version \"v1beta2\" is not supported by kubelet. "
		"Supported version is [\"v1beta1\"]"},
	{.title = "version v1alpha", "plugin {'version': 'v1alpha', " SINGLE_SHOT "}\n"
		"< answer UNKNOWN requested API version \"v1alpha\" is not supported by kubelet. "
		"Supported version is [\"v1beta1\"]"},
	{.title = "no version", "plugin {'version': '', " SINGLE_SHOT "}\n"
		"< answer UNKNOWN requested API version \"\" is not supported by kubelet. "
		"Supported version is [\"v1beta1\"]"},
	{.title = "version before name", "plugin {'version': '2', 'resource': 'gpu', " SINGLE_SHOT "}\n"
		"< answer UNKNOWN requested API version \"2\" is not supported by kubelet. "
		"Supported version is [\"v1beta1\"]"},
	ENDPOINT("of the socket", "x.sock"),
	ENDPOINT("absolute, below the directory nevertheless", "/x.sock"),
	ENDPOINT("with a folder that is left again", "sub/../x.sock"),
	ENDPOINT("that leaves the directory and comes back", "../device-plugins/x.sock"),
	NO_ENDPOINT("missing", "missing.sock"),
	NO_ENDPOINT("empty", ""),
	NO_ENDPOINT("too long", A64 A64),
	ENDPOINT("with a query", "x.sock?"),
	ENDPOINT("with a query that has a value", "x.sock?a=%zz&b"),
	ENDPOINT("with a fragment", "x.sock#x"),
	ENDPOINT("with a fragment that has a tabulator", "x.sock#\\t"),
	ENDPOINT("with an escaped folder", "%2e/x.sock"),
	ENDPOINT("with an escaped letter", "%78.sock"),
	ENDPOINT("with an escaped slash", "%2fx.sock"),
	ENDPOINT("with an escaped NUL", "x.sock%00y"),
	MISREAD("whose name has a question mark", "x?.sock"),
	MISREAD("whose name has a number sign", "x#1.sock"),
	MISREAD("whose name has an escape", "x%41.sock"),
	NO_TARGET("with NUL", "x.sock\xe2\x90\x80y", "x.sock\\x00y", CONTROL),
	NO_TARGET("with a tabulator", "x\\ty", "x\\ty", CONTROL),
	NO_TARGET("with a tabulator before a fragment", "x\\ty#z", "x\\ty", CONTROL),
	NO_TARGET("with a percent sign", "100%.sock", "100%.sock", ESCAPE("%.s")),
	NO_TARGET("that ends with a percent sign", "x%4#y", "x%4", ESCAPE("%4")),
	NO_TARGET("with a percent sign in the fragment", "x.sock#%zz", "x.sock#%zz", ESCAPE("%zz")),
	OPTIONS("fail", "'code': 'INTERNAL', 'message': 'broken'", "Internal desc = broken"),
	OPTIONS("fail without a text", "'code': 'NOT_FOUND'", "NotFound desc = "),
	OPTIONS("fail with percent, UTF-8 and a control character",
		"'code': 'UNKNOWN', 'message': '100% \xe2\x82\xac\\u0001'",
		"Unknown desc = 100% \xe2\x82\xac\x01"),
	OPTIONS("fail with an unknown code", "'code': 99, 'message': 'odd'", "Code(99) desc = odd"),
	OPTIONS("are garbage", "'malformed': true", "Internal desc = grpc: failed to unmarshal the "
		"received message*"),
	{.title = "options are empty", ONE("'rpc': {'GetDevicePluginOptions': {'empty': true}}")},
	{.title = "options are slow", ONE("'rpc': {'GetDevicePluginOptions': {'delay_ms': 50}}")},
	/* client.go, dial, and manager.go, PluginConnected: with the context of the call */
	{.title = "the caller leaves while its endpoint is dialled",
		"plugin {'endpoint': 'missing.sock', 'register': {'deadline_ms': 50, 'retries': 0}}\n"
		"< abandoned\n< answer UNKNOWN failed to dial device plugin: *\n" FOUR
		"stop 1\n< end UNAVAILABLE *\n< resource 4/0"},
	{.title = "the caller leaves while the options are awaited",
		"plugin {'rpc': {'GetDevicePluginOptions': {'hang': true}}, "
		"'register': {'deadline_ms': 50, 'retries': 0}}\n"
		"< abandoned\n< answer UNKNOWN failed to get device plugin options: *\n= unknown"},
	/* handler.go: one slot for each name; deregisterClient and runClient go by name */
	{.title = "the same socket again", "plugin {'socket': 'a.sock', 'device_count': 4}\n" LISTED_FOUR
		"plugin {'endpoint': 'a.sock'}\n< registered\n< list 4\n= 4/4 0"},
	{.title = "another socket", FOUR "plugin {'device_count': 2}\n< registered\n< list 2\n< resource 2/2"},
	{.title = "the end of the older stream disconnects the newer plugin",
		FOUR "plugin {'device_count': 2}\n< registered\n< list 2\n< resource 2/2\n"
		"stop 0\n< end UNAVAILABLE *\n< resource 2/0"},
	{.title = "the older plugin's lists still count",
		FOUR "plugin {'device_count': 2}\n< registered\n< list 2\n< resource 2/2\n"
		"list 0 {'device_count': 3}\n< list 3\n< resource 3/3"},
	{.title = "after a failed registration the end of the stream goes unnoticed",
		FOUR "plugin {'rpc': {'GetDevicePluginOptions': {'code': 2}}, " SINGLE_SHOT "}\n"
		"< answer UNKNOWN failed to get device plugin options: *\n"
		"cut 0\n< end UNAVAILABLE *\n= 4/4 0"},
	/* 1.37, kubernetes PR #135437 */
	{.title = "1.37: the same socket again", "plugin {'socket': 'a.sock', 'device_count': 4}\n" LISTED_FOUR
		"plugin {'endpoint': 'a.sock'}\n< registered\n= 4/4 0", .profile = KUBELET_PROFILE_1_37},
	{.title = "1.37: the end of the older stream",
		FOUR "plugin {'device_count': 2}\n< registered\n< list 2\n< resource 2/2\n"
		"stop 0\n< end UNAVAILABLE *\n= 2/2 0", .profile = KUBELET_PROFILE_1_37},
	{.title = "1.37: a failed registration beside a good one",
		FOUR "plugin {'rpc': {'GetDevicePluginOptions': {'code': 2}}, " SINGLE_SHOT "}\n"
		"< answer UNKNOWN failed to get device plugin options: *\n"
		"cut 0\n< end UNAVAILABLE *\n< resource 4/0", .profile = KUBELET_PROFILE_1_37},

	/* ListAndWatch */
	END("well", "'code': 'OK'", "OK"),
	END("with an error", "'code': 'INTERNAL', 'message': 'boom'", "INTERNAL boom"),
	END("with a plain error", "'code': 'UNKNOWN', 'message': 'plain'", "UNKNOWN plain"),
	END("with the connection", "'cut': true", "UNAVAILABLE *"),
	{.title = "the plugin ends", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0"},
	{.title = "the plugin ends and comes back", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0\n" FOUR},
	{.title = "the own socket goes while the connection stays", FOUR "unlink 0\n= 4/4 0\nadmit p/c 4\n"
		"< allocate " ALL " OK\n< admitted p/c"},
	{.title = "the list is refused", "plugin {'rpc': {'ListAndWatch': {'code': 12, 'message': 'no'}}}\n"
		"< registered\n< end UNIMPLEMENTED no\n< resource 0/0"},
	{.title = "the list is garbage", "plugin {'rpc': {'ListAndWatch': {'malformed': true}}}\n"
		"< registered\n< end INTERNAL grpc: failed to unmarshal the received message*\n"
		"< resource 0/0"},
	{.title = "the list never comes", "plugin {'rpc': {'ListAndWatch': {'hang': true}}}\n"
		"< registered\n= 0/0 0"},
	{.title = "a list of 4,194,304 bytes", FOUR "fill 0 65536 0\n< list 65536\n< resource 65536/65536"},
	{.title = "a list of 4,194,305 bytes", FOUR "fill 0 65536 1\n"
		"< end RESOURCE_EXHAUSTED grpc: received message larger than max (4194305 vs. 4194304)\n"
		"< resource 4/0"},
	HEALTH("Healthy", "2"),
	HEALTH("Unhealthy", "1"),
	HEALTH("healthy", "1"),
	HEALTH("HEALTHY", "1"),
	HEALTH(" Healthy", "1"),
	HEALTH("Unknown", "1"),
	HEALTH("", "1"),
	HEALTH("Healthy\xe2\x90\x80junk", "1"),
	{.title = "ids that differ behind NUL", "plugin {'devices': [{'id': 'a\xe2\x90\x80z'}, {'id': 'a'}]}\n"
		"< registered\n< list 2\n< resource 2/2"},
	{.title = "an id twice", "plugin {'devices': [{'id': 'a'}, {'id': 'a'}]}\n"
		"< registered\n< list 2\n< resource 1/1"},
	{.title = "an id twice, with two healths", "plugin {'devices': [{'id': 'a'}, {'id': 'a', 'health': ''}]}\n"
		"< registered\n< list 2\n< resource 2/1"},
	{.title = "an empty first list", "plugin {}\n< registered\n< list 0\n< resource 0/0"},
	{.title = "an empty list later", FOUR "list 0 {}\n< list 0\n< resource 0/0"},
	{.title = "devices go", FOUR "list 0 {'device_count': 2}\n< list 2\n< resource 2/2"},
	{.title = "devices come", FOUR "list 0 {'device_count': 6}\n< list 6\n< resource 6/6"},
	{.title = "the same list again", FOUR "list 0 {'device_count': 4}\n< list 4\n= 4/4 0"},
	{.title = "a device falls ill and recovers", ONE("'on_socket_removed': 'ignore'")
		"list 0 {'devices': [{'id': 'device-0', 'health': 'Unhealthy'}]}\n< list 1\n< resource 1/0\n"
		"list 0 {'device_count': 1}\n< list 1\n< resource 1/1"},
	/* client.go: one ClientConn for all calls */
	{.title = "GOAWAY with ListAndWatch open", FOUR "goaway 0\nadmit p/c 4\n< allocate " ALL " OK\n"
		"< admitted p/c\nlist 0 {'device_count': 5}\n< list 5\n< resource 5/5\ngoaway 0\n"
		"admit q/c 1\n< allocate device-4 OK\n< admitted q/c"},

	/* Allocate: manager.go, devicesToAllocate and allocateContainerResources */
	{.title = "one of four", FOUR "admit p/c 1\n< allocate device-* OK\n< admitted p/c\n= 4/4 1"},
	{.title = "all of four", FOUR "admit p/c 4\n< allocate " ALL " OK\n< admitted p/c\n= 4/4 4"},
	{.title = "more than there are", FOUR "admit p/c 5\n" UNAVAILABLE("5", "4") "= 4/4 0"},
	{.title = "none", FOUR "admit p/c 0\n< admitted p/c\n= 4/4 0"},
	{.title = "two containers", FOUR "admit p/c 3\n< allocate * OK\n< admitted p/c\nadmit p/d 1\n"
		"< allocate * OK\n< admitted p/d\n= 4/4 4"},
	{.title = "more than are left", FOUR "admit p/c 3\n< allocate * OK\n< admitted p/c\nadmit q/c 2\n"
		UNAVAILABLE("2", "1") "= 4/4 3"},
	{.title = "a pod goes", FOUR "admit p/c 4\n< allocate * OK\n< admitted p/c\nadmit q/c 1\n"
		UNAVAILABLE("1", "0") "remove p\nadmit q/c 4\n< allocate " ALL " OK\n< admitted q/c"},
	{.title = "a container restarts", FOUR "admit p/c 2\n< allocate * OK\n< admitted p/c\n"
		"admit p/c 2\n< admitted p/c\n= 4/4 2"},
	{.title = "a container changes its request", FOUR "admit p/c 1\n< allocate * OK\n< admitted p/c\n"
		"admit p/c 2\n< rejected Allocate failed due to pod \"p\" container \"c\" changed request for "
		"resource \"example.com/gpu\" from 1 to 2, which is unexpected"},
	{.title = "an ill device is not chosen", "plugin {'devices': [{'id': 'a', 'health': ''}, {'id': 'b'}]}\n"
		"< registered\n< list 2\n< resource 2/1\nadmit p/c 1\n< allocate b OK\n< admitted p/c\n"
		"admit q/c 1\n" UNAVAILABLE("1", "0")},
	{.title = "a device falls ill while it is allocated", "plugin {'device_count': 2}\n< registered\n< list 2\n"
		"< resource 2/2\nadmit p/c 2\n< allocate device-0,device-1 OK\n< admitted p/c\n"
		"list 0 {'devices': [{'id': 'device-0'}, {'id': 'device-1', 'health': 'ill'}]}\n< list 2\n"
		"< resource 2/1\nadmit p/c 2\n" ILL},
	{.title = "a device goes while it is allocated", "plugin {'device_count': 2}\n< registered\n< list 2\n"
		"< resource 2/2\nadmit p/c 2\n< allocate device-0,device-1 OK\n< admitted p/c\n"
		"list 0 {'device_count': 1}\n< list 1\n< resource 1/1\n= 1/1 2\nadmit p/c 2\n" ILL},
	{.title = "an unhealthy resource", "plugin {'devices': [{'id': 'a', 'health': ''}]}\n< registered\n< list 1\n"
		"< resource 1/0\nadmit p/c 1\n" NO_HEALTHY},
	{.title = "a disconnected plugin", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0\nadmit p/c 1\n"
		NO_HEALTHY},
	{.title = "container responses too many", ONE("'rpc': {'Allocate': {'extra': 2}}")
		"admit p/c 1\n< allocate device-0 OK\n< admitted p/c"},
	{.title = "no container responses: the devices leak", "plugin {'device_count': 2, "
		"'rpc': {'Allocate': {'empty': true}}}\n< registered\n< list 2\n< resource 2/2\n"
		"admit p/c 1\n< allocate device-* OK\n"
		"< rejected Allocate failed due to no containers return in allocation response , which is unexpected\n"
		"admit p/c 1\n< allocate device-* OK\n"
		"< rejected Allocate failed due to no containers return in allocation response , which is unexpected\n"
		"admit p/c 1\n" UNAVAILABLE("1", "0") "= 2/2 2"},
	ALLOCATE_ERROR("with a code", "'code': 'NOT_FOUND', 'message': 'no such device'", "NOT_FOUND",
		"NotFound desc = no such device"),
	ALLOCATE_ERROR("plainly", "'code': 'UNKNOWN', 'message': 'no'", "UNKNOWN", "Unknown desc = no"),
	ALLOCATE_ERROR("without a text", "'code': 'ABORTED'", "ABORTED", "Aborted desc = "),
	ALLOCATE_ERROR("with an unknown code", "'code': 17, 'message': 'odd'", "UNKNOWN",
		"Code(17) desc = odd"),
	ALLOCATE_ERROR("with percent and UTF-8", "'code': 'UNKNOWN', 'message': '%41 \xe2\x82\xac'",
		"UNKNOWN", "Unknown desc = %41 \xe2\x82\xac"),
	ALLOCATE_ERROR("with garbage", "'malformed': true", "INTERNAL",
		"Internal desc = grpc: failed to unmarshal the received message*"),
	{.title = "Allocate is interrupted", ONE("'rpc': {'Allocate': {'cut': true}}, 'on_socket_removed': 'ignore'")
		"admit p/c 1\n< end UNAVAILABLE *\n< resource 1/0\n< allocate device-0 UNAVAILABLE\n"
		"< rejected Allocate failed due to rpc error: code = Unavailable desc = *"},
	{.title = "Allocate is slow", ONE("'rpc': {'Allocate': {'delay_ms': 60}}")
		"admit p/c 1\n< allocate device-0 OK\n< admitted p/c"},
	{.title = "a list during Allocate", ONE("'rpc': {'Allocate': {'delay_ms': 60}}")
		"during Allocate list 0 {'device_count': 3}\nadmit p/c 1\n< list 3\n< resource 3/3\n"
		"< allocate device-0 OK\n< admitted p/c\n= 3/3 1"},
	{.title = "a device falls ill during Allocate", ONE("'accept_unhealthy': true, 'rpc': {'Allocate': {'delay_ms': 60}}")
		"during Allocate list 0 {'devices': [{'id': 'device-0', 'health': ''}]}\nadmit p/c 1\n"
		"< list 1\n< resource 1/0\n< allocate device-0 OK\n< admitted p/c"},
	/* manager.go:923: the real one panics */
	{.title = "a device vanishes during Allocate", ONE("'accept_unknown': true, 'rpc': {'Allocate': {'delay_ms': 60}}")
		"during Allocate list 0 {}\nadmit p/c 1\n< list 0\n< resource 0/0\n< allocate device-0 OK\n"
		"< problem device device-0 of example.com/gpu vanished*crashes on that\n< admitted p/c"},
	{.title = "an init container passes its devices on", FOUR "admit p/i 2 init\n< allocate * OK\n"
		"< admitted p/i\nadmit p/c 2\n< allocate * OK\n< admitted p/c\n= 4/4 2"},
	{.title = "an init container passes on too few", FOUR "admit p/i 1 init\n< allocate * OK\n"
		"< admitted p/i\nadmit p/c 3\n< allocate * OK\n< admitted p/c\n= 4/4 3"},
	{.title = "two init containers and a container", FOUR "admit p/i 1 init\n< allocate * OK\n< admitted p/i\n"
		"admit p/j 2 init\n< allocate * OK\n< admitted p/j\nadmit p/c 2\n< allocate * OK\n"
		"< admitted p/c\n= 4/4 2"},
	{.title = "a restartable init container keeps its devices", FOUR "admit p/s 2 sidecar\n< allocate * OK\n"
		"< admitted p/s\nadmit p/c 2\n< allocate * OK\n< admitted p/c\n= 4/4 4"},
	{.title = "another pod's admission ends the reuse", FOUR "admit p/i 2 init\n< allocate * OK\n< admitted p/i\n"
		"admit q/c 1\n< allocate * OK\n< admitted q/c\nadmit p/c 2\n" UNAVAILABLE("2", "1")},
	{.title = "another pod gets none of an init container's", FOUR "admit p/i 3 init\n< allocate * OK\n"
		"< admitted p/i\nadmit q/c 2\n" UNAVAILABLE("2", "1")},

	/* GetPreferredAllocation: manager.go, filterByAffinity and callGetPreferredAllocation */
	{.title = "a preference is followed", "plugin {'device_count': 4, 'preferred': 'last', " PREFERRED "}\n"
		LISTED_FOUR "admit p/c 1\n< preferred device-3\n< allocate device-3 OK\n< admitted p/c\n"
		"admit p/d 2\n< preferred device-1,device-2\n< allocate device-1,device-2 OK\n< admitted p/d"},
	{.title = "a preference is asked for all of them", "plugin {'device_count': 4, " PREFERRED "}\n"
		LISTED_FOUR "admit p/c 4\n< preferred " ALL "\n< allocate " ALL " OK\n< admitted p/c"},
	{.title = "foreign ids are preferred", "plugin {'device_count': 4, 'preferred': ['x', 'device-2'], "
		PREFERRED "}\n" LISTED_FOUR "admit p/c 1\n< preferred device-2,x\n< allocate device-2 OK\n"
		"< admitted p/c"},
	{.title = "nothing is preferred", "plugin {'device_count': 4, 'preferred': [], " PREFERRED "}\n" LISTED_FOUR
		"admit p/c 4\n< preferred \n< allocate " ALL " OK\n< admitted p/c"},
	{.title = "too few are preferred", "plugin {'device_count': 4, 'preferred': ['device-1'], " PREFERRED "}\n"
		LISTED_FOUR "admit p/c 2\n< preferred device-1\n< allocate *device-1* OK\n< admitted p/c"},
	{.title = "the preference is an empty answer", "plugin {'device_count': 4, " PREFERRED ", "
		"'rpc': {'GetPreferredAllocation': {'empty': true}}}\n" LISTED_FOUR
		"admit p/c 4\n< preferred \n< allocate " ALL " OK\n< admitted p/c"},
	{.title = "the preference fails", "plugin {'device_count': 4, " PREFERRED ", "
		"'rpc': {'GetPreferredAllocation': {'code': 13, 'message': 'no'}}}\n" LISTED_FOUR
		"admit p/c 1\n< preferred \n< rejected Allocate failed due to device plugin "
		"GetPreferredAllocation rpc failed with err: rpc error: code = Internal desc = no, which is "
		"unexpected\n= 4/4 0"},

	/* PreStartContainer: endpoint.go, manager.go, GetDeviceRunContainerOptions */
	{.title = "a start without PreStartContainer", ONE("'options': {}")
		"admit p/c 1\n< allocate device-0 OK\n< admitted p/c\nstart p/c\n< " NOTHING},
	{.title = "PreStartContainer before each start", ONE(PRE_START) "admit p/c 1\n< allocate device-0 OK\n"
		"< admitted p/c\nstart p/c\n< pre-start OK\n< " NOTHING "\nstart p/c\n< pre-start OK\n< " NOTHING},
	{.title = "PreStartContainer fails", ONE(PRE_START ", 'rpc': {'PreStartContainer': {'code': 9, 'message': 'no'}}")
		"admit p/c 1\n< allocate device-0 OK\n< admitted p/c\nstart p/c\n< pre-start FAILED_PRECONDITION\n"
		"< rejected device plugin PreStartContainer rpc failed with err: rpc error: code = "
		"FailedPrecondition desc = no\n= 1/1 1"},
	{.title = "PreStartContainer hangs", ONE(PRE_START ", 'rpc': {'PreStartContainer': {'hang': true}}")
		"admit p/c 1\n< allocate device-0 OK\n< admitted p/c\nstart p/c\n< pre-start DEADLINE_EXCEEDED\n"
		"< rejected device plugin PreStartContainer rpc failed with err: rpc error: code = "
		"DeadlineExceeded desc = *", .pre_start_ms = 60},
	{.title = "the answer becomes run options", ONE("'allocate': {'once': {'envs': {'A': '1', 'B': '2'}, "
		"'annotations': {'k': 'v'}}, 'each': {'mounts': [{'container_path': '/m', 'host_path': '/h'}], "
		"'devices': [{'container_path': '/dev/g', 'host_path': '/dev/null', 'permissions': 'rw'}], "
		"'cdi_devices': ['vendor.example/gpu=0']}}")
		"admit p/c 1\n< allocate device-0 OK\n< admitted p/c\nstart p/c\n"
		"< container envs=2 mounts=1 devices=1 annotations=1 cdi=1"},
	{.title = "of one container path the first counts", "plugin {'device_count': 2, 'allocate': {'each': {"
		"'mounts': [{'container_path': '/m', 'host_path': '/{id}'}]}}}\n< registered\n< list 2\n"
		"< resource 2/2\nadmit p/c 2\n< allocate device-0,device-1 OK\n< admitted p/c\nstart p/c\n"
		"< container envs=0 mounts=1 devices=0 annotations=0 cdi=0"},

	/* The grace period: types.go, endpointStopGracePeriod; manager.go, GetCapacity */
	{.title = "five minutes", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0\nadvance 290000\n= 4/0 0\n"
		"advance 10000\n< removed\n= unknown"},
	{.title = "back within five minutes", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0\nadvance 200000\n"
		FOUR "advance 200000\n= 4/4 0"},
	{.title = "back after five minutes", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0\nadvance 300000\n"
		"< removed\n" FOUR},
	{.title = "a second end begins five minutes anew", FOUR "stop 0\n< end UNAVAILABLE *\n< resource 4/0\n"
		"advance 200000\n" FOUR "stop 1\n< end UNAVAILABLE *\n< resource 4/0\nadvance 200000\n= 4/0 0"},
	{.title = "pods keep their devices over the removal", FOUR "admit p/c 1\n< allocate * OK\n< admitted p/c\n"
		"stop 0\n< end UNAVAILABLE *\n< resource 4/0\nadvance 300000\n< removed\n" FOUR
		"admit q/c 4\n" UNAVAILABLE("4", "3")},

	/* A start: manager.go, Start, CleanupPluginDirectory, readCheckpoint */
	{.title = "a restart", FOUR "restart\n< resource 4/0\n< swept\n< resource 0/0\n" LISTED_FOUR},
	{.title = "a restart that the plugin does not notice", "plugin {'device_count': 4, 'on_kubelet_socket': "
		"'ignore', 'on_socket_removed': 'ignore'}\n" LISTED_FOUR "restart\n< resource 4/0\n"
		"< swept\n< resource 0/0\n= 0/0 0\nadvance 300000\n< removed"},
	{.title = "pods outlive a restart", FOUR "admit p/c 1\n< allocate * OK\n< admitted p/c\nrestart\n"
		"< resource 4/0\n< swept\n< resource 0/0\n" LISTED_FOUR "admit p/c 1\n< admitted p/c\n"
		"admit q/c 4\n" UNAVAILABLE("4", "3")},
	{.title = "a restart counts leaked devices again", "plugin {'device_count': 4, 'rpc': {'Allocate': "
		"{'empty': true, 'times': 1}}}\n" LISTED_FOUR "admit p/c 1\n< allocate * OK\n"
		"< rejected *no containers return*\n= 4/4 1\nrestart\n< resource 4/0\n< swept\n< resource 0/0\n"
		LISTED_FOUR "= 4/4 0"},

	/* plugins_registry: pluginmanager/operationexecutor/operation_generator.go, pluginwatcher */
	{.title = "plugins_registry", "plugin {" WATCHED "}\n" LISTED_FOUR},
	{.title = "plugins_registry, a folder in it", "folder a/b/c/d/e\nplugin {'socket': 'a/b/c/d/e/x.sock', " WATCHED "}\n"
		LISTED_FOUR},
	{.title = "plugins_registry, a hidden socket", "plugin {'socket': '.x.sock', " WATCHED "}\n= unknown"},
	{.title = "plugins_registry, the socket goes", "plugin {" WATCHED "}\n" LISTED_FOUR
		"unlink 0\n< resource 4/0"},
	{.title = "plugins_registry, the older socket of two goes", "plugin {" WATCHED "}\n" LISTED_FOUR
		"plugin {" WATCHED "}\n< registered\n< list 4\nunlink 0\n< resource 4/0"},
	{.title = "1.37: plugins_registry, the older socket of two goes", "plugin {" WATCHED "}\n" LISTED_FOUR
		"plugin {'on_socket_removed': 'ignore', 'device_count': 2, 'register': {'via': 'watcher'}}\n< registered\n< list 2\n"
		"< resource 2/2\nunlink 0\n= 2/2 0", .profile = KUBELET_PROFILE_1_37},
	{.title = "plugins_registry, the notification fails", "plugin {" WATCHED ", 'socket': 'x.sock', 'rpc': "
		"{'NotifyRegistrationStatus': {'code': 2, 'message': 'no', 'delay_ms': 80, 'times': 1}}}\n"
		LISTED_FOUR "< notified RegisterPlugin error -- failed to send registration status at socket "
		"REG/x.sock, err: : rpc error: code = Unknown desc = no\n< resource 4/0\n" LISTED_FOUR},
	{.title = "plugins_registry, the options fail once", "plugin {" WATCHED ", 'rpc': "
		"{'GetDevicePluginOptions': {'code': 13, 'message': 'no', 'times': 1}}}\n"
		"< answer UNKNOWN failed to get device plugin options: *\n"
		"< told RegisterPlugin error -- plugin registration failed with err: failed to get device "
		"plugin options: rpc error: code = Internal desc = no\n" LISTED_FOUR},
	{.title = "plugins_registry, GetInfo fails once", "plugin {" WATCHED ", 'rpc': {'GetInfo': {'code': 14, "
		"'times': 1}}}\n" LISTED_FOUR},
	TOLD("another type", "'socket': 'x.sock', 'register': {'via': 'watcher', 'type': 'CSIPlugin'}",
		"no handler registered for plugin type: CSIPlugin at socket REG/x.sock"),
	TOLD("another version", "'version': 'v1', 'register': {'via': 'watcher'}",
		"plugin validation failed with err: manager version, v1beta1, is not among plugin supported "
		"versions [v1]"),
	TOLD("another name", "'register': {'via': 'watcher', 'name': 'gpu'}",
		"plugin validation failed with err: invalid name of device plugin socket: the ResourceName "
		"\"gpu\" is invalid"),
};

/* clang-format on */

const size_t scenario_count = ARRAY_SIZE(scenarios);
