// rare_details.h - what few events have, or many have alike, beside a Detail.
//
//   shard.rare_details.Set(detail, {.forward_thread = 1});
//   use(shard.rare_details.Get(detail).forward_thread);
//
// A trace may have millions of details, so what would make each of them larger
// stands here. There are few different values, and they take turns: a detail
// shares one of the last kMostShared, if it is equal.
#ifndef KYMO_PROFILER_MODEL_RARE_DETAILS_H_
#define KYMO_PROFILER_MODEL_RARE_DETAILS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/model/records.h"

namespace kymo::model {

struct RareDetail {
  uint64_t forward_thread = 0;  // logical id of the forward range's thread
  int64_t debug_handle = -1;
  int64_t node_id = -1;  // distributed node
  uint32_t calls = 1;    // more than 1 only with kEventFolded

  friend bool operator==(const RareDetail&, const RareDetail&) = default;
};

class RareDetails {
 public:
  static constexpr size_t kMostShared = 16;

  const RareDetail& Get(const Detail& detail) const {
    static constexpr RareDetail kNone;
    return detail.rare == kNoRare ? kNone : all_[detail.rare];
  }

  // Does not change other details that share the value which `detail` had.
  void Set(Detail& detail, const RareDetail& value) {
    if (value == RareDetail()) {
      detail.rare = kNoRare;
      return;
    }
    const auto last =
        all_.end() - static_cast<ptrdiff_t>(std::min(all_.size(), kMostShared));
    auto at = std::find(last, all_.end(), value);
    if (at == all_.end()) at = all_.insert(at, value);
    detail.rare = static_cast<RareIndex>(at - all_.begin());
  }

  // Takes over those of other details. The index of each of these must grow by
  // the result (Moved).
  RareIndex Append(const RareDetails& others) {
    const auto first = static_cast<RareIndex>(all_.size());
    all_.insert(all_.end(), others.all_.begin(), others.all_.end());
    return first;
  }
  static RareIndex Moved(RareIndex index, RareIndex first) {
    return index == kNoRare ? kNoRare : index + first;
  }

  bool empty() const noexcept { return all_.empty(); }
  size_t size() const noexcept { return all_.size(); }
  void clear() noexcept { all_.clear(); }
  // Each value once, whoever shares it.
  std::span<const RareDetail> all() const noexcept { return all_; }
  std::span<RareDetail> all() noexcept { return all_; }

 private:
  std::vector<RareDetail> all_;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_RARE_DETAILS_H_
