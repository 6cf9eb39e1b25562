// test_whole_trace.h - a small trace that has everything once, for golden files
// that show what a format makes of each field.
//
//   ExpectGolden(Text(WholeTrace()), "exporters/x/testdata/whole.golden.txt");
//
//   process 7 ("app", before its exec "sh")
//     (no name)  thread 0, which not every format can number: a sample
//     worker     ProfilerStep#4 with a module and operations in it: aten::mm
//                with all details, a launch, an instant, an asynchronous range,
//                a backward operation, a range that never ended; samples,
//                counters, memory of the heap and of cuda:1
//     worker     again: a range that overlaps those of the first row
//     stream 7 of device 0, twice: a kernel, and beside it a fill
//     stream 13 of device 1: a copy
//   process 8    a thread, which shares its name with the first one
//
// Times are in ns after kWholeTraceNs. The recording begins 10 ns later.
#ifndef KYMO_EXPORTERS_TIMELINE_TEST_WHOLE_TRACE_H_
#define KYMO_EXPORTERS_TIMELINE_TEST_WHOLE_TRACE_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "profiler/base/op_inputs.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "tests/support/test_trace.h"

namespace kymo {

inline constexpr TimeNs kWholeTraceNs = 1'735'632'360 * kNsPerSecond;

namespace whole_trace_internal {

inline model::StackId Stack(TestTrace& t,
                            std::initializer_list<model::Frame> frames) {
  model::StackId stack = model::kEmptyStack;
  for (const model::Frame& frame : frames) {
    stack = t.data().stacks.Push(stack, t.data().stacks.AddFrame(frame));
  }
  return stack;
}

inline std::string TwoMatrices() {
  const int64_t a[] = {2, 3};
  const int64_t b[] = {3, 4};
  const int64_t strides_a[] = {3, 1};
  const int64_t strides_b[] = {4, 1};
  const Input inputs[] = {TensorMeta{a, DType::kFloat, strides_a},
                          TensorMeta{b, DType::kFloat, strides_b}, Input(6)};
  std::string encoded(EncodedInputBytes(inputs, 3), '\0');
  EncodeInputs(inputs, 3, encoded.data());
  return encoded;
}

}  // namespace whole_trace_internal

inline model::Trace WholeTrace() {
  using model::ActivityType;
  using whole_trace_internal::Stack;
  constexpr TimeNs kBase = kWholeTraceNs;
  TestTrace t;
  t.SetWindow(kBase + 10, kBase + 900);
  t.AddMetadata("deviceProperties",
                R"([{"id": 0, "name": "H100", "totalGlobalMem": 85, "numSms":)"
                R"( 132, "computeMajor": 9, "computeMinor": 1}, {"id": 1,)"
                R"( "name": "AMD MI300", "clockRate": 21}])");
  t.AddMetadata("rank", "0");
  t.AddMetadata("rank", "1");
  t.data().ledger.Add(model::Loss::kSamplesLost, 5);
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 1);
  t.AddProcess(7, "sh");
  t.AddProcess(7, "app");
  t.data().processes[1].command_line = t.Intern("./app --fast");
  const auto intern = [&](const char* text) { return t.Intern(text); };
  // The value's name first: compilers differ in the order of arguments, and
  // golden files have the numbers of names.
  const auto string = [&](const char* key, const char* value) {
    const model::NameId text = intern(value);
    return model::Arg::String(intern(key), text);
  };
  const auto json = [&](const char* key, const char* value) {
    const model::NameId text = intern(value);
    return model::Arg::Json(intern(key), text);
  };
  const model::Frame main = {.function = intern("main"),
                             .module = intern("/bin/app"),
                             .address = 0x40};
  const model::Frame mm = {.function = intern("mm(int)"),
                           .file = intern("src/mm.cc"),
                           .module = intern("/bin/app"),
                           .line = 7,
                           .address = 0x48};
  const model::StackId in_mm = Stack(t, {main, mm});
  const auto last_detail = [&]() -> model::Detail& {
    return t.data().details.back();
  };

