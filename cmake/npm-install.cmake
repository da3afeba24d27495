# SPDX-License-Identifier: MIT
# cmake -DNPM=npm -DPROJECT=folder -P npm-install.cmake: installs what the folder's package-lock.json locks,
# unless that was done for this very lock file already.

file(SHA256 "${PROJECT}/package-lock.json" lock)
set(stamp "${PROJECT}/node_modules/.installed-${lock}")
if(EXISTS "${stamp}")
	return()
endif()
execute_process(
	COMMAND "${NPM}" ci --prefer-offline --ignore-scripts --no-audit --no-fund --no-update-notifier
	WORKING_DIRECTORY "${PROJECT}"
	RESULT_VARIABLE result)
if(NOT result EQUAL 0)
	message(FATAL_ERROR "npm ci failed in ${PROJECT}: ${result}")
endif()
file(TOUCH "${stamp}")
