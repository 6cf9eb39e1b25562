#include "profiler/analysis/ranks/mpi_calls.h"

#include <signal.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "profiler/analysis/ranks/device_collectives.h"
#include "profiler/model/mpi_names.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;

constexpr std::string_view kPrefix = "MPI_";
// The part of a time by which two clocks are taken to drift apart: 100 ppm.
constexpr int64_t kDriftPart = 10'000;

// Numbers of an event's arguments.
class Numbers {
 public:
  Numbers(const Trace& trace, EventIndex event)
      : trace_(trace), args_(trace.args(event)) {}

  std::optional<int64_t> Find(std::string_view key) const {
    for (const model::Arg& arg : args_) {
      if (trace_.Name(arg.key) != key) continue;
      if (arg.type == model::ArgType::kInt) return arg.int_value();
      if (arg.type == model::ArgType::kDouble) {
        return static_cast<int64_t>(arg.double_value());
      }
    }
    return std::nullopt;
  }
  int64_t Get(std::string_view key, int64_t otherwise) const {
    return Find(key).value_or(otherwise);
  }
  std::string Text(std::string_view key) const {
    for (const model::Arg& arg : args_) {
      if (trace_.Name(arg.key) == key && arg.has_text()) {
        return std::string(trace_.Name(arg.string_value()));
      }
    }
    return "";
  }

 private:
  const Trace& trace_;
  const std::span<const model::Arg> args_;
};

MpiKind KindOf(std::string_view name, const MpiCall& call) {
  if (name.starts_with("MPI_Wait")) return MpiKind::kWait;
  if (name == "MPI_Probe" || name == "MPI_Mprobe") return MpiKind::kProbe;
  // Only the ranks of a group of the communicator call it.
  if (name == "MPI_Comm_create_group") return MpiKind::kOther;
  const bool sends = call.to >= 0;
  const bool receives = call.from >= 0;
  if (sends && receives) return MpiKind::kExchange;
  if (sends) return MpiKind::kSend;
  if (receives) return MpiKind::kReceive;
  // Probes and receives from nobody say a communicator, too.
  return call.comm >= 0 && !model::IsPointToPoint(name) ? MpiKind::kCollective
                                                        : MpiKind::kOther;
}

MpiCall ReadCall(const Trace& trace, EventIndex event, std::string_view name) {
  const Numbers numbers(trace, event);
  const int64_t tag = model::LaneOfTag(name, numbers.Get("tag", -1));
  MpiCall call = {
      .event = event,
      .is_request = (trace.flags()[event] & model::kEventAsync) != 0,
      .is_open = (trace.flags()[event] & model::kEventOpen) != 0,
      .has_failed = numbers.Find("failed").has_value(),
      .comm = numbers.Get("comm", -1),
      .to = numbers.Get("to", -1),
      .from = numbers.Get("from", -1),
      .send_tag = tag,
      .receive_tag = numbers.Get("from_tag", tag),
      .root = numbers.Get("root", -1),
      .bytes = numbers.Get("bytes", 0),
      .polled_ns = numbers.Find("polled_ns")};
  if (call.is_open && call.from < 0) {
    call.receive_tag = model::LaneOfTag(name, numbers.Get("source_tag", -1));
    const int64_t source = numbers.Get("source", -1);
    (call.receive_tag < 0 ? call.source : call.from) = source;
  }
  call.kind = KindOf(name, call);
  call.is_message = model::StandsForMessages(name, call.is_request,
                                             call.has_failed, call.from);
  call.receives_at_ns = trace.start()[event];
  return call;
}

class Finder {
 public:
  explicit Finder(const Trace& trace) : trace_(trace) {}

  RankCalls Find() {
    // Most traces have no ranks: then no event is looked at.
    if (!trace_.strings().Find("MPI ranks") &&
        !trace_.strings().Find("job rank")) {
      return {};
    }
    FindRanks();
    FindCalls();
    AddDeviceCollectives(trace_, found_);
    return std::move(found_);
  }

 private:
  // The pid of each event's track, with its events.
  template <typename Use>
  void ForEachEvent(Use use) const {
    for (model::TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
      const model::Track& track = trace_.tracks()[t];
      for (EventIndex e = trace_.track_begin(t); e < trace_.track_end(t); ++e) {
        use(track.pid, e, trace_.Name(trace_.name()[e]));
      }
    }
  }

  void ReadRank(EventIndex event, Rank& rank) const {
    const Numbers numbers(trace_, event);
    rank.rank = numbers.Get("rank", 0);
    rank.size = numbers.Get("size", 0);
    rank.host = numbers.Text("host");
    rank.requests_lost = numbers.Get("requests_lost", 0);
    if (rank.begin_ns == 0) rank.begin_ns = trace_.start()[event];
  }

