// sample_store.h - turns the samples of a sampler into stacks, and into a
// shard.
//
//   store.OnMap(...); store.OnName(...);        // in the order of time
//   store.OnSample(...);                        // unwound and interned at once
//   store.Collect(shard);                       // names, lines, inlining
//
// Both samplers use it. A sample costs 24 bytes here. Its stack costs only the
// frames that no earlier stack had.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLE_STORE_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLE_STORE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sampling/process_table.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::sampling {

struct SampleEvent {
  int64_t pid = 0;
  int64_t tid = 0;
  TimeNs time_ns = 0;  // epoch
  DurationNs weight_ns = 0;
  std::optional<uint64_t> kernel_address;  // where in the kernel it was
  // A sample has exactly one of these: registers with a stack, or a call chain
  // (leaf first, unchanged return addresses, with the numbers of their files if
  // there are any).
  bool has_registers = false;
  Registers registers{};
  std::span<const std::byte> stack;
  bool stack_was_cut = false;
  std::span<const uint64_t> callchain;
};

class SampleStore {
 public:
  explicit SampleStore(DurationNs period_ns);

  ProcessTable& processes() noexcept { return processes_; }
  // An executable mapping appeared. Its address may carry the number of a file
  // (target/sample_ring.h); only addresses with that number are then in it.
  void OnMap(const symbolize::ProcessMapping& mapping);
  void OnSample(const SampleEvent& event);
  void AddLoss(model::Loss loss, uint64_t count) { ledger_.Add(loss, count); }

  size_t sample_count() const noexcept { return samples_.size(); }
  // The CPU time that the samples stand for.
  DurationNs total_weight_ns() const noexcept { return total_weight_ns_; }

  void Collect(model::TraceShard& shard);

 private:
  void UnwindInto(const SampleEvent& event, SampledProcess& process);
  void PlaceCallchain(const SampleEvent& event, SampledProcess& process);
  bool AllModulesKnown() const;
  bool ReadMaps(int64_t pid, SampledProcess& process);

  const DurationNs period_ns_;
  symbolize::ModuleTable modules_;
  ProcessTable processes_;
  Unwinder unwinder_;
  symbolize::RawStacks stacks_;
  UnwoundStack unwound_;
  std::vector<model::StackSample> samples_;  // their stacks are RawStackIds
  DurationNs total_weight_ns_ = 0;
  model::LossLedger ledger_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLE_STORE_H_
