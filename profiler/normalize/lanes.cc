#include "profiler/normalize/lanes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace kymo::normalize {
namespace {

using model::EventIndex;
using model::kNoEvent;
using model::Loss;

constexpr TimeNs kOpen = std::numeric_limits<TimeNs>::max();
constexpr uint32_t kNoDepth = ~uint32_t{0};
// At most so many lanes nest; further ranges are laid out flat.
constexpr size_t kNestedLanes = 8;

// An event on its way into a lane.
struct Item {
  TimeNs start = 0;
  TimeNs end = 0;  // kOpen while open
  // The latest end of it and of the rows behind it that begin with it, if the
  // recorder knew its depth.
  TimeNs latest_end = 0;
  uint32_t source = 0;
  uint32_t row = 0;
  uint32_t depth = kNoDepth;
  uint8_t flags = 0;
};

// A range that may still get children.
struct Open {
  TimeNs end;
  EventIndex row;
  uint32_t source;
  uint32_t depth;
};

class Nester {
 public:
  Nester(const std::vector<TrackSource>& sources, const Window& window,
         model::LossLedger& ledger)
      : sources_(sources), window_(window), ledger_(ledger) {
    AddLane();
  }

  std::vector<Lane> Run() {
    if (sources_.size() == 1 && IsSorted(sources_[0])) {
      const uint32_t rows = static_cast<uint32_t>(sources_[0].size());
      Reserve(rows);
      for (uint32_t row = 0; row < rows; ++row) Visit(MakeItem(0, row));
    } else {
      for (const Item& item : Merged()) Visit(item);
    }
    CloseOpenRanges();
    return std::move(lanes_);
  }

 private:
  // A signal handler may interrupt a thread that is making a record and has not
  // read the clock yet. The handler's records then stand behind that record,
  // with earlier times.
  static bool IsSorted(const TrackSource& events) {
    return std::is_sorted(events.start_ns.begin(), events.start_ns.end());
  }

  void AddLane() {
    lanes_.emplace_back();
    stacks_.emplace_back();
  }

  void Reserve(size_t rows) {
    Lane& lane = lanes_[0];
    lane.start.reserve(rows);
    lane.end.reserve(rows);
    lane.name.reserve(rows);
    lane.parent.reserve(rows);
    lane.detail.reserve(rows);
    lane.type.reserve(rows);
    lane.scope.reserve(rows);
    lane.flags.reserve(rows);
  }

  Item MakeItem(uint32_t source, uint32_t row) const {
    const TrackSource& events = sources_[source];
    Item item;
    item.start = events.start_ns[row];
    item.flags = events.flags[row];
    item.source = source;
    item.row = row;
    item.end = item.flags & model::kEventInstant ? item.start
               : events.end_ns[row] == 0         ? kOpen
                                                 : events.end_ns[row];
    if (!events.depth.empty()) item.depth = events.depth[row];
    return item;
  }

