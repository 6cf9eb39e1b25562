#include "profiler/tables/test_tables.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::tables {
namespace {

using model::ActivityType;
using model::TrackIndex;

void AddMain(TestTrace& t, TrackIndex main) {
  t.AddAnnotation(main, "ProfilerStep#3", 1000, 1900);
  t.AddRange(main, "aten::mm", 1100, 1500);
  t.Describe(0);
  const int64_t a[] = {2, 3};
  const int64_t b[] = {3, 4};
  const Input list[] = {TensorMeta{.sizes = a, .dtype = DType::kFloat},
                        TensorMeta{.sizes = b, .dtype = DType::kFloat}};
  std::string inputs(EncodedInputBytes(list, 2), '\0');
  EncodeInputs(list, 2, inputs.data());
  t.data().details.back().inputs = t.Intern(inputs);
  t.data().details.back().sequence_nr = 9;
  t.data().details.back().stack = t.Stack({"main", "train"});
  t.AddRange(main, "cudaLaunchKernel", 1200, 1250, ActivityType::kCudaRuntime);
  t.Describe(5, {model::Arg::Double(t.Intern("ratio"), 0.5),
                 model::Arg::String(t.Intern("how"), t.Intern("fast")),
                 model::Arg::Json(t.Intern("grid"), t.Intern("[1, 2]"))});
  t.AddRange(main, "aten::mm", 1600, 1700);
  t.Describe(0);
  t.data().details.back().overload_name = t.Intern("out");
  t.AddInstant(main, "mark", 1950);
}

void AddStates(TestTrace& t, TrackIndex main, TrackIndex worker) {
  t.SetThreadTimes(
      {{.track = main,
        .wall_ns = 2000,
        .on_cpu_ns = 1500,
        .runnable_ns = 100,
        .unknown_ns = 50,
        .open_wait_ns = 90,
        .voluntary_switches = 4,
        .involuntary_switches = 1,
        .run_queue = model::RunQueueTime::kWhole,
        .counts = {.has_faults = true,
                   .minor_faults = 11,
                   .major_faults = 2,
                   .has_io = true,
                   .read_calls = 3,
                   .read_bytes = 400,
                   .write_calls = 5,
                   .written_bytes = 60,
                   .disk_read_bytes = 7,
                   .disk_written_bytes = 8},
        .begin_ns = 1000,
        .end_ns = 3000},
       {.track = worker, .wall_ns = 2000, .on_cpu_ns = 10, .creator = main}});
  t.AddWait({.track = main,
             .kind = model::WaitKind::kLock,
             .begin_ns = 1110,
             .duration_ns = 60,
             .runnable_ns = 10,
             .object = 0xabc,
             .object_name = t.Intern("queue.cc:7"),
             .waker = worker,
             .waker_stack = t.Stack({"work", "unlock"}),
             .holder = worker,
             .holder_stack = t.Stack({"work"})},
            {"main", "lock"});
  t.AddShortWaits({.track = worker,
                   .kind = model::WaitKind::kSleep,
                   .count = 3,
                   .duration_ns = 30,
                   .longest_ns = 20},
                  {"work", "sleep"});
  t.SetKymoCpu(70);
  t.SetCpuLimit({.quota_ns = 150,
                 .period_ns = 100,
                 .periods = 9,
                 .throttled_periods = 4,
                 .throttled_ns = 70});
}

void AddMemory(TestTrace& t, TrackIndex main, TrackIndex worker) {
  TestMemory memory;
  const model::StackId stack = t.Stack({"main", "make"});
  const auto freed =
      memory.Allocate({.track = main, .bytes = 64, .stack = stack}, 1120);
  memory.Allocate({.track = main, .bytes = 100, .stack = stack}, 1130);
  memory.Free(freed, main, 1140);
  memory.Allocate({.track = worker,
                   .bytes = 4096,
                   .source = model::MemorySource::kReported,
                   .device_type = 1,
                   .device_index = 0},
                  1150);
  std::move(memory).AddTo(t.data());
  t.data().allocation_counts.push_back(
      {.track = main, .allocations = 2, .frees = 1, .allocated_bytes = 164});
}

}  // namespace