  const auto no_name = t.AddThread(7, 0, "");
  const auto worker = t.AddThread(7, 8, "worker");
  t.data().tracks[worker].logical_id = 1;
  t.AddAnnotation(worker, "ProfilerStep#4", kBase + 20, kBase + 400);
  t.AddRange(worker, "Net", kBase + 20, kBase + 400, ActivityType::kCpuOp,
             model::kEventModule);
  t.AddRange(worker, "aten::mm", kBase + 20, kBase + 200);
  t.Describe(9, {model::Arg::Int(intern("int"), -5),
                 model::Arg::Double(intern("double"), 0.25),
                 model::Arg::Double(intern("nan"),
                                    std::numeric_limits<double>::quiet_NaN()),
                 string("text", "a \"value\""), json("json", "[1]")});
  last_detail().inputs = t.Intern(whole_trace_internal::TwoMatrices());
  last_detail().sequence_nr = 12;
  last_detail().stack = in_mm;
  t.AddRange(worker, "cudaLaunchKernel", kBase + 30, kBase + 50,
             ActivityType::kCudaRuntime);
  t.Describe(77);
  t.AddInstant(worker, "tick", kBase + 60);
  t.AddRange(worker, "elsewhere", kBase + 70, kBase + 300,
             ActivityType::kUserAnnotation, model::kEventAsync);
  t.AddRange(worker, "cudaMemcpyAsync", kBase + 210, kBase + 220,
             ActivityType::kCudaRuntime);
  t.Describe(78);
  t.AddRange(worker, "backward", kBase + 250, kBase + 400);
  t.Describe(10);
  last_detail().sequence_nr = 12;
  t.SetRare({.forward_thread = 1});
  t.AddRange(worker, "open", kBase + 500, kBase + 900, ActivityType::kCpuOp,
             model::kEventOpen);
  t.AddThread(7, 8, "worker");
  t.AddRange(worker + 1, "beside", kBase + 100, kBase + 600);

  const auto stream = t.AddStream(0, 7, /*pid=*/7);
  t.data().tracks[stream].name = intern("default");
  t.AddRange(stream, "sgemm<128>", kBase + 55, kBase + 95,
             ActivityType::kConcurrentKernel);
  t.Describe(77, {json("grid", "[64, 2, 1]"), json("block", "[256, 1, 1]"),
                  model::Arg::Int(intern("registers per thread"), 32),
                  model::Arg::Int(intern("shared memory"), 1'024)});
  t.AddStream(0, 7, /*pid=*/7);
  t.AddRange(stream + 1, "Memset (Device)", kBase + 90, kBase + 120,
             ActivityType::kGpuMemset);
  t.Describe(0, {model::Arg::Int(intern("bytes"), 32)});
  const auto copies = t.AddStream(1, 13, /*pid=*/7);
  t.AddRange(copies, "Memcpy HtoD (Pinned -> Device)", kBase + 215, kBase + 240,
             ActivityType::kGpuMemcpy);
  t.Describe(78, {model::Arg::Int(intern("bytes"), 4'096)});
  const auto other = t.AddThread(8, 9, "worker");
  t.AddRange(other, "wait", kBase + 100, kBase + 100);

  t.AddCounter(worker, "depth", kBase + 30, 2.5);
  t.AddCounter(worker, "depth", kBase + 40,
               -std::numeric_limits<double>::infinity());
  t.AddCounter(other, "depth", kBase + 35, 4);
  const auto add_memory = [&](const model::MemoryRecord& record) {
    t.data().memory.push_back(record);
  };
  add_memory({.track = worker,
              .source = model::MemorySource::kHeap,
              .time_ns = kBase,
              .address = 0x1000,
              .bytes = 64,
              .total_allocated = 64,
              .stack = in_mm,
              .partner = 3});
  add_memory({.track = worker,
              .device_type = 1,
              .device_index = 1,
              .time_ns = kBase + 40,
              .address = 0x2000,
              .bytes = 512,
              .total_allocated = 512,
              .total_reserved = 1'024});
  add_memory({.track = worker,
              .event = model::MemoryEvent::kOutOfMemory,
              .device_type = 1,
              .device_index = 1,
              .time_ns = kBase + 45,
              .bytes = 9'999});
  add_memory({.track = worker,
              .source = model::MemorySource::kHeap,
              .time_ns = kBase + 230,
              .address = 0x1000,
              .bytes = -64,
              .partner = 0});
  add_memory({.track = other,
              .source = model::MemorySource::kMapped,
              .time_ns = kBase + 100,
              .address = 0x4000,
              .bytes = 4'096,
              .total_allocated = 4'096});
  t.data().sampling_period_ns = 100;
  t.data().samples = {
      {no_name, Stack(t, {main}), kBase + 700, 100},
      {worker, in_mm, kBase + 100, 100},
      {worker, Stack(t, {main, mm, {.is_kernel = true}}), kBase + 200, 150},
      {worker, model::kEmptyStack, kBase + 500, 100}};
  return std::move(t).Build();
}

}  // namespace kymo

#endif  // KYMO_EXPORTERS_TIMELINE_TEST_WHOLE_TRACE_H_
