#include "backends/sampling/sample_store.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/model/records.h"

namespace kymo::sampling {

void SampleStore::OnSample(const SampleEvent& event) {
  CapturedStack captured{.pid = event.pid,
                         .tid = event.tid,
                         .copied_ns = event.copied_ns,
                         .has_registers = event.has_registers,
                         .registers = event.registers,
                         .stack = event.stack,
                         .stack_was_cut = event.stack_was_cut,
                         .callchain = event.callchain};
  if (event.kernel_address)
    captured.kernel_frames = {&*event.kernel_address, 1};
  samples_.push_back({.track = processes().Track(event.pid, event.tid),
                      .stack = model::StackId{stacks_.Intern(captured)},
                      .time_ns = event.time_ns,
                      .weight_ns = event.weight_ns});
  total_weight_ns_ += event.weight_ns;
  if (most_samples_ != 0 && samples_.size() >= most_samples_) AddUpOldest();
}

// Takes a quarter of them, so that moving the others costs little.
void SampleStore::AddUpOldest() {
  const size_t count = (samples_.size() + 3) / 4;
  const auto end = samples_.begin() + static_cast<ptrdiff_t>(count);
  // Their times are forgotten, so they need their names now.
  stacks_.ReadJitNames();
  for (auto sample = samples_.begin(); sample != end; ++sample) {
    sample->stack = model::StackId{stacks_.Settle(
        Index(sample->stack), sample->time_ns, /*only_known=*/true)};
    Sum& sum = sums_[{sample->track, Index(sample->stack)}];
    ++sum.count;
    sum.weight_ns += sample->weight_ns;
  }
  samples_.erase(samples_.begin(), end);
  summed_count_ += count;
}

void SampleStore::Collect(model::TraceShard& shard) {
  shard.sampling_period_ns = period_ns_;
  shard.ledger.Add(model::Loss::kSamplesSummed, summed_count_);
  stacks_.ReadJitNames();
  for (model::StackSample& sample : samples_) {
    sample.stack = model::StackId{
        stacks_.Settle(model::Index(sample.stack), sample.time_ns)};
  }
  const std::vector<model::StackId> stacks = stacks_.Collect(shard);
  for (model::StackSample& sample : samples_) {
    sample.stack = stacks[model::Index(sample.stack)];
  }
  shard.samples = std::move(samples_);
  shard.sample_sums.reserve(sums_.size());
  for (const auto& [key, sum] : sums_) {
    const auto& [track, stack] = key;
    shard.sample_sums.push_back({.track = track,
                                 .stack = stacks[stack],
                                 .count = sum.count,
                                 .weight_ns = sum.weight_ns});
  }
  sums_ = {};
}

std::vector<std::string> RemarksOf(const SampleStore& store) {
  std::vector<std::string> remarks = store.stacks().Remarks();
  if (store.summed_count() > 0) {
    remarks.push_back(absl::StrCat(
        "sampling: a long recording: tables and stacks have all samples; "
        "timelines have the newest, without ",
        store.summed_count(),
        " older ones. For more of them, raise --sampling_max_samples; 0 keeps "
        "all"));
  }
  return remarks;
}

}  // namespace kymo::sampling
