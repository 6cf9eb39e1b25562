#include "profiler/analysis/ranks/rank_waits.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/analysis/ranks/kept_results.h"
#include "profiler/analysis/ranks/rank_walk.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

// Which rank was waited for, how long, and how often.
using LateTimes = std::map<size_t, std::pair<DurationNs, int64_t>>;

// How much a rank was waited for in each part of the job's time.
class WaitsInTime {
 public:
  explicit WaitsInTime(const RankCalls& calls) {
    begin_ns_ = std::ranges::max(calls.ranks, {}, &Rank::begin_ns).begin_ns;
    end_ns_ = std::ranges::max(calls.ranks, {}, &Rank::end_ns).end_ns;
  }

  // Several ranks may wait for one cause.
  void Add(TimeNs begin, EventIndex cause, DurationNs waiting) {
    const double part =
        static_cast<double>(begin - begin_ns_) * kParts /
        static_cast<double>(std::max<DurationNs>(end_ns_ - begin_ns_, 1));
    Part& in = parts_[static_cast<size_t>(std::clamp(part, 0., kParts - 1.))];
    in.waiting_ns += waiting;
    in.causes.insert(cause);
    in.first_ns = std::min(in.first_ns, begin);
  }

  std::optional<TimeNs> Since() const {
    double all = 0;
    for (const Part& part : parts_) all += static_cast<double>(part.waiting_ns);
    double best = 0;
    size_t found = 0;
    double before = 0;
    for (size_t cut = 1; cut < kParts; ++cut) {
      before += static_cast<double>(parts_[cut - 1].waiting_ns);
      const auto first = static_cast<double>(cut);
      const double second = kParts - first;
      const double rise = (all - before) / second - before / first;
      if (rise <= 0 || (all - before) / second < kMuch * before / first) {
        continue;
      }
      const double explained = first * second * rise * rise;
      if (explained <= best) continue;
      best = explained;
      found = cut;
    }
    // The program's first part may have no calls of MPI at all.
    while (found > 0 && found < kParts && parts_[found].waiting_ns == 0) {
      ++found;
    }
    std::set<EventIndex> causes;
    for (size_t i = found; i < kParts; ++i) {
      causes.insert(parts_[i].causes.begin(), parts_[i].causes.end());
    }
    if (found == 0 || causes.size() < kFewCauses) return std::nullopt;
    return parts_[found].first_ns;
  }

 private:
  static constexpr size_t kParts = 100;
  static constexpr double kMuch = 4;
  static constexpr size_t kFewCauses = 5;

  struct Part {
    DurationNs waiting_ns = 0;
    std::set<EventIndex> causes;
    TimeNs first_ns = std::numeric_limits<TimeNs>::max();
  };
  TimeNs begin_ns_ = 0;
  TimeNs end_ns_ = 0;
  std::array<Part, kParts> parts_;
};

// Follows each wait to its origin.
class LateRankFinder {
 public:
  LateRankFinder(const JobOfRanks& job, RankWalk& walk)
      : job_(job), trace_(job.trace), walk_(walk) {}

  std::vector<LateRank> Run() {
    for (const CollectiveOperation& operation : job_.collectives) {
      for (const CollectivePart& part : operation.parts) {
        Add(part.rank, operation.AwaitedRank(part), part.event,
            part.waiting_ns);
      }
    }
    for (const Message& message : job_.messages.messages) {
      Add(message.to, message.from, message.awaited_in, message.late_sender_ns);
      Add(message.from, message.to, message.send, message.late_receiver_ns);
    }
    for (const UnansweredCall& call : job_.messages.unanswered) {
      Add(call.rank, call.awaited, call.event, call.waiting_ns);
    }
    for (size_t rank = 0; rank < job_.waits.by_rank().size(); ++rank) {
      for (const RequestWait& wait : job_.waits.by_rank()[rank]) {
        Add(rank, wait.late_rank, wait.event, wait.waiting_ns);
      }
    }
    return Results();
  }

 private:
  struct Sum {
    explicit Sum(const RankCalls& calls) : in_time(calls) {}
    LateRank late;
    std::map<std::string_view, DurationNs> by_call;
    WaitsInTime in_time;
    std::set<size_t> never;  // the ranks of never_ns
  };
  // Of a wait that goes back through more steps, the rest is shared as the part
  // that was walked.
  static constexpr size_t kMostSteps = 1'000;

  Sum& SumOf(size_t rank) {
    return sums_.try_emplace(rank, job_.calls).first->second;
  }

