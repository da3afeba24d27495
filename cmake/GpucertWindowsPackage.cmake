# SPDX-License-Identifier: MIT
# The target "package" of the Windows build: a ZIP with what an installation has, the documents, the licences of what is
# linked in and checksums (SHA256SUMS); a file .sha256 beside it.

if(NOT WIN32)
	return()
endif()

# Debian source packages of the libraries that programs are linked with. CUnit is in tests alone.
set(GPUCERT_LINKED_PACKAGES libuv1 nghttp2 protobuf-c cjson libyaml libsodium libarchive curl)
set(licenses "${CMAKE_INSTALL_DOCDIR}/licenses")
if(EXISTS "${GPUCERT_WINDOWS_DEPENDENCIES}/licenses")
	foreach(package IN LISTS GPUCERT_LINKED_PACKAGES)
		install(FILES "${GPUCERT_WINDOWS_DEPENDENCIES}/licenses/${package}.txt" DESTINATION "${licenses}")
	endforeach()
endif()
# The compiler's own: start-up code and C library parts of MinGW-w64, libgcc, stack protection.
foreach(runtime IN ITEMS libmingw32 libgcc)
	execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime}.a
		OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
	file(REAL_PATH "${archive}" archive)
	execute_process(COMMAND dpkg-query --search "${archive}" OUTPUT_VARIABLE package ERROR_QUIET)
	if(package MATCHES "^([^:]+):")
		install(FILES "/usr/share/doc/${CMAKE_MATCH_1}/copyright" DESTINATION "${licenses}" RENAME "${runtime}.txt")
	endif()
endforeach()
file(GLOB documents CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/reference" "${PROJECT_SOURCE_DIR}/docs/tutorials" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

set(CPACK_GENERATOR ZIP)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VENDOR "the gpucert authors")
set(CPACK_PACKAGE_FILE_NAME "${PROJECT_NAME}-${PROJECT_VERSION}-windows-x86_64")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/windows/write-checksums.cmake")
include(CPack)
