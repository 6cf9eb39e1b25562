// Long, because it has all parts of the screen that are no tables.
#include "tools/profile_command/first_screen.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/lanes.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/thread_states.h"
#include "profiler/report/fitted_table.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/flag_dashes.h"
#include "tools/profile_command/range_screen.h"
#include "tools/profile_command/thread_screen.h"

namespace kymo::tools {
namespace {

using model::Loss;
using report::Fit;
using report::FittedTable;
using report::FormatFixed;
using report::FormatTime;
using report::ShareOrDash;
using report::Wrapped;

constexpr size_t kMostMemoryLines = 20;

constexpr char kYellow[] = "\033[33m";
constexpr char kBold[] = "\033[1m";
constexpr char kPlain[] = "\033[0m";

std::string Seconds(DurationNs ns) {
  return absl::StrCat(FormatFixed(static_cast<double>(ns) / kNsPerSecond, 3),
                      " s");
}

std::string Count(uint64_t count, std::string_view one, std::string_view many) {
  return absl::StrCat(count, " ", ToAbsl(count == 1 ? one : many));
}

// What a trace holds besides samples and allocations.
struct Counts {
  uint64_t threads = 0;
  uint64_t ranges = 0;
  uint64_t marks = 0;
  uint64_t device_events = 0;
};

Counts CountEvents(const model::Trace& trace) {
  Counts counts;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    const model::EventIndex begin = trace.track_begin(t);
    const uint64_t events = trace.track_end(t) - begin;
    if (track.kind != model::TrackKind::kThread) {
      counts.device_events += events;
      continue;
    }
    const auto flags = trace.flags().subspan(begin, events);
    const auto marks =
        static_cast<uint64_t>(std::ranges::count_if(flags, [](uint8_t flag) {
          return (flag & model::kEventInstant) != 0;
        }));
    counts.marks += marks;
    counts.ranges += events - marks;
    counts.threads += t == 0 || !model::IsLaneOf(track, trace.tracks()[t - 1]);
  }
  return counts;
}

// Empty if the target ended well.
std::string EndOf(int wait_status) {
  constexpr char kSeccomp[] =
      "; its filter of system calls (seccomp) may forbid what Kymo does in it";
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return absl::StrCat("killed by signal ", signal, " (", strsignal(signal),
                        ")", signal == SIGSYS ? kSeccomp : "");
  }
  const int status = WEXITSTATUS(wait_status);
  if (status == 0) return "";
  const std::string text = absl::StrCat("exit status ", status);
  // What shells make of a child that a signal killed. But a program may return
  // any number.
  if (status != 128 + SIGSYS) return text;
  return absl::StrCat(text,
                      ", perhaps of a shell whose child was killed by signal ",
                      SIGSYS, " (", strsignal(SIGSYS), ")", kSeccomp);
}

// The kernel's count lacks children that nobody waited for. Otherwise it is
// more exact than what was recorded.
DurationNs CpuNs(const model::Trace& trace, const RunFacts& facts) {
  const DurationNs recorded_ns = RecordedCpuNs(trace);
  if (facts.attach_end.has_value()) return recorded_ns;
  return recorded_ns > facts.cpu_ns + facts.cpu_ns / 10 ? recorded_ns
                                                        : facts.cpu_ns;
}

// Empty if nothing was recorded that tells: of a running process, ranges alone.
std::string CpuText(const model::Trace& trace, const RunFacts& facts) {
  const DurationNs cpu_ns = CpuNs(trace, facts);
  if (!facts.attach_end || cpu_ns >= kNsPerMs / 2) {
    return absl::StrCat(", ", Seconds(cpu_ns), " of CPU");
  }
  if (cpu_ns > 0) {
    return absl::StrCat(", ", FormatTime(static_cast<double>(cpu_ns) / 1e3, ""),
                        " of CPU");
  }
  return trace.thread_states() == nullptr ? "" : ", no CPU time";
}

