#include <optional>

#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

using model::kEmptyName;
using model::Process;
using model::ThreadCounts;
using model::ThreadTimes;
using model::Track;
using model::TrackKind;

const Process& ProcessOf(const Source& s, size_t row) {
  return s.trace().processes()[row];
}

constexpr Column kProcesses[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define("pid", "The process's id",
           [](const Source& s, size_t row) { return ProcessOf(s, row).pid; }),
    Define("parent_pid", "The id of the process that started it",
           [](const Source& s, size_t row) {
             return Unless(ProcessOf(s, row).parent_pid, 0);
           }),
    Define("name",
           "Short name, as the kernel shows it; after an exec, the last one",
           [](const Source& s, size_t row) {
             return Unless(ProcessOf(s, row).name, kEmptyName);
           }),
    Define("command_line",
           "Program and arguments; after an exec, the last ones",
           [](const Source& s, size_t row) {
             return Unless(ProcessOf(s, row).command_line, kEmptyName);
           }),
    Define("start_ns", "When it began, since the epoch",
           [](const Source& s, size_t row) {
             return Unless(ProcessOf(s, row).start_ns, 0);
           })
        .In("ns"),
    Define("end_ns", "When it ended, since the epoch",
           [](const Source& s, size_t row) {
             return Unless(ProcessOf(s, row).end_ns, 0);
           })
        .In("ns"),
};

const ThreadRow& RowOf(const Source& s, size_t row) {
  return s.threads().rows[row];
}
const Track& TrackOf(const Source& s, size_t row) {
  return s.trace().tracks()[RowOf(s, row).track];
}

// Nothing if nobody recorded the thread's times.
template <typename Get>
std::optional<int64_t> OfTimes(const Source& s, size_t row, const Get& get) {
  const ThreadTimes* const times = RowOf(s, row).times;
  if (times == nullptr) return std::nullopt;
  return static_cast<int64_t>(get(*times));
}

// Nothing if the kernel did not tell.
std::optional<int64_t> OfThreadCounts(const Source& s, size_t row,
                                      bool ThreadCounts::*is_known,
                                      uint64_t ThreadCounts::*member) {
  const ThreadTimes* const times = RowOf(s, row).times;
  if (times == nullptr || !(times->counts.*is_known)) return std::nullopt;
  return static_cast<int64_t>(times->counts.*member);
}

std::optional<int64_t> OfCounts(const Source& s, size_t row,
                                uint64_t model::AllocationCounts::*member) {
  const model::AllocationCounts* const counts = RowOf(s, row).counts;
  if (counts == nullptr) return std::nullopt;
  return static_cast<int64_t>(counts->*member);
}

