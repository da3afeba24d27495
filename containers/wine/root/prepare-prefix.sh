#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs inside the root, once, when it is made (make-root.sh): makes the Wine prefix that every run starts from.
set -eu

export WINEPREFIX=/var/lib/gpucert/prefix HOME=/root LANG=C.UTF-8 WINEDEBUG=-all
# No .NET and no browser engine: both would ask to be downloaded. No winedbg: a crash ends the program.
export WINEDLLOVERRIDES='winedbg.exe=d;mscoree=;mshtml='
# The prefix knows no adapter: what a run has is found by that run.
export VK_DRIVER_FILES=/nonexistent
mkdir -p "$WINEPREFIX"
# GStreamer looks through its plug-ins once; wine-run has it believe the list.
GST_REGISTRY=/var/lib/gpucert/gstreamer.bin gst-inspect-1.0 x264enc >/dev/null
wine wineboot --init
wineserver -w
# The crash handler is asked for by the registry as well; a program that does nothing takes its place.
cat >/tmp/prefix.reg <<'REG'
Windows Registry Editor Version 5.00

[HKEY_LOCAL_MACHINE\Software\Microsoft\Windows NT\CurrentVersion\AeDebug]
"Debugger"="C:\\windows\\system32\\cmd.exe /c exit"
"Auto"="1"

[HKEY_CURRENT_USER\Software\Wine]
"Version"="win10"

[HKEY_CURRENT_USER\Software\Wine\WineDbg]
"ShowCrashDialog"=dword:00000000

; Without a display there is no driver; Wayland is not asked for.
[HKEY_CURRENT_USER\Software\Wine\Drivers]
"Graphics"="x11"
REG
wine regedit /S 'Z:\tmp\prefix.reg'
wineserver -k || true
wineserver -w
rm /tmp/prefix.reg
