#include "exporters/stacks/folded.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::stacks {

using model::NameId;
using model::StackId;
using model::Trace;

namespace {

constexpr std::string_view kOther = "[other]";

// The nodes below each node, by their parents: those below node i are in
// [begins[i + 1], begins[i + 2]), and the roots come first.
std::vector<uint32_t> Children(const std::vector<uint32_t>& parents,
                               std::vector<size_t>& begins) {
  static_assert(FrameTree::kNoNode + 1 == 0);
  begins.assign(parents.size() + 2, 0);
  for (const uint32_t parent : parents) ++begins[parent + 1 + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<uint32_t> children(parents.size());
  std::vector<size_t> ends = begins;
  for (uint32_t i = 0; i < parents.size(); ++i) {
    children[ends[uint32_t{parents[i] + 1}]++] = i;
  }
  return children;
}

}  // namespace

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
  weights_.resize(tree_.node_count());
  weights_[place.node] += weight;
  if (weight > 0 && place.is_folded) ++folded_count_;
  has_stacks_ = true;
}

void FoldedStacks::AddStacks(std::vector<Weight> weights) {
  // By root, and then by stack.
  std::sort(weights.begin(), weights.end());
  StackPlaces places(trace_.stacks(), tree_);
  for (size_t i = 0; i < weights.size();) {
    const uint64_t key = weights[i].first;
    int64_t weight = 0;
    for (; i < weights.size() && weights[i].first == key; ++i) {
      weight += weights[i].second;
    }
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
  std::vector<int64_t> totals(tree_.node_count());
  for (uint32_t i = tree_.node_count(); i-- > 0;) {
    if (i < weights_.size()) totals[i] += std::max<int64_t>(weights_[i], 0);
    const uint32_t parent = tree_.parent(i);
    if (parent != FrameTree::kNoNode) totals[parent] += totals[i];
  }
  return totals;
}

int64_t FoldedStacks::total() const {
  int64_t total = 0;
  for (const int64_t weight : weights_) total += std::max<int64_t>(weight, 0);
  return total;
}

std::string FoldedStacks::TextOf(uint32_t node) const {
  const uint32_t frame = tree_.frame(node);
  if (frame == FrameTree::kFoldedFrames) {
    return FoldedFramesText(tree_.folded_frames(node));
  }
  return std::string(
      frame == FrameTree::kOtherStacks ? kOther : texts_.Get(NameId{frame}));
}

size_t FoldedStacks::LengthOf(uint32_t node) const {
  const uint32_t frame = tree_.frame(node);
  return frame >= FrameTree::kOtherStacks ? TextOf(node).size()
                                          : texts_.Get(NameId{frame}).size();
}

// What decides how many bytes a Prune leaves. Most nodes do not: one without a
// line of its own and with a single child that has a weight weighs as much as
// that child, so both stay, or both go. Nor does what weighs less than
// `at_least`, which always goes.
class FoldedStacks::Sizes {
 public:
  Sizes(const FoldedStacks& folded, const std::vector<int64_t>& totals,
        int64_t at_least) {
    const FrameTree& tree = folded.tree_;
    // Of the line of each node that stays, without its weight.
    std::vector<uint32_t> lengths(totals.size());
    for (uint32_t i = 0; i < totals.size(); ++i) {
      if (totals[i] == 0) continue;
      const uint32_t parent = tree.parent(i);
      const bool is_root = parent == FrameTree::kNoNode;
      if (is_root || totals[i] >= at_least) {
        lengths[i] = static_cast<uint32_t>(folded.LengthOf(i) +
                                           (is_root ? 0 : lengths[parent] + 1));
      }
      const int64_t always = std::numeric_limits<int64_t>::max();
      const int64_t own = i < folded.weights_.size() ? folded.weights_[i] : 0;
      if (own > 0 && (is_root || totals[i] >= at_least)) {
        lines_.push_back(
            {is_root ? always : totals[i], BytesOfLine(lengths[i], own)});
      }
      if (is_root) continue;
      const bool has_root = tree.parent(parent) == FrameTree::kNoNode;
      if (!has_root &&
          (totals[parent] == totals[i] || totals[parent] < at_least)) {
        continue;
      }
      parts_.push_back({parent, lengths[parent],
                        has_root ? always : totals[parent], totals[i]});
    }
    // A node's parts stand beside each other.
    std::stable_sort(
        parts_.begin(), parts_.end(),
        [](const Part& a, const Part& b) { return a.parent < b.parent; });
  }

  uint64_t BytesIfPruned(int64_t least) const {
    uint64_t bytes = 0;
    for (const Line& line : lines_) {
      if (line.total >= least) bytes += line.bytes;
    }
    for (size_t i = 0; i < parts_.size();) {
      const Part& first = parts_[i];
      int64_t other = 0;
      for (; i < parts_.size() && parts_[i].parent == first.parent; ++i) {
        if (parts_[i].total < least) other += parts_[i].total;
      }
      if (other == 0 || first.parent_total < least) continue;
      bytes +=
          BytesOfLine(first.parent_length + size_t{1} + kOther.size(), other);
    }
    return bytes;
  }

 private:
  struct Line {
    int64_t total;  // of its node
    uint64_t bytes;
  };
  // A node that may go while its parent stays.
  struct Part {
    uint32_t parent;
    uint32_t parent_length;
    int64_t parent_total;
    int64_t total;
  };

  static uint64_t BytesOfLine(size_t length, int64_t weight) {
    return length + absl::StrCat(" ", weight, "\n").size();
  }

  std::vector<Line> lines_;
  std::vector<Part> parts_;
};

int64_t FoldedStacks::LeastWeight(uint64_t max_bytes, int64_t at_least,
                                  uint64_t* bytes) const {
  const Sizes sizes(*this, Totals(), at_least);
  int64_t least = at_least;
  int64_t most = total() + 1;
  uint64_t size = sizes.BytesIfPruned(least);
  if (size > max_bytes) {
    ++least;
    while (least < most) {
      const int64_t middle = least + (most - least) / 2;
      if (sizes.BytesIfPruned(middle) <= max_bytes) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    size = sizes.BytesIfPruned(least);
  }
  if (bytes != nullptr) *bytes = size;
  return size <= max_bytes ? least : total() + 2;
}

void FoldedStacks::Prune(int64_t least) {
  if (least <= 0) return;
  const std::vector<int64_t> totals = Totals();
  const auto count = static_cast<uint32_t>(totals.size());
  std::vector<bool> is_shown(count);
  std::vector<std::pair<uint32_t, int64_t>> others;  // by parent
  weights_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t parent = tree_.parent(i);
    is_shown[i] = parent == FrameTree::kNoNode ||
                  (is_shown[parent] && totals[i] >= least);
    if (is_shown[i]) continue;
    // Folded stacks are counted already.
    const bool is_counted = tree_.frame(parent) == FrameTree::kFoldedFrames;
    if (weights_[i] > 0 && !is_counted) ++pruned_count_;
    weights_[i] = 0;
    if (totals[i] != 0 && is_shown[parent]) {
      others.emplace_back(parent, totals[i]);
    }
  }
  folded_count_ += pruned_count_;
  for (const auto& [parent, total] : others) {
    const uint32_t other = tree_.Child(parent, FrameTree::kOtherStacks);
    weights_.resize(std::max<size_t>(weights_.size(), other + size_t{1}));
    weights_[other] += total;
  }
}

void FoldedStacks::Restore() {
  if (whole_weights_.empty()) return;
  weights_ = std::exchange(whole_weights_, {});
  folded_count_ -= std::exchange(pruned_count_, 0);
}

// The nodes whose total is not 0; `parents` gets the place of each one's parent
// among them. After a Prune these are few.
std::vector<uint32_t> FoldedStacks::ShownNodes(
    std::vector<uint32_t>& parents) const {
  const std::vector<int64_t> totals = Totals();
  std::vector<uint32_t> shown;
  std::vector<uint32_t> place_of(totals.size());
  for (uint32_t i = 0; i < totals.size(); ++i) {
    if (totals[i] == 0) continue;
    place_of[i] = static_cast<uint32_t>(shown.size());
    shown.push_back(i);
    const uint32_t parent = tree_.parent(i);
    parents.push_back(parent == FrameTree::kNoNode ? FrameTree::kNoNode
                                                   : place_of[parent]);
  }
  return shown;
}

// A node's own line, or all lines below it.
struct FoldedStacks::Part {
  uint32_t place = 0;  // among the shown nodes
  bool is_own_line = false;
  std::string_view text;
  std::string tail;  // what follows the text in its lines

  // As the lines.
  bool operator<(const Part& other) const {
    const size_t both = std::min(text.size(), other.text.size());
    const int sign = text.compare(0, both, other.text, 0, both);
    if (sign != 0) return sign < 0;
    const auto rest = [both](const Part& part) {
      return std::string(part.text.substr(both)) + part.tail;
    };
    return rest(*this) < rest(other);
  }
};

absl::Status FoldedStacks::Write(OutputDirectory& out,
                                 std::string_view name) const {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink, out.Open(name));
  std::vector<uint32_t> parents;
  const std::vector<uint32_t> shown = ShownNodes(parents);
  std::vector<size_t> lengths;
  for (size_t i = 0; i < shown.size(); ++i) {
    const size_t length = LengthOf(shown[i]);
    lengths.push_back(parents[i] == FrameTree::kNoNode
                          ? length
                          : lengths[parents[i]] + 1 + length);
  }
  std::vector<size_t> begins;
  const std::vector<uint32_t> children = Children(parents, begins);
  std::deque<std::string> made_texts;
  std::string line;
  std::vector<Part> next;  // the last one comes first
  const auto push_children = [&](uint32_t parent) {
    const size_t list = uint32_t{parent + 1};
    const auto first = static_cast<ptrdiff_t>(next.size());
    for (size_t i = begins[list]; i < begins[list + 1]; ++i) {
      const uint32_t place = children[i];
      const uint32_t node = shown[place];
      const uint32_t frame = tree_.frame(node);
      const std::string_view text = frame < FrameTree::kOtherStacks
                                        ? texts_.Get(NameId{frame})
                                        : made_texts.emplace_back(TextOf(node));
      if (node < weights_.size() && weights_[node] > 0) {
        next.push_back({place, /*is_own_line=*/true, text,
                        absl::StrCat(" ", weights_[node])});
      }
      if (begins[place + size_t{1}] != begins[place + size_t{2}]) {
        next.push_back({place, /*is_own_line=*/false, text, ";"});
      }
    }
    if (next.size() - static_cast<size_t>(first) < 2) return;
    std::sort(next.begin() + first, next.end());
    std::reverse(next.begin() + first, next.end());
  };
  push_children(FrameTree::kNoNode);
  while (!next.empty()) {
    const Part part = std::move(next.back());
    next.pop_back();
    const uint32_t parent = parents[part.place];
    line.resize(parent == FrameTree::kNoNode ? 0 : lengths[parent]);
    if (parent != FrameTree::kNoNode) line += ';';
    line += part.text;
    if (part.is_own_line) {
      KYMO_RETURN_IF_ERROR(sink->Append(line));
      KYMO_RETURN_IF_ERROR(sink->Append(part.tail + "\n"));
    } else {
      push_children(part.place);
    }
  }
  return sink->Commit();
}

}  // namespace kymo::stacks
