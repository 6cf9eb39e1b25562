#include "importers/chrome/exact_records.h"

#include <array>
#include <cstddef>
#include <limits>
#include <optional>

#include <simdjson.h>

#include "profiler/model/loss_ledger.h"

namespace kymo::chrome_import {
namespace {

using simdjson::SUCCESS;
using simdjson::dom::element;

constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
// Of all threads of a file: 18 years. Sums over several files fit, too.
constexpr uint64_t kMostThreadNs = kMost / 16;
// Of one thread: the switches of all threads of a file still add up.
constexpr uint64_t kMostSwitches = uint64_t{1} << 48;

// The N numbers of a list, or nothing.
template <size_t N>
std::optional<std::array<uint64_t, N>> Numbers(element item) {
  simdjson::dom::array list;
  std::array<uint64_t, N> numbers;
  if (item.get(list) != SUCCESS || list.size() != N) return std::nullopt;
  size_t i = 0;
  for (const element number : list) {
    if (number.get(numbers[i++]) != SUCCESS) return std::nullopt;
  }
  return numbers;
}

// take(item) of each element of a list, until one is false.
template <typename Take>
bool ForEach(element value, const Take& take) {
  simdjson::dom::array list;
  if (value.get(list) != SUCCESS) return false;
  for (const element item : list) {
    if (!take(item)) return false;
  }
  return true;
}

}  // namespace

void ExactRecords::Add(std::string_view json, model::TraceShard& shard) {
  if (is_broken_ || Read(json, shard)) return;
  is_broken_ = true;
  samples_.clear();
  threads_.clear();
  shard.ledger.Add(model::Loss::kRecordsCorrupt, 1);
}

bool ExactRecords::Read(std::string_view json, model::TraceShard& shard) {
  simdjson::dom::parser parser;
  simdjson::dom::object lists;
  if (parser.parse(json.data(), json.size()).get(lists) != SUCCESS) {
    return false;
  }
  const auto add_name = [&](element item) {
    std::string_view name;
    if (item.get(name) != SUCCESS) return false;
    names_.push_back(shard.strings.Intern(name));
    return true;
  };
  const auto add_frame = [&](element item) {
    const auto frame = Numbers<6>(item);
    if (!frame) return false;
    const auto& [function, file, module, line, address, flags] = *frame;
    if (function >= names_.size() || file >= names_.size() ||
        module >= names_.size() || line > ~uint32_t{0}) {
      return false;
    }
    frames_.push_back(
        shard.stacks.AddFrame({.function = names_[function],
                               .file = names_[file],
                               .module = names_[module],
                               .line = static_cast<uint32_t>(line),
                               .address = address,
                               .is_inlined = (flags & 1) != 0,
                               .is_kernel = (flags & 2) != 0,
                               .is_resolved = (flags & 4) == 0}));
    return true;
  };
  const auto add_stack = [&](element item) {
    const auto stack = Numbers<2>(item);
    if (!stack || (*stack)[0] >= stacks_.size() ||
        (*stack)[1] >= frames_.size()) {
      return false;
    }
    stacks_.push_back(
        shard.stacks.Push(stacks_[(*stack)[0]], frames_[(*stack)[1]]));
    return true;
  };
  const auto add_row = [&](element item) {
    const auto row = Numbers<2>(item);
    if (!row) return false;
    rows_.push_back({std::to_string((*row)[0]), std::to_string((*row)[1])});
    return true;
  };
  const auto add_sample = [&](element item) {
    const auto sample = Numbers<4>(item);
    if (!sample) return false;
    const auto& [row, time, weight, stack] = *sample;
    if (row >= rows_.size() || time > kMost || weight > kMost ||
        stack >= stacks_.size()) {
      return false;
    }
    samples_.push_back({.row = static_cast<uint32_t>(row),
                        .time_ns = static_cast<TimeNs>(time),
                        .weight_ns = static_cast<DurationNs>(weight),
                        .stack = stacks_[stack]});
    return true;
  };
  const auto add_allocations = [&](element item) {
    const auto counts = Numbers<5>(item);
    if (!counts) return false;
    const auto& [pid, tid, allocations, frees, bytes] = *counts;
    allocations_.push_back({{std::to_string(pid), std::to_string(tid)},
                            {.allocations = allocations,
                             .frees = frees,
                             .allocated_bytes = bytes}});
    return true;
  };
  const auto add_thread = [&](element item) {
    const auto thread = Numbers<10>(item);
    if (!thread) return false;
    const auto& [pid, tid, wall, on_cpu, runnable, unknown, open_wait,
                 voluntary, involuntary, run_queue] = *thread;
    // A part is no longer than the whole.
    uint64_t left = wall;
    for (const uint64_t part : {on_cpu, runnable, unknown, open_wait}) {
      if (part > left) return false;
      left -= part;
    }
    if (wall > kMostThreadNs - threads_wall_ns_ ||
        voluntary > kMostSwitches || involuntary > kMostSwitches ||
        run_queue > static_cast<uint64_t>(model::kLastRunQueueTime)) {
      return false;
    }
    threads_wall_ns_ += wall;
    threads_.push_back(
        {{std::to_string(pid), std::to_string(tid)},
         {.wall_ns = static_cast<DurationNs>(wall),
          .on_cpu_ns = static_cast<DurationNs>(on_cpu),
          .runnable_ns = static_cast<DurationNs>(runnable),
          .unknown_ns = static_cast<DurationNs>(unknown),
          .open_wait_ns = static_cast<DurationNs>(open_wait),
          .voluntary_switches = voluntary,
          .involuntary_switches = involuntary,
          .run_queue = static_cast<model::RunQueueTime>(run_queue)}});
    return true;
  };
  for (const auto [key, value] : lists) {
    bool is_good = true;
    if (key == "sampling_period_ns") {
      int64_t period_ns = 0;
      is_good = value.get(period_ns) == SUCCESS && period_ns >= 0;
      if (is_good) shard.sampling_period_ns = period_ns;
    } else if (key == "memory_sample_interval") {
      double interval = 0;
      is_good = value.get(interval) == SUCCESS && interval >= 0;
      if (is_good) shard.memory_sample_interval = interval;
    } else if (key == "names") {
      is_good = ForEach(value, add_name);
    } else if (key == "frames") {
      is_good = ForEach(value, add_frame);
    } else if (key == "stacks") {
      is_good = ForEach(value, add_stack);
    } else if (key == "rows") {
      is_good = ForEach(value, add_row);
    } else if (key == "samples") {
      is_good = ForEach(value, add_sample);
    } else if (key == "allocations") {
      is_good = ForEach(value, add_allocations);
    } else if (key == "threads") {
      is_good = ForEach(value, add_thread);
    } else if (key == "cpu_count") {
      uint64_t count = 0;
      is_good = value.get(count) == SUCCESS && count <= ~uint32_t{0};
      if (is_good) cpu_count_ = static_cast<uint32_t>(count);
    }
    if (!is_good) return false;
  }
  return true;
}

}  // namespace kymo::chrome_import
