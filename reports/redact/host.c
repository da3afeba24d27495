/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/file.h"
#include "base/program.h"

#include <string.h>
#include <uv.h>

enum { ADDRESS_SIZE = 46 };

/* Addresses and MAC addresses of the interfaces that lead out of this host. */
static int add_interfaces(struct redactor *redactor, struct error *err)
{
	uv_interface_address_t *interfaces = NULL;
	int count = 0;
	int rc = 0;
	if (uv_interface_addresses(&interfaces, &count) < 0)
		return 0;
	for (int i = 0; rc == 0 && i < count; i++) {
		char text[ADDRESS_SIZE] = "";
		if (interfaces[i].is_internal)
			continue;
		(void)uv_ip_name((const struct sockaddr *)&interfaces[i].address, text,
				 sizeof(text));
		rc = redactor_add(redactor, REDACT_ADDRESS, text, err);
		text_hex(text, (const unsigned char *)interfaces[i].phys_addr, 6);
		if (rc == 0)
			rc = redactor_add(redactor, REDACT_SERIAL, text, err);
	}
	uv_free_interface_addresses(interfaces, count);
	return rc;
}

int redactor_add_this_host(struct redactor *redactor, struct error *err)
{
	static const struct {
		const char *name;
		enum redact_kind kind;
	} variables[] = {
		{"HOSTNAME", REDACT_HOST},    {"COMPUTERNAME", REDACT_HOST},
		{"NODE_NAME", REDACT_HOST},   {"USER", REDACT_USER},
		{"LOGNAME", REDACT_USER},     {"USERNAME", REDACT_USER},
		{"SUDO_USER", REDACT_USER},   {"HOME", REDACT_HOME},
		{"USERPROFILE", REDACT_HOME},
	};
	char host[UV_MAXHOSTNAMESIZE] = "";
	size_t size = sizeof(host);
	uv_passwd_t passwd = {0};
	uv_env_item_t *items = NULL;
	int count = 0;
	int rc = 0;

	if (uv_os_gethostname(host, &size) == 0)
		rc = redactor_add(redactor, REDACT_HOST, host, err);
	if (rc == 0)
		rc = redactor_add_machine(redactor, host, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(variables); i++) {
		const char *value = program_variable(variables[i].name);
		if (value != NULL)
			rc = redactor_add(redactor, variables[i].kind, value, err);
	}
	if (rc == 0 && uv_os_get_passwd(&passwd) == 0) {
		rc = redactor_add(redactor, REDACT_USER, passwd.username, err);
		if (rc == 0)
			rc = redactor_add(redactor, REDACT_HOME, passwd.homedir, err);
		uv_os_free_passwd(&passwd);
	}
	if (rc == 0)
		rc = add_interfaces(redactor, err);

	/* A value that is a file's path is only the place of a secret. */
	if (rc == 0 && uv_os_environ(&items, &count) < 0)
		rc = error_memory(err);
	for (int i = 0; rc == 0 && i < count; i++) {
		if (redact_key_of(items[i].name, strlen(items[i].name)) == REDACT_KEY_SECRET &&
		    !file_exists(items[i].value))
			rc = redactor_add(redactor, REDACT_SECRET, items[i].value, err);
	}
	uv_os_free_environ(items, count);
	return rc;
}
