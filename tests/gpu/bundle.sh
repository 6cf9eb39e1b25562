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
./bazelw build -c opt "${options[@]}" //tools:profile //tests/gpu:work \
  //tests/gpu:two_sessions
bin=$(./bazelw info -c opt "${options[@]}" bazel-bin)

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
to=$stage/kymo-gpu
mkdir -p "$to/runtime" "$to/lib" "$to/cuda/lib64"
cp -L "$bin/tools/profile" "$bin/tests/gpu/work" "$bin/tests/gpu/two_sessions" \
  tests/gpu/check.py "$to/"
cp -L "$bin"/tools/runtime/libkymo_*.so "$to/runtime/"
# What the command is linked with, but for the C library.
ldd "$bin/tools/profile" "$bin/tests/gpu/two_sessions" | awk '$3 ~ /^\// {print $3}' |
  grep -vE '/(libc|libm|libdl|libpthread|librt)\.so' |
  sort -u | xargs -I{} cp -L {} "$to/lib/"
cuda=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}
for folder in "$cuda/lib64" "$cuda/extras/CUPTI/lib64" "$cuda/lib"; do
  if [[ ! -d $folder ]]; then continue; fi
  find -L "$folder" -maxdepth 1 -name 'libcupti.so.1[0-9]' \
    -exec cp -L {} "$to/cuda/lib64/" \;
done
if [[ -z $(ls "$to/cuda/lib64") ]]; then
  echo "bundle.sh: no libcupti in $cuda; the machine has to have one" >&2
fi
cat >"$to/profile.sh" <<'RUN'
#!/usr/bin/env bash
# A CUDA of the machine comes first; what is here stands in for a missing one.
here=$(dirname "$(realpath "$0")")
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$here/cuda/lib64
exec "$here/profile" "$@"
RUN
sed 's|/profile"|/two_sessions"|' "$to/profile.sh" >"$to/two_sessions.sh"
cat >"$to/run.sh" <<'RUN'
#!/usr/bin/env bash
here=$(dirname "$(realpath "$0")")
# Says what it ran on; goes on where there is no nvidia-smi.
nvidia-smi --query-gpu=name,driver_version,mig.mode.current --format=csv,noheader
exec python3 "$here/check.py" "$here/profile.sh" "$here/work" \
  "$here/two_sessions.sh" "$@"
RUN
chmod +x "$to"/*.sh
tar -C "$stage" -czf "$out" kymo-gpu
echo "$out"
