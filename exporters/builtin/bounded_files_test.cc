// No file of any exporter is larger than asked, whatever a trace has too much
// of.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "exporters/builtin/builtin_exporters.h"
#include "profiler/model/folded_memory.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::Loss;

constexpr int kMany = 3'000;

// Numbers and texts that do not compress.
class Random {
 public:
  int64_t Number() {
    state_ = state_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return static_cast<int64_t>(state_ >> 1);
  }
  std::string Text() { return absl::StrCat("f", Number()); }

 private:
  uint64_t state_ = 1;
};

// After the first range.
TimeNs At(int i) { return 1'000 * TimeNs{i + 1}; }

void AddArguments(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(0, "request", At(i), At(i) + 10);
    t.Describe(0, {model::Arg::Int(t.Intern("id"), random.Number()),
                   model::Arg::Int(t.Intern("key"), random.Number())});
  }
}

void AddLaunches(TestTrace& t, Random&) {
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(0, "launch", At(i), At(i) + 10);
    t.Describe(100 + static_cast<uint64_t>(i));
  }
  const auto stream = t.AddStream(0, 7, 1);
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(stream, "kernel", At(i) + 20, At(i) + 30,
               model::ActivityType::kConcurrentKernel);
    t.Describe(100 + static_cast<uint64_t>(i));
  }
}

void AddDeep(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(0, random.Text(), At(i), At(2 * kMany - i));
  }
}

void AddOpen(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(0, random.Text(), At(i), At(kMany), model::ActivityType::kCpuOp,
               model::kEventOpen);
  }
}

void AddAsync(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddRange(0, random.Text(), At(i), At(i + 5), model::ActivityType::kCpuOp,
               model::kEventAsync);
  }
}

void AddMarks(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddInstant(0, "mark", At(i));
    t.Describe(0, {model::Arg::Int(t.Intern("id"), random.Number()),
                   model::Arg::Int(t.Intern("key"), random.Number())});
  }
}

void AddCounters(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddCounter(0, "queue", At(i),
                 1e-9 * static_cast<double>(random.Number()));
  }
}

void AddSamples(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.AddSample(0, At(1'000 * i), kNsPerMs,
                {"main", random.Text(), random.Text()});
  }
}

void AddWaits(TestTrace& t, Random& random) {
  t.SetThreadTimes({{.track = 0}});
  for (int i = 0; i < kMany; ++i) {
    t.AddWait({.track = 0,
               .kind = model::WaitKind::kLock,
               .begin_ns = At(i),
               .duration_ns = 500,
               .object = static_cast<uint64_t>(random.Number())},
              {"main", random.Text()});
  }
}

void AddReports(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    t.data().memory.push_back(
        {.track = 0,
         .time_ns = At(i),
         .address = static_cast<uint64_t>(random.Number()),
         .bytes = random.Number() >> 30,
         .total_allocated = random.Number() >> 20});
  }
}

void AddHeaps(TestTrace& t, Random& random) {
  auto folded = std::make_shared<model::FoldedMemory>();
  for (int p = 0; p < 10; ++p) {
    model::FoldedHeap& heap = folded->heaps.emplace_back();
    heap.track = p == 0 ? 0 : t.AddThread(1 + p, 1 + p, "main");
    for (int i = 0; i < kMany; ++i) {
      heap.live.push_back({At(i), random.Number() >> 20});
    }
  }
  t.data().folded_memory = std::move(folded);
  t.SetWindow(0, At(kMany));
}

void AddThreads(TestTrace& t, Random& random) {
  for (int i = 0; i < kMany; ++i) {
    const auto track = t.AddThread(1, 2 + i, random.Text());
    t.AddRange(track, random.Text(), At(i), At(i) + 10);
  }
}

// Nothing can be done about it.
void AddMetadata(TestTrace& t, Random& random) {
  std::string json = "[0";
  for (int i = 0; i < kMany; ++i) absl::StrAppend(&json, ",", random.Number());
  t.AddMetadata("large", json + "]");
}

using AddToTrace = void (*)(TestTrace&, Random&);

constexpr std::pair<const char*, AddToTrace> kTooMany[] = {
    {"arguments", AddArguments}, {"launches", AddLaunches},
    {"deep", AddDeep},           {"open", AddOpen},
    {"async", AddAsync},         {"marks", AddMarks},
    {"counters", AddCounters},   {"samples", AddSamples},
    {"waits", AddWaits},         {"reports", AddReports},
    {"heaps", AddHeaps},         {"threads", AddThreads},
    {"metadata", AddMetadata}};

TestTrace Start() {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddThread(1, 1, "main");
  t.AddRange(0, "first", 0, 10);
  t.data().sampling_period_ns = kNsPerMs;
  return t;
}

// pprof's files have every stack (README.md).
uint64_t BoundedBytes(const Exported& files) {
  uint64_t bytes = 0;
  for (const auto& [name, text] : files) {
    if (!name.ends_with(".pb.gz")) bytes += text.size();
  }
  return bytes;
}

class BoundedFilesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BoundedFilesTest, NothingMakesThemLarger) {
  ExporterRegistry registry;
  ASSERT_TRUE(RegisterBuiltinExporters(registry).ok());
  const TraceExporter& exporter = *registry.Find(GetParam());
  // Those without records, such as the code of a page.
  const uint64_t least = BoundedBytes(Export(exporter, Start().Build()));
  const uint64_t max_bytes = least + 16'000;
  for (const auto& [what, add] : kTooMany) {
    SCOPED_TRACE(what);
    TestTrace t = Start();
    Random random;
    add(t, random);
    const model::Trace trace = std::move(t).Build();
    ASSERT_TRUE(model::ValidateTrace(trace).ok()) << ValidateTrace(trace);
    ExportNotes notes;
    ExportOptions options;
    options.max_bytes = max_bytes;
    options.notes = &notes;
    EXPECT_LE(BoundedBytes(Export(exporter, trace, options)), max_bytes);
    // If anything is missing, it is said.
    const uint64_t whole =
        BoundedBytes(Export(exporter, trace, {.gzip = true}));
    const uint64_t counted = notes.ledger.Get(Loss::kEventsFolded) +
                             notes.ledger.Get(Loss::kStacksFolded) +
                             notes.ledger.Get(Loss::kTimelineLeftOut);
    if (GetParam() == "chrome" && whole > max_bytes) {
      EXPECT_GT(counted, 0u);
      EXPECT_THAT(notes.notices,
                  ::testing::Contains(::testing::HasSubstr("--max_size")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exporters, BoundedFilesTest,
                         ::testing::Values("chrome", "html", "perfetto",
                                           "stacks", "tensorboard"));

}  // namespace
}  // namespace kymo
