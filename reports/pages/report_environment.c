/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"
#include "reports/pages/report_page.h"

/* `where` is a pointer to a string or strings, or a section of the environment, which has a name for people. */
struct fact {
	const char *name, *where;
};

static const struct fact facts[] = {
	{"Recording", "/environment/node/file"},
	{"Run on", "/environment/node/machine/product"},
	{"Operating system", "os"},
	{"Architecture", "/environment/os/architecture"},
	{"Device plugin", "plugin"},
	{"Plugin API", "/environment/plugin/api"},
	{"Not known of it", "/environment/plugin/unknown"},
	{"Resources", "/environment/plugin/resources"},
	{"Container runtime", "runtime"},
	{"Shim", "/environment/runtime/shim"},
	{"OCI runtime", "/environment/runtime/oci"},
	{"Not known of it", "/environment/runtime/unknown"},
	{"Probes ran in", "/run/settings/launcher"},
	{"Kubelet", "/run/settings/profile"},
	{"gpucert", "harness"},
	{"Started", "/run/started"},
	{NULL, NULL},
};

/* By which a run is told from others. */
static const struct fact identity[] = {
	{"Command line", "/run/invocation/argv"},
	{"Run", "/run/id"},
	{"Environment", "/environment/digest"},
	{"Journal", "/run/journal/digest"},
	{NULL, NULL},
};

static void add_fact(struct text *out, const char *name, const char *value)
{
	if (value[0] != '\0')
		html_addf(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

/* A string, or several behind each other. */
static void add_strings(struct text *out, const cJSON *value)
{
	if (cJSON_IsString(value))
		text_add(out, value->valuestring);
	json_each (item, value)
		text_addf(out, "%s%s", item != value->child ? " " : "",
			  cJSON_IsString(item) ? item->valuestring : "?");
}

static void add_facts(const struct report_page *page, const struct fact *fact)
{
	const cJSON *environment = json_pointer(page->report, "/environment");
	for (; fact->name != NULL; fact++) {
		struct text value CLEANUP_TEXT = {0};
		if (fact->where[0] == '/')
			add_strings(&value, json_pointer(page->report, fact->where));
		else
			environment_add_names(fact->where, environment, &value);
		add_fact(page->out, fact->name, text_string(&value));
		page->out->failed = page->out->failed || value.failed;
	}
}

static const char *node_of(const cJSON *report)
{
	const char *kind = view_string(report, "/environment/node/kind");
	if (text_equal(kind, "recorded"))
		return "a recording of another machine, which proves nothing about it";
	return text_equal(kind, "live")	  ? "this machine"
	       : text_equal(kind, "wine") ? "Windows programs under Wine"
					  : kind;
}

/* The version of the driver with the key; "" when the report does not say it. */
static const char *version_of(const struct report_page *page, const char *key)
{
	json_each (driver, json_pointer(page->report, "/environment/drivers")) {
		if (text_equal(view_string(driver, "/key"), key))
			return view_string(driver, "/version");
	}
	return "";
}

static void add_device(const struct report_page *page, const cJSON *device)
{
	const char *key = view_string(device, "/driver");
	const int64_t files = view_int(device, "/runtimeFiles/count");
	struct text apis CLEANUP_TEXT = {0};
	add_strings(&apis, json_pointer(device, "/apis"));
	html_addf(page->out,
		  "<tr><th scope=\"row\">%s <span class=\"id\">%s</span></th><td>%s</td>"
		  "<td>%s %s</td><td class=\"id\">%s</td><td>",
		  view_string(device, "/name"), view_string(device, "/ref"),
		  view_string(device, "/kind"), key, version_of(page, key),
		  view_string(device, "/hardwareId"));
	html_add_text(page->out, &apis);
	html_addf(page->out, "</td><td>%lld file%s</td></tr>\n", (long long)files,
		  files == 1 ? "" : "s");
}

static void add_devices(const struct report_page *page)
{
	static const char *const headings[] = {"Device", "Kind",    "Driver", "Hardware id",
					       "APIs",	 "Runtime", NULL};
	const cJSON *devices = report_page_devices(page);
	const bool folded = report_page_is_dense(page);
	if (folded)
		html_addf(page->out, "<details><summary>%d devices</summary>\n",
			  cJSON_GetArraySize(devices));
	page_table_begin(page->out, "stacked", "Devices", NULL, headings);
	json_each (device, devices)
		add_device(page, device);
	page_table_end(page->out);
	text_add(page->out, folded ? "</details>\n" : "");
}

void report_page_environment(const struct report_page *page)
{
	text_add(page->out, "<dl class=\"facts\">\n");
	add_fact(page->out, "Node", node_of(page->report));
	add_facts(page, facts);
	text_add(page->out, "</dl>\n<details><summary>Identity of the run</summary>"
			    "<dl class=\"facts long\">\n");
	add_facts(page, identity);
	json_each (image, json_pointer(page->report, "/environment/images"))
		add_fact(page->out, "Image", view_string(image, "/ref"));
	text_add(page->out, "</dl></details>\n");
	if (json_first(report_page_devices(page)) != NULL)
		add_devices(page);
}
