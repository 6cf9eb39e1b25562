#include "profiler/analysis/averages/sampled_functions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profiler/model/sample_weights.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::analysis {
namespace {

using model::StackId;
using model::StackTable;
using model::Trace;

// The weight and number of a stack's samples.
struct Weight {
  StackId stack{};
  DurationNs ns = 0;
  int64_t count = 0;
};

// Of the stacks that have samples, in the order of ids.
std::vector<Weight> StackWeights(const Trace& trace,
                                 std::optional<model::TrackIndex> track) {
  std::vector<Weight> weights;
  std::vector<uint32_t> places(trace.stacks().stack_count());  // 1 + place
  ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    if (track.has_value() && sum.track != *track) return;
    uint32_t& place = places[Index(sum.stack)];
    if (place == 0) {
      weights.push_back({.stack = sum.stack});
      place = static_cast<uint32_t>(weights.size());
    }
    Weight& weight = weights[place - 1];
    weight.ns += sum.weight_ns;
    weight.count += static_cast<int64_t>(sum.count);
  });
  std::sort(weights.begin(), weights.end(),
            [](const Weight& a, const Weight& b) { return a.stack < b.stack; });
  return weights;
}

// Frames with equal name and module are one function. Function 0 is that of
// samples without frames.
class Functions {
 public:
  explicit Functions(const StackTable& stacks) : list_(1) {
    of_frame_.reserve(stacks.frame_count());
    ids_.emplace(uint64_t{0}, 0);
    for (uint32_t i = 0; i < stacks.frame_count(); ++i) {
      const model::Frame& frame = stacks.frame(model::FrameId(i));
      const uint64_t key =
          uint64_t{Index(frame.function)} << 32 | Index(frame.module);
      const auto [it, is_new] =
          ids_.emplace(key, static_cast<uint32_t>(list_.size()));
      if (is_new) {
        list_.push_back({.name = frame.function, .module = frame.module});
      }
      of_frame_.push_back(it->second);
    }
  }

  uint32_t of(model::FrameId frame) const { return of_frame_[Index(frame)]; }
  std::vector<SampledFunction>& list() { return list_; }

 private:
  std::vector<SampledFunction> list_;
  std::vector<uint32_t> of_frame_;
  std::unordered_map<uint64_t, uint32_t> ids_;
};

// Adds each stack's weight to its functions, once to each. It goes from stack
// to stack, and looks only at frames that differ: a function gets what was
// added up while it was on the stack. Stacks with much in common mostly have
// ids near each other.
class StackTotals {
 public:
  StackTotals(const StackTable& stacks, Functions& functions)
      : stacks_(stacks),
        functions_(functions),
        open_(functions.list().size()) {}

  void Add(const Weight& weight) {
    added_.clear();
    StackId at = weight.stack;
    while (at != model::kEmptyStack && !IsOpen(at)) {
      added_.push_back(at);
      at = stacks_.parent(at);
    }
    LeaveAllBelow(stacks_.depth(at));
    for (; !added_.empty(); added_.pop_back()) Enter(added_.back());
    sum_.ns += weight.ns;
    sum_.count += weight.count;
  }

  void Finish() { LeaveAllBelow(0); }

 private:
  // A function while it is on the stack.
  struct Open {
    uint32_t frames = 0;  // that are its own
    Weight before;
  };

  bool IsOpen(StackId stack) const {
    const uint32_t depth = stacks_.depth(stack);
    return depth <= path_.size() && path_[depth - 1] == stack;
  }
  void Enter(StackId stack) {
    path_.push_back(stack);
    Open& open = open_[functions_.of(stacks_.leaf(stack))];
    if (open.frames++ == 0) open.before = sum_;
  }
  void LeaveAllBelow(uint32_t depth) {
    for (; path_.size() > depth; path_.pop_back()) {
      const uint32_t f = functions_.of(stacks_.leaf(path_.back()));
      Open& open = open_[f];
      if (--open.frames != 0) continue;
      SampledFunction& function = functions_.list()[f];
      function.cpu_time_ns += sum_.ns - open.before.ns;
      function.sample_count += sum_.count - open.before.count;
    }
  }

  const StackTable& stacks_;
  Functions& functions_;
  std::vector<Open> open_;      // by function
  std::vector<StackId> path_;   // down to each frame of the last stack
  std::vector<StackId> added_;  // innermost first
  Weight sum_;
};

void AddTotals(const StackTable& stacks, const std::vector<Weight>& weights,
               Functions& functions) {
  StackTotals totals(stacks, functions);
  for (const Weight& weight : weights) totals.Add(weight);
  totals.Finish();
}

void AddSelf(const StackTable& stacks, const std::vector<Weight>& weights,
             Functions& functions) {
  for (const Weight& weight : weights) {
    const bool is_empty = weight.stack == model::kEmptyStack;
    SampledFunction& function =
        functions
            .list()[is_empty ? 0 : functions.of(stacks.leaf(weight.stack))];
    function.self_cpu_time_ns += weight.ns;
    function.self_sample_count += weight.count;
    if (!is_empty) continue;
    function.cpu_time_ns += weight.ns;
    function.sample_count += weight.count;
  }
}

}  // namespace

std::vector<SampledFunction> SampledFunctions(
    const Trace& trace, std::optional<model::TrackIndex> track) {
  const StackTable& stacks = trace.stacks();
  const std::vector<Weight> weights = StackWeights(trace, track);
  Functions functions(stacks);
  AddTotals(stacks, weights, functions);
  AddSelf(stacks, weights, functions);

  std::vector<SampledFunction> list = std::move(functions.list());
  std::erase_if(list, [](const SampledFunction& function) {
    return function.sample_count == 0;
  });
  std::sort(list.begin(), list.end(),
            [&](const SampledFunction& a, const SampledFunction& b) {
              if (a.self_cpu_time_ns != b.self_cpu_time_ns) {
                return a.self_cpu_time_ns > b.self_cpu_time_ns;
              }
              if (a.cpu_time_ns != b.cpu_time_ns) {
                return a.cpu_time_ns > b.cpu_time_ns;
              }
              if (a.name != b.name) {
                return trace.Name(a.name) < trace.Name(b.name);
              }
              return trace.Name(a.module) < trace.Name(b.module);
            });
  return list;
}

}  // namespace kymo::analysis
