#include "importers/chrome/exact_records.h"

#include <algorithm>
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
// Of one thread: those of all threads of a file still add up.
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

// Of a thread. Files that older versions wrote do not have the last four.
std::optional<std::array<uint64_t, 14>> ThreadNumbers(element item) {
  const auto older = Numbers<10>(item);
  if (!older) return Numbers<14>(item);
  std::array<uint64_t, 14> numbers = {};
  std::copy(older->begin(), older->end(), numbers.begin());
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
  sample_sums_.clear();
  threads_.clear();
  waits_ = {};
  shard.ledger.Add(model::Loss::kRecordsCorrupt, 1);
}

bool ExactRecords::AddSampleSum(const std::array<uint64_t, 4>& sum) {
  const auto& [row, stack, count, weight] = sum;
  if (row >= wait_rows_.size() || stack >= stacks_.size() || count == 0 ||
      count > kMostSwitches - summed_count_ ||
      weight > kMostThreadNs - summed_ns_) {
    return false;
  }
  summed_count_ += count;
  summed_ns_ += weight;
  sample_sums_.push_back({.track = static_cast<model::TrackIndex>(row),
                          .stack = stacks_[stack],
                          .count = count,
                          .weight_ns = static_cast<DurationNs>(weight)});
  return true;
}

bool ExactRecords::AddThreadCounts(const std::array<uint64_t, 11>& counts) {
  const auto& [thread, has_faults, minor_faults, major_faults, has_io,
               read_calls, read_bytes, write_calls, written_bytes,
               disk_read_bytes, disk_written_bytes] = counts;
  if (thread >= threads_.size() || has_faults > 1 || has_io > 1) return false;
  for (const uint64_t count : counts) {
    if (count > kMost) return false;
  }
  threads_[thread].times.counts = {.has_faults = has_faults == 1,
                                   .minor_faults = minor_faults,
                                   .major_faults = major_faults,
                                   .has_io = has_io == 1,
                                   .read_calls = read_calls,
                                   .read_bytes = read_bytes,
                                   .write_calls = write_calls,
                                   .written_bytes = written_bytes,
                                   .disk_read_bytes = disk_read_bytes,
                                   .disk_written_bytes = disk_written_bytes};
  return true;
}

bool ExactRecords::AddCpuLimit(const std::array<uint64_t, 5>& limit) {
  const auto& [quota, period, periods, throttled_periods, throttled] = limit;
  if (quota > kMost || period > kMost || throttled > kMost) return false;
  const model::CpuLimit read = {
      .quota_ns = static_cast<DurationNs>(quota),
      .period_ns = static_cast<DurationNs>(period),
      .periods = periods,
      .throttled_periods = throttled_periods,
      .throttled_ns = static_cast<DurationNs>(throttled)};
  if (read.is_possible()) cpu_limit_ = read;
  return read.is_possible();
}

bool ExactRecords::AddWait(const std::array<uint64_t, 13>& wait) {
  const auto& [row, kind, is_open, begin, duration, runnable, stack, object,
               name, waker, waker_stack, holder, holder_stack] = wait;
  if (row >= wait_rows_.size() ||
      kind > static_cast<uint64_t>(model::kLastWaitKind) || is_open > 1 ||
      begin > kMostThreadNs || duration > kMostThreadNs - waits_ns_ ||
      runnable > duration + 1 || stack >= stacks_.size() ||
      name >= names_.size() || waker > wait_rows_.size() ||
      waker_stack >= stacks_.size() || holder > wait_rows_.size() ||
      holder_stack >= stacks_.size()) {
    return false;
  }
  const auto other = [](uint64_t number) {
    return number == 0 ? model::kNoTrack
                       : static_cast<model::TrackIndex>(number - 1);
  };
  waits_ns_ += duration;
  waits_.waits.push_back({.track = static_cast<model::TrackIndex>(row),
                          .kind = static_cast<model::WaitKind>(kind),
                          .is_open = is_open == 1,
                          .begin_ns = static_cast<TimeNs>(begin),
                          .duration_ns = static_cast<DurationNs>(duration),
                          .runnable_ns = static_cast<DurationNs>(runnable) - 1,
                          .stack = stacks_[stack],
                          .object = object,
                          .object_name = names_[name],
                          .waker = other(waker),
                          .waker_stack = stacks_[waker_stack],
                          .holder = other(holder),
                          .holder_stack = stacks_[holder_stack]});
  return true;
}

