// sample_store.h - turns the samples of a sampler into stacks, and into a
// shard.
//
//   store.OnMap(...); store.OnName(...);        // in the order of time
//   store.OnSample(...);                        // unwound and interned at once
//   store.Collect(shard);                       // names, lines, inlining
//
// Both samplers use it. A sample costs 24 bytes here, and its stack what
// stack_store.h says. Only the newest samples are kept one by one. The oldest
// are added up by thread and stack, so that memory grows with
// the threads and their stacks, not with time, and all samples count.
//
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLE_STORE_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/process_table.h"
#include "backends/sampling/stack_store.h"
#include "backends/sampling/unwind/registers.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::sampling {

struct SampleEvent {
  int64_t pid = 0;
  int64_t tid = 0;
  TimeNs time_ns = 0;      // epoch
  uint64_t copied_ns = 0;  // as in CapturedStack
  DurationNs weight_ns = 0;
  std::optional<uint64_t> kernel_address;  // where in the kernel it was
  // One of these: registers with a stack, or a call chain (CapturedStack).
  bool has_registers = false;
  Registers registers{};
  std::span<const std::byte> stack;
  bool stack_was_cut = false;
  std::span<const uint64_t> callchain;
};

struct SampleLimits {
  size_t most_samples = 500'000;  // kept one by one; 0: all
  size_t most_stacks = StackStore::kMostStacks;
};

class SampleStore {
 public:
  explicit SampleStore(DurationNs period_ns, const SampleLimits& limits = {})
      : period_ns_(period_ns),
        most_samples_(limits.most_samples),
        stacks_(limits.most_stacks) {}

  ProcessTable& processes() noexcept { return stacks_.processes(); }
  void OnMap(const symbolize::ProcessMapping& mapping) {
    stacks_.OnMap(mapping);
  }
  void OnMap(const MapRecord& record) { stacks_.OnMap(record); }
  void ReadMapsOf(int64_t pid) { stacks_.ReadMapsOf(pid); }
  void OnSample(const SampleEvent& event);
  void OnThreadEnd(int64_t tid) { stacks_.OnThreadEnd(tid); }
  void OnEnd(int64_t pid) { stacks_.OnEnd(pid); }
  // As LossLedger::AddPart has it.
  void AddLossPart(const model::LossPart& part, uint64_t count) {
    stacks_.AddLossPart(part, count);
  }
  void AddLoss(model::Loss loss, uint64_t count) {
    stacks_.AddLoss(loss, count);
  }

  void LeavePythonAlone() noexcept { stacks_.LeavePythonAlone(); }
  bool has_python() const noexcept { return stacks_.has_python(); }
  FrameCopies& frame_copies() noexcept { return stacks_.frame_copies(); }

  // Samples that are only added up.
  uint64_t summed_count() const noexcept { return summed_count_; }
  // The CPU time that all samples stand for.
  DurationNs total_weight_ns() const noexcept { return total_weight_ns_; }

  void Collect(model::TraceShard& shard);
  const StackStore& stacks() const noexcept { return stacks_; }

 private:
  struct Sum {
    uint64_t count = 0;
    DurationNs weight_ns = 0;
  };
  using SumKey = std::pair<model::TrackIndex, symbolize::RawStackId>;

  void AddUpOldest();

  const DurationNs period_ns_;
  const size_t most_samples_;
  StackStore stacks_;
  std::vector<model::StackSample> samples_;  // their stacks are RawStackIds
  absl::flat_hash_map<SumKey, Sum> sums_;
  uint64_t summed_count_ = 0;
  DurationNs total_weight_ns_ = 0;
};

// Says which samples timelines lack, and which stacks are not as they should
// be, if any. After Collect it also says which code has no names though its
// program could give them.
std::vector<std::string> RemarksOf(const SampleStore& store);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLE_STORE_H_
