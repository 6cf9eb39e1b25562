#include "exporters/stacks/folded.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/text/visible_text.h"

namespace kymo::stacks {

using model::NameId;
using model::StackId;
using model::Trace;

namespace {

constexpr std::string_view kOther = "[other]";

}  // namespace

std::string FrameText(std::string_view text) {
  std::string frame(text);
  for (size_t i = 0; i < frame.size(); ++i) {
    if (frame[i] == ';') frame[i] = ':';
    const size_t control_bytes = ControlBytes(frame, i);
    frame.replace(i, control_bytes, control_bytes, ' ');
  }
  frame.erase(frame.find_last_not_of(' ') + 1);
  return frame.empty() ? "[unknown]" : frame;
}

std::string WaitFrame(const analysis::WaitGroup& wait) {
  return absl::StrCat("[", ToAbsl(NameOf(wait.kind)),
                      wait.is_idle ? " wait, idle]" : " wait]");
}

std::vector<std::string> StackRoots(const Trace& trace, bool with_threads) {
  std::vector<std::string> roots;
  for (const model::Track& track : trace.tracks()) {
    std::string name;
    for (const model::Process& process : trace.processes()) {
      if (process.pid == track.pid) name = trace.Name(process.name);
    }
    if (name.empty()) name = absl::StrCat("process ", track.pid);
    std::string root = FrameText(name);
    if (with_threads) {
      absl::StrAppend(
          &root, ";",
          FrameText(absl::StrCat("thread ", track.id, " (",
                                 ToAbsl(trace.Name(track.name)), ")")));
    }
    roots.push_back(std::move(root));
  }
  return roots;
}

FoldedStacks::FoldedStacks(const Trace& trace, uint32_t max_frames)
    : trace_(trace),
      tree_(max_frames),
      frame_of_name_(trace.strings().size()) {}

FrameTree::Place FoldedStacks::Root(std::string_view text) {
  FrameTree::Place root;
  while (true) {
    const size_t end = text.find(';');
    root =
        tree_.RootBelow(root.node, Index(texts_.Intern(text.substr(0, end))));
    if (end == std::string_view::npos) return root;
    text.remove_prefix(end + 1);
  }
}

uint32_t FoldedStacks::FrameOf(NameId name) {
  uint32_t& frame = frame_of_name_[Index(name)];
  if (frame == 0) frame = FrameOf(trace_.Name(name));
  return frame;
}

uint32_t FoldedStacks::FrameOf(std::string_view name) {
  return Index(texts_.Intern(FrameText(name)));
}

void FoldedStacks::Add(const FrameTree::Place& place, int64_t weight) {
  weights_.resize(tree_.nodes().size());
  weights_[place.node] += weight;
  if (weight > 0 && place.is_folded) ++folded_count_;
  has_stacks_ = true;
}

void FoldedStacks::AddStacks(const Weights& weights) {
  // By root, and then by stack: maps have no order of their own.
  std::vector<std::pair<uint64_t, int64_t>> sorted(weights.begin(),
                                                   weights.end());
  std::sort(sorted.begin(), sorted.end());
  StackPlaces places(trace_.stacks(), tree_);
  for (const auto& [key, weight] : sorted) {
    const FrameTree::Place root = tree_.PlaceOfRoot(key >> 32);
    Add(places.Get(root, StackId(static_cast<uint32_t>(key)),
                   [&](model::FrameId frame) {
                     return FrameOf(trace_.stacks().frame(frame).function);
                   }),
        weight);
  }
}

void FoldedStacks::AddWaits(std::span<const analysis::WaitGroup> waits,
                            std::span<const FrameTree::Place> roots,
                            Metric metric) {
  StackPlaces places(trace_.stacks(), tree_);
  for (const analysis::WaitGroup& wait : waits) {
    const FrameTree::Place place =
        places.Get(roots[wait.track], wait.stack, [&](model::FrameId frame) {
          return FrameOf(trace_.stacks().frame(frame).function);
        });
    Add(Below(place, FrameOf(WaitFrame(wait))),
        metric == Metric::kCount ? static_cast<int64_t>(wait.count)
                                 : wait.duration_ns);
  }
}

std::vector<int64_t> FoldedStacks::Totals() const {
  std::vector<int64_t> totals(tree_.nodes().size());
  for (size_t i = totals.size(); i-- > 0;) {
    if (i < weights_.size()) totals[i] += std::max<int64_t>(weights_[i], 0);
    const uint32_t parent = tree_.nodes()[i].parent;
    if (parent != FrameTree::kNoNode) totals[parent] += totals[i];
  }
  return totals;
}

int64_t FoldedStacks::total() const {
  int64_t total = 0;
  for (const int64_t weight : weights_) total += std::max<int64_t>(weight, 0);
  return total;
}

std::string FoldedStacks::TextOf(const FrameTree::Node& node) const {
  if (node.frame == FrameTree::kFoldedFrames) {
    return FoldedFramesText(node.folded_frames);
  }
  return std::string(node.frame == FrameTree::kOtherStacks
                         ? kOther
                         : texts_.Get(NameId{node.frame}));
}

std::vector<size_t> FoldedStacks::Lengths() const {
  std::vector<size_t> lengths;
  lengths.reserve(tree_.nodes().size());
  for (const FrameTree::Node& node : tree_.nodes()) {
    const size_t length = node.frame >= FrameTree::kOtherStacks
                              ? TextOf(node).size()
                              : texts_.Get(NameId{node.frame}).size();
    lengths.push_back(node.parent == FrameTree::kNoNode
                          ? length
                          : lengths[node.parent] + 1 + length);
  }
  return lengths;
}

uint64_t FoldedStacks::BytesIfPruned(int64_t least,
                                     const std::vector<int64_t>& totals,
                                     const std::vector<size_t>& lengths) const {
  const auto bytes_of_line = [](size_t length, int64_t weight) {
    return length + absl::StrCat(" ", weight, "\n").size();
  };
  const auto is_shown = [&](uint32_t node) {
    return totals[node] >= least ||
           tree_.nodes()[node].parent == FrameTree::kNoNode;
  };
  uint64_t bytes = 0;
  std::vector<int64_t> others(totals.size());
  for (uint32_t i = 0; i < totals.size(); ++i) {
    const uint32_t parent = tree_.nodes()[i].parent;
    if (is_shown(i)) {
      if (i < weights_.size() && weights_[i] > 0) {
        bytes += bytes_of_line(lengths[i], weights_[i]);
      }
    } else if (is_shown(parent)) {
      others[parent] += totals[i];
    }
  }
  for (uint32_t i = 0; i < others.size(); ++i) {
    if (others[i] == 0) continue;
    bytes += bytes_of_line(lengths[i] + 1 + kOther.size(), others[i]);
  }
  return bytes;
}

int64_t FoldedStacks::LeastWeight(uint64_t max_bytes) const {
  const std::vector<int64_t> totals = Totals();
  const std::vector<size_t> lengths = Lengths();
  if (BytesIfPruned(0, totals, lengths) <= max_bytes) return 0;
  int64_t least = 1;
  int64_t most = total() + 1;
  while (least < most) {
    const int64_t middle = least + (most - least) / 2;
    if (BytesIfPruned(middle, totals, lengths) <= max_bytes) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return least;
}

void FoldedStacks::Prune(int64_t least) {
  if (least <= 0) return;
  const std::vector<int64_t> totals = Totals();
  const auto count = static_cast<uint32_t>(totals.size());
  std::vector<bool> is_shown(count);
  weights_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const FrameTree::Node node = tree_.nodes()[i];
    is_shown[i] = node.parent == FrameTree::kNoNode ||
                  (is_shown[node.parent] && totals[i] >= least);
    if (is_shown[i] || totals[i] == 0) continue;
    // Folded stacks are counted already.
    const bool is_counted =
        tree_.nodes()[node.parent].frame == FrameTree::kFoldedFrames;
    if (weights_[i] > 0 && !is_counted) ++folded_count_;
    if (!is_shown[node.parent]) continue;
    const uint32_t other = tree_.Child(node.parent, FrameTree::kOtherStacks);
    weights_.resize(std::max<size_t>(weights_.size(), other + size_t{1}));
    weights_[other] += totals[i];
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_shown[i]) weights_[i] = 0;
  }
}

