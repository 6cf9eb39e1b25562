#include "profiler/report/thread_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/time.h"

namespace kymo::report {

using model::ThreadTimes;

namespace {

bool HasCounts(const model::Trace& trace) {
  const model::ThreadStates* const states = trace.thread_states();
  return states != nullptr &&
         std::any_of(states->threads.begin(), states->threads.end(),
                     [](const ThreadTimes& times) {
                       return times.counts.has_faults || times.counts.has_io;
                     });
}

const ValueColumn kCounts[] = {
    {"minor_faults", "Minor faults", Unit::kCount},
    {"major_faults", "Major faults", Unit::kCount},
    {"read_calls", "Reads", Unit::kCount},
    {"read_bytes", "Read", Unit::kBytes},
    {"write_calls", "Writes", Unit::kCount},
    {"written_bytes", "Written", Unit::kBytes},
    {"disk_read_bytes", "Disk read", Unit::kBytes},
    {"disk_written_bytes", "Disk written", Unit::kBytes}};

std::vector<Value> CountsOf(const model::ThreadCounts& counts) {
  const auto if_known = [](bool is_known, uint64_t count) {
    return is_known ? Value(static_cast<int64_t>(count)) : Value();
  };
  return {if_known(counts.has_faults, counts.minor_faults),
          if_known(counts.has_faults, counts.major_faults),
          if_known(counts.has_io, counts.read_calls),
          if_known(counts.has_io, counts.read_bytes),
          if_known(counts.has_io, counts.write_calls),
          if_known(counts.has_io, counts.written_bytes),
          if_known(counts.has_io, counts.disk_read_bytes),
          if_known(counts.has_io, counts.disk_written_bytes)};
}

}  // namespace

std::vector<ThreadTimes> BusiestThreads(const model::Trace& trace) {
  if (trace.thread_states() == nullptr) return {};
  std::vector<ThreadTimes> threads = trace.thread_states()->threads;
  std::stable_sort(threads.begin(), threads.end(),
                   [](const ThreadTimes& a, const ThreadTimes& b) {
                     return a.on_cpu_ns > b.on_cpu_ns;
                   });
  return threads;
}

ValueTable ThreadTable(const model::Trace& trace) {
  ValueTable table{
      .columns = {{"process", "Process", Unit::kCount},
                  {"thread", "Thread", Unit::kCount},
                  {"name", "Name", Unit::kText},
                  {"wall_ns", "Wall", Unit::kNs},
                  {"on_cpu_ns", "On CPU", Unit::kNs},
                  {"on_cpu_share", "On CPU %", Unit::kShare},
                  {"runnable_ns", "Runnable", Unit::kNs},
                  {"blocked_ns", "Blocked", Unit::kNs},
                  {"unknown_ns", "Unknown", Unit::kNs},
                  {"open_wait_ns", "Open wait", Unit::kNs},
                  {"voluntary_switches", "Voluntary", Unit::kCount},
                  {"involuntary_switches", "Involuntary", Unit::kCount},
                  {"run_queue", "Run queue", Unit::kText}},
      .rows = {}};
  const bool has_counts = HasCounts(trace);
  if (has_counts) {
    table.columns.insert(table.columns.end() - 1, std::begin(kCounts),
                         std::end(kCounts));
  }
  for (const ThreadTimes& t : BusiestThreads(trace)) {
    const model::Track& track = trace.tracks()[t.track];
    Value share;
    if (t.wall_ns > 0) {
      share = static_cast<double>(t.on_cpu_ns) / static_cast<double>(t.wall_ns);
    }
    table.rows.push_back(
        {track.pid, track.id, std::string(trace.Name(track.name)), t.wall_ns,
         t.on_cpu_ns, share, t.runnable_ns, t.blocked_ns(), t.unknown_ns,
         t.open_wait_ns, static_cast<int64_t>(t.voluntary_switches),
         static_cast<int64_t>(t.involuntary_switches),
         std::string(model::NameOf(t.run_queue))});
    if (!has_counts) continue;
    std::vector<Value>& row = table.rows.back();
    const std::vector<Value> counts = CountsOf(t.counts);
    row.insert(row.end() - 1, counts.begin(), counts.end());
  }
  return table;
}

std::string ThreadsText(const model::Trace& trace, int row_limit) {
  const ValueTable table = VisibleTable(ThreadTable(trace));
  if (table.rows.empty()) return "";
  return "Threads\n" + FormatValueTable(table, {.row_limit = row_limit});
}

std::vector<ProgramTimes> BusiestPrograms(const model::Trace& trace) {
  if (trace.thread_states() == nullptr) return {};
  struct Process {
    std::string_view name = "[unknown]";
    bool is_counted = false;
  };
  absl::flat_hash_map<int64_t, Process> processes;  // by pid
  for (const model::Process& process : trace.processes()) {
    const std::string_view name = trace.Name(process.name);
    if (!name.empty()) processes[process.pid].name = name;
  }
  std::vector<ProgramTimes> programs;
  absl::flat_hash_map<std::string_view, size_t> places;
  for (const ThreadTimes& t : trace.thread_states()->threads) {
    Process& process = processes[trace.tracks()[t.track].pid];
    const auto [place, is_new] =
        places.try_emplace(process.name, programs.size());
    if (is_new) programs.push_back({.name = process.name});
    ProgramTimes& program = programs[place->second];
    program.processes += process.is_counted ? 0 : 1;
    process.is_counted = true;
    ++program.threads;
    program.times += t;
  }
  std::stable_sort(programs.begin(), programs.end(),
                   [](const ProgramTimes& a, const ProgramTimes& b) {
                     return a.times.on_cpu_ns > b.times.on_cpu_ns;
                   });
  return programs;
}

ValueTable ProgramTable(const model::Trace& trace) {
  ValueTable table{.columns = {{"program", "Program", Unit::kText},
                               {"processes", "Processes", Unit::kCount},
                               {"threads", "Threads", Unit::kCount},
                               {"on_cpu_ns", "On CPU", Unit::kNs},
                               {"cpu_share", "CPU %", Unit::kShare},
                               {"runnable_ns", "Runnable", Unit::kNs},
                               {"blocked_ns", "Blocked", Unit::kNs},
                               {"unknown_ns", "Unknown", Unit::kNs}},
                   .rows = {}};
  const std::vector<ProgramTimes> programs = BusiestPrograms(trace);
  if (programs.empty()) return table;
  const DurationNs all_ns = trace.thread_states()->Sum().on_cpu_ns;
  for (const ProgramTimes& program : programs) {
    const ThreadTimes& t = program.times;
    Value share;
    if (all_ns > 0) {
      share = static_cast<double>(t.on_cpu_ns) / static_cast<double>(all_ns);
    }
    table.rows.push_back({std::string(program.name), program.processes,
                          program.threads, t.on_cpu_ns, share, t.runnable_ns,
                          t.blocked_ns(), t.unknown_ns});
  }
  return table;
}

std::string ProgramsText(const model::Trace& trace, int row_limit) {
  const ValueTable table = VisibleTable(ProgramTable(trace));
  if (table.rows.size() < 2) return "";
  return "Programs\n" + FormatValueTable(table, {.row_limit = row_limit});
}

}  // namespace kymo::report
