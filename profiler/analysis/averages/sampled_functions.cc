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
  DurationNs ns = 0;
  int64_t count = 0;
};

std::vector<Weight> LeafWeights(const Trace& trace,
                                std::optional<model::TrackIndex> track) {
  std::vector<Weight> weights(trace.stacks().stack_count());
  ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    if (track.has_value() && sum.track != *track) return;
    Weight& weight = weights[Index(sum.stack)];
    weight.ns += sum.weight_ns;
    weight.count += static_cast<int64_t>(sum.count);
  });
  return weights;
}

// Weights of whole subtrees. Parents have smaller ids than children.
std::vector<Weight> SubtreeWeights(const StackTable& stacks,
                                   const std::vector<Weight>& leaves) {
  std::vector<Weight> weights = leaves;
  for (size_t i = weights.size(); i-- > 1;) {
    Weight& above = weights[Index(stacks.parent(StackId(i)))];
    above.ns += weights[i].ns;
    above.count += weights[i].count;
  }
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

// The stacks in depth-first order, and for each the end of its subtree.
struct DepthFirst {
  explicit DepthFirst(const StackTable& stacks)
      : size(stacks.stack_count(), 1), order(stacks.stack_count()) {
    const size_t n = size.size();
    for (size_t i = n; i-- > 1;) size[Parent(stacks, i)] += size[i];
    // A stack's place comes right after the subtrees of its earlier siblings.
    std::vector<uint32_t> place(n, 0);
    std::vector<uint32_t> next(n, 1);
    for (size_t i = 1; i < n; ++i) {
      const uint32_t parent = Parent(stacks, i);
      place[i] = place[parent] + next[parent];
      next[parent] += size[i];
    }
    for (size_t i = 0; i < n; ++i) order[place[i]] = static_cast<uint32_t>(i);
  }

  static uint32_t Parent(const StackTable& stacks, size_t i) {
    return Index(stacks.parent(StackId(i)));
  }

  std::vector<uint32_t> size;   // of the subtree, by stack
  std::vector<uint32_t> order;  // stacks by place
};

// Adds each subtree's weight to its function. If the function is also further
// out in the same stack, that frame has counted the weight already.
void AddTotals(const StackTable& stacks, const std::vector<Weight>& weights,
               Functions& functions) {
  const DepthFirst tree(stacks);
  // Places below `busy_until[f]` are inside of a subtree whose root is f.
  std::vector<uint32_t> busy_until(functions.list().size(), 0);
  for (uint32_t place = 1; place < tree.order.size(); ++place) {
    const uint32_t stack = tree.order[place];
    const uint32_t f = functions.of(stacks.leaf(StackId(stack)));
    if (place < busy_until[f]) continue;
    busy_until[f] = place + tree.size[stack];
    functions.list()[f].cpu_time_ns += weights[stack].ns;
    functions.list()[f].sample_count += weights[stack].count;
  }
}

void AddSelf(const StackTable& stacks, const std::vector<Weight>& leaves,
             Functions& functions) {
  for (size_t i = 1; i < leaves.size(); ++i) {
    SampledFunction& function =
        functions.list()[functions.of(stacks.leaf(StackId(i)))];
    function.self_cpu_time_ns += leaves[i].ns;
    function.self_sample_count += leaves[i].count;
  }
  SampledFunction& none = functions.list()[0];
  none.self_cpu_time_ns += leaves[0].ns;
  none.cpu_time_ns += leaves[0].ns;
  none.self_sample_count += leaves[0].count;
  none.sample_count += leaves[0].count;
}

}  // namespace

std::vector<SampledFunction> SampledFunctions(
    const Trace& trace, std::optional<model::TrackIndex> track) {
  const StackTable& stacks = trace.stacks();
  const std::vector<Weight> leaves = LeafWeights(trace, track);
  Functions functions(stacks);
  AddTotals(stacks, SubtreeWeights(stacks, leaves), functions);
  AddSelf(stacks, leaves, functions);

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
