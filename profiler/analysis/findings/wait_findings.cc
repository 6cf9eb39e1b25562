#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/lock_deadlocks.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/strings.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/text_cells.h"

namespace kymo::analysis {
namespace {

using model::StackId;
using model::ThreadTimes;
using model::Trace;
using model::TrackIndex;
using model::Wait;
using model::WaitKind;

// Other threads that used one CPU and a half were no serial part: two of them
// worked at least half of the time. Time in which they waited for a CPU counts
// as worked.
constexpr double kMostSerialCpus = 1.5;
// If they used less than half of a CPU, the wait was for something else.
constexpr double kLeastSerialCpus = 0.5;
// A tenth of the CPU time spent in the queue of the CPUs: normal machines with
// a free CPU have less than a hundredth.
constexpr int64_t kShortagePart = 10;

// Kinds whose wait is a finding by itself. A lock, a condition and a CPU have
// findings of their own; a program waits for its child because it wants to; and
// for the others nobody knows what to do.
std::string_view NextStep(WaitKind kind) {
  switch (kind) {
    case WaitKind::kSleep:
      return "Wait for what it waits for (a condition variable, an event) "
             "instead of sleeping";
    case WaitKind::kRead:
      return "Read ahead on another thread, read larger pieces, or keep the "
             "data in memory";
    case WaitKind::kWrite:
      return "Write on another thread, in larger pieces, and flush less often";
    // Of one that has a socket which listens, waits are idle (waits.h). Of the
    // others nobody knows whether it is for answers.
    case WaitKind::kPoll:
      return "If it waits for answers, send requests together or ahead of "
             "time; if it waits for clients or signals, it is idle";
    case WaitKind::kNetwork:
      return "Send requests together or ahead of time, or do other work until "
             "the answer comes";
    case WaitKind::kPipe:
      return "See what the process at the pipe's other end does meanwhile, or "
             "do other work until it is ready";
    case WaitKind::kPageFault:
      return "Touch the memory ahead of time, read the file instead of mapping "
             "it, or give the machine more memory";
    default:
      return "";
  }
}

// One wait as evidence: the longest of a group.
Evidence OfWait(const Trace& trace, const WaitGroup& group, std::string name) {
  Evidence evidence = {.kind = EvidenceKind::kStack,
                       .name = std::move(name),
                       .table = "waits",
                       .stack = group.stack};
  for (const Wait& wait : trace.thread_states()->waits) {
    if (wait.stack != group.stack || wait.kind != group.kind ||
        wait.duration_ns != group.longest_ns ||
        (group.track != model::kNoTrack && wait.track != group.track)) {
      continue;
    }
    evidence.kind = EvidenceKind::kInterval;
    evidence.track = wait.track;
    evidence.begin_ns = wait.begin_ns;
    evidence.duration_ns = wait.duration_ns;
    break;
  }
  return evidence;
}

// Locks that nobody will give back, which are a finding of their own.
std::set<LockKey> DeadlockedLocks(const FindingRun& run) {
  std::set<LockKey> locks;
  for (const LockDeadlock& deadlock : run.Deadlocks()) {
    for (const uint32_t i : deadlock.circle) {
      const Wait& wait = run.trace.thread_states()->waits[i];
      locks.insert(
          LockKeyOf(run.trace, wait.track, wait.object, wait.object_name));
    }
  }
  return locks;
}

void AddLocks(const FindingRun& run, WaitPlaces& places,
              std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  const std::set<LockKey> deadlocked = DeadlockedLocks(run);
  for (const LockWaits& lock : WaitsByLock(trace)) {
    // The longest wait is first.
    if (!run.Matters(lock.duration_ns)) break;
    if (deadlocked.contains({lock.pid, lock.object, lock.name})) continue;
    const WaitGroup& most = lock.waiters.front();
    Finding finding =
        run.OfTime(FindingKind::kLockContention, lock.duration_ns);
    finding.title = absl::StrCat(
        "Threads waited ", TimeText(lock.duration_ns), " for the lock ",
        NameText(LockName(trace, lock.object, lock.name)), ", in ",
        CountText(static_cast<int64_t>(lock.count), "wait", "waits"), "; ",
        PercentText(static_cast<double>(most.duration_ns),
                    static_cast<double>(lock.duration_ns)),
        " of that in ", NameText(places.Of(most.stack)));
    finding.next_step =
        trace.Name(lock.name) == model::kGilName
            ? "Python runs one thread at a time: use processes, or do more of "
              "the work in libraries that give this lock back meanwhile"
            : "Hold the lock for a shorter time, or give each thread a part of "
              "the data with a lock of its own";
    finding.evidence = OfWait(trace, most, places.Of(most.stack));
    finding.evidence.table = "locks";
    findings.push_back(std::move(finding));
  }
}

// A thread that sleeps between its turns, such as one that reports once a
// second, makes nobody wait.
bool IsOwnPause(const Trace& trace, const WaitGroup& group) {
  const model::Track& track = trace.tracks()[group.track];
  return group.kind == WaitKind::kSleep && track.id != track.pid &&
         trace.track_begin(group.track) == trace.track_end(group.track);
}

// The waits of one place and kind, of any stack: a row of the tables.
struct Place {
  DurationNs duration_ns = 0;
  DurationNs paused_ns = 0;  // of that, threads' own pauses
  uint64_t count = 0;
  WaitGroup longest;  // the group with the longest single wait
};

void AddPlaces(const FindingRun& run, const std::vector<WaitGroup>& groups,
               WaitPlaces& names, std::vector<Finding>& findings) {
  // Programs and libraries may have functions of the same name.
  std::map<std::tuple<std::string, WaitKind, std::string_view>, Place> places;
  for (const WaitGroup& group : groups) {
    if (group.is_idle || NextStep(group.kind).empty()) continue;
    const WaitPlace at = names.At(group.stack);
    Place& place = places[{at.name, group.kind, at.module}];
    place.duration_ns += group.duration_ns;
    place.count += group.count;
    if (IsOwnPause(run.trace, group)) place.paused_ns += group.duration_ns;
    if (group.longest_ns > place.longest.longest_ns) place.longest = group;
  }
  for (const auto& [key, place] : places) {
    const auto& [name, kind, module] = key;
    if (!run.Matters(place.duration_ns - place.paused_ns)) continue;
    Finding finding =
        run.OfTime(kind == WaitKind::kPageFault ? FindingKind::kPageFaults
                                                : FindingKind::kThreadWait,
                   place.duration_ns);
    finding.title = absl::StrCat(
        "Threads waited ", TimeText(place.duration_ns), " in ", NameText(name),
        " (", ToAbsl(NameOf(kind)), "), in ",
        CountText(static_cast<int64_t>(place.count), "wait", "waits"), " of ",
        place.count == 1 ? "" : "at most ", TimeText(place.longest.longest_ns));
    finding.next_step = std::string(NextStep(kind));
    finding.may_be_idle = kind == WaitKind::kPoll;
    finding.evidence = OfWait(run.trace, place.longest, name);
    findings.push_back(std::move(finding));
  }
}

// The waits of one thread for others. Of its groups, the one with the longest
// time is first.
struct WaitsForThreads {
  DurationNs duration_ns = 0;
  const WaitGroup* most = nullptr;
};

void AddSerialParts(const FindingRun& run, const std::vector<WaitGroup>& groups,
                    WaitPlaces& places, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  const model::ThreadStates& states = *trace.thread_states();
  // On one CPU nothing runs at once; of an unknown number nobody can tell.
  const double usable = states.usable_cpus();
  if (usable < 2) return;
  std::map<int64_t, ThreadTimes> of_processes;
  std::vector<ThreadTimes> of_threads(trace.tracks().size());
  for (const ThreadTimes& times : states.threads) {
    of_processes[trace.tracks()[times.track].pid] += times;
    of_threads[times.track] += times;
  }
  std::map<TrackIndex, WaitsForThreads> threads;
  for (const WaitGroup& group : groups) {
    if (group.is_idle || group.kind != WaitKind::kCondition) continue;
    WaitsForThreads& waits = threads[group.track];
    waits.duration_ns += group.duration_ns;
    if (waits.most == nullptr) waits.most = &group;
  }
  for (const auto& [track, waits] : threads) {
    if (!run.Matters(waits.duration_ns)) continue;
    const ThreadTimes& all = of_processes[trace.tracks()[track].pid];
    const ThreadTimes& own = of_threads[track];
    const auto in_cpus = [wait_ns = waits.duration_ns](DurationNs others_ns) {
      return static_cast<double>(others_ns) / static_cast<double>(wait_ns);
    };
    const double cpus = in_cpus(all.on_cpu_ns - own.on_cpu_ns);
    const double wanted = cpus + in_cpus(all.runnable_ns - own.runnable_ns);
    if (cpus < kLeastSerialCpus || wanted >= kMostSerialCpus) continue;
    Finding finding = run.OfTime(FindingKind::kSerialPart, waits.duration_ns);
    const std::string place = places.Of(waits.most->stack);
    finding.title = absl::StrCat(
        "The ", TrackText(trace, track), " waited ",
        TimeText(waits.duration_ns), " for other threads, mostly in ",
        NameText(place), "; these used at most ", report::FormatFixed(cpus, 1),
        " of ", CpusText(usable), " in that time");
    finding.next_step =
        "Divide the work that it waits for among more threads, or let it do a "
        "part of the work itself";
    finding.evidence = OfWait(trace, *waits.most, place);
    findings.push_back(std::move(finding));
  }
}

// How many threads lived at once, at most.
int64_t MostAtOnce(const std::vector<ThreadTimes>& threads) {
  std::vector<std::pair<TimeNs, int>> changes;  // an end is before a begin
  for (const ThreadTimes& times : threads) {
    changes.emplace_back(times.begin_ns, 1);
    changes.emplace_back(times.begin_ns + times.wall_ns, -1);
  }
  std::ranges::sort(changes);
  int64_t most = 0;
  int64_t now = 0;
  for (const auto& [time_ns, change] : changes) {
    most = std::max(most, now += change);
  }
  return most;
}

// What threads that could run mostly waited for.
enum class ShortageCause {
  kLimit,          // the control group's limit stopped them
  kKymo,           // had a CPU for as long as half of that
  kOtherPrograms,  // had the CPUs
  kUnknown,        // or the program's own other threads had the CPUs
};

ShortageCause CauseOf(const model::ThreadStates& states, const ThreadTimes& sum,
                      bool is_limited) {
  if (states.cpu_count == 0) return ShortageCause::kUnknown;
  const model::CpuLimit& limit = states.cpu_limit;
  // A group that is stopped had its whole quota in that period. Without other
  // programs it would not have had more. At least one thread waits on each CPU
  // on which threads are stopped.
  if (is_limited && (limit.throttled_periods * 2 >= limit.periods ||
                     limit.throttled_ns >= sum.runnable_ns / 2)) {
    return ShortageCause::kLimit;
  }
  const double cpus = states.cpu_count;
  const auto threads = static_cast<double>(MostAtOnce(states.threads));
  const double most_for_limit =
      threads * std::min(static_cast<double>(limit.throttled_ns),
                         static_cast<double>(limit.throttled_periods) *
                             static_cast<double>(limit.period_ns));
  // While the program has all CPUs, only its other threads wait.
  const double for_own =
      std::max(threads - cpus, 0.0) * static_cast<double>(sum.on_cpu_ns) / cpus;
  const double half = static_cast<double>(sum.runnable_ns) / 2;
  if (for_own + most_for_limit >= half) return ShortageCause::kUnknown;
  // While Kymo has one CPU, one thread waits for it.
  const auto for_kymo = static_cast<double>(states.kymo_cpu_ns);
  if (for_kymo >= half) return ShortageCause::kKymo;
  return for_own + most_for_limit + for_kymo < half
             ? ShortageCause::kOtherPrograms
             : ShortageCause::kUnknown;
}

std::string_view ReasonText(ShortageCause cause) {
  switch (cause) {
    case ShortageCause::kLimit:
      return " because of a CPU limit";
    case ShortageCause::kKymo:
      return " while Kymo itself had a CPU";
    case ShortageCause::kOtherPrograms:
      return " while other programs had the CPUs";
    case ShortageCause::kUnknown:
      break;
  }
  return " for a CPU";
}

std::string ShortageStep(ShortageCause cause, int64_t threads, int64_t cpus,
                         bool may_be_limited) {
  if (cause == ShortageCause::kLimit) {
    return absl::StrCat(
        "Raise the container's CPU limit (cpu.max; --cpus of docker, "
        "resources.limits.cpu of Kubernetes)",
        threads > 1 ? ", or use fewer threads" : "");
  }
  if (cause == ShortageCause::kKymo) {
    return absl::StrCat(
        threads > 1 && cpus > 1 ? "Use fewer threads than CPUs, or let" : "Let",
        " Kymo record less, such as no memory: without it, there may be fewer "
        "of these waits");
  }
  const bool has_spare_threads = cpus == 0 || threads > cpus;
  return absl::StrCat(
      cause == ShortageCause::kUnknown && has_spare_threads
          ? "Use no more threads than CPUs, or end what else runs on the "
            "machine"
          : "End what else runs on the machine",
      may_be_limited ? ", or raise the limit of CPU time that the container "
                       "may have"
                     : "");
}

void AddShortage(const FindingRun& run, std::vector<Finding>& findings) {
  const model::ThreadStates& states = *run.trace.thread_states();
  if (states.threads.empty()) return;
  const ThreadTimes sum = states.Sum();
  if (!run.Matters(sum.runnable_ns) ||
      sum.runnable_ns < sum.on_cpu_ns / kShortagePart) {
    return;
  }
  const auto most =
      std::ranges::max_element(states.threads, {}, &ThreadTimes::runnable_ns);
  const auto threads = static_cast<int64_t>(states.threads.size());
  // The count and the limit are those of one program. Nobody knows whether the
  // ranks of a job had the same CPUs or each its own.
  const bool is_job = run.ranks.Get().calls.ranks.size() > 1;
  const int64_t cpus = is_job ? 0 : states.cpu_count;  // 0: not known
  const model::CpuLimit& limit = states.cpu_limit;
  const bool is_limited =
      !is_job && limit.quota_ns > 0 && run.Matters(limit.throttled_ns);
  const ShortageCause cause =
      is_job ? ShortageCause::kUnknown : CauseOf(states, sum, is_limited);
  Finding finding = run.OfTime(FindingKind::kCpuShortage, sum.runnable_ns);
  finding.title = absl::StrCat(
      "Threads that could run waited ", TimeText(sum.runnable_ns),
      ToAbsl(ReasonText(cause)), ", and ran for ", TimeText(sum.on_cpu_ns),
      is_job ? ", in a job of " : ", with ",
      CountText(threads, "thread", "threads"));
  if (cpus > 0) {
    absl::StrAppend(&finding.title, " on ", CountText(cpus, "CPU", "CPUs"));
  }
  if (is_limited) {
    absl::StrAppend(&finding.title, "; the container's CPU limit (cgroup, ",
                    CpusText(limit.cpus()), ") ", StoppedText(limit));
  }
  // A limit that could not be read takes the CPUs away like another program.
  finding.next_step = ShortageStep(
      cause, threads, cpus,
      is_limited ||
          (cause == ShortageCause::kOtherPrograms && limit.quota_ns == 0));
  finding.evidence = {.kind = EvidenceKind::kRow,
                      .name = TrackText(run.trace, most->track),
                      .table = "threads",
                      .track = most->track};
  findings.push_back(std::move(finding));
}

}  // namespace

void AddWaitFindings(const FindingRun& run, std::vector<Finding>& findings) {
  if (run.trace.thread_states() == nullptr) return;
  AddShortage(run, findings);
  const std::vector<WaitGroup> groups = WaitsByThreadAndPlace(run.trace);
  if (groups.empty()) return;
  WaitPlaces places(run.trace);
  AddLocks(run, places, findings);
  AddPlaces(run, groups, places, findings);
  AddSerialParts(run, groups, places, findings);
}

}  // namespace kymo::analysis