std::string Headline(const model::Trace& trace, const ScreenTables& tables,
                     const RunFacts& facts) {
  const Counts counts = CountEvents(trace);
  const bool is_attached = facts.attach_end.has_value();
  std::string line =
      absl::StrCat(is_attached ? "attached to " : "", VisibleText(facts.target),
                   ": ", Seconds(facts.wall_ns), CpuText(trace, facts));
  if (!trace.processes().empty()) {
    absl::StrAppend(&line, ", ",
                    Count(trace.processes().size(), "process", "processes"));
  }
  if (counts.threads > 0) {
    absl::StrAppend(&line, ", ", Count(counts.threads, "thread", "threads"));
  }
  const char* separator = "; ";
  const auto add = [&](uint64_t count, std::string_view one,
                       std::string_view many) {
    if (count == 0) return;
    absl::StrAppend(&line, separator, Count(count, one, many));
    separator = ", ";
  };
  add(static_cast<uint64_t>(tables.functions.sample_count), "sample",
      "samples");
  add(counts.ranges, "range", "ranges");
  add(counts.marks, "mark", "marks");
  add(tables.older_events, "older event", "older events");
  add(counts.device_events, "device event", "device events");
  add(static_cast<uint64_t>(tables.allocations), "allocation", "allocations");
  const std::string end =
      is_attached ? *facts.attach_end : EndOf(facts.wait_status);
  if (!end.empty()) absl::StrAppend(&line, "; ", end);
  return line;
}

std::string AndMore(size_t all, size_t shown, const char* what = "") {
  return all > shown ? absl::StrCat("and ", all - shown, " more", what, "\n")
                     : "";
}

FittedTable FunctionsTable(const report::SampleTable& table,
                           const std::vector<report::SampleTableRow>& shown) {
  FittedTable fitted{
      .columns = {{.title = "Function", .fit = Fit::kName},
                  {.title = "Self CPU %"},
                  {.title = "Self CPU", .drop = 2},
                  {.title = "CPU total %", .drop = 3},
                  {.title = "CPU total", .drop = 1},
                  {.title = "Samples total", .drop = 5},
                  {.title = "Module", .fit = Fit::kText, .drop = 4}},
      .rows = {}};
  const double total_us = static_cast<double>(table.sampled_ns) / kNsPerUs;
  for (const report::SampleTableRow& row : shown) {
    fitted.rows.push_back(
        {.cells = {VisibleText(row.name),
                   ShareOrDash(row.self_cpu_time_us, total_us),
                   FormatTime(row.self_cpu_time_us, ""),
                   ShareOrDash(row.cpu_time_us, total_us),
                   FormatTime(row.cpu_time_us, ""),
                   std::to_string(row.sample_count),
                   VisibleText(row.module.substr(row.module.rfind('/') + 1))},
         .share = total_us == 0 ? 0 : row.self_cpu_time_us / total_us});
  }
  return fitted;
}

// Stands in place of the table of functions.
std::string NoSampleLine(const model::Trace& trace, const RunFacts& facts) {
  const DurationNs cpu_ns = CpuNs(trace, facts);
  if (cpu_ns == 0) {
    // Without the threads' times, nobody knows what an attached process used.
    return facts.attach_end && trace.thread_states() == nullptr
               ? "No functions: no sample was taken."
               : "No functions: no CPU time was used.";
  }
  const bool is_lost =
      trace.ledger().Get(model::Loss::kSamplesNotDelivered) > 0;
  return absl::StrCat("No functions: no sample fell into the ",
                      FormatTime(static_cast<double>(cpu_ns) / kNsPerUs, ""),
                      " of CPU time.",
                      is_lost ? " \"Lost\" below says why."
                              : " More come with --sampling_hz=10000.");
}

// The beginning of a text, cut to the screen.
std::string FirstLines(const std::string& text, size_t most, size_t width) {
  std::string out;
  std::vector<std::string_view> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    lines.emplace_back(line.data(), line.size());
  }
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (size_t i = 0; i < std::min(most, lines.size()); ++i) {
    out.append(report::TakeFirst(lines[i], width)).append("\n");
  }
  return out + AndMore(lines.size(), most, " lines");
}

std::string Colored(const std::string& text, const char* color, bool wanted) {
  return wanted ? color + text + kPlain : text;
}

