# SPDX-License-Identifier: MIT
# Run by CPack before it makes the archive: writes SHA256SUMS, as sha256sum(1) does, over all files of the package.
file(GLOB_RECURSE files RELATIVE "${CPACK_TEMPORARY_DIRECTORY}" "${CPACK_TEMPORARY_DIRECTORY}/*")
list(REMOVE_ITEM files SHA256SUMS)
list(SORT files)
set(lines "")
foreach(file IN LISTS files)
	file(SHA256 "${CPACK_TEMPORARY_DIRECTORY}/${file}" digest)
	string(APPEND lines "${digest}  ${file}\n")
endforeach()
file(WRITE "${CPACK_TEMPORARY_DIRECTORY}/SHA256SUMS" "${lines}")