bool ExactRecords::AddShortWaits(const std::array<uint64_t, 8>& sum) {
  const auto& [row, kind, stack, object, name, count, duration, longest] = sum;
  if (row >= wait_rows_.size() ||
      kind > static_cast<uint64_t>(model::kLastWaitKind) ||
      stack >= stacks_.size() || name >= names_.size() || count == 0 ||
      count > kMostSwitches || duration > kMostThreadNs - waits_ns_ ||
      longest > duration) {
    return false;
  }
  waits_ns_ += duration;
  waits_.short_waits.push_back(
      {.track = static_cast<model::TrackIndex>(row),
       .kind = static_cast<model::WaitKind>(kind),
       .stack = stacks_[stack],
       .object = object,
       .object_name = names_[name],
       .count = count,
       .duration_ns = static_cast<DurationNs>(duration),
       .longest_ns = static_cast<DurationNs>(longest)});
  return true;
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
    if (row >= rows_.size() || time > kMost ||
        weight > kMostThreadNs - sampled_ns_ || stack >= stacks_.size()) {
      return false;
    }
    sampled_ns_ += weight;
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
    if (allocations > kMostSwitches || frees > kMostSwitches) return false;
    allocations_.push_back({{std::to_string(pid), std::to_string(tid)},
                            {.allocations = allocations,
                             .frees = frees,
                             .allocated_bytes = bytes}});
    return true;
  };
  const auto add_parent = [&](element item) {
    const auto pids = Numbers<2>(item);
    if (!pids || (*pids)[0] > kMost || (*pids)[1] > kMost) return false;
    parents_.push_back({.pid = static_cast<int64_t>((*pids)[0]),
                        .parent_pid = static_cast<int64_t>((*pids)[1])});
    return true;
  };
  const auto add_program = [&](element item) {
    const auto program = Numbers<2>(item);
    if (!program || (*program)[0] > kMost || (*program)[1] > kMostThreadNs) {
      return false;
    }
    programs_.push_back({.pid = static_cast<int64_t>((*program)[0]),
                         .start_ns = static_cast<TimeNs>((*program)[1])});
    return true;
  };
  const auto add_thread = [&](element item) {
    const auto thread = ThreadNumbers(item);
    if (!thread) return false;
    const auto& [pid, tid, wall, on_cpu, runnable, unknown, open_wait,
                 voluntary, involuntary, run_queue, begin, end, creator_pid,
                 creator_tid] = *thread;
    // A part is no longer than the whole.
    uint64_t left = wall;
    for (const uint64_t part : {on_cpu, runnable, unknown, open_wait}) {
      if (part > left) return false;
      left -= part;
    }
    if (wall > kMostThreadNs - threads_wall_ns_ || voluntary > kMostSwitches ||
        involuntary > kMostSwitches ||
        run_queue > static_cast<uint64_t>(model::kLastRunQueueTime) ||
        begin > kMost || end > kMost) {
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
          .run_queue = static_cast<model::RunQueueTime>(run_queue),
          .begin_ns = static_cast<TimeNs>(begin),
          .end_ns = static_cast<TimeNs>(end)},
         creator_tid == 0
             ? std::optional<Row>()
             : Row{std::to_string(creator_pid), std::to_string(creator_tid)}});
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
    } else if (key == "parents") {
      is_good = ForEach(value, add_parent);
    } else if (key == "programs") {
      is_good = ForEach(value, add_program);
    } else if (key == "threads") {
      is_good = ForEach(value, add_thread);
    } else if (key == "thread_counts") {
      is_good = ForEach(value, [&](element item) {
        const auto counts = Numbers<11>(item);
        return counts && AddThreadCounts(*counts);
      });
    } else if (key == "wait_rows") {
      is_good = ForEach(value, [&](element item) {
        const auto row = Numbers<2>(item);
        if (!row) return false;
        wait_rows_.push_back(
            {std::to_string((*row)[0]), std::to_string((*row)[1])});
        return true;
      });
    } else if (key == "sample_sums") {
      is_good = ForEach(value, [&](element item) {
        const auto sum = Numbers<4>(item);
        return sum && AddSampleSum(*sum);
      });
    } else if (key == "waits") {
      is_good = ForEach(value, [&](element item) {
        const auto wait = Numbers<13>(item);
        return wait && AddWait(*wait);
      });
    } else if (key == "short_waits") {
      is_good = ForEach(value, [&](element item) {
        const auto sum = Numbers<8>(item);
        return sum && AddShortWaits(*sum);
      });
    } else if (key == "min_wait_ns") {
      is_good =
          value.get(waits_.min_wait_ns) == SUCCESS && waits_.min_wait_ns >= 0;
    } else if (key == "cpu_limits") {
      is_good = ForEach(value, [&](element item) {
        const auto limit = Numbers<5>(item);
        return limit && AddCpuLimit(*limit);
      });
    } else if (key == "kymo_cpu_ns") {
      is_good = value.get(kymo_cpu_ns_) == SUCCESS && kymo_cpu_ns_ >= 0;
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