// The nodes below each node: those below node i are in
// [begins[i + 1], begins[i + 2]), and the roots come first.
std::vector<uint32_t> FoldedStacks::Children(
    std::vector<size_t>& begins) const {
  const std::vector<FrameTree::Node>& nodes = tree_.nodes();
  // kNoNode + 1 is 0.
  begins.assign(nodes.size() + 2, 0);
  for (const FrameTree::Node& node : nodes) ++begins[node.parent + 1 + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<uint32_t> children(nodes.size());
  std::vector<size_t> ends = begins;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    children[ends[uint32_t{nodes[i].parent + 1}]++] = i;
  }
  return children;
}

// A node's own line, or all lines below it.
struct FoldedStacks::Part {
  uint32_t node = 0;
  bool is_own_line = false;
  std::string text;
  std::string tail;  // what follows the text in its lines

  // As the lines.
  bool operator<(const Part& other) const {
    const size_t both = std::min(text.size(), other.text.size());
    const int sign = text.compare(0, both, other.text, 0, both);
    if (sign != 0) return sign < 0;
    return text.substr(both) + tail < other.text.substr(both) + other.tail;
  }
};

absl::Status FoldedStacks::Write(OutputDirectory& out,
                                 std::string_view name) const {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink, out.Open(name));
  const std::vector<size_t> lengths = Lengths();
  std::vector<size_t> begins;
  const std::vector<uint32_t> children = Children(begins);
  std::string line;
  std::vector<Part> next;  // the last one comes first
  const auto push_children = [&](uint32_t parent) {
    const size_t list = uint32_t{parent + 1};
    const auto first = static_cast<ptrdiff_t>(next.size());
    for (size_t i = begins[list]; i < begins[list + 1]; ++i) {
      const uint32_t node = children[i];
      const std::string text = TextOf(tree_.nodes()[node]);
      if (node < weights_.size() && weights_[node] > 0) {
        next.push_back({node, /*is_own_line=*/true, text,
                        absl::StrCat(" ", weights_[node])});
      }
      if (begins[node + size_t{1}] != begins[node + size_t{2}]) {
        next.push_back({node, /*is_own_line=*/false, text, ";"});
      }
    }
    std::sort(next.begin() + first, next.end());
    std::reverse(next.begin() + first, next.end());
  };
  push_children(FrameTree::kNoNode);
  while (!next.empty()) {
    const Part part = std::move(next.back());
    next.pop_back();
    const uint32_t parent = tree_.nodes()[part.node].parent;
    line.resize(parent == FrameTree::kNoNode ? 0 : lengths[parent]);
    if (parent != FrameTree::kNoNode) line += ';';
    line += part.text;
    if (part.is_own_line) {
      KYMO_RETURN_IF_ERROR(sink->Append(line));
      KYMO_RETURN_IF_ERROR(sink->Append(part.tail + "\n"));
    } else {
      push_children(part.node);
    }
  }
  return sink->Commit();
}

}  // namespace kymo::stacks