// Losses that say little as long as they are few.
bool MayBeFew(Loss loss) {
  switch (loss) {
    case Loss::kSamplesLost:
    case Loss::kSamplesNotDelivered:
    case Loss::kSamplesNotDue:
    case Loss::kStacksTruncated:
    case Loss::kStacksIncomplete:
    case Loss::kStacksBeyondLimit:
      return true;
    default:
      return false;
  }
}

uint64_t OperationStackCount(const model::Trace& trace) {
  uint64_t count = 0;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    const model::Detail* const detail = trace.detail(i);
    if (detail != nullptr && detail->stack != model::kEmptyStack) ++count;
  }
  return count;
}

// The stacks of samples, waits, allocations and operations: each may be
// truncated.
uint64_t StackCount(const model::Trace& trace) {
  uint64_t count = model::CountUnwoundStacks(trace);
  for (const model::MemoryRecord& record : trace.memory()) {
    count += record.stack != model::kEmptyStack ? 1 : 0;
  }
  if (const model::FoldedMemory* const folded = trace.folded_memory()) {
    for (const model::FoldedHeap& heap : folded->heaps) {
      for (const model::FoldedStack& sum : heap.stacks) {
        if (sum.stack == model::kEmptyStack) continue;
        count += static_cast<uint64_t>(sum.allocated.count);
      }
    }
  }
  return count + OperationStackCount(trace);
}

uint64_t SwitchCount(const model::Trace& trace) {
  uint64_t count = 0;
  if (const model::ThreadStates* const states = trace.thread_states()) {
    for (const model::ThreadTimes& times : states->threads) {
      count += times.voluntary_switches + times.involuntary_switches;
    }
  }
  return count;
}

// How many there would be without the loss. 0: not known.
uint64_t AllWith(const model::Trace& trace, Loss loss, uint64_t count) {
  // Allocations that are folded are not counted one by one.
  const bool has_records = trace.folded_memory() == nullptr;
  switch (loss) {
    case Loss::kSamplesLost:
    case Loss::kSamplesNotDelivered:
    case Loss::kSamplesNotDue:
      return model::SampledPeriods(trace) + count;
    case Loss::kStacksTruncated:
      return std::max(StackCount(trace), count);
    case Loss::kStacksIncomplete:
    case Loss::kStacksBeyondLimit:
      return std::max(model::CountUnwoundStacks(trace), count);
    case Loss::kEventsDroppedArenaFull:
    case Loss::kEventsDroppedInHandlers:
    case Loss::kEventsDroppedNoStream:
      return has_records
                 ? trace.event_count() + trace.memory().size() +
                       trace.ledger().Get(Loss::kEventsOverwritten) + count
                 : 0;
    case Loss::kEventsNotImported:
      return trace.event_count() + count;
    case Loss::kMemoryRecordsLeftOut:
      return has_records ? trace.memory().size() + count : 0;
    case Loss::kSwitchesLost:
      return SwitchCount(trace) + count;
    default:
      return 0;
  }
}

std::string ShareText(double share) {
  constexpr double kLeast = 0.001;
  if (share < kLeast) return "(under 0.1 %) ";
  return absl::StrCat("(", FormatFixed(100 * share, share < 0.01 ? 1 : 0),
                      " %) ");
}

// Some losses leave every number as it is, and some notes say that numbers are
// not what they seem.
bool ChangesTheAnswer(Loss loss) {
  switch (loss) {
    case Loss::kArgumentsTruncated:
      return false;
    case Loss::kSamplesBiased:
    case Loss::kSamplesNotDue:
    case Loss::kSamplesAtSwitches:
      return true;
    default:
      return model::IsLoss(loss);
  }
}

