#include "exporters/timeline/thin_trace.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/model/event_calls.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/join_neighbours.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace_slice.h"

namespace kymo::timeline {
namespace {

using model::EventIndex;
using model::Trace;
using model::TrackIndex;

// Sums are few, and have what single records lost.
constexpr uint64_t kSumsOfPart = 8;

// How much of `count` a part of 1 / `divisor` is.
size_t PartOf(size_t count, uint64_t divisor) {
  return divisor == kNothing ? 0 : count / divisor;
}

// Chooses the largest `keep` of the values; of equal ones, those that come
// first.
class Largest {
 public:
  template <typename Value>
  Largest(std::vector<Value> values, size_t keep)
      : all_(keep >= values.size()) {
    if (all_ || keep == 0) return;
    const auto last = values.begin() + static_cast<ptrdiff_t>(keep - 1);
    std::nth_element(values.begin(), last, values.end(), std::greater<>());
    least_ = static_cast<uint64_t>(*last);
    equal_ = static_cast<size_t>(std::count(values.begin(), last + 1, *last));
  }

  // Call it once for each value, in their order.
  bool Keeps(uint64_t value) {
    if (all_ || value > least_) return true;
    if (value < least_ || equal_ == 0) return false;
    --equal_;
    return true;
  }

 private:
  const bool all_;
  uint64_t least_ = ~uint64_t{0};
  size_t equal_ = 0;  // so many of the value least_ are still to be kept
};

uint64_t Length(DurationNs ns) {
  return static_cast<uint64_t>(std::max<DurationNs>(ns, 0));
}

class Thinner {
 public:
  Thinner(const Trace& trace, uint64_t divisor)
      : trace_(trace), divisor_(divisor) {}

  ThinnedTrace Run() {
    data_ = model::SelectEvents(trace_, KeptEvents(),
                                std::vector<bool>(trace_.tracks().size(), true),
                                [](TrackIndex, TimeNs) { return false; })
                .Release();
    KeepEach(trace_.counters(), data_.counters);
    ThinMemory();
    ThinSamples();
    ThinWaits();
    if (divisor_ == kNothing) data_.allocation_counts.clear();
    return {Trace(std::move(data_)), left_out_};
  }

 private:
  bool KeepsEach(size_t i) const {
    return divisor_ != kNothing && i % divisor_ == 0;
  }

  std::vector<uint8_t> KeptEvents() {
    const size_t events = trace_.event_count();
    std::vector<uint64_t> lengths;
    for (EventIndex i = 0; i < events; ++i) {
      if (!IsMark(i)) lengths.push_back(LengthOf(i));
    }
    const size_t part = PartOf(lengths.size(), divisor_);
    Largest longest(std::move(lengths), part);
    std::vector<uint8_t> keep(events);
    size_t marks = 0;
    for (EventIndex i = 0; i < events; ++i) {
      keep[i] = IsMark(i) ? KeepsEach(marks++) : longest.Keeps(LengthOf(i));
      if (keep[i] == 0) left_out_ += model::Calls(trace_, i);
    }
    return keep;
  }

  bool IsMark(EventIndex i) const {
    return (trace_.flags()[i] & model::kEventInstant) != 0;
  }
  uint64_t LengthOf(EventIndex i) const {
    return Length(trace_.end()[i] - trace_.start()[i]);
  }

  template <typename From, typename To>
  void KeepEach(const From& from, To& to) {
    for (size_t i = 0; i < from.size(); ++i) {
      if (KeepsEach(i)) to.push_back(from[i]);
    }
    left_out_ += from.size() - to.size();
  }

  void ThinMemory() {
    const auto memory = trace_.memory();
    KeepEach(memory, data_.memory);
    for (model::MemoryRecord& record : data_.memory) {
      if (record.partner == model::kNoMemory) continue;
      record.partner =
          KeepsEach(record.partner)
              ? static_cast<model::MemoryIndex>(record.partner / divisor_)
              : model::kNoMemory;
    }
    if (trace_.folded_memory() == nullptr) return;
    auto folded = std::make_shared<model::FoldedMemory>();
    folded->live_moments = trace_.folded_memory()->live_moments;
    ThinCurve(trace_.folded_memory()->live, folded->live);
    for (const model::FoldedHeap& heap : trace_.folded_memory()->heaps) {
      model::FoldedHeap& to = folded->heaps.emplace_back();
      to.track = heap.track;
      to.first_ns = heap.first_ns;
      to.allocated = heap.allocated;
      to.freed = heap.freed;
      to.replaced = heap.replaced;
      to.peak_bytes = heap.peak_bytes;
      to.peak_ns = heap.peak_ns;
      ThinCurve(heap.live, to.live);
    }
    data_.folded_memory = std::move(folded);
  }

