#include "profiler/query/row_set.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kymo::query {

void RowSet::SetRanges(std::vector<RowRange> ranges) {
  is_list_ = false;
  ranges_ = std::move(ranges);
  std::erase_if(ranges_, [](const RowRange& r) { return r.begin >= r.end; });
}

void RowSet::SetList(std::span<const Row> rows) {
  is_list_ = true;
  list_ = rows;
}

void RowSet::Restrict(const std::vector<RowRange>& ranges) {
  if (is_list_) {
    std::vector<Row> kept;
    auto range = ranges.begin();
    for (const Row row : list_) {
      while (range != ranges.end() && range->end <= row) ++range;
      if (range == ranges.end()) break;
      if (row >= range->begin) kept.push_back(row);
    }
    own_list_ = std::move(kept);
    list_ = own_list_;
    return;
  }
  std::vector<RowRange> both;
  auto a = ranges_.begin();
  auto b = ranges.begin();
  while (a != ranges_.end() && b != ranges.end()) {
    const RowRange shared = {std::max(a->begin, b->begin),
                             std::min(a->end, b->end)};
    if (shared.begin < shared.end) both.push_back(shared);
    if (a->end < b->end) {
      ++a;
    } else {
      ++b;
    }
  }
  ranges_ = std::move(both);
}

size_t RowSet::size() const {
  if (is_list_) return list_.size();
  size_t size = 0;
  for (const RowRange& range : ranges_) size += range.end - range.begin;
  return size;
}

void RowSet::Order(std::span<const Row> all_in_order) {
  if (size() == all_in_order.size()) {
    SetList(all_in_order);
    return;
  }
  std::vector<bool> is_in(all_in_order.size());
  for (Begin(false); !AtEnd(); Next()) is_in[row()] = true;
  std::vector<Row> ordered;
  ordered.reserve(size());
  for (const Row row : all_in_order) {
    if (is_in[row]) ordered.push_back(row);
  }
  own_list_ = std::move(ordered);
  SetList(own_list_);
}

void RowSet::Begin(bool backwards) {
  backwards_ = backwards;
  left_ = size();
  if (left_ == 0) return;
  if (is_list_) {
    place_ = backwards ? list_.size() - 1 : 0;
    row_ = list_[place_];
  } else {
    place_ = backwards ? ranges_.size() - 1 : 0;
    row_ = backwards ? ranges_[place_].end - 1 : ranges_[place_].begin;
  }
}

void RowSet::Step() {
  if (is_list_) {
    place_ += backwards_ ? -1 : 1;
    row_ = list_[place_];
  } else if (backwards_) {
    row_ = row_ == ranges_[place_].begin ? ranges_[--place_].end - 1 : row_ - 1;
  } else {
    ++row_;
    if (row_ == ranges_[place_].end) row_ = ranges_[++place_].begin;
  }
}

}  // namespace kymo::query
