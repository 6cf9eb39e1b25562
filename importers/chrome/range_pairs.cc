#include "importers/chrome/range_pairs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace kymo::chrome_import {
namespace {

class Pairing {
 public:
  Pairing(const std::vector<uint32_t>& pid_of_row, Findings& findings,
          model::LossLedger& ledger)
      : pid_of_row_(pid_of_row), findings_(findings), ledger_(ledger) {}

  void Visit(const RangeEnd& end) {
    std::vector<size_t>& open =
        end.is_async ? async_[{pid_of_row_[end.range.row], Index(end.key)}]
                     : rows_[end.range.row];
    if (end.is_begin) {
      open.push_back(pairs_.size());
      pairs_.push_back({.range = end.range});
      pairs_.back().range.is_open = true;
      offsets_.push_back(end.offset);
      return;
    }
    const auto begin = FindBegin(open, end);
    if (begin == open.end()) {
      findings_.Add(Rule::kEndWithoutBegin, end.offset);
      ledger_.Add(model::Loss::kEndsWithoutBegin, 1);
      return;
    }
    PairedRange& pair = pairs_[*begin];
    pair.range.end = end.range.start;
    pair.range.is_open = false;
    pair.end_detail = end.range.detail;
    open.erase(begin);
  }

  std::vector<PairedRange> Take() {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].range.is_open) {
        findings_.Add(Rule::kBeginWithoutEnd, offsets_[i]);
      }
    }
    return std::move(pairs_);
  }

 private:
  std::vector<size_t>::iterator FindBegin(std::vector<size_t>& open,
                                          const RangeEnd& end) {
    if (open.empty()) return open.end();
    // B and E pair like brackets: the end needs no name.
    if (!end.is_async) return open.end() - 1;
    constexpr size_t kMostLookedAt = 64;
    const size_t looked_at = std::min(open.size(), kMostLookedAt);
    for (size_t back = 1; back <= looked_at; ++back) {
      const auto it = open.end() - static_cast<ptrdiff_t>(back);
      if (pairs_[*it].range.name == end.range.name) return it;
    }
    return open.end() - 1;
  }

  const std::vector<uint32_t>& pid_of_row_;
  Findings& findings_;
  model::LossLedger& ledger_;
  std::vector<PairedRange> pairs_;
  std::vector<uint64_t> offsets_;  // by position in pairs_
  absl::flat_hash_map<RowIndex, std::vector<size_t>> rows_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, std::vector<size_t>>
      async_;
};

}  // namespace

std::vector<PairedRange> PairRanges(std::vector<RangeEnd> ends,
                                    const std::vector<uint32_t>& pid_of_row,
                                    Findings& findings,
                                    model::LossLedger& ledger) {
  std::stable_sort(ends.begin(), ends.end(),
                   [](const RangeEnd& a, const RangeEnd& b) {
                     return a.range.start < b.range.start;
                   });
  Pairing pairing(pid_of_row, findings, ledger);
  for (const RangeEnd& end : ends) pairing.Visit(end);
  return pairing.Take();
}

}  // namespace kymo::chrome_import
