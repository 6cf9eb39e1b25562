#include "exporters/perfetto/state_packets.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/trace.pb.h"
#include "exporters/proto/proto_writer.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"
#include "profiler/text/utf8.h"

namespace kymo::perfetto {
namespace {

using model::Trace;
using model::TrackIndex;
using model::Wait;
using model::WaitKind;
using proto::ProtoWriter;
using schema::TracePacket;
using Event = schema::GenericKernelTaskStateEvent;

constexpr uint32_t kMostCpus = 128;

// A thread's state from a time on.
struct State {
  TimeNs time_ns = 0;
  TrackIndex track = 0;
  uint32_t cpu = 0;  // that the thread has, or gives back
  Event::TaskStateEnum state = Event::TASK_STATE_RUNNING;
};

Event::TaskStateEnum StateOf(WaitKind kind) {
  switch (kind) {
    case WaitKind::kRead:
    case WaitKind::kWrite:
    case WaitKind::kPageFault:
      return Event::TASK_STATE_UNINTERRUPTIBLE_SLEEP;
    case WaitKind::kCpuBusy:
      return Event::TASK_STATE_RUNNABLE;
    default:
      return Event::TASK_STATE_INTERRUPTIBLE_SLEEP;
  }
}

struct Life {
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
};

// REQUIRES: there are waits.
Life FindLife(const Trace& trace, const model::ThreadTimes* times,
              std::span<const Wait> waits) {
  const TrackIndex track = waits.front().track;
  Life life = {waits.front().begin_ns, waits.back().end_ns()};
  const auto see = [&](TimeNs begin_ns, TimeNs end_ns) {
    life.begin_ns = std::min(life.begin_ns, begin_ns);
    life.end_ns = std::max(life.end_ns, end_ns);
  };
  for (model::EventIndex i = trace.track_begin(track);
       i < trace.track_end(track); ++i) {
    see(trace.start()[i], trace.end()[i]);
  }
  const auto samples = trace.samples();
  const auto track_of = [](const auto& sample) { return sample.track; };
  const auto first = std::ranges::lower_bound(samples, track, {}, track_of);
  const auto last = std::ranges::upper_bound(samples, track, {}, track_of);
  if (first != last) see(first->time_ns, std::prev(last)->time_ns);
  if (times == nullptr) return life;
  DurationNs rest_ns = times->wall_ns - (life.end_ns - life.begin_ns);
  const DurationNs after_ns = std::clamp<DurationNs>(
      trace.end_ns() - life.end_ns, 0, std::max<DurationNs>(rest_ns, 0));
  life.end_ns += after_ns;
  rest_ns -= after_ns;
  if (rest_ns > 0) {
    life.begin_ns = std::min(
        life.begin_ns, std::max(life.begin_ns - rest_ns, trace.start_ns()));
  }
  return life;
}

// Adds the states of one thread, without CPUs.
void AddStates(const Trace& trace, const Life& life,
               std::span<const Wait> waits, std::vector<State>& states) {
  const TrackIndex track = waits.front().track;
  TimeNs now_ns = life.begin_ns;  // running from here on
  const auto add = [&](TimeNs time_ns, Event::TaskStateEnum state) {
    states.push_back({.time_ns = time_ns, .track = track, .state = state});
  };
  for (const Wait& wait : waits) {
    if (now_ns < wait.begin_ns) add(now_ns, Event::TASK_STATE_RUNNING);
    const DurationNs blocked_ns = wait.blocked_ns();
    if (blocked_ns > 0) add(wait.begin_ns, StateOf(wait.kind));
    if (blocked_ns < wait.duration_ns) {
      add(wait.begin_ns + blocked_ns, Event::TASK_STATE_RUNNABLE);
    }
    now_ns = wait.end_ns();
  }
  if (waits.back().is_open) return;
  if (now_ns < life.end_ns) add(now_ns, Event::TASK_STATE_RUNNING);
  if (life.end_ns < trace.end_ns()) {
    add(life.end_ns, Event::TASK_STATE_DEAD);
  }
}

// Gives each running thread a number that no other one has at that time.
void NumberCpus(std::vector<State>& states) {
  std::vector<size_t> runs;  // indices of states
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].state == Event::TASK_STATE_RUNNING) runs.push_back(i);
  }
  std::ranges::stable_sort(runs, {},
                           [&](size_t run) { return states[run].time_ns; });
  std::set<uint32_t> free;
  for (uint32_t cpu = 0; cpu < kMostCpus; ++cpu) free.insert(cpu);
  using End = std::pair<TimeNs, uint32_t>;  // and the number
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (const size_t run : runs) {
    // A number that is given back and taken at one time would depend on the
    // order of packets.
    while (!ends.empty() && ends.top().first < states[run].time_ns) {
      free.insert(ends.top().second);
      ends.pop();
    }
    if (free.empty()) {
      states[run].state = Event::TASK_STATE_RUNNABLE;
      continue;
    }
    states[run].cpu = *free.begin();
    free.erase(free.begin());
    const size_t next = run + 1;
    if (next == states.size() || states[next].track != states[run].track) {
      continue;  // it runs until the end
    }
    states[next].cpu = states[run].cpu;
    ends.emplace(states[next].time_ns, states[run].cpu);
  }
}

