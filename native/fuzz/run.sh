#!/bin/sh
# Fuzzes the scanner under the address and undefined-behaviour sanitizers.
#
#   native/fuzz/run.sh SECONDS [BUILD_FOLDER]
#
# With clang's libFuzzer the run is guided by coverage; without it a plain mutation driver is built
# with g++, and where there is neither it is skipped, saying so. The corpus grows in
# BUILD_FOLDER/corpus (libFuzzer); a failing text stays there.
set -eu
seconds=${1:?usage: run.sh SECONDS [BUILD_FOLDER]}
native=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$native/../build/fuzz}
mkdir -p "$build"
build=$(cd "$build" && pwd)
${PYTHON:-python3} "$native/fuzz/seeds.py" "$build/seeds"

flags="-std=c++17 -O1 -g -fno-omit-frame-pointer -I$native"
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"
avx=""
case $(uname -m) in x86_64 | amd64) avx="-DLAPTIME_HAVE_AVX2" ;; esac

compile() { # compiler, extra flags, entry sources...
  cc=$1 extra=$2
  shift 2
  objects=""
  for source in "$native"/scan/*.cpp "$@"; do
    object="$build/$(basename "$source" .cpp).o"
    isa=""
    case $source in */item_avx2.cpp) [ -n "$avx" ] && isa="-mavx2 -mbmi -mbmi2 -mpopcnt" ;; esac
    # shellcheck disable=SC2086
    $cc $flags $sanitize $extra $avx $isa -c "$source" -o "$object"
    objects="$objects $object"
  done
}

cd "$build"
if command -v clang++ >/dev/null 2>&1 &&
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer - -o "$build/probe" >/dev/null 2>&1; then
  compile clang++ -fsanitize=fuzzer-no-link "$native/fuzz/scan_fuzz.cpp"
  # shellcheck disable=SC2086
  clang++ $sanitize -fsanitize=fuzzer $objects -o scan_fuzz
  mkdir -p corpus
  exec ./scan_fuzz -max_total_time="$seconds" -max_len=8192 -timeout=120 -rss_limit_mb=1024 \
    -print_final_stats=1 corpus seeds
fi
# shellcheck disable=SC2086
if ! echo 'int main() { return 0; }' |
  ${CXX:-g++} $sanitize -x c++ - -o "$build/probe" >/dev/null 2>&1; then
  echo "fuzzing skipped: neither clang++ with libFuzzer nor ${CXX:-g++} with sanitizers is here" >&2
  exit 0
fi
compile "${CXX:-g++}" "" "$native/fuzz/scan_fuzz.cpp" "$native/fuzz/driver.cpp"
# shellcheck disable=SC2086
${CXX:-g++} $sanitize $objects -o scan_driver
exec ./scan_driver "$seconds" "${SEED:-1}" seeds/*