  void Add(size_t waiting, size_t awaited, EventIndex call, DurationNs time) {
    // A rank that sends to itself holds up nobody.
    if (time <= 0 || waiting == awaited) return;
    const std::string_view name = trace_.Name(trace_.name()[call]);
    // When ranks start is up to who starts them.
    if (name.starts_with("MPI_Init")) return;
    SumOf(awaited).late.waited_ns += time;
    const LateEvent* const late = job_.call_waits.Find(call);
    std::map<size_t, DurationNs> parts;  // by origin, as the walk is long
    DurationNs walked = 0;
    std::optional<size_t> never;
    if (late != nullptr && late->rank == awaited) {
      for (const RankStep& step :
           walk_.Back(walk_.PlaceOf(*late), {.begin_ns = trace_.start()[call],
                                            .never_to = waiting,
                                            .steps = kMostSteps})) {
        // The walk begins at the end of the wait.
        if (!never && late->event == model::kNoEvent) never = step.rank;
        const DurationNs part = std::min(step.duration_ns(), time - walked);
        parts[step.rank] += part;
        walked += part;
      }
    }
    DurationNs rest = time;
    std::map<size_t, DurationNs> delays;  // the same, as the wait is long
    for (const auto& [origin, part] : parts) {
      const auto whole = static_cast<DurationNs>(
          static_cast<double>(part) * static_cast<double>(time) /
          static_cast<double>(std::max<DurationNs>(walked, 1)));
      delays[origin] = std::min(whole, rest);
      rest -= delays[origin];
    }
    if (never) {
      Sum& sum = SumOf(*never);
      sum.late.never_ns += delays[*never];
      sum.never.insert(waiting);
    }
    delays[awaited] += rest;
    const EventIndex cause =
        late != nullptr && late->event != model::kNoEvent ? late->event : call;
    for (const auto& [origin, delay] : delays) {
      AddDelay(origin, awaited, call, cause, delay);
    }
  }

  // `cause`: what was waited for.
  void AddDelay(size_t origin, size_t awaited, EventIndex call,
                EventIndex cause, DurationNs time) {
    if (time <= 0) return;
    Sum& sum = SumOf(origin);
    sum.late.delay_ns += time;
    if (origin != awaited) sum.late.through_ns += time;
    // The name of a kernel without its arguments.
    const std::string_view name = trace_.Name(trace_.name()[call]);
    sum.by_call[name.substr(0, name.find('('))] += time;
    sum.in_time.Add(trace_.start()[call], cause, time);
  }

  std::vector<LateRank> Results() const {
    std::vector<LateRank> results;
    for (const auto& [rank, sum] : sums_) {
      LateRank late = sum.late;
      late.rank = rank;
      late.never_ranks = std::ssize(sum.never);
      late.since_ns = sum.in_time.Since();
      for (const auto& [call, time] : sum.by_call) {
        if (time <= late.call_ns) continue;
        late.call = std::string(call);
        late.call_ns = time;
      }
      results.push_back(std::move(late));
    }
    std::ranges::stable_sort(results, std::ranges::greater(),
                             &LateRank::delay_ns);
    return results;
  }

  const JobOfRanks& job_;
  const Trace& trace_;
  RankWalk& walk_;
  std::map<size_t, Sum> sums_;
};

}  // namespace

std::vector<WaitSum> WaitSums(const JobOfRanks& job) {
  const Trace& trace = job.trace;
  const RankCalls& calls = job.calls;
  struct Sum {
    WaitSum result;
    LateTimes late;
  };
  std::map<std::string_view, Sum> by_name;
  for (const auto& of_rank : job.waits.by_rank()) {
    for (const RequestWait& wait : of_rank) {
      Sum& sum = by_name[trace.Name(trace.name()[wait.event])];
      ++sum.result.calls;
      sum.result.messages += wait.messages;
      sum.result.total_ns +=
          trace.end()[wait.event] - trace.start()[wait.event];
      if (wait.waiting_ns == 0) continue;
      sum.result.waiting_ns += wait.waiting_ns;
      auto& [time, count] = sum.late[wait.late_rank];
      time += wait.waiting_ns;
      ++count;
    }
  }
  std::vector<WaitSum> results;
  for (auto& [name, sum] : by_name) {
    sum.result.name = std::string(name);
    for (const auto& [rank, time] : sum.late) {
      if (time.first <= sum.result.late_ns) continue;
      sum.result.late_rank = calls.ranks[rank].rank;
      std::tie(sum.result.late_ns, sum.result.late_calls) = time;
    }
    results.push_back(std::move(sum.result));
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const WaitSum& a, const WaitSum& b) {
                     return a.waiting_ns > b.waiting_ns;
                   });
  return results;
}

std::vector<LateRank> LateRanks(const JobOfRanks& job) {
  KeptResults& kept = *job.kept;
  const std::lock_guard<std::mutex> held(kept.mutex);
  if (!kept.late) kept.late = LateRankFinder(job, kept.WalkOf(job)).Run();
  return *kept.late;
}

}  // namespace kymo::analysis