  // The events of all sources by start. Ties: the longer first, then by source
  // and row. But those of a recorder keep its order: a range that began and
  // ended in one tick of the clock may be followed by a longer one.
  std::vector<Item> Merged() const {
    std::vector<Item> items;
    size_t rows = 0;
    for (const TrackSource& source : sources_) rows += source.size();
    items.reserve(rows);
    for (uint32_t s = 0; s < sources_.size(); ++s) {
      const size_t n = sources_[s].size();
      for (uint32_t row = 0; row < n; ++row) items.push_back(MakeItem(s, row));
      for (size_t i = items.size(); i-- > items.size() - n;) {
        Item& item = items[i];
        item.latest_end = item.end;
        if (item.depth != kNoDepth && i + 1 < items.size() &&
            items[i + 1].start == item.start) {
          item.latest_end = std::max(item.end, items[i + 1].latest_end);
        }
      }
    }
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return std::tie(a.start, b.latest_end, a.source, a.row) <
             std::tie(b.start, a.latest_end, b.source, b.row);
    });
    return items;
  }

  void Visit(Item item) {
    if (item.start < window_.start_ns || item.start > window_.end_ns) {
      ledger_.Add(Loss::kEventsOutOfWindow, 1);
      return;
    }
    if (item.end < item.start) {
      ledger_.Add(Loss::kImpossibleTimestamps, 1);
      item.end = item.start;
    }
    if (item.end != kOpen && item.end > window_.end_ns) item.end = kOpen;
    // Asynchronous ranges nest with nothing that the thread did.
    if (item.flags & model::kEventAsync) {
      PlaceFlat(item);
      return;
    }
    if (TryPlace(0, item)) return;
    if (!window_.may_overlap) ledger_.Add(Loss::kRangesOverlapping, 1);
    for (size_t n = 0; n < kNestedLanes; ++n) {
      if (n == nested_.size()) {
        nested_.push_back(lanes_.size());
        AddLane();
      }
      if (TryPlace(nested_[n], item)) return;
    }
    PlaceFlat(item);
  }

  // Whether `top` is over when `item` begins. The clock decides. Where the
  // clock did not advance in between, the recorder's depth decides: a range of
  // the same or a smaller depth is a sibling that follows.
  bool IsOver(const Open& top, const Item& item, Lane& lane) {
    const bool depth_says_over =
        top.depth != kNoDepth && item.depth != kNoDepth &&
        top.source == item.source && top.depth >= item.depth;
    if (top.end == kOpen && depth_says_over) {
      // The end of `top` was lost; the range ended before this item began.
      lane.end[top.row] = item.start;
      return true;
    }
    if (top.end != item.start) return top.end < item.start;
    return depth_says_over || top.depth == kNoDepth || item.depth == kNoDepth ||
           top.source != item.source;
  }

  bool TryPlace(size_t lane_index, const Item& item) {
    std::vector<Open>& stack = stacks_[lane_index];
    Lane& lane = lanes_[lane_index];
    while (!stack.empty() && IsOver(stack.back(), item, lane)) {
      stack.pop_back();
    }
    TimeNs end = item.end;
    EventIndex parent = kNoEvent;
    if (!stack.empty()) {
      if (end == kOpen) end = stack.back().end;
      if (end > stack.back().end) return false;
      parent = stack.back().row;
    }
    const EventIndex row = Append(lane, item, end, parent);
    if (!(item.flags & model::kEventInstant)) {
      stack.push_back({end, row, item.source, item.depth});
    }
    return true;
  }

  // Puts the item into the flat lane that has been free for longest, or into a
  // new one. Ranges of a flat lane follow one another, without parents and
  // children.
  void PlaceFlat(const Item& item) {
    size_t lane = lanes_.size();
    if (!flat_.empty() && flat_.top().first <= item.start) {
      lane = flat_.top().second;
      flat_.pop();
    } else {
      AddLane();
    }
    Append(lanes_[lane], item, item.end, kNoEvent);
    flat_.emplace(item.end, lane);
  }

  EventIndex Append(Lane& lane, const Item& item, TimeNs end,
                    EventIndex parent) {
    const TrackSource& source = sources_[item.source];
    lane.start.push_back(item.start);
    lane.end.push_back(end);
    lane.name.push_back((*source.names)[Index(source.name[item.row])]);
    lane.parent.push_back(parent);
    const bool has_detail =
        !source.detail.empty() && source.detail[item.row] != model::kNoDetail;
    lane.detail.push_back(has_detail
                              ? source.detail[item.row] + source.first_detail
                              : model::kNoDetail);
    lane.type.push_back(source.type[item.row]);
    lane.scope.push_back(source.scope[item.row]);
    lane.flags.push_back(item.end == kOpen ? item.flags | model::kEventOpen
                                           : item.flags);
    return static_cast<EventIndex>(lane.size() - 1);
  }

  // Open ranges end with the thread, but not before anything that happened
  // inside them.
  void CloseOpenRanges() {
    for (Lane& lane : lanes_) {
      std::vector<size_t> open;
      TimeNs last = 0;
      for (size_t i = 0; i < lane.size(); ++i) {
        if (lane.flags[i] & model::kEventOpen) {
          ledger_.Add(Loss::kRangesOpenAtEnd, 1);
        }
        const bool is_open = lane.end[i] == kOpen;
        if (is_open) open.push_back(i);
        last = std::max(last, is_open ? lane.start[i] : lane.end[i]);
      }
      for (const size_t i : open) {
        const bool is_async = (lane.flags[i] & model::kEventAsync) != 0;
        const TimeNs known =
            is_async ? window_.process_end_ns : window_.thread_end_ns;
        lane.end[i] = known == 0 || known >= window_.end_ns
                          ? window_.end_ns
                          : std::max(known, last);
      }
    }
  }

  const std::vector<TrackSource>& sources_;
  const Window& window_;
  model::LossLedger& ledger_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<Open>> stacks_;  // beside lanes_
  std::vector<size_t> nested_;             // lanes whose ranges nest
  // (end of the last range, lane) of the flat lanes, earliest first.
  using FreeAt = std::pair<TimeNs, size_t>;
  std::priority_queue<FreeAt, std::vector<FreeAt>, std::greater<>> flat_;
};

}  // namespace

TrackSource::TrackSource(const model::EventColumns& columns, size_t begin,
                         size_t end, const std::vector<model::NameId>& names,
                         model::DetailIndex first_detail)
    : names(&names), first_detail(first_detail) {
  const auto rows = [&](const auto& column) {
    return column.empty() ? std::span(column)
                          : std::span(column).subspan(begin, end - begin);
  };
  start_ns = rows(columns.start_ns);
  end_ns = rows(columns.end_ns);
  name = rows(columns.name);
  type = rows(columns.type);
  scope = rows(columns.scope);
  flags = rows(columns.flags);
  depth = rows(columns.depth);
  detail = rows(columns.detail);
}

std::vector<Lane> NestTrack(const std::vector<TrackSource>& sources,
                            const Window& window, model::LossLedger& ledger) {
  return Nester(sources, window, ledger).Run();
}

}  // namespace kymo::normalize
