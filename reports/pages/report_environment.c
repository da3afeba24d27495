/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"
#include "reports/pages/report_page.h"

/* `where`: a pointer to a string or strings, or a section of the environment, which is shown by its name. */
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
	{"Unknown parts", "/environment/plugin/unknown"},
	{"Resources", "/environment/plugin/resources"},
	{"Container runtime", "runtime"},
	{"Shim", "/environment/runtime/shim"},
	{"OCI runtime", "/environment/runtime/oci"},
	{"Unknown parts", "/environment/runtime/unknown"},
	{"Probes ran in", "/run/settings/launcher"},
	{"Kubelet", "/run/settings/profile"},
	{"gpucert", "harness"},
	{"Started", "/run/started"},
	{NULL, NULL},
};

/* These distinguish a run from others. */
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

/* A string, or several with spaces between them. */
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
	}
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
	json_each (device, devices) {
		const char *key = view_string(device, "/driver");
		const char *version = "";
		const int64_t files = view_int(device, "/runtimeFiles/count");
		struct text apis CLEANUP_TEXT = {0};
		add_strings(&apis, json_pointer(device, "/apis"));
		json_each (driver, json_pointer(page->report, "/environment/drivers")) {
			if (!text_equal(view_string(driver, "/key"), key))
				continue;
			version = view_string(driver, "/version");
			break;
		}
		html_addf(page->out,
			  "<tr><th scope=\"row\">%s <span class=\"id\">%s</span></th><td>%s</td>"
			  "<td>%s %s</td><td class=\"id\">%s</td><td>%s</td>"
			  "<td>%lld file%s</td></tr>\n",
			  view_string(device, "/name"), view_string(device, "/ref"),
			  view_string(device, "/kind"), key, version,
			  view_string(device, "/hardwareId"), text_string(&apis), (long long)files,
			  files == 1 ? "" : "s");
	}
	page_table_end(page->out);
	text_add(page->out, folded ? "</details>\n" : "");
}

void report_page_environment(const struct report_page *page)
{
	const char *node = view_string(page->report, "/environment/node/kind");
	if (text_equal(node, "recorded"))
		node = "a recording of another machine, which proves nothing about it";
	else if (text_equal(node, "live"))
		node = "this machine";
	else if (text_equal(node, "wine"))
		node = "Windows programs under Wine";

	text_add(page->out, "<dl class=\"facts\">\n");
	add_fact(page->out, "Node", node);
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
