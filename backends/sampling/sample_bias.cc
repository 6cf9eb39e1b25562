#include "backends/sampling/sample_bias.h"

#include <string_view>
#include <vector>

#include "profiler/model/loss_ledger.h"

namespace kymo::sampling {
namespace {

// The compiler may add a suffix to the function's name.
bool IsAtSwitch(const model::TraceShard& shard, model::StackId stack) {
  if (stack == model::kEmptyStack) return false;
  const model::Frame& leaf = shard.stacks.frame(shard.stacks.leaf(stack));
  return leaf.is_kernel &&
         shard.strings.Get(leaf.function).starts_with("finish_task_switch");
}

}  // namespace

void NoteBias(model::TraceShard& shard, TimeNs until_ns,
              TimeNs rare_switches_ns) {
  struct Counts {
    size_t all = 0;
    size_t until = 0;
  };
  std::vector<Counts> per_track(shard.tracks.size());
  size_t at_switches = 0;
  bool is_cured = false;
  bool has_rare_switches = false;
  for (const model::StackSample& sample : shard.samples) {
    Counts& counts = per_track[sample.track];
    ++counts.all;
    has_rare_switches |= sample.time_ns >= rare_switches_ns;
    if (sample.time_ns >= until_ns) {
      is_cured = true;
      continue;
    }
    ++counts.until;
    at_switches += IsAtSwitch(shard, sample.stack) ? 1 : 0;
  }
  // Samples that were added up came before those of `shard.samples`. If the
  // fault was cured, that was soon, and the few before it do not matter.
  uint64_t all = shard.samples.size();
  for (const model::SampleSum& sum : shard.sample_sums) {
    all += sum.count;
    per_track[sum.track].all += sum.count;
    if (is_cured) continue;
    per_track[sum.track].until += sum.count;
    at_switches += IsAtSwitch(shard, sum.stack) ? sum.count : 0;
  }
  size_t of_short_threads = 0;
  for (const Counts& counts : per_track) {
    if (counts.all < kSamplesOfLongThread) of_short_threads += counts.until;
  }
  // A few samples show little, whatever their threads.
  if (all >= kSamplesOfLongThread && of_short_threads > all / 20) {
    shard.ledger.Add(model::Loss::kSamplesBiased, of_short_threads);
  }
  if (!has_rare_switches && all >= kSamplesOfLongThread &&
      at_switches > all / 10) {
    shard.ledger.Add(model::Loss::kSamplesAtSwitches, at_switches);
  }
}

}  // namespace kymo::sampling
