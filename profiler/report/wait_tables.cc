#include "profiler/report/wait_tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"

namespace kymo::report {
namespace {

using analysis::RangeSplit;
using analysis::WaitGroup;
using model::StackId;
using model::Trace;
using model::WaitKind;

// The innermost function first, since a long text loses its end.
std::string CallersText(const Trace& trace, StackId stack) {
  std::string text;
  for (; stack != model::kEmptyStack; stack = trace.stacks().parent(stack)) {
    absl::StrAppend(&text, text.empty() ? "" : " < ",
                    analysis::InnermostFunction(trace, stack));
  }
  return text;
}

Value ShareIfAny(DurationNs part, DurationNs whole) {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

Value TextIfAny(std::string text) {
  return text.empty() ? Value() : Value(std::move(text));
}

int64_t Count(uint64_t count) { return static_cast<int64_t>(count); }

// Of each kind a column, but not of kCpuBusy: such a thread is runnable.
constexpr WaitKind kBlockedKinds[] = {
    WaitKind::kLock,      WaitKind::kCondition, WaitKind::kSleep,
    WaitKind::kRead,      WaitKind::kWrite,     WaitKind::kPoll,
    WaitKind::kNetwork,   WaitKind::kPipe,      WaitKind::kChild,
    WaitKind::kPageFault, WaitKind::kOther,     WaitKind::kUnknown};

// "page_fault_ns" and "Page fault" of "page fault".
ValueColumn KindColumn(WaitKind kind) {
  std::string name(NameOf(kind));
  std::string title = name;
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  for (char& c : name) c = c == ' ' ? '_' : c;
  return {name + "_ns", std::move(title), Unit::kNs};
}

}  // namespace

ValueTable WaitTable(const Trace& trace) {
  ValueTable table{.columns = {{"where", "Where", Unit::kText},
                               {"kind", "Kind", Unit::kText},
                               {"idle", "Idle", Unit::kText},
                               {"wait_share", "Wait %", Unit::kShare},
                               {"wait_ns", "Wait", Unit::kNs},
                               {"waits", "Waits", Unit::kCount},
                               {"longest_ns", "Longest", Unit::kNs},
                               {"object", "Object", Unit::kText},
                               {"woken_in", "Woken in", Unit::kText},
                               {"module", "Module", Unit::kText},
                               {"stack", "Stack", Unit::kText}},
                   .rows = {}};
  const std::vector<WaitGroup> groups = analysis::WaitsByPlace(trace);
  DurationNs all_ns = 0;
  for (const WaitGroup& group : groups) {
    if (!group.is_idle) all_ns += group.duration_ns;
  }
  analysis::WaitPlaces places(trace);
  // The interpreter's functions say nothing of who woke the thread.
  const auto waker_text = [&](const WaitGroup& group) {
    if (group.waker_stack == model::kEmptyStack) return Value();
    analysis::WaitPlace waker = places.At(group.waker_stack);
    return waker.is_of_interpreter ? Value() : Value(std::move(waker.name));
  };
  for (const WaitGroup& group : groups) {
    analysis::WaitPlace place = places.At(group.stack);
    table.rows.push_back(
        {std::move(place.name), std::string(NameOf(group.kind)),
         std::string(group.is_idle ? "idle" : ""),
         group.is_idle ? Value() : ShareIfAny(group.duration_ns, all_ns),
         group.duration_ns, Count(group.count), group.longest_ns,
         TextIfAny(analysis::ObjectsText(trace, group)), waker_text(group),
         TextIfAny(std::string(place.module)),
         CallersText(trace, group.stack)});
  }
  return table;
}

ValueTable LockTable(const Trace& trace) {
  ValueTable table{.columns = {{"process", "Process", Unit::kCount},
                               {"lock", "Lock", Unit::kText},
                               {"origin", "Origin", Unit::kText},
                               {"side", "Side", Unit::kText},
                               {"lock_wait_ns", "Wait for it", Unit::kNs},
                               {"wait_ns", "Wait", Unit::kNs},
                               {"waits", "Waits", Unit::kCount},
                               {"longest_ns", "Longest", Unit::kNs},
                               {"where", "Where", Unit::kText},
                               {"stack", "Stack", Unit::kText}},
                   .rows = {}};
  analysis::WaitPlaces places(trace);
  for (const analysis::LockWaits& lock : analysis::WaitsByLock(trace)) {
    const auto add = [&](const char* side, const auto& group,
                         std::string where) {
      table.rows.push_back({lock.is_shared ? Value() : Value(lock.pid),
                            analysis::LockName(trace, lock.object, lock.name),
                            TextIfAny(analysis::OriginText(places, lock)),
                            std::string(side), lock.duration_ns,
                            group.duration_ns, Count(group.count),
                            group.longest_ns, std::move(where),
                            CallersText(trace, group.stack)});
    };
    for (const WaitGroup& waiter : lock.waiters) {
      add("waits", waiter, places.Of(waiter.stack));
    }
    for (const analysis::HolderPlace& holder :
         analysis::HoldersByPlace(trace, places, lock)) {
      add("holds", holder, holder.name);
    }
  }
  return table;
}

ValueTable RangeWaitTable(const Trace& trace) {
  ValueTable table{.columns = {{"name", "Range", Unit::kText},
                               {"count", "# of Calls", Unit::kCount},
                               {"duration_ns", "Wall", Unit::kNs},
                               {"cpu_ns", "On CPU", Unit::kNs},
                               {"wait_ns", "Wait time", Unit::kNs},
                               {"wait_share", "Wait %", Unit::kShare},
                               {"runnable_ns", "Runnable", Unit::kNs}},
                   .rows = {}};
  for (const WaitKind kind : kBlockedKinds) {
    table.columns.push_back(KindColumn(kind));
  }
  for (const RangeSplit& range : analysis::SplitRanges(trace)) {
    std::vector<Value>& row = table.rows.emplace_back(std::vector<Value>{
        range.name, Count(range.count), range.duration_ns, range.on_cpu_ns,
        range.wait_ns(), ShareIfAny(range.wait_ns(), range.duration_ns),
        range.runnable_ns});
    for (const WaitKind kind : kBlockedKinds) {
      row.emplace_back(range.blocked_ns[static_cast<size_t>(kind)]);
    }
  }
  return table;
}

std::string WaitsText(const Trace& trace, int row_limit) {
  std::string text;
  const auto add = [&](const char* title, ValueTable table) {
    if (table.rows.empty()) return;
    absl::StrAppend(&text, text.empty() ? "" : "\n", title, "\n",
                    FormatValueTable(VisibleTable(std::move(table)),
                                     {.row_limit = row_limit}));
  };
  add("Where it waited", WaitTable(trace));
  add("Locks", LockTable(trace));
  add("Ranges that waited", RangeWaitTable(trace));
  return text;
}

}  // namespace kymo::report
