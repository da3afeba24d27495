/* SPDX-License-Identifier: MIT */
/* The Wine node is a Windows node where there is no Windows. */
#include "containers/wine/identity.h"

#include "containers/wine/image.h"
#include "containers/wine/translation.h"

static int wine_unsupported(struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED, "the Wine node is for Linux; this is Windows");
}

int wine_node_make(const char *directory, const char *programs, struct wine_node *out,
		   struct error *err)
{
	(void)directory;
	(void)programs;
	(void)out;
	return wine_unsupported(err);
}

int wine_node_open(const char *directory, struct wine_node *out, struct error *err)
{
	(void)directory;
	(void)out;
	return wine_unsupported(err);
}

void wine_node_free(struct wine_node *node)
{
	(void)node;
}

int wine_node_program(const struct wine_node *node, const char *name, char **out, struct error *err)
{
	(void)node;
	(void)name;
	(void)out;
	return wine_unsupported(err);
}

int wine_node_probes(const struct wine_node *node, struct text_list *out, struct error *err)
{
	(void)node;
	(void)out;
	return wine_unsupported(err);
}

int wine_node_command(const struct wine_node *node, unsigned timeout_s, struct text_list *words,
		      struct error *err)
{
	(void)node;
	(void)timeout_s;
	(void)words;
	return wine_unsupported(err);
}

int wine_node_version(const struct wine_node *node, char **out, struct error *err)
{
	(void)node;
	(void)out;
	return wine_unsupported(err);
}

char *wine_node_environment(const struct wine_node *node)
{
	(void)node;
	return NULL;
}

int wine_node_record(const struct wine_node *node, const char *path, struct error *err)
{
	(void)node;
	(void)path;
	return wine_unsupported(err);
}

int wine_translate(const struct wine_node *node, const struct launch_spec *windows,
		   struct wine_translation *out, struct error *err)
{
	(void)node;
	(void)windows;
	(void)out;
	return wine_unsupported(err);
}

void wine_translation_free(struct wine_translation *translation)
{
	(void)translation;
}

int wine_image_prepare(const struct wine_image_options *options, struct images *out,
		       struct error *err)
{
	(void)options;
	(void)out;
	return wine_unsupported(err);
}

int wine_find_file(const struct wine_node *node, const char *text, char **out, struct error *err)
{
	(void)node;
	(void)text;
	(void)out;
	return wine_unsupported(err);
}

void wine_identity_free(struct wine_identity *identity)
{
	(void)identity;
}

int wine_identity_read(const struct wine_node *node, struct wine_identity *out, struct error *err)
{
	(void)node;
	(void)out;
	return wine_unsupported(err);
}

int wine_identity_add_files(const struct wine_node *node, const char *location_path,
			    struct digest_set *set, struct digests *digests, struct error *err)
{
	(void)node;
	(void)location_path;
	(void)set;
	(void)digests;
	return wine_unsupported(err);
}
