#include "profiler/symbolize/address_space.h"

#include <algorithm>

namespace kymo::symbolize {
namespace {

bool Contains(const Mapping& mapping, uint64_t address) noexcept {
  return mapping.start <= address && address < mapping.end;
}

}  // namespace

void AddressSpace::Map(const Mapping& mapping) {
  if (mapping.end <= mapping.start) return;
  const auto overlaps_end = std::partition_point(
      mappings_.begin(), mappings_.end(),
      [&](const Mapping& m) { return m.start < mapping.end; });
  const auto overlaps_begin = std::partition_point(
      mappings_.begin(), overlaps_end,
      [&](const Mapping& m) { return m.end <= mapping.start; });
  // Only the first and the last of the covered mappings can leave a rest.
  std::vector<Mapping> fresh;
  if (overlaps_begin != overlaps_end) {
    const Mapping first = *overlaps_begin;
    const Mapping last = *(overlaps_end - 1);
    if (first.start < mapping.start) {
      fresh.push_back(first);
      fresh.back().end = mapping.start;
    }
    fresh.push_back(mapping);
    if (last.end > mapping.end) {
      fresh.push_back(last);
      fresh.back().start = mapping.end;
    }
  } else {
    fresh.push_back(mapping);
  }
  const auto at = mappings_.erase(overlaps_begin, overlaps_end);
  mappings_.insert(at, fresh.begin(), fresh.end());
}

void AddressSpace::Clear() noexcept {
  mappings_.clear();
  last_ = 0;
}

const Mapping* AddressSpace::Find(uint64_t address) const noexcept {
  if (last_ < mappings_.size() && Contains(mappings_[last_], address)) {
    return &mappings_[last_];
  }
  const Mapping* const before = FindBefore(address);
  if (before == nullptr || !Contains(*before, address)) return nullptr;
  last_ = static_cast<size_t>(before - mappings_.data());
  return before;
}

const Mapping* AddressSpace::FindBefore(uint64_t address) const noexcept {
  const auto after = std::partition_point(
      mappings_.begin(), mappings_.end(),
      [&](const Mapping& m) { return m.start <= address; });
  return after == mappings_.begin() ? nullptr : &*(after - 1);
}

}  // namespace kymo::symbolize
