# SPDX-License-Identifier: MIT
# Builds CUnit with its basic interface.
cmake_minimum_required(VERSION 3.25)
project(cunit VERSION 2.1.3 LANGUAGES C)
add_library(cunit STATIC
	CUnit/Sources/Framework/CUError.c
	CUnit/Sources/Framework/MyMem.c
	CUnit/Sources/Framework/TestDB.c
	CUnit/Sources/Framework/TestRun.c
	CUnit/Sources/Framework/Util.c
	CUnit/Sources/Basic/Basic.c)
configure_file(CUnit/Headers/CUnit.h.in CUnit/Headers/CUnit.h @ONLY)
target_include_directories(cunit PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/CUnit/Headers" CUnit/Headers)
target_compile_definitions(cunit PRIVATE VERSION="2.1-3" RELEASE="")
install(TARGETS cunit ARCHIVE DESTINATION lib)
install(FILES
	"${CMAKE_CURRENT_BINARY_DIR}/CUnit/Headers/CUnit.h"
	CUnit/Headers/Basic.h CUnit/Headers/CUError.h CUnit/Headers/MyMem.h CUnit/Headers/TestDB.h CUnit/Headers/TestRun.h
	CUnit/Headers/Util.h CUnit/Headers/CUnit_intl.h
	DESTINATION include/CUnit)
