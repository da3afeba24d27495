/* SPDX-License-Identifier: MIT */
#include "reports/certificates/product.h"

#include "base/cleanup.h"
#include "base/json_members.h"
#include "base/yaml_json.h"

#include <ctype.h>
#include <string.h>

/* Texts go into pages and terminals: one line, no control characters. */
static int check_text(const struct json_at *at, struct error *err)
{
	const char *text = at->node->valuestring;
	if (text[strspn(text, " ")] == '\0')
		return json_error(at, err, "is empty");
	if (strlen(text) > PRODUCT_TEXT_MAX)
		return json_error(at, err, "longer than %d bytes", (int)PRODUCT_TEXT_MAX);
	for (const char *byte = text; *byte != '\0'; byte++) {
		if (iscntrl((unsigned char)*byte))
			return json_error(at, err, "holds a control character or a second line");
	}
	return text_is_utf8(text, strlen(text)) ? 0 : json_error(at, err, "not UTF-8");
}

static int check_url(const struct json_at *at, struct error *err)
{
	const char *url = at->node->valuestring;
	const char *host = text_starts_with(url, "https://")  ? url + strlen("https://")
			   : text_starts_with(url, "http://") ? url + strlen("http://")
							      : NULL;
	if (host == NULL || !isalnum((unsigned char)*host) || strpbrk(url, " \"<>\\^`{|}") != NULL)
		return json_error(at, err, "'%.64s' is not a URL of the web (https://...)", url);
	return check_text(at, err);
}

static int check_logo(const struct json_at *at, struct error *err)
{
	const char *url = at->node->valuestring;
	if (!text_ends_with(url, ".svg") && !text_ends_with(url, ".ai") &&
	    !text_ends_with(url, ".eps"))
		return json_error(at, err, "the logo is a vector graphic: .svg, .ai or .eps");
	return check_url(at, err);
}

static int check_mail(const struct json_at *at, struct error *err)
{
	const char *mail = at->node->valuestring;
	const char *sign = strchr(mail, '@');
	if (sign == NULL || sign == mail || strchr(sign + 1, '.') == NULL ||
	    strchr(sign + 1, '@') != NULL || strpbrk(mail, " <>,;\"") != NULL)
		return json_error(at, err, "'%.64s' is not an address such as name@example.com",
				  mail);
	return check_text(at, err);
}

static int check_type(const struct json_at *at, struct error *err)
{
	static const char *const types[] = {
		"device plugin", "driver", "operating system", "distribution", "hosted platform",
		"installer",	 NULL};
	const char *type = at->node->valuestring;
	return types[text_position(types, type)] != NULL
		       ? 0
		       : json_error(at, err,
				    "'%.32s' is not device plugin, driver, operating system, "
				    "distribution, hosted platform or installer",
				    type);
}

#define TEXT(member, presence, check) JSON_TEXT(struct product, #member, member, presence, check)

static const struct json_member product_members[] = {
	TEXT(vendor, JSON_REQUIRED, check_text),
	TEXT(name, JSON_REQUIRED, check_text),
	TEXT(version, JSON_REQUIRED, check_text),
	TEXT(website_url, JSON_REQUIRED, check_url),
	TEXT(repo_url, JSON_OPTIONAL, check_url),
	TEXT(documentation_url, JSON_REQUIRED, check_url),
	TEXT(product_logo_url, JSON_OPTIONAL, check_logo),
	TEXT(type, JSON_REQUIRED, check_type),
	TEXT(description, JSON_REQUIRED, check_text),
	TEXT(contact_email_address, JSON_REQUIRED, check_mail),
	{0},
};

int product_to_json(const char *data, size_t size, cJSON **json, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	cJSON *child = NULL;
	int rc = yaml_to_json(data, size, &document, err);
	if (rc < 0)
		return rc;
	if (!cJSON_IsObject(document))
		return error_set(err, ERROR_FORMAT, "expected members such as 'vendor: Example'");
	cJSON_ArrayForEach (child, document) {
		if (child->valuestring != NULL)
			child->type = cJSON_String;
	}
	*json = STEAL(document);
	return 0;
}

int product_parse(const char *data, size_t size, struct product *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	struct text faults CLEANUP_TEXT = {0};
	*out = (struct product){0};
	int rc = product_to_json(data, size, &document, err);
	struct json_at root = json_root(document);
	if (rc == 0)
		rc = json_check_names(&root, err);
	if (rc < 0)
		return rc;

	/* Reports all faults at once, so that they can be fixed together. */
	for (const struct json_member *member = product_members; member->key != NULL; member++) {
		struct json_at at = {0};
		struct error fault = {0};
		rc = member->presence == JSON_REQUIRED
			     ? json_need(&root, member->key, JSON_STRING, &at, &fault)
			     : json_have(&root, member->key, JSON_STRING, &at, &fault);
		if (rc == 0 && at.node != NULL)
			rc = member->check(&at, &fault);
		if (rc < 0)
			text_add_item(&faults, "; ", fault.text);
	}
	return faults.size > 0 ? error_set(err, ERROR_FORMAT, "%s", text_string(&faults))
			       : json_members_read(&root, product_members, out, &out->arena, err);
}

void product_free(struct product *product)
{
	arena_free(&product->arena);
	*product = (struct product){0};
}
