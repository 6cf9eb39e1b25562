#include "profiler/symbolize/jit/jit_code.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace kymo::symbolize {
namespace {

// Bounds what Index takes if functions overlap by the thousands.
constexpr size_t kMostPlaces = 16'000'000;

}  // namespace

uint32_t JitCode::Keep(std::string_view name) {
  name = name.substr(0, kLongestName);
  if (names_.empty() || names_.back() != name) {
    names_.emplace_back(name);
    name_bytes_ += name.size();
  }
  return static_cast<uint32_t>(names_.size() - 1);
}

bool JitCode::HasRoomFor(const JitFunction& function) {
  if (function.size_bytes == 0 || function.size_bytes > kLargestFunction ||
      function.start > ~function.size_bytes) {
    return false;  // no code
  }
  const bool has_room =
      functions_.size() < kMostFunctions && name_bytes_ < kMostNameBytes;
  if (!has_room) ++left_out_;
  return has_room;
}

void JitCode::Add(const JitFunction& function, std::string_view name,
                  std::span<const JitLine> lines) {
  if (!HasRoomFor(function)) return;
  JitFunction& added = functions_.emplace_back(function);
  added.name = Keep(name);
  added.lines_begin = static_cast<uint32_t>(lines_.size());
  for (const JitLine& line : lines) {
    if (lines_.size() >= kMostLines || name_bytes_ >= kMostNameBytes) {
      ++left_out_;
      break;
    }
    lines_.push_back({line.offset, Keep(line.file), line.line});
  }
  added.lines_end = static_cast<uint32_t>(lines_.size());
}

void JitCode::AddMoved(size_t function, const JitFunction& place) {
  if (!HasRoomFor(place)) return;
  JitFunction moved = functions_[function];
  moved.start = place.start;
  moved.size_bytes = place.size_bytes;
  moved.since_ns = place.since_ns;
  functions_.push_back(moved);
}

void JitCode::Index(std::span<const uint64_t> sorted_addresses) {
  histories_.clear();
  for (const uint64_t address : sorted_addresses) {
    histories_.push_back({address, {}});
  }
  std::vector<uint32_t> by_time(functions_.size());
  std::iota(by_time.begin(), by_time.end(), 0u);
  std::ranges::stable_sort(by_time, {},
                           [&](uint32_t i) { return functions_[i].since_ns; });
  size_t places = 0;
  for (const uint32_t i : by_time) {
    const JitFunction& function = functions_[i];
    auto at = std::ranges::lower_bound(histories_, function.start, {},
                                       &History::address);
    for (; at != histories_.end() &&
           at->address - function.start < function.size_bytes &&
           places < kMostPlaces;
         ++at, ++places) {
      at->functions.push_back(i);
    }
  }
}

JitCode::Answer JitCode::Find(uint64_t address, TimeNs time_ns) const {
  const auto history =
      std::ranges::lower_bound(histories_, address, {}, &History::address);
  if (history == histories_.end() || history->address != address ||
      history->functions.empty()) {
    return {};
  }
  const auto since = [&](uint32_t i) { return functions_[i].since_ns; };
  const auto& all = history->functions;
  auto after = std::ranges::upper_bound(all, time_ns, {}, since);
  Answer answer;
  if (after == all.begin() && times_ == Times::kGuessed) {
    // Of those that came at once, the last one counts.
    after = std::ranges::upper_bound(all, since(all.front()), {}, since);
  } else if (after != all.begin()) {
    answer.from_ns = since(*std::prev(after));
    // The first one is there always.
    if (times_ == Times::kGuessed && answer.from_ns == since(all.front())) {
      answer.from_ns = kAlways;
    }
  }
  if (after != all.end()) answer.to_ns = since(*after);
  if (after != all.begin()) answer.function = &functions_[*std::prev(after)];
  return answer;
}

JitCode::Place JitCode::LineOf(const JitFunction& function,
                               uint64_t address) const {
  const std::span<const Line> lines(lines_.data() + function.lines_begin,
                                    lines_.data() + function.lines_end);
  const auto after = std::ranges::upper_bound(lines, address - function.start,
                                              {}, &Line::offset);
  if (after == lines.begin()) return {};
  return {names_[std::prev(after)->file], std::prev(after)->line};
}

}  // namespace kymo::symbolize
