#!/usr/bin/env bash
# Runs train_mlp as a user would and checks what it prints and counts.
set -euo pipefail

program=$1
out=$TEST_TMPDIR/out.txt
counts=$TEST_TMPDIR/counts.json

fail() {
  echo "train_mlp_test: $*" >&2
  cat "$out" >&2
  exit 1
}

"$program" --epochs=6 --batch_size=100 --hidden=48 --threads=3 --seed=5 \
  --counts="$counts" >"$out"
[[ $(grep -c '^epoch ' "$out") == 6 ]] || fail "does not print six epochs"

python3 - "$counts" "$out" <<'EOF'
import json, re, sys

counts = json.load(open(sys.argv[1]))
steps = 6 * 21  # 2048 points, the last batch of an epoch is a small one
expected = {
    "backward": steps,
    "optimizer": steps,
    "evaluate": 6,
    "forward": steps + 6,
    "mlp::softmax_cross_entropy": steps + 6,
    "mlp::linear": 3 * (steps + 6),
    "mlp::sgd_step": 6 * steps,
    "mlp::matmul": 3 * (steps + 6) + 5 * steps,
}
for name, count in expected.items():
    assert counts.get(name) == count, (name, counts.get(name), count)
for step in range(steps):
    assert counts.get("ProfilerStep#%d" % step) == 1, step
assert "ProfilerStep#%d" % steps not in counts

epochs = re.findall(r"^epoch .* loss ([\d.]+)  test .* accuracy ([\d.]+)%$",
                    open(sys.argv[2]).read(), re.M)
assert float(epochs[-1][0]) < float(epochs[0][0]) / 2, epochs
assert float(epochs[-1][1]) > 90, epochs
EOF

if "$program" --epochs=0 >"$out" 2>&1; then fail "accepts --epochs=0"; fi
grep -q -- '--epochs must be a number' "$out" || fail "unclear about --epochs"
if "$program" --epochs=1 --counts=/no/such/folder/counts.json >"$out" 2>&1; then
  fail "does not notice that it cannot write its counts"
fi
grep -q 'No such file' "$out" || fail "unclear about --counts"