std::vector<State> MakeStates(const Trace& trace,
                              timeline::ShortSlices& short_ones) {
  const model::ThreadStates& thread_states = *trace.thread_states();
  std::vector<State> states;
  std::span<const model::ThreadTimes> times = thread_states.threads;
  std::span<const Wait> rest = thread_states.waits;
  std::vector<Wait> shown;
  while (!rest.empty()) {
    const TrackIndex track = rest.front().track;
    const auto end = std::ranges::find_if(
        rest, [&](const Wait& wait) { return wait.track != track; });
    const std::span<const Wait> waits(rest.begin(), end);
    rest = rest.subspan(waits.size());
    while (!times.empty() && times[0].track < track) times = times.subspan(1);
    const bool has_times = !times.empty() && times[0].track == track;
    const Life life = FindLife(trace, has_times ? &times[0] : nullptr, waits);
    shown.clear();
    std::ranges::copy_if(
        waits, std::back_inserter(shown), [&](const Wait& wait) {
          return wait.duration_ns >= short_ones.shorter_than_ns;
        });
    short_ones.all += waits.size();
    short_ones.left_out += waits.size() - shown.size();
    if (!shown.empty()) AddStates(trace, life, shown, states);
  }
  NumberCpus(states);
  return states;
}

}  // namespace

size_t StatePackets::item_count() const {
  return trace_.thread_states() == nullptr
             ? 0
             : 2 * trace_.thread_states()->waits.size();
}

absl::Status StatePackets::Write(timeline::OrderedOutput& output,
                                 timeline::ShortSlices& short_ones) const {
  if (trace_.thread_states() == nullptr) return absl::OkStatus();
  const std::vector<State> states = MakeStates(trace_, short_ones);
  return output.Run(states.size(), [&](size_t begin, size_t end,
                                       std::string& out) {
    ProtoWriter writer(out);
    std::string scratch;
    for (size_t i = begin; i < end; ++i) {
      const State& state = states[i];
      const model::Track& track = trace_.tracks()[state.track];
      const size_t packet = writer.Begin(schema::Trace::kPacketFieldNumber);
      writer.Uint(TracePacket::kTimestampFieldNumber,
                  static_cast<uint64_t>(state.time_ns - base_ns_));
      writer.Uint(TracePacket::kTrustedPacketSequenceIdFieldNumber, kSequence);
      const size_t event =
          writer.Begin(TracePacket::kGenericKernelTaskStateEventFieldNumber);
      writer.Uint(Event::kCpuFieldNumber, state.cpu);
      writer.String(Event::kCommFieldNumber,
                    json::ToUtf8(trace_.Name(track.name), scratch));
      writer.Int(Event::kTidFieldNumber, tracks_.of(state.track).tid);
      writer.Uint(Event::kStateFieldNumber, static_cast<uint64_t>(state.state));
      writer.End(event);
      writer.End(packet);
    }
  });
}

}  // namespace kymo::perfetto
