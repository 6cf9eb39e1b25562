// Exports a trace with samples, ranges and memory into the folder of argv[1],
// for pprof_check.py.
#include <utility>

#include "exporters/stacks/stacks_exporter.h"
#include "tests/support/test_export_main.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

model::Trace MakeTrace() {
  TestTrace t;
  t.SetWindow(1'735'632'360 * kNsPerSecond, 1'735'632'361 * kNsPerSecond);
  t.AddProcess(100, "app");
  for (const int tid : {100, 101}) {
    const auto track = t.AddThread(100, tid, "worker");
    TimeNs now = 1'735'632'360 * kNsPerSecond;
    for (int i = 0; i < 100; ++i) {
      t.AddRange(track, "forward", now, now + 900'000);
      t.AddRange(track, i % 3 == 0 ? "conv" : "matmul", now + 10, now + 8'000);
      t.AddRange(track, "relu", now + 9'000, now + 9'100 + i);
      now += kNsPerMs;
    }
  }
  for (model::TrackIndex track = 0; track < 2; ++track) {
    TimeNs now = 1'735'632'360 * kNsPerSecond;
    for (int i = 0; i < 100; ++i, now += kNsPerMs) {
      t.AddSample(track, now, kNsPerMs + i, {"main", "run"});
      if (i % 4 == 0)
        t.AddSample(track, now, kNsPerMs, {"main", "run", "load"});
      const model::StackId stack = t.data().samples.back().stack;
      t.data().memory.push_back({.track = track,
                                 .source = model::MemorySource::kHeap,
                                 .time_ns = now,
                                 .address = 64,
                                 .bytes = 1'000 + i,
                                 .stack = stack});
    }
  }
  t.data().sampling_period_ns = kNsPerMs;
  // Every other block is freed, by the record after it.
  for (model::MemoryIndex i = 0; i + 1 < t.data().memory.size(); i += 4) {
    model::MemoryRecord& freed = t.data().memory[i + 1];
    freed.bytes = -t.data().memory[i].bytes;
    freed.stack = model::kEmptyStack;
    freed.partner = i;
    t.data().memory[i].partner = i + 1;
  }
  return std::move(t).Build();
}

}  // namespace
}  // namespace kymo

int main(int argc, char** argv) {
  return kymo::ExportMain(argc, argv, *kymo::NewStacksExporter(),
                          kymo::MakeTrace());
}
