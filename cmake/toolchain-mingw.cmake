# SPDX-License-Identifier: MIT
# Cross compilation for 64-bit Windows with MinGW-w64. The variant for the Universal C Runtime is taken where it is
# installed, the one for msvcrt.dll (all that Debian 12 has) otherwise.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_SYSTEM_VERSION 10)

find_program(MINGW_UCRT_GCC x86_64-w64-mingw32ucrt-gcc)
if(MINGW_UCRT_GCC)
	set(mingw x86_64-w64-mingw32ucrt)
else()
	set(mingw x86_64-w64-mingw32)
endif()
set(CMAKE_C_COMPILER ${mingw}-gcc)
set(CMAKE_CXX_COMPILER ${mingw}-g++) # for the dependencies that ask for one
set(CMAKE_RC_COMPILER ${mingw}-windres)
set(CMAKE_FIND_ROOT_PATH /usr/${mingw})

# Programs are the host's; libraries and headers are those of the toolchain and of the dependencies' folder alone.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The libraries that the project builds on. They are made when they are not there yet, which takes minutes.
if(NOT DEFINED GPUCERT_WINDOWS_DEPENDENCIES)
	execute_process(
		COMMAND "${CMAKE_CURRENT_LIST_DIR}/windows-dependencies/make-dependencies.sh"
		OUTPUT_VARIABLE GPUCERT_WINDOWS_DEPENDENCIES OUTPUT_STRIP_TRAILING_WHITESPACE
		COMMAND_ERROR_IS_FATAL ANY)
endif()
list(APPEND CMAKE_FIND_ROOT_PATH "${GPUCERT_WINDOWS_DEPENDENCIES}")
set(ENV{PKG_CONFIG_LIBDIR} "${GPUCERT_WINDOWS_DEPENDENCIES}/lib/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUCERT_WINDOWS_DEPENDENCIES)
