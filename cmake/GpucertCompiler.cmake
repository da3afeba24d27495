# SPDX-License-Identifier: MIT
# Language level, warnings, sanitizers and the layout of the build tree.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT WIN32) # where code is always relocatable, and only what is marked so is exported
	set(CMAKE_POSITION_INDEPENDENT_CODE ON)
	set(CMAKE_C_VISIBILITY_PRESET hidden)
endif()

option(GPUCERT_WERROR "Treat compiler warnings as errors" OFF)
option(GPUCERT_COVERAGE "Instrument for gcov" OFF)
option(GPUCERT_FUZZ "Build the libFuzzer targets (needs Clang)" OFF)
set(GPUCERT_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=")

# The build tree has the shape of the installed tree, so programs find each other the same way.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_BINDIR}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(GPUCERT_LIBEXEC_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/libexec/gpucert")
set(CMAKE_INSTALL_LIBDIR "lib" CACHE PATH "Where libraries are installed" FORCE)
set(CMAKE_INSTALL_LIBEXECDIR "libexec" CACHE PATH "Where helper programs are installed" FORCE)
if(NOT WIN32)
	set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
	set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
endif()

# Windows programs that are built elsewhere run under Wine.
if(WIN32 AND CMAKE_CROSSCOMPILING)
	set(CMAKE_CROSSCOMPILING_EMULATOR "${PROJECT_SOURCE_DIR}/containers/wine/root/wine-run")
endif()

# Places in reports are told relative to the sources, wherever these were built.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

add_library(gpucert_flags INTERFACE)
target_compile_definitions(gpucert_flags INTERFACE _GNU_SOURCE GPUCERT_VERSION="${PROJECT_VERSION}")
target_include_directories(gpucert_flags INTERFACE "${PROJECT_SOURCE_DIR}")
# Generated headers: their macros do not follow the project's warnings.
target_include_directories(gpucert_flags SYSTEM INTERFACE "${PROJECT_BINARY_DIR}")
target_compile_options(gpucert_flags INTERFACE
	-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Wstrict-prototypes
	-Wmissing-prototypes -Wundef -Wcast-qual -Wwrite-strings -Wvla -Wpointer-arith
	-Wdouble-promotion -Wimplicit-fallthrough -Wswitch-enum -fno-common -fstack-protector-strong)
if(WIN32)
	# Windows 10 1809 (Server 2019) and later; printf and its kin by the C standard; nothing but the system's libraries
	# is loaded at run time.
	target_compile_definitions(gpucert_flags INTERFACE
		_WIN32_WINNT=0x0A00 NTDDI_VERSION=0x0A000006 WIN32_LEAN_AND_MEAN NOMINMAX UNICODE _UNICODE __USE_MINGW_ANSI_STDIO=1)
	target_compile_options(gpucert_flags INTERFACE -ffunction-sections
		"$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${PROJECT_SOURCE_DIR}/base/windows/missing.h>")
	target_link_options(gpucert_flags INTERFACE
		-static -static-libgcc -fstack-protector-strong -Wl,--gc-sections -Wl,--dynamicbase -Wl,--nxcompat -Wl,--high-entropy-va)
endif()
if(CMAKE_C_COMPILER_ID MATCHES Clang)
	# It looks into the macros of generated headers, and asks for more than {0} and one long string.
	target_compile_options(gpucert_flags INTERFACE
		-Wno-cast-qual -Wno-missing-field-initializers -Wno-string-concatenation)
endif()
if(GPUCERT_WERROR)
	target_compile_options(gpucert_flags INTERFACE -Werror)
endif()
if(GPUCERT_SANITIZE)
	target_compile_options(gpucert_flags INTERFACE
		-fsanitize=${GPUCERT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(gpucert_flags INTERFACE -fsanitize=${GPUCERT_SANITIZE})
else()
	target_compile_definitions(gpucert_flags INTERFACE
		$<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
endif()
if(GPUCERT_COVERAGE)
	target_compile_options(gpucert_flags INTERFACE --coverage)
	target_link_options(gpucert_flags INTERFACE --coverage)
endif()
if(GPUCERT_FUZZ)
	target_compile_options(gpucert_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
