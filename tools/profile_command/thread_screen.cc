// Long, because it has every line about threads and their waits.
#include "tools/profile_command/thread_screen.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/strings.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/thread_states.h"
#include "profiler/report/fitted_table.h"
#include "profiler/report/thread_tables.h"
#include "profiler/text/short_name.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {
namespace {

using model::ThreadTimes;
using report::Fit;
using report::FormatFixed;

std::string Time(DurationNs ns) {
  return report::FormatTime(static_cast<double>(ns) / kNsPerUs, "");
}

std::string Percent(DurationNs part, DurationNs whole) {
  const double share =
      whole == 0 ? 0
                 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return FormatFixed(share, 0) + " %";
}

// The kinds that the threads were blocked by most, of `whole_ns`.
std::string BlockedBy(const analysis::TimeByKind& blocked_ns,
                      DurationNs whole_ns) {
  constexpr size_t kMostKinds = 3;
  std::vector<std::pair<DurationNs, size_t>> kinds;
  for (size_t kind = 0; kind < blocked_ns.size(); ++kind) {
    // Less than half a per cent would be 0 %.
    if (blocked_ns[kind] * 200 >= whole_ns && blocked_ns[kind] > 0) {
      kinds.emplace_back(-blocked_ns[kind], kind);
    }
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.resize(std::min(kinds.size(), kMostKinds));
  std::string text;
  for (const auto& [negative_ns, kind] : kinds) {
    absl::StrAppend(&text, text.empty() ? ": " : ", ",
                    Percent(-negative_ns, whole_ns), " ",
                    ToAbsl(NameOf(static_cast<model::WaitKind>(kind))));
  }
  return text;
}

std::string AndMoreRows(size_t all, size_t shown) {
  return all > shown ? absl::StrCat("and ", all - shown, " more\n") : "";
}

// That a program was stopped is what "other" waits are mostly for.
std::string WaitedFor(const model::Trace& trace,
                      const analysis::WaitGroup& group) {
  const std::string_view object = trace.Name(group.object_name);
  const bool is_stopped =
      group.kind == model::WaitKind::kOther && object == "stopped";
  return std::string(is_stopped ? object : NameOf(group.kind));
}

size_t Shown(size_t rows, const ScreenOptions& options) {
  return options.rows < 0 ? rows
                          : std::min(rows, static_cast<size_t>(options.rows));
}

double ShareOf(DurationNs part, DurationNs whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

DurationNs RecordedCpuNs(const model::Trace& trace) {
  DurationNs cpu_ns = 0;
  if (const model::ThreadStates* const states = trace.thread_states()) {
    for (const model::ThreadTimes& times : states->threads) {
      cpu_ns += times.on_cpu_ns;
    }
    return cpu_ns;
  }
  model::ForEachSampleWeight(
      trace, [&](const model::SampleSum& sum) { cpu_ns += sum.weight_ns; });
  return cpu_ns;
}

std::string ThreadsLine(const model::Trace& trace, DurationNs wall_ns) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || states->threads.empty()) return "";
  const ThreadTimes sum = states->Sum();
  const double cpus = wall_ns <= 0 ? 0
                                   : static_cast<double>(sum.on_cpu_ns) /
                                         static_cast<double>(wall_ns);
  const size_t count = states->threads.size();
  std::string line = FormatFixed(cpus, 2);
  const double usable = states->usable_cpus();
  absl::StrAppend(
      &line, usable > 0 ? " of " + analysis::CpusText(usable) : " CPUs",
      " used; ", count, count == 1 ? " thread was" : " threads were");
  const analysis::WaitSummary waits = analysis::SummarizeWaits(trace);
  const char* const of_time = count == 1 ? " of its time" : " of their time";
  const DurationNs idle_ns = std::min(waits.idle_ns, sum.blocked_ns());
  const DurationNs busy_ns = sum.wall_ns - idle_ns;
  if (idle_ns > 0) {
    absl::StrAppend(
        &line, " idle for ", Percent(idle_ns, sum.wall_ns), of_time,
        count == 1 ? "; when not idle, it was" : "; when not idle, they were");
  }
  absl::StrAppend(&line, " on a CPU for ", Percent(sum.on_cpu_ns, busy_ns),
                  idle_ns > 0 ? "" : of_time, ", runnable for ",
                  Percent(sum.runnable_ns, busy_ns));
  if (sum.unknown_ns > 0) {
    absl::StrAppend(&line, ", unknown for ", Percent(sum.unknown_ns, busy_ns));
  }
  absl::StrAppend(&line, ", blocked for ",
                  Percent(sum.blocked_ns() - idle_ns, busy_ns),
                  BlockedBy(waits.blocked_ns, busy_ns));
  return line;
}

std::string CpuLimitLine(const model::Trace& trace, std::string_view whose) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || states->cpu_limit.quota_ns == 0) return "";
  const model::CpuLimit& limit = states->cpu_limit;
  return absl::StrCat("CPU limit of ", ToAbsl(whose),
                      " (cgroup): ", analysis::CpusText(limit.cpus()), "; it ",
                      analysis::StoppedText(limit));
}

