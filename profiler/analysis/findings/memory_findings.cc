#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/text/text_cells.h"

namespace kymo::analysis {
namespace {

using model::Trace;
using report::FormatBytes;

// What glibc takes for an allocation and its free at the least, when both stay
// in the thread's cache: a loop on the machine of docs/overhead.md.
constexpr DurationNs kPairNs = 15;
// Growth is what goes on from step to step: the first steps fill caches, and a
// median of fewer than 5 says nothing.
constexpr size_t kLeastGrowingSteps = 5;
// Of 10 steps, 9 end with more than they began with. A cache that is trimmed
// now and then grows in fewer.
constexpr size_t kGrowingPart = 10;
// A hundred blocks of one place that nobody freed are a habit. Fewer are the
// tables that a program keeps until its end.
constexpr int64_t kLeastLeaked = 100;
// Memory below a twentieth of the peak would not be missed, as time.
constexpr int64_t kLeastPeakPart = 20;

class PoolFindings {
 public:
  PoolFindings(const FindingRun& run, const MemoryProfile& profile,
               std::vector<Finding>& findings)
      : run_(run), profile_(profile), findings_(findings), places_(run.trace) {}

  void Run() {
    if (profile_.detail == MemoryDetail::kCounts) return;
    AddShortLived();
    // Memory that grows from step to step is what then leaks.
    if (!AddGrowth()) AddLeak();
  }

 private:
  bool Matters(int64_t bytes) const {
    return bytes >= kLeastBytes &&
           bytes >= profile_.peak.bytes / kLeastPeakPart;
  }

  // "" or " of process 12".
  std::string OfProcess() const {
    return run_.trace.processes().size() < 2
               ? ""
               : absl::StrCat(" of process ", profile_.pool.pid);
  }

  Finding OfBytes(FindingKind kind, int64_t bytes) const {
    Finding finding;
    finding.kind = kind;
    finding.bytes = bytes;
    finding.share = profile_.peak.bytes == 0
                        ? 0
                        : static_cast<double>(bytes) /
                              static_cast<double>(profile_.peak.bytes);
    return finding;
  }

  // The program's function that asked for the memory.
  std::string PlaceOf(model::StackId stack) { return places_.Of(stack); }

  Evidence OfStack(model::StackId stack) {
    return {.kind = EvidenceKind::kStack,
            .name = PlaceOf(stack),
            .table = "memory",
            .stack = stack};
  }

  // An interval on the process's first track, where no stack is known.
  Evidence OfInterval(std::string_view name, TimeNs begin_ns,
                      TimeNs end_ns) const {
    Evidence evidence = {.kind = EvidenceKind::kInterval,
                         .name = std::string(name),
                         .table = "memory",
                         .begin_ns = begin_ns,
                         .duration_ns = end_ns - begin_ns};
    for (model::TrackIndex t = 0; t < run_.trace.tracks().size(); ++t) {
      if (run_.trace.tracks()[t].pid != profile_.pool.pid) continue;
      evidence.track = t;
      break;
    }
    return evidence;
  }

  void AddShortLived() {
    const TemporaryAllocations& temporary = profile_.temporary;
    const DurationNs cost_ns = temporary.count * kPairNs;
    if (!run_.Matters(cost_ns) || temporary.by_stack.empty()) return;
    // They come by bytes.
    const StackMemory& most =
        *std::ranges::max_element(temporary.by_stack, {}, &StackMemory::count);
    Finding finding = run_.OfTime(FindingKind::kShortLivedAllocations, cost_ns);
    finding.title = absl::StrCat(
        CountText(temporary.count), " allocations", OfProcess(), " (",
        PercentText(static_cast<double>(temporary.count),
                    static_cast<double>(profile_.totals.allocations)),
        ") were freed before their thread allocated again, which takes about ",
        TimeText(cost_ns), " or more");
    finding.next_step =
        "Keep the memory and use it again: a buffer outside of the loop, "
        "reserve(), a pool";
    if (most.id != model::kEmptyStack) {
      absl::StrAppend(&finding.title, "; ",
                      PercentText(static_cast<double>(most.count),
                                  static_cast<double>(temporary.count)),
                      " of them in ", NameText(PlaceOf(most.id)));
      finding.evidence = OfStack(most.id);
    } else {
      absl::StrAppend(&finding.next_step,
                      "; record stacks (--with_stack) to see where");
      finding.evidence =
          OfInterval("allocations", run_.trace.start_ns(), run_.trace.end_ns());
    }
    findings_.push_back(std::move(finding));
  }