constexpr Column kThreads[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define("process_id", "Its process",
           [](const Source& s, size_t row) {
             return Unless(s.threads().process[RowOf(s, row).track],
                           kNoProcess);
           })
        .Of("processes.id"),
    Define("track_id", "Its first line of the timeline",
           [](const Source& s, size_t row) { return RowOf(s, row).track; })
        .Of("tracks.id"),
    Define("pid", "The process's id",
           [](const Source& s, size_t row) { return TrackOf(s, row).pid; }),
    Define("tid", "The thread's id",
           [](const Source& s, size_t row) { return TrackOf(s, row).id; }),
    Define("name", "The thread's name",
           [](const Source& s, size_t row) {
             return Unless(TrackOf(s, row).name, kEmptyName);
           }),
    Define("logical_id", "PyTorch's thread id, from 1 in each process",
           [](const Source& s, size_t row) {
             return Unless(TrackOf(s, row).logical_id, 0);
           }),
    Define("start_ns", "When it began within the recording, since the epoch",
           [](const Source& s, size_t row) -> std::optional<int64_t> {
             const auto begin = OfTimes(
                 s, row, [](const ThreadTimes& t) { return t.begin_ns; });
             return Unless(begin.value_or(0), 0);
           })
        .In("ns"),
    Define("end_ns", "When it ended within the recording, since the epoch",
           [](const Source& s, size_t row) -> std::optional<int64_t> {
             const auto end =
                 OfTimes(s, row, [](const ThreadTimes& t) { return t.end_ns; });
             return Unless(end.value_or(0), 0);
           })
        .In("ns"),
    Define("wall_ns", "Its life within the recording",
           [](const Source& s, size_t row) {
             return OfTimes(s, row,
                            [](const ThreadTimes& t) { return t.wall_ns; });
           })
        .In("ns"),
    Define("on_cpu_ns", "For how long it was on a CPU",
           [](const Source& s, size_t row) {
             return OfTimes(s, row,
                            [](const ThreadTimes& t) { return t.on_cpu_ns; });
           })
        .In("ns"),
    Define("runnable_ns", "For how long it could run but had no CPU",
           [](const Source& s, size_t row) {
             return OfTimes(s, row,
                            [](const ThreadTimes& t) { return t.runnable_ns; });
           })
        .In("ns"),
    Define("blocked_ns", "For how long it waited for something else",
           [](const Source& s, size_t row) {
             return OfTimes(
                 s, row, [](const ThreadTimes& t) { return t.blocked_ns(); });
           })
        .In("ns"),
    Define("unknown_ns", "For how long nobody saw what it did",
           [](const Source& s, size_t row) {
             return OfTimes(s, row,
                            [](const ThreadTimes& t) { return t.unknown_ns; });
           })
        .In("ns"),
    Define("open_wait_ns", "How long its last wait was when recording ended",
           [](const Source& s, size_t row) {
             return OfTimes(
                 s, row, [](const ThreadTimes& t) { return t.open_wait_ns; });
           })
        .In("ns"),
    Define("run_queue",
           "How far runnable_ns is known: whole, last known or preemptions",
           [](const Source& s, size_t row) -> std::optional<TextId> {
             const ThreadTimes* const times = RowOf(s, row).times;
             if (times == nullptr) return std::nullopt;
             return s.texts().run_queue(times->run_queue);
           }),
    Define("voluntary_switches", "How often it blocked",
           [](const Source& s, size_t row) {
             return OfTimes(s, row, [](const ThreadTimes& t) {
               return t.voluntary_switches;
             });
           }),
    Define("involuntary_switches", "How often it was preempted",
           [](const Source& s, size_t row) {
             return OfTimes(s, row, [](const ThreadTimes& t) {
               return t.involuntary_switches;
             });
           }),
    Define("minor_faults",
           "How many of its page faults found the page in memory",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_faults,
                                   &ThreadCounts::minor_faults);
           }),
    Define("major_faults", "How many of its page faults had to read a disk",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_faults,
                                   &ThreadCounts::major_faults);
           }),
    Define("read_calls", "Its calls like read, without recv",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_io,
                                   &ThreadCounts::read_calls);
           }),
    Define("read_bytes", "What these read",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_io,
                                   &ThreadCounts::read_bytes);
           })
        .In("bytes"),
    Define("write_calls", "Its calls like write, without send",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_io,
                                   &ThreadCounts::write_calls);
           }),
    Define("written_bytes", "What these wrote",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_io,
                                   &ThreadCounts::written_bytes);
           })
        .In("bytes"),
    Define("disk_read_bytes", "What it made the kernel read from disks",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_io,
                                   &ThreadCounts::disk_read_bytes);
           })
        .In("bytes"),
    Define("disk_written_bytes", "What it wrote for disks",
           [](const Source& s, size_t row) {
             return OfThreadCounts(s, row, &ThreadCounts::has_io,
                                   &ThreadCounts::disk_written_bytes);
           })
        .In("bytes"),
    Define("creator_id", "The thread that made it within the recording",
           [](const Source& s, size_t row) -> std::optional<uint32_t> {
             const ThreadTimes* const times = RowOf(s, row).times;
             if (times == nullptr || times->creator == model::kNoTrack) {
               return std::nullopt;
             }
             return Unless(s.threads().of_track[times->creator], kNoThread);
           })
        .Of("threads.id"),
    Define("allocations", "How often it allocated, where this was counted only",
           [](const Source& s, size_t row) {
             return OfCounts(s, row, &model::AllocationCounts::allocations);
           }),
    Define("frees", "How often it freed, where this was counted only",
           [](const Source& s, size_t row) {
             return OfCounts(s, row, &model::AllocationCounts::frees);
           }),
    Define("allocated_bytes",
           "How much it allocated, where this was counted only",
           [](const Source& s, size_t row) {
             return OfCounts(s, row, &model::AllocationCounts::allocated_bytes);
           })
        .In("bytes"),
};