  struct Clock {
    int times = 0;  // how often it was measured
    DurationNs bound_ns = 0;

    // A file may say anything; sums of bounds and times are to stay numbers.
    void Add(DurationNs bound) {
      constexpr DurationNs kMost = std::numeric_limits<DurationNs>::max() / 8;
      ++times;
      bound_ns = std::clamp(bound, bound_ns, std::max(bound_ns, kMost));
    }
  };

  // Ranks by process, and what their clocks are.
  struct Found {
    std::map<int64_t, Rank> ranks;
    std::map<int64_t, Clock> clocks;
  };

  void FindRanks() {
    Found mpi;
    Found job;
    std::map<int64_t, RankEnd> ends;  // by rank
    ForEachEvent([&](int64_t pid, EventIndex event, std::string_view name) {
      if (name == "MPI ranks") {
        ReadRank(event, mpi.ranks[pid]);
      } else if (name == "job rank") {
        ReadRank(event, job.ranks[pid]);
        job.ranks[pid].end_ns = trace_.start()[event];
      } else if (name == "rank end") {
        const Numbers numbers(trace_, event);
        ends[numbers.Get("rank", -1)] = {.time_ns = trace_.start()[event],
                                         .signal = numbers.Get("signal", 0),
                                         .status = numbers.Get("status", 0)};
      } else if (name == "MPI clock") {
        mpi.clocks[pid].Add(Numbers(trace_, event).Get("bound_ns", 0));
      } else if (name == "job clock") {
        job.clocks[pid].Add(Numbers(trace_, event).Get("bound_ns", 0));
      } else if (name == "MPI_Init" || name == "MPI_Init_thread") {
        mpi.ranks[pid].start_ns = trace_.start()[event];
        mpi.ranks[pid].begin_ns = trace_.end()[event];
      } else if (name == "MPI_Finalize") {
        mpi.ranks[pid].end_ns = trace_.start()[event];
        // One that died in it, or waits there for a dead one, is not.
        mpi.ranks[pid].is_finalized =
            (trace_.flags()[event] & model::kEventOpen) == 0;
      } else if (name == "MPI_Abort") {
        mpi.ranks[pid].has_aborted = true;
        mpi.ranks[pid].abort_code = Numbers(trace_, event).Get("code", 0);
        mpi.ranks[pid].ended = {.time_ns = trace_.start()[event]};
      }
    });
    LeaveSingletonsOut(job, mpi);
    UseJobClocks(job, mpi);
    AddRanks(mpi, ends, true);
    // Of a rank of MPI, the command knows less.
    std::set<int64_t> known;
    for (const Rank& rank : found_.ranks) known.insert(rank.rank);
    std::erase_if(job.ranks, [&](const auto& rank) {
      return known.contains(rank.second.rank);
    });
    AddRanks(job, ends, false);
    std::stable_sort(
        found_.ranks.begin(), found_.ranks.end(),
        [](const Rank& a, const Rank& b) { return a.rank < b.rank; });
  }

  // A launcher that does not connect the ranks of a job (`srun --mpi=none`)
  // leaves each one a job of its own. The command knows their numbers.
  static void LeaveSingletonsOut(const Found& job, Found& mpi) {
    const auto is_of_several = [](const auto& rank) {
      return rank.second.size > 1;
    };
    if (std::ranges::any_of(job.ranks, is_of_several) &&
        std::ranges::none_of(mpi.ranks, is_of_several)) {
      mpi.ranks.clear();
    }
  }

  // Ranks that share no folder do not measure their clocks in MPI; then their
  // commands do.
  static void UseJobClocks(const Found& job, Found& mpi) {
    std::map<int64_t, Clock> by_rank;
    for (const auto& [pid, rank] : job.ranks) {
      const auto at = job.clocks.find(pid);
      if (at != job.clocks.end()) by_rank[rank.rank] = at->second;
    }
    for (const auto& [pid, rank] : mpi.ranks) {
      const auto at = by_rank.find(rank.rank);
      if (at != by_rank.end()) mpi.clocks.try_emplace(pid, at->second);
    }
  }

