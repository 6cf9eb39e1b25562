// How much memory an export takes above its trace. In a program of its own, as
// the peak is a process's.
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/builtin/builtin_exporters.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/stack_table.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

constexpr int64_t kMostKib = 64 << 10;

// In KiB, from /proc/self/status.
int64_t ReadStatus(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size()));
  }
  ADD_FAILURE() << "no " << key;
  return 0;
}

// From now on, VmHWM counts from what the process has now.
void ResetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
  ASSERT_TRUE(file.flush().good());
}

// Ranges nested three deep in steps on four threads; 1 in 8 is an operation
// with arguments.
model::Trace MakeRanges(int64_t ranges) {
  TestTrace t;
  t.AddProcess(1, "app");
  const model::Arg argument = model::Arg::Int(t.Intern("rows"), 64);
  for (int tid = 1; tid <= 4; ++tid) {
    const auto track = t.AddThread(1, tid, "worker");
    for (int64_t i = 0; i < ranges / 12; ++i) {
      const TimeNs start = 1'000 * i;
      if (i % 1'000 == 0) {
        t.AddAnnotation(track, "ProfilerStep#" + std::to_string(i / 1'000),
                        start, start + 999'990);
      }
      t.AddRange(track, "ns::operation_" + std::to_string(i % 20), start,
                 start + 900);
      if (i % 3 == 0) t.Describe(static_cast<uint64_t>(i) + 1, {argument});
      t.AddRange(track, "inner", start + 10, start + 500);
      t.AddRange(track, "innermost", start + 20, start + 400);
    }
  }
  return std::move(t).Build();
}

std::vector<std::string> BuiltinNames() {
  ExporterRegistry registry;
  EXPECT_TRUE(RegisterBuiltinExporters(registry).ok());
  std::vector<std::string> names;
  for (const TraceExporter* exporter : registry.List()) {
    names.push_back(exporter->info().name);
  }
  return names;
}

// A thread with sums of as many different stacks, each with three frames of its
// own.
model::Trace MakeHeap(uint32_t sums) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddThread(1, 1, "app");
  model::StackTable& stacks = t.data().stacks;
  std::vector<model::FrameId> frames;
  for (uint32_t i = 0; i < 1'000; ++i) {
    frames.push_back(stacks.AddFrame(
        {.function = t.Intern("Function" + std::to_string(i))}));
  }
  const auto root = stacks.Push(model::kEmptyStack, frames[0]);
  model::FoldedHeap heap;
  for (uint32_t i = 0; i < sums; ++i) {
    auto stack = stacks.Push(root, frames[i / 1'000 % 1'000]);
    for (const uint32_t frame : {i % 1'000, i * 7 % 1'000}) {
      stack = stacks.Push(stack, frames[frame]);
    }
    heap.stacks.push_back(
        {.stack = stack, .allocated = {1, 64}, .alive = {1, 64}});
    heap.allocated += {1, 64};
  }
  heap.peak_bytes = heap.allocated.bytes;
  auto folded = std::make_shared<model::FoldedMemory>();
  folded->heaps.push_back(std::move(heap));
  t.data().folded_memory = std::move(folded);
  return std::move(t).Build();
}

// What `run` takes above what the process has, in KiB.
template <typename Run>
int64_t PeakKib(const Run& run) {
  // Memory that earlier tests gave back must not hide the memory that this one
  // takes.
  malloc_trim(0);
  const int64_t before_kib = ReadStatus("VmRSS:");
  ResetPeak();
  run();
  return ReadStatus("VmHWM:") - before_kib;
}

class PeakMemoryTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PeakMemoryTest, OfAnExportIsWithinSixtyFourMebibytes) {
  ExporterRegistry registry;
  ASSERT_TRUE(RegisterBuiltinExporters(registry).ok());
  static const model::Trace trace = MakeRanges(3'000'000);
  NullDirectory out;
  const int64_t kib = PeakKib([&] {
    const auto files = registry.Find(GetParam())->Export(trace, {}, out);
    EXPECT_TRUE(files.ok()) << files.status();
  });
  std::printf("%s: %lld KiB\n", GetParam().c_str(),
              static_cast<long long>(kib));
  EXPECT_LE(kib, kMostKib);
}

// In bytes.
TEST(FoldedHeapTest, AnExportTakesLittleForEachSum) {
  constexpr int64_t kSums = 200'000;
  ExporterRegistry registry;
  ASSERT_TRUE(RegisterBuiltinExporters(registry).ok());
  const model::Trace trace = MakeHeap(kSums);
  NullDirectory out;
  for (const auto& [name, most] :
       {std::pair("stacks", 150), std::pair("html", 80)}) {
    const auto* const exporter = registry.Find(name);
    const int64_t kib = PeakKib([&] {
      const auto files = exporter->Export(trace, {}, out);
      EXPECT_TRUE(files.ok()) << files.status();
    });
    EXPECT_LE(kib * 1024 / kSums, most) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, PeakMemoryTest,
                         ::testing::ValuesIn(BuiltinNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kymo
