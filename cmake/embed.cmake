# SPDX-License-Identifier: MIT
# Turns the file SOURCE into the C header HEADER with one NUL-ended array NAME, which is aligned as memory of malloc() is.
file(READ "${SOURCE}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n\t" bytes "${bytes}")
file(WRITE "${HEADER}" "/* Generated. */\nstatic const _Alignas(16) char ${NAME}[] = {\n\t${bytes}0x00,\n};\n")