std::string StillRunning(const model::Trace& trace, std::string_view target,
                         int64_t target_pid, std::span<const int> ran_at_end,
                         bool (*still_runs)(int64_t pid)) {
  constexpr size_t kMost = 3;
  const auto has_ended = [](const model::Process& process) {
    return process.end_ns != 0;
  };
  if (std::ranges::none_of(trace.processes(), has_ended)) return "";
  struct Outlived {
    std::string names;
    std::string pids;
    size_t count = 0;
  };
  Outlived running, ended;
  for (const model::Process& process : trace.processes()) {
    if (has_ended(process) || process.pid == target_pid ||
        !std::ranges::binary_search(ran_at_end, process.pid)) {
      continue;
    }
    const bool runs = still_runs(process.pid);
    Outlived& into = runs ? running : ended;
    if (++into.count > kMost) continue;
    absl::StrAppend(&into.names, into.names.empty() ? "" : ", ",
                    VisibleText(trace.Name(process.name)), " (", process.pid,
                    ")");
    absl::StrAppend(&into.pids, into.pids.empty() ? "" : ",", process.pid);
  }
  Outlived& said = running.count > 0 ? running : ended;
  if (said.count == 0) return "";
  if (said.count > kMost) {
    absl::StrAppend(&said.names, " and ", said.count - kMost, " more");
  }
  const bool is_one = said.count == 1;
  std::string text =
      absl::StrCat("Note: ", said.names,
                   running.count == 0 ? " ran on for a while"
                   : is_one           ? " still runs"
                                      : " still run",
                   is_one ? ": it was" : ": they were", " recorded only until ",
                   VisibleText(target), " ended");
  if (running.count == 0) return text;
  absl::StrAppend(&text, "; kymo profile --pid=", said.pids, " records ",
                  is_one               ? "it"
                  : said.count > kMost ? "these"
                                       : "them",
                  " from now on");
  return text;
}

namespace {

// Whether threads that never had a CPU have most of the time of waits that
// nobody saw.
bool AreUnknownWaitsOfIdleThreads(const model::Trace& trace) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr) return true;
  std::vector<model::TrackIndex> ran;  // sorted, as the threads are
  for (const ThreadTimes& times : states->threads) {
    if (times.on_cpu_ns > 0) ran.push_back(times.track);
  }
  DurationNs ran_ns = 0;
  DurationNs idle_ns = 0;
  for (const analysis::WaitGroup& group :
       analysis::WaitsByThreadAndPlace(trace)) {
    if (group.is_idle || group.kind != model::WaitKind::kUnknown) continue;
    const bool has_run = std::ranges::binary_search(ran, group.track);
    (has_run ? ran_ns : idle_ns) += group.duration_ns;
  }
  return idle_ns > ran_ns;
}

// Why nobody may have seen long waits.
std::string_view WhyUnknown(const model::Trace& trace) {
  return AreUnknownWaitsOfIdleThreads(trace)
             ? "they may be of threads that did not run in the recording"
             : "Kymo may have looked too late, as where no CPU is free, or "
               "they were outside of system calls, as those for pages are";
}

}  // namespace

std::string UnknownWaits(const model::Trace& trace, bool hides_page_faults) {
  constexpr double kLeastShare = 0.1;
  DurationNs all_ns = 0;
  analysis::WaitGroup unknown;
  for (const analysis::WaitGroup& group : analysis::WaitsByPlace(trace)) {
    if (group.is_idle) continue;
    all_ns += group.duration_ns;
    if (group.kind != model::WaitKind::kUnknown) continue;
    unknown.count += group.count;
    unknown.duration_ns += group.duration_ns;
  }
  if (unknown.count == 0 ||
      ShareOf(unknown.duration_ns, all_ns) < kLeastShare) {
    return "";
  }
  constexpr DurationNs kShortNs = 10 * kNsPerMs;  // looks are 5 ms apart
  const bool is_one = unknown.count == 1;
  const DurationNs mean_ns =
      unknown.duration_ns / static_cast<DurationNs>(unknown.count);
  return absl::StrCat(
      "Note: nobody saw what ", unknown.count, is_one ? " wait (" : " waits (",
      Percent(unknown.duration_ns, all_ns), " of this time, ", Time(mean_ns),
      is_one ? ") was for: " : " on average) were for: ",
      mean_ns >= kShortNs ? ToAbsl(WhyUnknown(trace))
      : hides_page_faults
          ? "some short waits, such as those for page faults, have no stacks "
            "in this recording; --activities=sampling,off_cpu shows them"
          : "short ones are seen of programs that kymo starts and that call "
            "the shared C library for them; of others root sees up to 16,000 a "
            "second");
}

