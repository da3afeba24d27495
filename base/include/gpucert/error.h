/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The error object.
 *
 * A function that can fail returns 0, or one of the negative codes below, and takes a
 * `struct error *` as its last parameter. On success the object is left untouched. On failure it
 * holds the code and one impersonal sentence; callers on the way up put context in front of it
 * with error_wrap(). Nothing is both logged and returned. NULL is allowed wherever a
 * `struct error *` is taken: the code is returned, the text is not kept.
 */

#ifdef __cplusplus
extern "C" {
#endif

enum error_code {
	GPUCERT_ERROR_NONE = 0,
	GPUCERT_ERROR_ARGUMENT = -1,  /* the request makes no sense */
	GPUCERT_ERROR_MEMORY = -2,    /* out of memory */
	GPUCERT_ERROR_IO = -3,	      /* the operating system refused; the text holds its reason */
	GPUCERT_ERROR_NOT_FOUND = -4, /* the named thing does not exist */
	GPUCERT_ERROR_EXISTS = -5,    /* the named thing exists already, or is in use */
	GPUCERT_ERROR_FORMAT = -6,    /* input that cannot be parsed; the text names the place */
	GPUCERT_ERROR_LIMIT = -7,     /* input or output is larger than the stated limit */
	GPUCERT_ERROR_TIMEOUT = -8,   /* a deadline passed */
	GPUCERT_ERROR_CANCELLED = -9, /* cancelled on request */
	GPUCERT_ERROR_PROTOCOL = -10, /* a peer broke the protocol */
	GPUCERT_ERROR_UNAVAILABLE = -11, /* a peer or service cannot be reached (yet) */
	GPUCERT_ERROR_REMOTE = -12,	 /* a peer answered with an error; see error.remote */
	GPUCERT_ERROR_PERMISSION = -13,	 /* not allowed */
	GPUCERT_ERROR_UNSUPPORTED = -14, /* this machine, build or peer does not offer it */
	GPUCERT_ERROR_BUSY = -15,	 /* not now; the caller learns when to try again */
};

enum { ERROR_TEXT_SIZE = 1024 };

struct error {
	int code;   /* enum error_code */
	int remote; /* the peer's own code with GPUCERT_ERROR_REMOTE (a gRPC status), else 0 */
	char text[ERROR_TEXT_SIZE]; /* NUL-ended UTF-8; longer texts end in "..." */
};

#if defined(__MINGW32__) && !defined(__clang__)
/* "printf" would mean that of msvcrt.dll, which lacks %zu. */
#define ERROR_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#elif defined(__GNUC__)
#define ERROR_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define ERROR_PRINTF(format_index, first)
#endif

/* Fills `err` with `code` and the formatted text; returns `code`. */
int error_set(struct error *err, int code, const char *format, ...) ERROR_PRINTF(3, 4);

/* As error_set(), followed by ": " and the text for `system_errno`. ENOENT, EEXIST, EACCES and
 * EPERM and ENOMEM become their own codes, every other value GPUCERT_ERROR_IO. Returns the code. */
int error_system(struct error *err, int system_errno, const char *format, ...) ERROR_PRINTF(3, 4);

/* As error_system() for a negative libuv status. */
int error_uv(struct error *err, int uv_status, const char *format, ...) ERROR_PRINTF(3, 4);

/* GPUCERT_ERROR_MEMORY with a fixed text. Inline, so that static analysis sees that it never
 * returns 0. */
static inline int error_memory(struct error *err)
{
	(void)error_set(err, GPUCERT_ERROR_MEMORY, "out of memory");
	return GPUCERT_ERROR_MEMORY;
}

/* Puts "formatted text: " in front of the text of `err`; returns `code`, which is err's. */
int error_wrap(struct error *err, int code, const char *format, ...) ERROR_PRINTF(3, 4);

/* The whole of another error, with the peer's own code; returns its code. */
int error_copy(struct error *err, const struct error *from);

/* A short name for messages and JSON: "not-found" for GPUCERT_ERROR_NOT_FOUND; "unknown" for
 * no known code. */
const char *error_code_name(int code);

#ifdef __cplusplus
}
#endif