  bool IsLeak(const StackMemory& memory) const {
    return Matters(memory.bytes) && memory.count >= kLeastLeaked &&
           memory.id != model::kEmptyStack;
  }

  std::string_view FunctionAt(model::StackId stack) const {
    const model::StackTable& stacks = run_.trace.stacks();
    return run_.trace.Name(stacks.frame(stacks.leaf(stack)).function);
  }

  // " for Load": the nearest caller by which the stack differs from those of
  // all other leaks in the same function, such as a program's own malloc().
  std::string ForCaller(const StackMemory& leak) {
    const model::StackTable& stacks = run_.trace.stacks();
    const WaitPlace place = places_.At(leak.id);
    std::string caller;
    int most_common = 0;
    for (const StackMemory& other : profile_.leaks) {
      if (other.id == leak.id || !IsLeak(other)) continue;
      const WaitPlace at = places_.At(other.id);
      if (at.name != place.name) continue;
      model::StackId mine = place.stack;
      model::StackId others = at.stack;
      int common = 0;
      while (mine != model::kEmptyStack && others != model::kEmptyStack &&
             FunctionAt(mine) == FunctionAt(others)) {
        ++common;
        mine = stacks.parent(mine);
        others = stacks.parent(others);
      }
      if (mine == model::kEmptyStack || common <= most_common) continue;
      const std::string name = places_.OfCaller(mine);
      if (name == places_.OfCaller(others)) continue;
      most_common = common;
      caller = name;
    }
    // "[truncated]" is no function.
    if (caller.empty() || caller.starts_with('[')) return "";
    return absl::StrCat(" for ", NameText(caller));
  }

  // Returns whether memory grew.
  bool AddGrowth() {
    const std::vector<MemoryStep>& steps = profile_.steps;
    if (steps.size() < kLeastGrowingSteps) return false;
    // The first step fills caches.
    const MemoryStep& first = steps[1];
    const MemoryStep& last = steps.back();
    const int64_t grown = last.live_end_bytes - first.live_begin_bytes;
    size_t growing = 0;
    for (size_t i = 1; i < steps.size(); ++i) {
      growing += steps[i].live_end_bytes > steps[i].live_begin_bytes ? 1 : 0;
    }
    const size_t count = steps.size() - 1;
    if (!Matters(grown) || count - growing > count / kGrowingPart) return false;
    Finding finding = OfBytes(FindingKind::kMemoryGrowth, grown);
    finding.title = absl::StrCat(
        "Memory", OfProcess(), " grew by ",
        FormatBytes(grown / static_cast<int64_t>(count)), " a step, ",
        FormatBytes(grown), " over ", count, " steps");
    finding.next_step =
        "Find what each step adds and never takes away: a list, a cache, a log";
    finding.evidence = OfInterval("steps", first.start_ns, last.end_ns);
    if (!profile_.leaks.empty() &&
        profile_.leaks.front().id != model::kEmptyStack) {
      const StackMemory& most = profile_.leaks.front();
      absl::StrAppend(&finding.title, "; at the end, ", FormatBytes(most.bytes),
                      " were of ", NameText(PlaceOf(most.id)));
      finding.evidence = OfStack(most.id);
    }
    findings_.push_back(std::move(finding));
    return true;
  }

  void AddLeak() {
    for (const StackMemory& leak : profile_.leaks) {
      if (!IsLeak(leak)) continue;
      Finding finding = OfBytes(FindingKind::kLeak, leak.bytes);
      finding.title = absl::StrCat(
          CountText(leak.count), " blocks of together ",
          FormatBytes(leak.bytes), OfProcess(), " that ",
          NameText(PlaceOf(leak.id)), " allocated", ForCaller(leak),
          " were not freed when the recording ended");
      finding.next_step =
          "See whether the program still needs them, and free them if not";
      finding.evidence = OfStack(leak.id);
      findings_.push_back(std::move(finding));
    }
  }

  const FindingRun& run_;
  const MemoryProfile& profile_;
  std::vector<Finding>& findings_;
  WaitPlaces places_;
};

}  // namespace

void AddMemoryFindings(const FindingRun& run, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  if (trace.memory().empty() && trace.folded_memory() == nullptr) return;
  for (const MemoryProfile& profile : run.memory.Get()) {
    PoolFindings(run, profile, findings).Run();
  }
}

}  // namespace kymo::analysis