const Track& LineOf(const Source& s, size_t row) {
  return s.trace().tracks()[row];
}

constexpr Column kTracks[] = {
    Define("id", "Number of the track",
           [](const Source&, size_t row) { return row; }),
    Define("kind", "thread or stream",
           [](const Source& s, size_t row) {
             return s.texts().track_kind(LineOf(s, row).kind);
           }),
    Define("process_id", "Its process",
           [](const Source& s, size_t row) {
             return Unless(s.threads().process[row], kNoProcess);
           })
        .Of("processes.id"),
    Define("thread_id", "Its thread; NULL of a stream",
           [](const Source& s, size_t row) {
             return Unless(s.threads().of_track[row], kNoThread);
           })
        .Of("threads.id"),
    Define("pid", "The process's id; of a stream, the process that used it",
           [](const Source& s, size_t row) { return LineOf(s, row).pid; }),
    Define("tid", "The thread's id; NULL of a stream",
           [](const Source& s, size_t row) {
             const Track& track = LineOf(s, row);
             return track.kind == TrackKind::kThread ? std::optional(track.id)
                                                     : std::nullopt;
           }),
    Define("device", "The device's number; NULL of a thread",
           [](const Source& s, size_t row) {
             const Track& track = LineOf(s, row);
             return track.kind == TrackKind::kStream
                        ? std::optional(track.device_index)
                        : std::nullopt;
           }),
    Define("stream", "The device's stream; NULL of a thread",
           [](const Source& s, size_t row) {
             const Track& track = LineOf(s, row);
             return track.kind == TrackKind::kStream ? std::optional(track.id)
                                                     : std::nullopt;
           }),
    Define("lane",
           "0, or 1 and on: more lines of a thread or stream, for events that "
           "overlap without nesting",
           [](const Source& s, size_t row) { return s.threads().lane[row]; }),
    Define("name", "The thread's or stream's name",
           [](const Source& s, size_t row) {
             return Unless(LineOf(s, row).name, kEmptyName);
           }),
    Define("logical_id", "PyTorch's thread id, from 1 in each process",
           [](const Source& s, size_t row) {
             return Unless(LineOf(s, row).logical_id, 0);
           }),
    Define("event_count", "How many events it has",
           [](const Source& s, size_t row) {
             const auto track = static_cast<model::TrackIndex>(row);
             return s.trace().track_end(track) - s.trace().track_begin(track);
           }),
};

}  // namespace

Table ProcessesTable() {
  return {.name = "processes",
          .meaning = "A process; an exec makes no new row",
          .order = "pid, start",
          .example = "select pid, parent_pid, name from processes order by pid",
          .columns = kProcesses,
          .row_count = [](const Source& s) {
            return s.trace().processes().size();
          }};
}

Table ThreadsTable() {
  return {.name = "threads",
          .meaning = "A thread, and how it spent its time if that was recorded",
          .order = "pid, tid",
          .example =
              "select name, on_cpu_ns, blocked_ns from threads "
              "order by blocked_ns desc",
          .columns = kThreads,
          .row_count = [](const Source& s) { return s.threads().rows.size(); }};
}

Table TracksTable() {
  return {
      .name = "tracks",
      .meaning =
          "A line of the timeline: a thread, a stream of a device, "
          "or a further lane of one of them",
      .order = "pid, kind, device, number",
      .example =
          "select t.name, sum(e.self_ns) from events e join tracks "
          "t on t.id = e.track_id group by t.id",
      .columns = kTracks,
      .row_count = [](const Source& s) { return s.trace().tracks().size(); }};
}

}  // namespace kymo::tables
