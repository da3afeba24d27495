# SPDX-License-Identifier: MIT
# cmake -DSOURCE=dir -DHEADER=file -P write-revision.cmake
# Writes GPUCERT_REVISION: the commit that the sources are at, with "-modified" when they differ from it, or NULL where
# no git tells (a release archive). The header is touched only when that changes.

cmake_minimum_required(VERSION 3.25)

set(revision NULL)
execute_process(COMMAND git -C "${SOURCE}" rev-parse HEAD
	OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed STREQUAL "0")
	execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no
		OUTPUT_VARIABLE changes ERROR_QUIET)
	if(NOT changes STREQUAL "")
		string(APPEND commit "-modified")
	endif()
	set(revision "\"${commit}\"")
endif()
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define GPUCERT_REVISION @revision@\n" @ONLY)