std::string CpuWithoutThread(const model::Trace& trace, DurationNs cpu_ns) {
  constexpr DurationNs kLeastNs = 20 * kNsPerMs;
  // The kernel takes a thread apart after its last record.
  constexpr DurationNs kMostOfAnEndNs = 200 * kNsPerUs;
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr) return "";
  const ThreadTimes sum =
      states->threads.empty() ? ThreadTimes() : states->Sum();
  const DurationNs missing_ns = cpu_ns - sum.on_cpu_ns - sum.unknown_ns;
  if (missing_ns < std::max(kLeastNs, cpu_ns / 50)) return "";
  const bool is_of_ends =
      missing_ns <
      kMostOfAnEndNs * static_cast<DurationNs>(states->threads.size());
  return absl::StrCat(
      "Note: ", Time(missing_ns), " of the CPU time are in no thread's row: ",
      is_of_ends ? "what the kernel did at the ends of threads, after their "
                   "last records"
                 : "most likely, the kernel freed the memory of processes at "
                   "their ends, after their last records; or they are of "
                   "programs that the kernel does not let Kymo record, such as "
                   "set-uid ones, or had no records");
}

std::string WaitsTable(const model::Trace& trace,
                       const ScreenOptions& options) {
  // The screen has no room for stacks.
  using Place = std::tuple<std::string, std::string, std::string_view>;
  std::map<Place, analysis::WaitGroup> places;  // by name, kind, module
  analysis::WaitPlaces names(trace);
  DurationNs all_ns = 0;
  for (const analysis::WaitGroup& group : analysis::WaitsByPlace(trace)) {
    if (group.is_idle) continue;
    const analysis::WaitPlace at = names.At(group.stack);
    analysis::WaitGroup& into =
        places[{at.name, WaitedFor(trace, group), at.module}];
    into.count += group.count;
    into.duration_ns += group.duration_ns;
    into.longest_ns = std::max(into.longest_ns, group.longest_ns);
    all_ns += group.duration_ns;
  }
  std::vector<const decltype(places)::value_type*> order;
  for (const auto& place : places) order.push_back(&place);
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) {
    return a->second.duration_ns > b->second.duration_ns;
  });
  report::FittedTable table{
      .columns = {{.title = "Waited in", .fit = Fit::kName},
                  {.title = "For", .fit = Fit::kText},
                  {.title = "Wait %", .drop = 1},
                  {.title = "Wait"},
                  {.title = "Waits", .drop = 2},
                  {.title = "Longest", .drop = 3},
                  {.title = "Module", .fit = Fit::kText, .drop = 4}},
      .rows = {}};
  const size_t shown = Shown(order.size(), options);
  for (size_t i = 0; i < shown; ++i) {
    const auto& [place, sum] = *order[i];
    const auto& [name, kind, module] = place;
    const double share = ShareOf(sum.duration_ns, all_ns);
    table.rows.push_back(
        {.cells = {VisibleText(name), kind, FormatFixed(100 * share, 2) + "%",
                   Time(sum.duration_ns), std::to_string(sum.count),
                   Time(sum.longest_ns), VisibleText(module)},
         .share = share});
  }
  return report::FormatFittedTable(
             table, {.width = options.width, .color = options.color}) +
         AndMoreRows(order.size(), shown);
}

// The place with the most time, whoever called it.
std::string MostlyHeldIn(const model::Trace& trace,
                         const analysis::LockWaits& lock,
                         analysis::WaitPlaces& names) {
  std::map<std::string, DurationNs> places;
  for (const analysis::HolderPlace& holder :
       analysis::HoldersByPlace(trace, names, lock)) {
    places[holder.name] += holder.duration_ns;
  }
  return std::ranges::max_element(
             places, {}, [](const auto& place) { return place.second; })
      ->first;
}

// "Mostly in" says as much as where a thread was first seen to wait.
std::string LockText(const model::Trace& trace, const analysis::LockWaits& lock,
                     analysis::WaitPlaces& names) {
  return lock.origin == analysis::LockOrigin::kAllocated
             ? analysis::LockText(trace, names, lock)
             : analysis::LockName(trace, lock.object, lock.name);
}

