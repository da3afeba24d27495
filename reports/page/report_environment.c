/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"
#include "reports/page/report_page.h"

#include <string.h>

/* Joins the strings of an array. */
static void add_list(struct text *out, const cJSON *list, const char *separator)
{
	json_each (item, list) {
		text_add(out, item != list->child ? separator : "");
		text_add(out, cJSON_IsString(item) ? item->valuestring : "?");
	}
}

static void add_strings(const struct report_page *page, const char *name, const char *pointer,
			const char *separator)
{
	struct text joined CLEANUP_TEXT = {0};
	add_list(&joined, json_pointer(page->report, pointer), separator);
	page->out->failed = page->out->failed || joined.failed;
	report_page_fact(page->out, name, text_string(&joined));
}

/* The name of a section, and more of it in parentheses. */
static void add_section(const struct report_page *page, const char *label, const char *section,
			const char *const *more)
{
	const cJSON *json = cJSON_GetObjectItemCaseSensitive(
		json_pointer(page->report, "/environment"), section);
	struct text name CLEANUP_TEXT = {0};
	const char *separator = " (";
	environment_add_name(section, json, &name);
	for (; *more != NULL; more++) {
		const char *value = view_string(json, *more);
		if (name.size == 0 || value[0] == '\0')
			continue;
		text_addf(&name, "%s%s", separator, value);
		separator = ", ";
	}
	text_add(&name, separator[0] == ',' ? ")" : "");
	page->out->failed = page->out->failed || name.failed;
	report_page_fact(page->out, label, text_string(&name));
}

static void add_node(const struct report_page *page)
{
	static const struct {
		const char *kind, *text;
	} kinds[] = {
		{"live", "this machine"},
		{"recorded", "a recording of another machine, which proves nothing about it"},
		{"wine", "Windows programs under Wine"},
	};
	const char *kind = view_string(page->report, "/environment/node/kind");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].kind, kind) == 0)
			report_page_fact(page->out, "Node", kinds[i].text);
	}
	report_page_fact(page->out, "Recording",
			 view_string(page->report, "/environment/node/file"));
	report_page_fact(page->out, "Run on",
			 view_string(page->report, "/environment/node/machine/product"));
}

static void add_facts(const struct report_page *page)
{
	static const char *const os[] = {"/version", "/architecture", NULL};
	static const char *const runtime[] = {"/shim", "/oci", NULL};
	static const char *const plugin[] = {"/api", "/untold", NULL};
	static const char *const none[] = {NULL};
	const cJSON *report = page->report;
	text_add(page->out, "<dl class=\"facts\">\n");
	add_node(page);
	add_section(page, "Operating system", "os", os);
	add_section(page, "Device plugin", "plugin", plugin);
	add_strings(page, "Resources", "/environment/plugin/resources", ", ");
	add_section(page, "Container runtime", "runtime", runtime);
	report_page_fact(page->out, "Probes ran in", view_string(report, "/run/settings/launcher"));
	report_page_fact(page->out, "Kubelet", view_string(report, "/run/settings/profile"));
	json_each (image, json_pointer(report, "/environment/images"))
		report_page_fact(page->out, "Image", view_string(image, "/ref"));
	add_section(page, "gpucert", "harness", none);
	add_strings(page, "Command line", "/run/invocation/argv", " ");
	report_page_fact(page->out, "Started", view_string(report, "/run/started"));
	report_page_fact(page->out, "Run", view_string(report, "/run/id"));
	report_page_fact(page->out, "Environment", view_string(report, "/environment/digest"));
	report_page_fact(page->out, "Journal", view_string(report, "/run/journal/digest"));
	text_add(page->out, "</dl>\n");
}

/* The driver's name and version, by its key. */
static void add_driver(const struct report_page *page, const char *key)
{
	json_each (driver, json_pointer(page->report, "/environment/drivers")) {
		if (strcmp(view_string(driver, "/key"), key) != 0)
			continue;
		html_textf(page->out, "%s %s", key, view_string(driver, "/version"));
		return;
	}
	html_text(page->out, key);
}

static void add_device(const struct report_page *page, const cJSON *device)
{
	struct text apis CLEANUP_TEXT = {0};
	struct text *out = page->out;
	add_list(&apis, json_pointer(device, "/apis"), ", ");
	text_add(out, "<tr><th scope=\"row\">");
	report_page_text(out, view_string(device, "/name"));
	text_add(out, "<br>");
	html_element(out, "span", "id soft", view_string(device, "/ref"));
	text_add(out, "</th>");
	html_element(out, "td", NULL, view_string(device, "/kind"));
	text_add(out, "<td>");
	add_driver(page, view_string(device, "/driver"));
	text_add(out, "</td>");
	html_element(out, "td", "id", view_string(device, "/hardwareId"));
	html_element(out, "td", NULL, text_string(&apis));
	text_addf(out, "<td class=\"number\">%lld</td></tr>\n",
		  (long long)view_int(device, "/runtimeFiles/count"));
	out->failed = out->failed || apis.failed;
}

void report_page_environment(const struct report_page *page)
{
	static const char *const headings[] = {"Device", "Kind",	  "Driver", "Hardware id",
					       "APIs",	 "Runtime files", NULL};
	const cJSON *devices = json_pointer(page->report, "/environment/devices");
	add_facts(page);
	if (json_first(devices) == NULL)
		return;
	page_table_begin(page->out, NULL, "Devices");
	page_table_head(page->out, headings);
	text_add(page->out, "<tbody>\n");
	json_each (device, devices)
		add_device(page, device);
	text_add(page->out, "</tbody>");
	page_table_end(page->out);
}