  // These points stand for records that are added up already.
  void ThinCurve(const std::vector<model::FoldedPoint>& from,
                 std::vector<model::FoldedPoint>& to) const {
    for (size_t i = 0; i < from.size(); ++i) {
      if (KeepsEach(i)) to.push_back(from[i]);
    }
  }

  void ThinSamples() {
    const auto samples = trace_.samples();
    std::vector<model::SampleSum> sums(trace_.sample_sums().begin(),
                                       trace_.sample_sums().end());
    for (size_t i = 0; i < samples.size(); ++i) {
      if (KeepsEach(i)) {
        data_.samples.push_back(samples[i]);
      } else {
        sums.push_back({.track = samples[i].track,
                        .stack = samples[i].stack,
                        .count = 1,
                        .weight_ns = samples[i].weight_ns});
        ++left_out_;
      }
    }
    data_.sample_sums = LargestSums(
        std::move(sums),
        [](const model::SampleSum& sum) {
          return std::tuple(sum.track, sum.stack);
        },
        [](const model::SampleSum& from, model::SampleSum& to) {
          to.count += from.count;
          to.weight_ns += from.weight_ns;
        },
        [](const model::SampleSum& sum) { return Length(sum.weight_ns); });
  }

  void ThinWaits() {
    if (trace_.thread_states() == nullptr) return;
    const model::ThreadStates& from = *trace_.thread_states();
    std::vector<uint64_t> lengths;
    for (const model::Wait& wait : from.waits) {
      lengths.push_back(Length(wait.duration_ns));
    }
    const size_t part = PartOf(lengths.size(), divisor_);
    Largest longest(std::move(lengths), part);
    auto to = std::make_shared<model::ThreadStates>();
    to->cpu_count = from.cpu_count;
    to->cpu_limit = from.cpu_limit;
    to->kymo_cpu_ns = from.kymo_cpu_ns;
    to->min_wait_ns = from.min_wait_ns;
    to->threads = from.threads;
    std::vector<model::WaitSum> sums = from.short_waits;
    for (const model::Wait& wait : from.waits) {
      if (longest.Keeps(Length(wait.duration_ns))) {
        to->waits.push_back(wait);
        continue;
      }
      ++left_out_;
      sums.push_back({.track = wait.track,
                      .kind = wait.kind,
                      .stack = wait.stack,
                      .object = wait.object,
                      .object_name = wait.object_name,
                      .count = 1,
                      .duration_ns = wait.duration_ns,
                      .longest_ns = wait.duration_ns});
    }
    // Without all of its waits, a thread would seem to be on a CPU.
    for (model::ThreadTimes& times : to->threads) {
      times.begin_ns = times.end_ns = 0;
      times.creator = model::kNoTrack;
    }
    to->short_waits = LargestSums(
        std::move(sums),
        [](const model::WaitSum& sum) {
          return std::tuple(sum.track, sum.kind, sum.stack, sum.object,
                            sum.object_name);
        },
        [](const model::WaitSum& from, model::WaitSum& to) {
          to.count += from.count;
          to.duration_ns += from.duration_ns;
          to.longest_ns = std::max(to.longest_ns, from.longest_ns);
        },
        [](const model::WaitSum& sum) { return Length(sum.duration_ns); });
    data_.thread_states = std::move(to);
  }

  // Adds up those of one key, sorted by it, and keeps the largest.
  template <typename Sum, typename KeyOf, typename Add, typename SizeOf>
  std::vector<Sum> LargestSums(std::vector<Sum> sums, const KeyOf& key_of,
                               const Add& add, const SizeOf& size_of) const {
    std::ranges::stable_sort(sums, {}, key_of);
    model::JoinNeighbours(sums, key_of, add);
    std::vector<uint64_t> sizes;
    for (const Sum& sum : sums) sizes.push_back(size_of(sum));
    const size_t part = PartOf(kSumsOfPart * sums.size(), divisor_);
    Largest largest(std::move(sizes), part);
    std::erase_if(sums,
                  [&](const Sum& sum) { return !largest.Keeps(size_of(sum)); });
    return sums;
  }

  const Trace& trace_;
  const uint64_t divisor_;
  uint64_t left_out_ = 0;
  model::TraceData data_;
};

}  // namespace

ThinnedTrace ThinTrace(const Trace& trace, uint64_t divisor) {
  return Thinner(trace, divisor).Run();
}

size_t RecordCount(const Trace& trace) {
  const model::ThreadStates* const states = trace.thread_states();
  size_t records = trace.event_count() + trace.counters().size() +
                   trace.memory().size() + trace.samples().size() +
                   trace.sample_sums().size();
  if (states != nullptr) {
    records += states->waits.size() + states->short_waits.size();
  }
  if (trace.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
      records += heap.live.size();
    }
  }
  return records;
}

}  // namespace kymo::timeline
