#!/bin/sh
# Build the compiled scanner with AddressSanitizer and UndefinedBehaviorSanitizer beside the sources, fuzz it, and leave
# nothing behind. Needs gcc.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp -r "$here/src/nephila" "$place/nephila"
rm -f "$place"/nephila/markup/_scan*.so
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
gcc -O1 -g -fPIC -shared -fsanitize=address,undefined -fno-omit-frame-pointer -I"$include" \
    "$place/nephila/markup/_scan.c" -o "$place/nephila/markup/_scan$suffix"
LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1 \
    PYTHONPATH="$place" "$python" "$here/fuzz/drive.py" --seconds "${SECONDS:-60}" scanner