model::Trace SmallTrace() {
  TestTrace t;
  t.AddProcess(7, "app");
  t.data().processes[0].parent_pid = 1;
  t.data().processes[0].start_ns = 900;
  const TrackIndex main = t.AddThread(7, 7, "main");
  AddMain(t, main);
  const TrackIndex worker = t.AddThread(7, 8, "worker");
  t.AddRange(worker, "load", 1000, 3000, ActivityType::kCpuOp,
             model::kEventOpen);
  const TrackIndex stream = t.AddStream(0, 13, 7);
  t.AddRange(stream, "gemm", 1300, 1800, ActivityType::kConcurrentKernel);
  t.Describe(5);
  t.AddRange(stream, "Memcpy HtoD", 1900, 2000, ActivityType::kGpuMemcpy);
  t.Describe(6, {model::Arg::Int(t.Intern("bytes"), 64)});
  t.AddCounter(main, "loss", 1500, 0.25);
  t.AddCounter(main, "loss", 1700, 0.125);
  t.AddSample(main, 1400, 1000, {"main", "train", "mm"});
  t.AddUpSamples();
  t.AddSample(main, 1410, 1000, {"main", "train", "mm"});
  t.AddSample(worker, 1420, 2000, {"work"});
  AddStates(t, main, worker);
  AddMemory(t, main, worker);
  t.AddMetadata("distributedInfo",
                R"({"backend": "nccl", "rank": 3, "world_size": 8})");
  t.AddMetadata("hostname", R"("node7")");
  t.data().ledger.Add(model::Loss::kSamplesLost, 2);
  t.data().ledger.Add(model::Loss::kSamplesSummed, 1);
  t.SetWindow(1000, 3000);
  return std::move(t).Build();
}

std::vector<std::string> ValuesOf(const TraceTables& tables,
                                  const Column& column, size_t begin,
                                  size_t end) {
  std::vector<std::string> texts(end - begin);
  std::vector<uint8_t> valid(end - begin, 1);
  if (column.type == ColumnType::kText) {
    std::vector<TextId> ids(end - begin);
    tables.Texts(column, begin, end, ids.data());
    for (size_t i = 0; i < ids.size(); ++i) {
      texts[i] = ids[i] == kNoText ? "-" : std::string(tables.Text(ids[i]));
    }
    return texts;
  }
  if (column.type == ColumnType::kDouble) {
    std::vector<double> values(end - begin);
    tables.Doubles(column, begin, end, values.data(), valid.data());
    for (size_t i = 0; i < values.size(); ++i) {
      texts[i] = absl::StrCat(values[i]);
    }
  } else {
    std::vector<int64_t> values(end - begin);
    tables.Int64s(column, begin, end, values.data(), valid.data());
    for (size_t i = 0; i < values.size(); ++i) {
      texts[i] = absl::StrCat(values[i]);
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (valid[i] == 0) texts[i] = "-";
  }
  return texts;
}

std::vector<std::string> RowsOf(
    const TraceTables& tables, std::string_view name,
    std::initializer_list<std::string_view> columns) {
  const Table& table = *FindTable(name);
  const size_t count = tables.RowCount(table);
  std::vector<std::string> rows(count);
  const auto add = [&](const Column& column) {
    const std::vector<std::string> values = ValuesOf(tables, column, 0, count);
    for (size_t i = 0; i < count; ++i) {
      if (!rows[i].empty()) rows[i] += '|';
      rows[i] += values[i];
    }
  };
  for (const std::string_view column : columns) {
    add(*table.FindColumn(column));
  }
  if (columns.size() == 0) {
    for (const Column& column : table.columns) add(column);
  }
  return rows;
}

}  // namespace kymo::tables