  void AddRanks(const Found& found, const std::map<int64_t, RankEnd>& ends,
                bool is_mpi) {
    // How well rank 0's own time is known is part of all others' bounds.
    DurationNs zero_bound = 0;
    for (const auto& [pid, rank] : found.ranks) {
      const auto at = found.clocks.find(pid);
      if (rank.rank == 0 && at != found.clocks.end()) {
        zero_bound = at->second.bound_ns;
      }
    }
    for (const auto& [pid, read] : found.ranks) {
      if (read.size == 0) continue;
      Rank rank = read;
      rank.pid = pid;
      rank.is_mpi = is_mpi;
      if (rank.start_ns == 0) rank.start_ns = rank.begin_ns;
      // MPI_Abort may kill its command before that says so.
      if (const auto end = ends.find(rank.rank);
          end != ends.end() && !rank.has_aborted) {
        rank.ended = end->second;
      }
      if (rank.end_ns == 0) {
        rank.end_ns = rank.ended ? rank.ended->time_ns : trace_.end_ns();
      }
      if (const auto at = found.clocks.find(pid); at != found.clocks.end()) {
        // Rank 0's own clock does not drift from itself.
        rank.clock_bound_ns =
            rank.rank == 0 ? 0 : at->second.bound_ns + zero_bound;
        if (at->second.times == 1 && rank.rank != 0) {
          *rank.clock_bound_ns += (rank.end_ns - rank.begin_ns) / kDriftPart;
        }
      }
      found_.ranks.push_back(std::move(rank));
    }
  }

  // By process and number, when MPI_Mprobe and its like found a message.
  using FoundMessages = std::map<std::pair<int64_t, int64_t>, TimeNs>;

  void NoteFound(int64_t pid, EventIndex event, FoundMessages& found) const {
    const auto message = Numbers(trace_, event).Find("message");
    if (message) found[{pid, *message}] = trace_.end()[event];
  }

  // A rank says again what it has named.
  void NoteCommunicator(EventIndex event, size_t rank) {
    const Numbers numbers(trace_, event);
    Communicator& comm = found_.communicators[numbers.Get("comm", -1)];
    if (comm.ranks.empty() || comm.ranks.back() != rank) {
      comm.ranks.push_back(rank);
    }
    std::string name = numbers.Text("name");
    // Open MPI's for those that the program has not named.
    if (name.empty() || name.starts_with("MPI COMMUNICATOR ")) return;
    comm.name = std::move(name);
  }

  void FindCalls() {
    std::map<int64_t, size_t> index;
    for (size_t i = 0; i < found_.ranks.size(); ++i) {
      if (found_.ranks[i].is_mpi) index[found_.ranks[i].pid] = i;
    }
    FoundMessages found;
    std::vector<std::pair<size_t, FoundMessages::key_type>> taken;
    ForEachEvent([&](int64_t pid, EventIndex event, std::string_view name) {
      if (!name.starts_with(kPrefix)) return;
      const auto at = index.find(pid);
      if (at == index.end()) return;
      if (model::IsMatchedProbe(name)) NoteFound(pid, event, found);
      if (name == "MPI_Comm") NoteCommunicator(event, at->second);
      if (trace_.flags()[event] & model::kEventInstant) return;
      MpiCall call = ReadCall(trace_, event, name);
      call.rank = at->second;
      if (name == "MPI_Mrecv" || name == "MPI_Imrecv") {
        const auto message = Numbers(trace_, event).Find("message");
        if (message) taken.push_back({found_.calls.size(), {pid, *message}});
      }
      found_.calls.push_back(call);
    });
    for (const auto& [call, message] : taken) {
      const auto at = found.find(message);
      if (at != found.end()) found_.calls[call].receives_at_ns = at->second;
    }
    for (auto& [id, comm] : found_.communicators) {
      std::ranges::sort(comm.ranks);
      comm.ranks.erase(std::unique(comm.ranks.begin(), comm.ranks.end()),
                       comm.ranks.end());
    }
    std::stable_sort(
        found_.calls.begin(), found_.calls.end(),
        [](const MpiCall& a, const MpiCall& b) { return a.rank < b.rank; });
  }

  const Trace& trace_;
  RankCalls found_;
};

}  // namespace

RankCalls FindRankCalls(const Trace& trace) { return Finder(trace).Find(); }

bool WasToldToEnd(const RankEnd& end) {
  return end.signal == SIGTERM || end.signal == SIGINT;
}

std::optional<size_t> FirstToBreakOff(const std::vector<Rank>& ranks) {
  std::optional<size_t> first;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Rank& rank = ranks[i];
    if (!rank.is_mpi || rank.is_finalized || !rank.ended) continue;
    if (WasToldToEnd(*rank.ended)) continue;
    if (!first || rank.ended->time_ns < ranks[*first].ended->time_ns) first = i;
  }
  return first;
}

}  // namespace kymo::analysis
