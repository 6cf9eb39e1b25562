// folded.h - folded stacks: a tree of weights, and its lines of text.
//
//   FoldedStacks folded(trace, /*max_frames=*/512);
//   const FrameTree::Place root = folded.Root("xz");
//   folded.Add(folded.Below(root, folded.FrameOf(name)), 1'000);
//   folded.Prune(folded.LeastWeight(max_bytes));
//   return folded.Write(out, "x.folded");
//
// Each different stack is one line, and lines are sorted. Deep stacks are
// folded (frame_tree.h). Stacks that Prune takes are summed up in a line that
// ends with "[other]", below the frames around them. It is another line than
// that of a frame with this name:
//
//   xz;main;[other] 1200
//
// Memory: the tree. Texts of lines are made as they are written.
#ifndef KYMO_EXPORTERS_STACKS_FOLDED_H_
#define KYMO_EXPORTERS_STACKS_FOLDED_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/stacks/frame_tree.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

// The unit of a stack's weight.
enum class Metric {
  kWeight,  // ns of time, or bytes
  kCount,   // samples, calls, or blocks
};

// Makes a frame of a text: replaces the characters that separate frames and
// lines.
std::string FrameText(std::string_view text);

// The innermost frame of a wait: "[lock wait]", "[poll wait, idle]".
std::string WaitFrame(const analysis::WaitGroup& wait);

// By track, the begin of its lines: "xz" or "xz;thread 12 (worker)".
std::vector<std::string> StackRoots(const model::Trace& trace,
                                    bool with_threads);

class FoldedStacks {
 public:
  // `trace` must outlive the object.
  FoldedStacks(const model::Trace& trace, uint32_t max_frames);

  // `text` is whole frames, as StackRoots makes them.
  FrameTree::Place Root(std::string_view text);
  FrameTree::Place Below(const FrameTree::Place& parent, uint32_t frame) {
    return tree_.Below(parent, frame);
  }
  // The number of a frame with the text of a name.
  uint32_t FrameOf(model::NameId name);
  uint32_t FrameOf(std::string_view name);

  void Add(const FrameTree::Place& place, int64_t weight);

  // A stack of the trace below a root, and its weight.
  using Weight = std::pair<uint64_t, int64_t>;
  static uint64_t Key(const FrameTree::Place& root, model::StackId stack) {
    return uint64_t{root.node} << 32 | model::Index(stack);
  }
  // In any order; a key may come again.
  void AddStacks(std::vector<Weight> weights);
  // The waits of threads, by their tracks' roots. A stack ends with what the
  // thread waited for (WaitFrame).
  void AddWaits(std::span<const analysis::WaitGroup> waits,
                std::span<const FrameTree::Place> roots, Metric metric);

  bool empty() const { return !has_stacks_; }
  int64_t total() const;
  // The stacks that are not shown whole: folded or pruned.
  uint64_t folded_count() const { return folded_count_; }

  // The least w, from `at_least` on, for which Prune(w) leaves at most
  // `max_bytes` of text. More than total() + 1 if none does: a line of each
  // root is left. With a higher `at_least` it takes less memory.
  // `bytes` becomes the size of that text.
  int64_t LeastWeight(uint64_t max_bytes, int64_t at_least = 0,
                      uint64_t* bytes = nullptr) const;
  // Moves what weighs less than `least`, with everything below it, to [other].
  // At most once, until Restore takes it back.
  void Prune(int64_t least);
  // Keeps the weights, to which Restore goes back after a Prune.
  void KeepWhole() { whole_weights_ = weights_; }
  void Restore();

  // Stacks whose weight is not above 0 are left out.
  absl::Status Write(OutputDirectory& out, std::string_view name) const;

 private:
  struct Part;
  class Sizes;

  // Of each node and everything below it.
  std::vector<int64_t> Totals() const;
  size_t LengthOf(uint32_t node) const;
  std::string TextOf(uint32_t node) const;
  std::vector<uint32_t> ShownNodes(std::vector<uint32_t>& parents) const;

  const model::Trace& trace_;
  FrameTree tree_;
  model::StringTable texts_;
  std::vector<uint32_t> frame_of_name_;  // 0: not made
  std::vector<int64_t> weights_;         // by node
  std::vector<int64_t> whole_weights_;   // that were kept
  uint64_t folded_count_ = 0;
  uint64_t pruned_count_ = 0;  // of folded_count_
  bool has_stacks_ = false;
};

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_FOLDED_H_
