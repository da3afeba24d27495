#!/bin/sh
# SPDX-License-Identifier: MIT
# make-corpus.sh VIDEO_FRAMES: makes the streams of corpus/ that real encoders made, from the frames that the program
# video_frames writes: seed 7, 64 by 64. Needs x264, x265, SvtAv1EncApp and python3 (for the container around AV1).
set -eu

frames=$1
out=$(cd "$(dirname "$0")" && pwd)/corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$frames" 7 64 64 >"$work/in.yuv"
size=64x64
x264 --quiet --fps 30 --crf 28 --input-res $size -o "$work/high.h264" "$work/in.yuv"
x264 --quiet --fps 30 --crf 28 --profile baseline --slices 2 --input-res $size -o "$work/baseline.h264" "$work/in.yuv"
x265 --log-level none --fps 30 --crf 28 --no-info --input-res $size --input "$work/in.yuv" -o "$work/main.hevc"
SvtAv1EncApp -i "$work/in.yuv" -w 64 -h 64 --fps 30 --crf 40 --preset 8 -b "$work/main.ivf" >/dev/null 2>&1
python3 - "$work/main.ivf" "$work/main.av1" <<'PYTHON'
import struct, sys
data, at, out = open(sys.argv[1], 'rb').read(), 32, b''
while at < len(data):
    size = struct.unpack('<I', data[at:at + 4])[0]
    out += data[at + 12:at + 12 + size]
    at += 12 + size
open(sys.argv[2], 'wb').write(out)
PYTHON
mkdir -p "$out"
cp "$work/high.h264" "$work/baseline.h264" "$work/main.hevc" "$work/main.av1" "$out"
