#!/usr/bin/env bash
# Builds here what is to be run on a machine with a device, and packs it:
#
#   tests/gpu/bundle.sh kymo-gpu.tar.gz
#
# There, where neither Bazel nor CUDA's toolkit has to be:
#
#   tar xzf kymo-gpu.tar.gz && kymo-gpu/run.sh
#
# Bazel's options: KYMO_BAZEL_OPTIONS.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(realpath -m "${1:?where to? bundle.sh FILE.tar.gz}")
read -ra options <<<"${KYMO_BAZEL_OPTIONS:-}"
./bazelw build -c opt "${options[@]}" //tools:profile //tests/gpu:work
bin=$(./bazelw info -c opt "${options[@]}" bazel-bin)

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
to=$stage/kymo-gpu
mkdir -p "$to/runtime" "$to/lib" "$to/cuda/lib64"
cp -L "$bin/tools/profile" "$bin/tests/gpu/work" tests/gpu/check.py "$to/"
cp -L "$bin"/tools/runtime/libkymo_*.so "$to/runtime/"
# What the command is linked with, but for the C library.
ldd "$bin/tools/profile" | awk '$3 ~ /^\// {print $3}' |
  grep -vE '/(libc|libm|libdl|libpthread|librt)\.so' |
  xargs -I{} cp -L {} "$to/lib/"
cuda=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}
find -L "$cuda/lib64" "$cuda/extras" -name 'libcupti.so.1[0-9]' \
  -exec cp -L {} "$to/cuda/lib64/" \; 2>/dev/null || true
cat >"$to/profile.sh" <<'RUN'
#!/usr/bin/env bash
here=$(dirname "$(realpath "$0")")
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export CUDA_HOME=${CUDA_HOME:-$here/cuda}
exec "$here/profile" "$@"
RUN
cat >"$to/run.sh" <<'RUN'
#!/usr/bin/env bash
here=$(dirname "$(realpath "$0")")
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
exec python3 "$here/check.py" "$here/profile.sh" "$here/work" "$@"
RUN
chmod +x "$to"/*.sh
tar -C "$stage" -czf "$out" kymo-gpu
echo "$out"
