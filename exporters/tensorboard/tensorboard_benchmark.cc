// Export of a million ranges, of memory records and of many distinct names, to
// nowhere and to a file. BM_RangeEvents compares our writer with protobuf's
// serialiser.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/tensorboard_exporter.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "exporters/tensorboard/xspace/event_bytes.h"
#include "profiler/base/parallel.h"
#include "tests/support/test_null_directory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

constexpr int kRanges = 1'000'000;
constexpr TimeNs kBase = 1'735'632'360 * kNsPerSecond;

// `names` distinct outer operations.
model::Trace MakeRanges(int names) {
  TestTrace t;
  t.AddProcess(4242, "app");
  t.SetWindow(kBase, kBase + 1'000 * int64_t{kRanges});
  const auto main = t.AddThread(4242, 4243, "worker");
  for (int i = 0; i < kRanges / 2; ++i) {
    const std::string name = "ns::operation_" + std::to_string(i % names);
    const TimeNs at = kBase + 2'000 * int64_t{i};
    t.AddRange(main, name, at, at + 1'900);
    t.AddRange(main, "inner", at + 10, at + 900);
  }
  return std::move(t).Build();
}

void Run(benchmark::State& state, const model::Trace& trace, int64_t items,
         const ExportOptions& options = {}) {
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  NullDirectory out;
  for (auto _ : state) {
    if (!NewTensorboardExporter()->Export(trace, options, out).ok()) {
      std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * items);
  state.SetBytesProcessed(out.bytes());
}

void BM_Export_Ranges(benchmark::State& state) {
  Run(state, MakeRanges(static_cast<int>(state.range(1))), kRanges);
}
BENCHMARK(BM_Export_Ranges)
    ->ArgNames({"cores", "names"})
    ->Args({1, 200})
    ->Args({2, 200})
    ->Args({2, 500'000})
    ->UseRealTime();

void BM_Export_RangesToFile(benchmark::State& state) {
  const model::Trace trace = MakeRanges(200);
  const ParallelismLimit limit(static_cast<int>(state.range(0)));
  const std::string folder =
      (std::filesystem::temp_directory_path() /
       ("kymo_tensorboard_benchmark." + std::to_string(getpid())))
          .string();
  OutputDirectory out(folder);
  for (auto _ : state) {
    if (!NewTensorboardExporter()->Export(trace, {}, out).ok()) std::abort();
  }
  std::filesystem::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * kRanges);
}
BENCHMARK(BM_Export_RangesToFile)
    ->ArgName("cores")
    ->Arg(1)
    ->Arg(2)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// A record in each of half a million ranges, every one written.
void BM_Export_Memory(benchmark::State& state) {
  TestTrace t;
  constexpr int kRecords = kRanges / 2;
  t.SetWindow(kBase, kBase + 1'000 * int64_t{kRecords});
  const auto main = t.AddThread(4242, 4243, "worker");
  for (int i = 0; i < kRecords; ++i) {
    const TimeNs at = kBase + 1'000 * int64_t{i};
    t.AddRange(main, "operation", at, at + 900);
    t.data().memory.push_back(
        {.track = main,
         .source = model::MemorySource::kHeap,
         .time_ns = at + 500,
         .address = 0x7f00'0000'0000 + 64 * static_cast<uint64_t>(i % 4'096),
         .bytes = i % 2 == 0 ? 1'024 : -1'024,
         .total_allocated = 100'000'000 + 1'024 * (i % 7'919)});
  }
  ExportOptions options;
  options.settings["tensorboard_memory_events"] = "-1";
  Run(state, std::move(t).Build(), 2 * kRecords, options);
}
BENCHMARK(BM_Export_Memory)->ArgName("cores")->Arg(1)->Arg(2)->UseRealTime();

// --- plain events of a line, by our writer and by protobuf ---

namespace tb = tensorboard;

constexpr uint64_t kEvents = 10'000;
constexpr uint64_t kPsPerEvent = 2'000'000;

uint64_t EventId(uint64_t i) { return i % 200 + 1; }

void AppendEvents(std::string& out) {
  for (uint64_t i = 0; i < kEvents; ++i) {
    tb::AppendPlainEvent(out, EventId(i), kPsPerEvent * i,
                         kPsPerEvent * i + 1'900'000);
  }
}

void AppendEventsByProtobuf(std::string& out) {
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  tb::schema::XEvent event;  // reused, so that no event allocates
  for (uint64_t i = 0; i < kEvents; ++i) {
    event.set_metadata_id(static_cast<int64_t>(EventId(i)));
    event.set_offset_ps(static_cast<int64_t>(kPsPerEvent * i));
    event.set_duration_ps(1'900'000);
    coded.WriteTag(static_cast<uint32_t>(proto::Tag(
        tb::schema::XLine::kEventsFieldNumber, proto::WireType::kBytes)));
    coded.WriteVarint32(static_cast<uint32_t>(event.ByteSizeLong()));
    event.SerializeWithCachedSizes(&coded);
  }
}

template <void (*kAppend)(std::string&)>
void BM_RangeEvents(benchmark::State& state) {
  std::string by_us;
  std::string by_protobuf;
  AppendEvents(by_us);
  AppendEventsByProtobuf(by_protobuf);
  if (by_us != by_protobuf) std::abort();
  std::string out;
  for (auto _ : state) {
    out.clear();
    kAppend(out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kEvents));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(by_us.size()));
}
BENCHMARK(BM_RangeEvents<AppendEvents>)->Name("BM_RangeEvents_Kymo");
BENCHMARK(BM_RangeEvents<AppendEventsByProtobuf>)
    ->Name("BM_RangeEvents_Protobuf");

}  // namespace
}  // namespace kymo
