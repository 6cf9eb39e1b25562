// Exports a made-up training on a GPU:
//
//   gpu_trace_writer FOLDER [--lossy] EXPORTER ...
//
// With --lossy, the trace says that samples were lost.
//
// Each of the steps copies a batch to the device, launches products faster than
// the device computes them, so that they queue, and reduces gradients on a
// second stream at the same time. All times are whole microseconds, which
// readers that know nothing finer keep as they are.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporters/builtin/builtin_exporters.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/plugin/registry.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::ActivityType;

constexpr int kSteps = 4;
constexpr int kProductsPerStep = 10;
constexpr int64_t kPid = 4000;
constexpr int64_t kComputeStream = 7;
constexpr int64_t kCommunicationStream = 13;
constexpr int64_t kBatchBytes = 1 << 20;
constexpr TimeNs kBegin = 1'700'000'000 * kNsPerSecond;

TimeNs At(int64_t us) { return kBegin + us * kNsPerUs; }

// A piece of work that a stream is going to do.
struct Work {
  std::string_view name;
  ActivityType type = ActivityType::kConcurrentKernel;
  int64_t start_us = 0;
  int64_t duration_us = 0;
  uint64_t correlation_id = 0;
};

class Training {
 public:
  model::Trace Make(bool is_lossy) && {
    if (is_lossy) t_.data().ledger.Add(model::Loss::kSamplesLost, 7);
    t_.AddProcess(kPid, "train");
    t_.AddMetadata("distributedInfo",
                   R"({"backend": "nccl", "rank": 3, "world_size": 8})");
    t_.AddMetadata(
        "deviceProperties",
        R"([{"id": 0, "name": "A GPU", "totalGlobalMem": 8589934592,)"
        R"( "computeMajor": 8, "computeMinor": 0, "numSms": 108,)"
        R"( "clockRate": 1410000, "memoryBandwidth": 1555000000000}])");
    thread_ = t_.AddThread(kPid, kPid, "main");
    t_.AddRange(thread_, "load", At(0), At(90));
    for (int step = 0; step < kSteps; ++step) AddStep(step, 100 + 1'000 * step);
    AddStream(kComputeStream, compute_);
    AddStream(kCommunicationStream, communication_);
    t_.SetWindow(At(0), At(100 + 1'000 * kSteps));
    return std::move(t_).Build();
  }

 private:
  void AddStep(int step, int64_t us) {
    t_.AddAnnotation(thread_, "ProfilerStep#" + std::to_string(step), At(us),
                     At(us + 990));
    Call("aten::copy_", us + 10, "cudaMemcpyAsync",
         Enqueue(compute_, us + 10,
                 {"Memcpy HtoD (Pageable -> Device)", ActivityType::kGpuMemcpy,
                  0, 50}));
    Call("aten::zero_", us + 40, "cudaMemsetAsync",
         Enqueue(compute_, us + 40,
                 {"Memset (Device)", ActivityType::kGpuMemset, 0, 3}));
    for (int i = 0; i < kProductsPerStep; ++i) {
      const int64_t call_us = us + 70 + 30 * i;
      Call("aten::mm", call_us, "cudaLaunchKernel",
           Enqueue(compute_, call_us,
                   {.name = "sgemm_128x64_nn", .duration_us = 40}));
    }
    Call("nccl:all_reduce", us + 400, "cudaLaunchKernelExC",
         Enqueue(communication_, us + 400,
                 {.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                  .duration_us = 200}));
    t_.AddRange(thread_, "cudaDeviceSynchronize", At(us + 440), At(us + 900),
                ActivityType::kCudaRuntime);
  }

  // Work begins 8 us after its call does, or when its stream is free.
  uint64_t Enqueue(std::vector<Work>& stream, int64_t call_us, Work work) {
    work.start_us = call_us + 8;
    if (!stream.empty()) {
      const Work& last = stream.back();
      work.start_us =
          std::max(work.start_us, last.start_us + last.duration_us + 1);
    }
    work.correlation_id = ++last_correlation_id_;
    stream.push_back(work);
    return work.correlation_id;
  }

  // An operation of 20 us, and in it the call that launches.
  void Call(std::string_view operation, int64_t us, std::string_view call,
            uint64_t correlation_id) {
    t_.AddRange(thread_, operation, At(us), At(us + 20));
    t_.AddRange(thread_, call, At(us + 2), At(us + 7),
                ActivityType::kCudaRuntime);
    t_.Describe(correlation_id);
  }

  void AddStream(int64_t id, const std::vector<Work>& works) {
    const model::TrackIndex stream = t_.AddStream(0, id, kPid);
    for (const Work& work : works) {
      t_.AddRange(stream, work.name, At(work.start_us),
                  At(work.start_us + work.duration_us), work.type);
      const model::NameId context = t_.Intern("context");
      if (work.type == ActivityType::kConcurrentKernel) {
        t_.Describe(
            work.correlation_id,
            {model::Arg::Int(context, 1),
             model::Arg::Json(t_.Intern("grid"), t_.Intern("[54, 2, 1]")),
             model::Arg::Json(t_.Intern("block"), t_.Intern("[128, 1, 1]")),
             model::Arg::Int(t_.Intern("registers per thread"), 32),
             model::Arg::Int(t_.Intern("shared memory"), 4096),
             model::Arg::Double(t_.Intern("blocks per SM"), 1),
             model::Arg::Double(t_.Intern("warps per SM"), 4),
             model::Arg::Int(t_.Intern("est. achieved occupancy %"), 25)});
      } else {
        const double bytes_per_ns =
            static_cast<double>(kBatchBytes) / (work.duration_us * kNsPerUs);
        t_.Describe(work.correlation_id,
                    {model::Arg::Int(context, 1),
                     model::Arg::Int(t_.Intern("bytes"), kBatchBytes),
                     model::Arg::Double(t_.Intern("memory bandwidth (GB/s)"),
                                        bytes_per_ns)});
      }
    }
  }

  TestTrace t_;
  model::TrackIndex thread_ = 0;
  uint64_t last_correlation_id_ = 0;
  std::vector<Work> compute_;
  std::vector<Work> communication_;
};

absl::Status Export(int argc, char** argv) {
  ExporterRegistry registry;
  absl::Status status = RegisterBuiltinExporters(registry);
  const bool is_lossy = std::string_view(argv[2]) == "--lossy";
  const model::Trace trace = Training().Make(is_lossy);
  OutputDirectory out(argv[1]);
  for (int i = is_lossy ? 3 : 2; i < argc; ++i) {
    const TraceExporter* const exporter = registry.Find(argv[i]);
    if (exporter == nullptr) {
      return absl::NotFoundError(std::string("no exporter ") + argv[i]);
    }
    status.Update(exporter->Export(trace, {}, out).status());
  }
  return status;
}

}  // namespace
}  // namespace kymo

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const absl::Status status = kymo::Export(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
