#include "profiler/analysis/averages/window_sums.h"

#include <algorithm>
#include <span>

#include "profiler/model/event_calls.h"
#include "profiler/model/records.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;

void Merge(const KeyAverage& from, KeyAverage& into) {
  if (from.count != 0) {
    into.min_ns =
        into.count == 0 ? from.min_ns : std::min(into.min_ns, from.min_ns);
    into.max_ns =
        into.count == 0 ? from.max_ns : std::max(into.max_ns, from.max_ns);
  }
  into.count += from.count;
  into.cpu_time_total_ns += from.cpu_time_total_ns;
  into.self_cpu_time_total_ns += from.self_cpu_time_total_ns;
  into.device_time_total_ns += from.device_time_total_ns;
  into.self_device_time_total_ns += from.self_device_time_total_ns;
}

}  // namespace

void WindowSums::Add(const model::Trace& window, bool is_last) {
  AddEvents(window);
  AddCounters(window);
  AddLosses(window.ledger(), is_last);
  if (is_last) end_ns_ = window.end_ns();
}

void WindowSums::AddEvents(const model::Trace& window) {
  for (const uint8_t flags : window.flags()) {
    event_count_ += (flags & model::kEventRepeated) == 0;
  }
  AddAverages(window);
  AddPaths(window);
}

void WindowSums::AddAverages(const model::Trace& window) {
  for (KeyAverage& average : KeyAverages(window)) {
    const TimeNs start = window.start()[average.first_event];
    const TimeNs end = window.end()[average.first_event];
    const auto [it, is_new] = groups_.try_emplace(
        {average.name, average.is_device, average.is_user_annotation,
         average.is_python_function});
    Group& group = it->second;
    if (is_new) {
      group.sums.name = average.name;
      group.sums.is_device = average.is_device;
      group.sums.is_user_annotation = average.is_user_annotation;
      group.sums.is_python_function = average.is_python_function;
    }
    // The event comes first: it is earlier, or as early and longer.
    if (is_new || std::pair(start, -end) <
                      std::pair(group.first_start, -group.first_end)) {
      group.sums.is_async = average.is_async;
      group.first_start = start;
      group.first_end = end;
    }
    Merge(average, group.sums);
  }
}

std::vector<KeyAverage> WindowSums::Averages() const {
  std::vector<const Group*> order;
  for (const auto& [id, group] : groups_) {
    if (group.sums.count != 0) order.push_back(&group);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Group* a, const Group* b) {
                     return std::pair(a->first_start, -a->first_end) <
                            std::pair(b->first_start, -b->first_end);
                   });
  std::vector<KeyAverage> averages;
  for (const Group* const group : order) averages.push_back(group->sums);
  return averages;
}

WindowSums::CounterId WindowSums::IdOf(const model::Trace& trace,
                                       const model::CounterSample& sample) {
  const model::Track& track = trace.tracks()[sample.track];
  return {track.pid, track.kind, track.device_index, track.id,
          std::string(trace.Name(sample.name))};
}

void WindowSums::AddCounters(const model::Trace& window) {
  ForEachCounter(window, [&](std::span<const model::CounterSample> samples) {
    CounterId id = IdOf(window, samples.front());
    if (counters_.size() >= most_counters_ && !counters_.contains(id)) {
      ledger_.Add(model::Loss::kCounterValuesDropped, samples.size());
      return;
    }
    counters_[std::move(id)].Add(samples);
  });
}

std::vector<WindowSums::Counter> WindowSums::Counters() const {
  std::map<CounterId, CounterSum> all = counters_;
  TimeNs end_ns = end_ns_;
  if (rest_ != nullptr) {
    end_ns = std::max(end_ns, rest_->end_ns());
    ForEachCounter(*rest_, [&](std::span<const model::CounterSample> samples) {
      all[IdOf(*rest_, samples.front())].Add(samples);
    });
  }
  std::vector<Counter> counters;
  for (const auto& [id, sum] : all) {
    if (sum.is_empty()) continue;
    counters.push_back({.pid = std::get<0>(id),
                        .id = std::get<3>(id),
                        .name = std::get<4>(id),
                        .values = sum.ValuesUntil(end_ns)});
  }
  return counters;
}

bool WindowSums::HasEarlierValues(const model::CounterSample& of_rest) const {
  return rest_ != nullptr && counters_.contains(IdOf(*rest_, of_rest));
}

void WindowSums::AddPaths(const model::Trace& window) {
  name_of_window_.clear();
  for (uint32_t id = 0; id < window.strings().size(); ++id) {
    name_of_window_.push_back(names_.Intern(window.Name(NameId{id})));
  }
  for (model::TrackIndex t = 0; t < window.tracks().size(); ++t) {
    if (window.track_begin(t) == window.track_end(t)) continue;
    AddTrack(window, t, RootOf(window, window.tracks()[t]));
  }
}

uint32_t WindowSums::RootOf(const model::Trace& window,
                            const model::Track& track) {
  const model::Process* const process = window.FindProcess(track.pid);
  std::string name(process == nullptr ? "" : window.Name(process->name));
  if (name.empty()) name = "process " + std::to_string(track.pid);
  return Find(kNoPath, names_.Intern(name));
}

void WindowSums::AddTrack(const model::Trace& window, model::TrackIndex track,
                          uint32_t root) {
  // The ranges around the current event, and their paths, outermost first.
  std::vector<std::pair<EventIndex, uint32_t>> open;
  for (EventIndex i = window.track_begin(track); i < window.track_end(track);
       ++i) {
    const uint8_t flags = window.flags()[i];
    if (!model::IsRange(flags)) continue;
    while (!open.empty() && open.back().first != window.parent()[i]) {
      open.pop_back();
    }
    const uint32_t above = open.empty() ? root : open.back().second;
    const uint32_t path = Find(above, name_of_window_[Index(window.name()[i])]);
    if ((flags & model::kEventRepeated) == 0) {
      const DurationNs duration_ns = window.end()[i] - window.start()[i];
      paths_[path].self_ns += duration_ns;
      paths_[path].calls += model::Calls(window, i);
      if (!open.empty()) paths_[above].self_ns -= duration_ns;
    }
    open.emplace_back(i, path);
  }
}

uint32_t WindowSums::Find(uint32_t parent, NameId name) {
  const uint64_t key = uint64_t{parent} << 32 | Index(name);
  const auto next = static_cast<uint32_t>(paths_.size());
  if (next >= most_paths_ && parent != kNoPath) {
    const auto known = path_ids_.find(key);
    if (known != path_ids_.end()) return known->second;
    ++paths_left_out_;
    return parent;
  }
  const auto [it, is_new] = path_ids_.try_emplace(key, next);
  if (is_new) paths_.push_back({.parent = parent, .name = name});
  return it->second;
}

void WindowSums::AddLosses(const model::LossLedger& ledger, bool is_last) {
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    if (loss == model::Loss::kRangesOpenAtEnd && !is_last) continue;
    ledger_.Add(loss, ledger.Get(loss));
  }
}

}  // namespace kymo::analysis
