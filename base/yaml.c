/* SPDX-License-Identifier: MIT */
#include "base/yaml.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int wrong_at(const char *name, size_t line, const char *what, struct error *err, int code)
{
	return name != NULL ? error_set(err, code, "%s:%zu: %s", name, line + 1, what)
			    : error_set(err, code, "line %zu: %s", line + 1, what);
}

static int load(const char *name, yaml_parser_t *parser, yaml_document_t *out, struct error *err)
{
	if (yaml_parser_load(parser, out))
		return 0;
	if (parser->error == YAML_MEMORY_ERROR)
		return error_memory(err);
	return wrong_at(name, parser->problem_mark.line,
			parser->problem != NULL ? parser->problem : "this is not YAML", err,
			ERROR_FORMAT);
}

int yaml_load(const char *name, const char *data, size_t size, yaml_document_t *out,
	      struct error *err)
{
	yaml_parser_t parser CLEANUP(yaml_parser_delete) = {0};
	yaml_document_t more CLEANUP(yaml_document_delete) = {0};
	*out = (yaml_document_t){0};
	if (!yaml_parser_initialize(&parser))
		return error_memory(err);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
	int rc = load(name, &parser, out, err);
	if (rc < 0 || yaml_document_get_root_node(out) == NULL)
		return rc;
	rc = load(name, &parser, &more, err);
	if (rc < 0 || yaml_document_get_root_node(&more) == NULL)
		return rc;
	return wrong_at(name, more.start_mark.line, "a second document begins", err, ERROR_FORMAT);
}

int yaml_wrong(const char *name, const yaml_node_t *node, struct error *err, int code,
	       const char *format, ...)
{
	char what[ERROR_TEXT_SIZE] = "";
	va_list args;
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return wrong_at(name, node->start_mark.line, what, err, code);
}

const char *yaml_scalar(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE)
		return NULL;
	const char *text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}
