/* SPDX-License-Identifier: MIT */

/* A Windows program for workloads/directx/shaders/compile.sh: compile-dxil SOURCE ENTRY PROFILE OUTPUT compiles a shader with
 * the dxcompiler.dll beside it; dxil.dll beside that signs. Declarations are those of dxcapi.h. */
#define COBJMACROS
#define INITGUID
#include <d3dcommon.h>
#include <stdio.h>
#include <windows.h>

enum { SOURCE_MAX = 1 << 20, ARGUMENTS = 5 };

DEFINE_GUID(clsid_compiler, 0x73e22d93, 0xe6ce, 0x47f3, 0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1,
	    0xb0);
DEFINE_GUID(iid_compiler, 0x228b4687, 0x5a6a, 0x4730, 0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f,
	    0x54);
DEFINE_GUID(iid_result, 0x58346cda, 0xdde7, 0x4497, 0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59);

struct dxc_buffer {
	const void *data;
	SIZE_T size;
	UINT encoding; /* 0: as its mark says, else UTF-8 */
};

typedef struct result {
	const struct {
		void *QueryInterface, *AddRef, *Release;
		HRESULT(STDMETHODCALLTYPE *GetStatus)(struct result *, HRESULT *);
		HRESULT(STDMETHODCALLTYPE *GetResult)(struct result *, ID3D10Blob **);
		HRESULT(STDMETHODCALLTYPE *GetErrorBuffer)(struct result *, ID3D10Blob **);
	} * lpVtbl;
} result;

typedef struct compiler {
	const struct {
		void *QueryInterface, *AddRef, *Release;
		HRESULT(STDMETHODCALLTYPE *Compile)
		(struct compiler *, const struct dxc_buffer *, const WCHAR *const *arguments,
		 UINT32 count, void *includes, REFIID, void **);
	} * lpVtbl;
} compiler;

static int fail(const char *what, HRESULT code)
{
	(void)fprintf(stderr, "compile-dxil: %s (0x%08lx)\n", what, (unsigned long)code);
	return 1;
}

/* The compiled shader, or what the compiler has against it. */
static int write_result(result *done, const char *output)
{
	HRESULT status = E_FAIL;
	ID3D10Blob *blob = NULL;
	HRESULT code = done->lpVtbl->GetStatus(done, &status);
	if (code < 0 || status < 0) {
		(void)done->lpVtbl->GetErrorBuffer(done, &blob);
		return fail(blob != NULL ? ID3D10Blob_GetBufferPointer(blob) : "no reason", status);
	}
	code = done->lpVtbl->GetResult(done, &blob);
	FILE *file = code >= 0 ? fopen(output, "wb") : NULL;
	if (file == NULL)
		return fail(output, code);
	const size_t size = ID3D10Blob_GetBufferSize(blob);
	const size_t written = fwrite(ID3D10Blob_GetBufferPointer(blob), 1, size, file);
	return fclose(file) == 0 && written == size ? 0 : fail(output, E_FAIL);
}

static int compile(const struct dxc_buffer *source, const char *entry, const char *profile,
		   const char *output)
{
	HRESULT(WINAPI * create)(REFIID class_id, REFIID interface_id, void **out) = NULL;
	WCHAR words[][64] = {L"-E", L"", L"-T", L"", L"-Qstrip_reflect"};
	const WCHAR *arguments[ARGUMENTS] = {NULL};
	HMODULE library = LoadLibraryA("dxcompiler.dll");
	FARPROC function = library != NULL ? GetProcAddress(library, "DxcCreateInstance") : NULL;
	compiler *dxc = NULL;
	result *done = NULL;
	if (function == NULL)
		return fail("no dxcompiler.dll", HRESULT_FROM_WIN32(GetLastError()));
	memcpy(&create, &function, sizeof(create));
	for (size_t i = 0; i < ARGUMENTS; i++)
		arguments[i] = words[i];
	(void)swprintf(words[1], 64, L"%hs", entry);
	(void)swprintf(words[3], 64, L"%hs", profile);
	HRESULT code = create(&clsid_compiler, &iid_compiler, (void **)&dxc);
	if (code >= 0)
		code = dxc->lpVtbl->Compile(dxc, source, arguments, ARGUMENTS, NULL, &iid_result,
					    (void **)&done);
	return code >= 0 ? write_result(done, output) : fail("IDxcCompiler3::Compile", code);
}

int main(int argc, char **argv)
{
	static char text[SOURCE_MAX];
	FILE *file = argc == 5 ? fopen(argv[1], "rb") : NULL;
	if (file == NULL)
		return fail("SOURCE ENTRY PROFILE OUTPUT", E_INVALIDARG);
	const struct dxc_buffer source = {text, fread(text, 1, sizeof(text), file), 0};
	(void)fclose(file);
	return compile(&source, argv[2], argv[3], argv[4]);
}
