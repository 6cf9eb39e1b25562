// Exports the page of a small trace into the folder of argv[1]: 24 MiB from 1
// to 9 ms, and 16 MiB, temporary, from 2 to 3 ms.
#include <utility>

#include "exporters/memory_timeline/memory_timeline.h"
#include "tests/support/test_export_main.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

// One block, freed on its thread.
void AddBlock(TestTrace& t, model::MemoryIndex first, int64_t bytes,
              TimeNs start_ns, TimeNs end_ns) {
  t.data().memory.resize(4);
  const model::MemoryIndex second = 3 - first;
  t.data().memory[first] = {
      .time_ns = start_ns, .bytes = bytes, .partner = second};
  t.data().memory[second] = {
      .time_ns = end_ns, .bytes = -bytes, .partner = first};
}

model::Trace MakeTrace() {
  TestTrace t;
  t.SetWindow(0, 10 * kNsPerMs);
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "matmul", 2 * kNsPerMs, 3 * kNsPerMs);
  AddBlock(t, 0, 24 << 20, 1 * kNsPerMs, 9 * kNsPerMs);
  AddBlock(t, 1, 16 << 20, 2 * kNsPerMs, 3 * kNsPerMs);
  return std::move(t).Build();
}

}  // namespace
}  // namespace kymo

int main(int argc, char** argv) {
  return kymo::ExportMain(argc, argv, *kymo::NewMemoryTimelineExporter(),
                          kymo::MakeTrace());
}
