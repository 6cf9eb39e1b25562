#include "exporters/chrome/wait_slices.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {

using model::Wait;

namespace {

constexpr DurationNs kWakeNs = 100;

TimeNs WakeTime(const Wait& wait) { return wait.begin_ns + wait.blocked_ns(); }

// A flow ends where the thread is runnable.
bool HasFlow(const Wait& wait) {
  return wait.waker != model::kNoTrack && wait.runnable_ns > 0;
}

void AppendHead(std::string& out, std::string_view name, const Row& row) {
  out += R"({"ph":"X","cat":"thread_wait","name":")";
  out += name;
  out += '"';
  out += row.ids;
}

}  // namespace

WaitSlices::WaitSlices(const model::Trace& trace, const Rows& rows,
                       TimeNs base_ns)
    : trace_(trace), rows_(rows), base_ns_(base_ns) {
  if (trace.thread_states() == nullptr) return;
  places_.resize(trace.stacks().stack_count());
  analysis::WaitPlaces places(trace);
  for (const Wait& wait : trace.thread_states()->waits) {
    for (const model::StackId stack :
         {wait.stack, wait.waker_stack, analysis::HolderOf(wait).stack}) {
      std::string& place = places_[Index(stack)];
      if (place.empty() && stack != model::kEmptyStack) {
        json::AppendJsonString(place, places.Of(stack));
      }
    }
  }
  const std::vector<Wait>& waits = trace_.thread_states()->waits;
  for (size_t i = 0; i < waits.size(); ++i) {
    const Wait& wait = waits[i];
    items_.push_back(
        {.track = wait.track, .time_ns = wait.begin_ns, .wait = i});
    if (!HasFlow(wait)) continue;
    items_.push_back({.track = wait.waker,
                      .time_ns = WakeTime(wait),
                      .wait = i,
                      .is_wake = true});
  }
  // The slices of a row are in the order of time.
  std::ranges::stable_sort(items_, {}, [](const Item& item) {
    return std::pair(item.track, item.time_ns);
  });
}

absl::Status WaitSlices::Write(timeline::OrderedOutput& output,
                               timeline::ShortSlices& short_ones) const {
  if (trace_.thread_states() == nullptr) return absl::OkStatus();
  const std::vector<Wait>& waits = trace_.thread_states()->waits;
  const auto is_short = [&](const Wait& wait) {
    return wait.duration_ns < short_ones.shorter_than_ns;
  };
  short_ones.all += waits.size();
  short_ones.left_out +=
      static_cast<uint64_t>(std::ranges::count_if(waits, is_short));
  // Who wakes several threads at once does that in one slice.
  std::vector<bool> has_slice(items_.size());
  const Item* last = nullptr;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!item.is_wake || is_short(waits[item.wait])) continue;
    has_slice[i] = last == nullptr || last->track != item.track ||
                   item.time_ns - last->time_ns >= kWakeNs;
    if (has_slice[i]) last = &item;
  }
  return output.Run(items_.size(),
                    [&](size_t begin, size_t end, std::string& out) {
                      for (size_t i = begin; i < end; ++i) {
                        const Item& item = items_[i];
                        if (is_short(waits[item.wait])) continue;
                        item.is_wake ? AppendWake(out, item, has_slice[i])
                                     : AppendWait(out, waits[item.wait], item);
                      }
                    });
}

void WaitSlices::AppendWake(std::string& out, const Item& item,
                            bool has_slice) const {
  if (has_slice) {
    AppendHead(out, "wakes", rows_.waits[item.track]);
    json::AppendMicroseconds(out, item.time_ns - base_ns_);
    out += ",\"dur\":";
    json::AppendMicroseconds(out, kWakeNs);
    out += "},\n";
  }
  AppendFlowEnd(out, "s", item);
  out += "\"},\n";
}

void WaitSlices::AppendFlowEnd(std::string& out, std::string_view phase,
                               const Item& item) const {
  out += R"({"ph":")";
  out += phase;
  out += R"(","id":)";
  out += std::to_string(item.wait);
  out += rows_.waits[item.track].ids;
  json::AppendMicroseconds(out, item.time_ns - base_ns_);
  out += R"(,"cat":"thread_wait","name":"wake)";
}

void WaitSlices::AppendWait(std::string& out, const Wait& wait,
                            const Item& item) const {
  const Row& row = rows_.waits[wait.track];
  const DurationNs blocked_ns = wait.blocked_ns();
  const DurationNs runnable_ns = wait.duration_ns - blocked_ns;
  // A preempted thread is only runnable. Its slice says why.
  const bool is_preempted = wait.kind == model::WaitKind::kCpuBusy;
  AppendHead(out, NameOf(wait.kind), row);
  json::AppendMicroseconds(out, wait.begin_ns - base_ns_);
  out += ",\"dur\":";
  json::AppendMicroseconds(out, is_preempted ? wait.duration_ns : blocked_ns);
  std::string_view separator = ",\"args\":{";
  const auto add = [&](std::string_view key, std::string_view json_value) {
    out += separator;
    out += key;
    out += json_value;
    separator = ",";
  };
  if (wait.stack != model::kEmptyStack) {
    add("\"where\":", places_[Index(wait.stack)]);
  }
  if (wait.object != 0 || wait.object_name != model::kEmptyName) {
    std::string name;
    json::AppendJsonString(
        name,
        analysis::ObjectName(trace_, wait.kind, wait.object, wait.object_name));
    add("\"object\":", name);
  }
  const auto add_thread = [&](const char* by, const char* in,
                              model::TrackIndex track, model::StackId stack) {
    if (track != model::kNoTrack) {
      add(by, std::to_string(rows_.tracks[track].tid));
    }
    if (stack != model::kEmptyStack) add(in, places_[Index(stack)]);
  };
  const analysis::LockHolder holder = analysis::HolderOf(wait);
  add_thread("\"held by\":", "\"held in\":", holder.track, holder.stack);
  add_thread("\"woken by\":", "\"woken in\":", wait.waker, wait.waker_stack);
  if (wait.is_open) add("\"finished\":", "false");
  out += separator == "," ? "}},\n" : "},\n";
  if (runnable_ns == 0 || is_preempted) return;
  AppendHead(out, "runnable", row);
  json::AppendMicroseconds(out, wait.begin_ns - base_ns_ + blocked_ns);
  out += ",\"dur\":";
  json::AppendMicroseconds(out, runnable_ns);
  out += "},\n";
  if (!HasFlow(wait)) return;
  AppendFlowEnd(
      out, "f",
      {.track = wait.track, .time_ns = WakeTime(wait), .wait = item.wait});
  out += "\",\"bp\":\"e\"},\n";
}

}  // namespace kymo::chrome
