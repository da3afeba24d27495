# SPDX-License-Identifier: MIT
# The rules of lint_sources.sh over the lines of C files. "folders" is the list of floors, top first, "rooms" that of conformance/.

function report(rule, text) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, rule, text
	broken = 1
}

# The line without comments and without what stands in quotes.
function code_of(line,    out, c, quote, i) {
	out = ""
	quote = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (in_comment) {
			if (substr(line, i, 2) == "*/") {
				in_comment = 0
				i++
			}
		} else if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote)
				quote = ""
		} else if (substr(line, i, 2) == "/*") {
			in_comment = 1
			i++
		} else if (substr(line, i, 2) == "//") {
			break
		} else if (c == "\"" || c == "'") {
			quote = c
			out = out " "
		} else {
			out = out c
		}
	}
	return out
}

# The folder an include leads to: "base" of "base/error.h" and of <gpucert/error.h>.
function folder_of_include(path) {
	if (path == "gpucert/error.h")
		return "base"
	if (path == "gpucert/discovery.h")
		return "discovery"
	sub(/\/.*/, "", path)
	return path
}

# "conformance/runner" of "conformance/runner/plan.h".
function room_of(path,    parts) {
	split(path, parts, "/")
	return parts[1] "/" parts[2]
}

# "containers/registry/" of "containers/registry/internal.h".
function directory_of(path) {
	sub(/[^\/]*$/, "", path)
	return path
}

function check_include(path, quoted,    target) {
	target = quoted || path ~ /^gpucert\// ? folder_of_include(path) : ""
	if (target in floor && folder in floor && floor[target] > floor[folder])
		report("L3", folder "/ includes " path ", which is of a folder below it")
	if (folder == "workloads" && target != "" && target != "workloads" && target != "base")
		report("L4", "workloads/ includes " path)
	if (quoted && room_of(path) in room && room_of(FILENAME) in room && room[room_of(path)] > room[room_of(FILENAME)] && FILENAME !~ /\/tests\//)
		report("L5", room_of(FILENAME) "/ includes " path ", which is of a folder below it")
	if (!quoted && folder != "workloads" && path ~ gpu_headers && FILENAME !~ /(^|\/)tests\//)
		report("L6", "the header of a GPU API, " path ", outside of workloads/")
	if (quoted && path ~ /(\/|_)internal[.]h$/ && FILENAME !~ /\/(tests|fuzz)\// && index(FILENAME, directory_of(path)) != 1)
		report("L13", path " is internal to " directory_of(path))
	if (path ~ /(^|\/)doubles\// && FILENAME !~ /(^|\/)(tests|doubles|fuzz)\//)
		report("L7", path " is a test double, and this is no test")
}

BEGIN {
	count = split(folders, names, " ")
	for (i = 1; i <= count; i++)
		floor[names[i]] = i
	count = split(rooms, names, " ")
	for (i = 1; i <= count; i++)
		room[names[i]] = i
	gpu_headers = "^((vulkan|CL|GL|EGL|ffnvcodec|vpl)/|(cuda|d3d[0-9]+|dxgi)[0-9_a-z]*[.]h$)"
	banned = "(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|system|popen|alloca|assert|localtime|gmtime)"
}

FNR == 1 {
	in_comment = 0
	first_line = 0
	folder = FILENAME
	sub(/\/.*/, "", folder)
}

FNR == 701 {
	report("L8", "more than 700 lines")
}

/^{/ {
	first_line = FNR
}

/^}/ {
	if (first_line != 0 && FNR - first_line + 1 > 60 && FILENAME !~ /\/(tests|doubles|fuzz)\//)
		report("L11", "a function of " FNR - first_line + 1 " lines")
	first_line = 0
}

/(^|[^A-Za-z0-9_])(TODO|FIXME|HACK)([^A-Za-z0-9_]|$)/ {
	report("L9", "something is left to do")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	path = $0
	quoted = path ~ /include[ \t]*"/
	sub(/^[^<"]*[<"]/, "", path)
	sub(/[>"].*/, "", path)
	check_include(path, quoted)
	next
}

{
	code = code_of($0)
	if (match(code, "(^|[^A-Za-z0-9_])" banned "[ \t]*\\(")) {
		name = substr(code, RSTART, RLENGTH)
		gsub(/[^a-z]/, "", name)
		report("L2", name "() is not used here")
	}
}

END {
	exit broken
}
