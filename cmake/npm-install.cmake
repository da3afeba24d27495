# SPDX-License-Identifier: MIT
# cmake -DNPM=npm -DPROJECT=folder [-DUNPACK=archive] -P npm-install.cmake: installs what the folder's package-lock.json locks, and
# unpacks the archive there, unless that was done for this very lock file already. With UNPACK a registry that does not answer
# is a reason to skip.

file(SHA256 "${PROJECT}/package-lock.json" lock)
set(stamp "${PROJECT}/node_modules/.installed-${lock}")
if(EXISTS "${stamp}")
	return()
endif()
execute_process(
	COMMAND "${NPM}" ci --prefer-offline --ignore-scripts --no-audit --no-fund --no-update-notifier
	WORKING_DIRECTORY "${PROJECT}"
	ERROR_VARIABLE error ECHO_ERROR_VARIABLE
	RESULT_VARIABLE result)
if(UNPACK AND NOT result EQUAL 0 AND error MATCHES "code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)")
	execute_process(COMMAND ${CMAKE_COMMAND} -E echo "skipped: npm: ${CMAKE_MATCH_1}")
	return()
endif()
if(NOT result EQUAL 0)
	message(FATAL_ERROR "npm ci failed in ${PROJECT}: ${result}")
endif()
if(UNPACK)
	file(ARCHIVE_EXTRACT INPUT "${PROJECT}/${UNPACK}" DESTINATION "${PROJECT}")
endif()
file(TOUCH "${stamp}")