std::string_view WhatHelps(Loss loss) {
  switch (loss) {
    case Loss::kEventsDroppedArenaFull:
      return "give it more with --cpu_arena_mib";
    case Loss::kNamesDroppedTableFull:
      return "use fewer different names: put what varies into arguments";
    case Loss::kSamplesLost:
      return "sample less often with --sampling_hz, or, without root's rights, "
             "raise `sysctl kernel.perf_event_mlock_kb` and `ulimit -l`";
    case Loss::kStacksIncomplete:
      return "what helps depends on the code in which they end: "
             "docs/names.md#whole-stacks";
    case Loss::kDrainBytesLost:
      return "make room on the disk, or write elsewhere with --output_dir";
    default:
      return "";
  }
}

// A look at a waiting thread copies 16 pages of 4 KiB, a sample of a switch 4
// or 8 KiB.
constexpr char kTruncatedWaits[] =
    "stacks of waits without their outermost callers, for which [truncated] "
    "stands: Kymo copies up to 64 KiB of the stack of a thread that waits, the "
    "kernel up to 8 KiB, and Kymo less while many threads change the program's "
    "mappings, as when they start and end; no flag changes that. Samples are "
    "not affected, and the times and places of waits are right";

// For each stack, whether [truncated] is its outermost frame.
std::vector<bool> TruncatedStacks(const model::Trace& trace) {
  const model::StackTable& stacks = trace.stacks();
  std::vector<bool> truncated(stacks.stack_count());
  for (uint32_t i = 1; i < truncated.size(); ++i) {
    const model::StackId parent = stacks.parent(model::StackId{i});
    truncated[i] =
        parent == model::kEmptyStack
            ? trace.Name(
                  stacks.frame(stacks.leaf(model::StackId{i})).function) ==
                  "[truncated]"
            : truncated[Index(parent)];
  }
  return truncated;
}

// Whether waits have truncated stacks, and nothing else can have.
bool OnlyWaitsAreTruncated(const model::Trace& trace) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || !trace.memory().empty() ||
      trace.folded_memory() != nullptr || OperationStackCount(trace) != 0) {
    return false;
  }
  const std::vector<bool> truncated = TruncatedStacks(trace);
  const auto is_truncated = [&](const auto& of) {
    return truncated[Index(of.stack)];
  };
  bool has_samples = false;
  model::ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    has_samples |= is_truncated(sum);
  });
  return !has_samples &&
         (std::ranges::any_of(states->waits, is_truncated) ||
          std::ranges::any_of(states->short_waits, is_truncated));
}

}  // namespace

std::string WithoutTables(const model::Trace& trace, uint64_t older_values) {
  const uint64_t values = trace.counters().size() + older_values;
  if (values == 0) {
    return "Nothing was recorded: no annotated range ran, and no sample hit.";
  }
  return absl::StrCat(
      "No table: no annotated range ran, and no sample hit. ",
      Count(values, "value of a counter was", "values of counters were"),
      " recorded: summary.json has the least, the mean and the greatest of "
      "each counter, and timelines show the values.");
}

size_t TableCount(const ScreenTables& tables) {
  return size_t{!tables.ranges.empty()} + !tables.functions.rows.empty() +
         !tables.memory.empty() + tables.has_threads + tables.wait_tables;
}