std::string LocksTable(const model::Trace& trace,
                       const ScreenOptions& options) {
  const std::vector<analysis::LockWaits> locks = analysis::WaitsByLock(trace);
  report::FittedTable table{
      .columns = {{.title = "Lock", .fit = Fit::kName},
                  {.title = "Wait"},
                  {.title = "Waits", .drop = 1},
                  {.title = "Longest", .drop = 2},
                  {.title = "Mostly in", .fit = Fit::kText, .drop = 4},
                  {.title = "Mostly held in", .fit = Fit::kText, .drop = 3}},
      .rows = {}};
  DurationNs all_ns = 0;
  for (const analysis::LockWaits& lock : locks) all_ns += lock.duration_ns;
  analysis::WaitPlaces names(trace);
  // One long name, perhaps of the last row, is no reason to drop its column.
  const auto place = [&](const std::string& name) {
    return report::ShortName(VisibleText(name),
                             std::max<size_t>(options.width / 4, 20));
  };
  const size_t shown = Shown(locks.size(), options);
  for (size_t i = 0; i < shown; ++i) {
    const analysis::LockWaits& lock = locks[i];
    table.rows.push_back(
        {.cells = {VisibleText(LockText(trace, lock, names)),
                   Time(lock.duration_ns), std::to_string(lock.count),
                   Time(lock.longest_ns),
                   place(names.Of(lock.waiters.front().stack)),
                   place(MostlyHeldIn(trace, lock, names))},
         .share = ShareOf(lock.duration_ns, all_ns)});
  }
  return report::FormatFittedTable(
             table, {.width = options.width, .color = options.color}) +
         AndMoreRows(locks.size(), shown);
}

std::string ProgramsTable(const model::Trace& trace,
                          const ScreenOptions& options) {
  const std::vector<report::ProgramTimes> programs =
      report::BusiestPrograms(trace);
  if (programs.size() < 2) return "";
  const size_t shown = Shown(programs.size(), options);
  report::FittedTable table{.columns = {{.title = "Program", .fit = Fit::kName},
                                        {.title = "Processes", .drop = 4},
                                        {.title = "Threads", .drop = 5},
                                        {.title = "CPU %", .drop = 3},
                                        {.title = "On CPU"},
                                        {.title = "Runnable", .drop = 1},
                                        {.title = "Blocked", .drop = 2}},
                            .rows = {}};
  const DurationNs all_ns = trace.thread_states()->Sum().on_cpu_ns;
  for (size_t i = 0; i < shown; ++i) {
    const report::ProgramTimes& program = programs[i];
    const ThreadTimes& t = program.times;
    const double share = ShareOf(t.on_cpu_ns, all_ns);
    table.rows.push_back(
        {.cells = {VisibleText(program.name), std::to_string(program.processes),
                   std::to_string(program.threads),
                   FormatFixed(100 * share, 2) + "%", Time(t.on_cpu_ns),
                   Time(t.runnable_ns), Time(t.blocked_ns())},
         .share = share});
  }
  return report::FormatFittedTable(
             table, {.width = options.width, .color = options.color}) +
         AndMoreRows(programs.size(), shown);
}

std::string ThreadsTable(const model::Trace& trace,
                         const ScreenOptions& options) {
  const std::vector<ThreadTimes> threads = report::BusiestThreads(trace);
  const size_t shown = Shown(threads.size(), options);
  report::FittedTable table{.columns = {{.title = "Thread", .fit = Fit::kName},
                                        {.title = "TID", .drop = 4},
                                        {.title = "Wall", .drop = 3},
                                        {.title = "On CPU"},
                                        {.title = "Runnable", .drop = 1},
                                        {.title = "Blocked"},
                                        {.title = "Voluntary", .drop = 5},
                                        {.title = "Involuntary", .drop = 6}},
                            .rows = {}};
  const DurationNs all_ns =
      threads.empty() ? 0 : trace.thread_states()->Sum().on_cpu_ns;
  for (size_t i = 0; i < shown; ++i) {
    const ThreadTimes& t = threads[i];
    const model::Track& track = trace.tracks()[t.track];
    const std::string_view name = trace.Name(track.name);
    table.rows.push_back(
        {.cells = {name.empty() ? "thread" : VisibleText(name),
                   std::to_string(track.id), Time(t.wall_ns), Time(t.on_cpu_ns),
                   Time(t.runnable_ns), Time(t.blocked_ns()),
                   std::to_string(t.voluntary_switches),
                   std::to_string(t.involuntary_switches)},
         .share = ShareOf(t.on_cpu_ns, all_ns)});
  }
  return report::FormatFittedTable(
             table, {.width = options.width, .color = options.color}) +
         AndMoreRows(threads.size(), shown);
}

}  // namespace kymo::tools