std::vector<std::string> LossesThatMatter(const model::Trace& trace) {
  constexpr double kLeastShare = 0.05;
  std::vector<std::string> lines;
  for (size_t i = 0; i < static_cast<size_t>(Loss::kCount); ++i) {
    const Loss loss = static_cast<Loss>(i);
    const uint64_t count = trace.ledger().Get(loss);
    if (count == 0 || !ChangesTheAnswer(loss)) continue;
    std::string line =
        absl::StrCat(model::IsLoss(loss) ? "Lost: " : "Note: ", count, " ");
    if (const uint64_t all = AllWith(trace, loss, count); all > 0) {
      const double share =
          static_cast<double>(count) / static_cast<double>(all);
      if (MayBeFew(loss) && share < kLeastShare) continue;
      line += ShareText(share);
    }
    line += loss == Loss::kStacksTruncated && OnlyWaitsAreTruncated(trace)
                ? kTruncatedWaits
                : WithFlagDashes(model::LossText(trace.ledger(), loss));
    const std::string_view help = WhatHelps(loss);
    if (!help.empty()) absl::StrAppend(&line, "; ", ToAbsl(help));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> FindingsToShow(
    const model::Trace& trace, const analysis::LazyMemoryProfiles& memory) {
  constexpr size_t kMost = 3;
  std::vector<std::string> titles;
  for (const analysis::Finding& finding :
       analysis::FindFindings(trace, memory, analysis::LazyJobOfRanks(trace))) {
    if (finding.kind == analysis::FindingKind::kLostData) continue;
    titles.push_back(finding.title);
    if (titles.size() == kMost) break;
  }
  return titles;
}

absl::StatusOr<std::string> FirstScreen(const model::Trace& trace,
                                        const ScreenTables& tables,
                                        const RunFacts& facts,
                                        const ScreenOptions& options) {
  std::string out =
      Colored(Wrapped(Headline(trace, tables, facts), options.width, 2), kBold,
              options.color);
  out += "\n";
  for (const std::string& line :
       {ThreadsLine(trace, facts.wall_ns), CpuLimitLine(trace)}) {
    if (!line.empty()) out += Wrapped(line, options.width, 2) + "\n";
  }
  const std::string programs = ProgramsTable(trace, options);
  if (!programs.empty()) out += "\n" + programs;
  const report::FittedTableOptions fit = {.width = options.width,
                                          .color = options.color};
  if (!tables.ranges.empty()) {
    KYMO_ASSIGN_OR_RETURN(
        const std::vector<const report::TableRow*> shown,
        report::ShownRows(tables.ranges, {.sort_by = tables.sort_by,
                                          .row_limit = options.rows}));
    out += "\n" + report::FormatFittedTable(RangesTable(tables, shown), fit) +
           AndMore(tables.ranges.size(), shown.size());
    if (!tables.range_waits.empty()) out += ShortWaitsLine(trace);
  }
  if (!tables.functions.rows.empty()) {
    KYMO_ASSIGN_OR_RETURN(
        const std::vector<report::SampleTableRow> shown,
        report::ShownSampleRows(
            tables.functions, {.sort_by = report::SampleSortKey(tables.sort_by),
                               .row_limit = options.rows}));
    out += "\n" +
           report::FormatFittedTable(FunctionsTable(tables.functions, shown),
                                     fit) +
           AndMore(tables.functions.rows.size(), shown.size());
  } else if (trace.sampling_period_ns() > 0 && TableCount(tables) > 0) {
    out += "\n" + Wrapped(NoSampleLine(trace, facts), options.width, 2) + "\n";
  }
  for (const std::string& table :
       {WaitsTable(trace, options), LocksTable(trace, options),
        ThreadsTable(trace, options)}) {
    if (!table.empty()) out += "\n" + table;
  }
  if (!tables.memory.empty()) {
    out += "\n" + FirstLines(VisibleLines(tables.memory), kMostMemoryLines,
                             options.width);
  }
  if (TableCount(tables) == 0) {
    out +=
        "\n" +
        Wrapped(WithoutTables(trace, tables.older_values), options.width, 2) +
        "\n";
  }
  if (!tables.memory_note.empty()) {
    out += "\n" + Wrapped(tables.memory_note, options.width, 2) + "\n";
  }
  if (!tables.findings.empty()) out += "\n";
  for (const std::string& finding : tables.findings) {
    out += Wrapped("Finding: " + VisibleText(finding), options.width, 2) + "\n";
  }
  std::vector<std::string> losses = LossesThatMatter(trace);
  const auto put_first = [&](std::string note) {
    if (!note.empty()) losses.insert(losses.begin(), std::move(note));
  };
  put_first(CpuWithoutThread(trace, facts.cpu_ns));
  put_first(UnknownWaits(trace, facts.hides_page_faults));
  if (facts.still_runs != nullptr) {
    put_first(StillRunning(trace, facts.target, facts.target_pid,
                           facts.ran_at_end, facts.still_runs));
  }
  if (!losses.empty()) out += "\n";
  for (const std::string& loss : losses) {
    out += Colored(Wrapped(loss, options.width, 2), kYellow, options.color);
    out += "\n";
  }
  return out;
}

}  // namespace kymo::tools
