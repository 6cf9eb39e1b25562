#include "tools/profile_command/job/job_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "tools/command_line/say.h"
#include "tools/command_line/user_folder.h"
#include "tools/profile_command/job/job_answer.h"
#include "tools/profile_command/job/job_secret.h"
#include "tools/profile_command/job/job_socket.h"
#include "tools/profile_command/job/rank_shard.h"

namespace kymo::tools {
namespace {

// A rank that says nothing for so long, while rank 0 waits for its trace, is
// gone.
constexpr auto kSilent = std::chrono::seconds(15);
// So long others have to end after a program that left the job too early.
constexpr auto kEndTogether = std::chrono::seconds(3);

// Where the process is that this one has forked.
MeetingPlace PlaceOfThis(const NetworkPlace& network) {
  MeetingPlace place = {.token = network.place.token};
  for (const uint16_t port : network.ports) {
    place.endpoints.push_back({.host = "127.0.0.1", .port = port});
  }
  return place;
}

// Of a rank whose command was killed just now. Whoever called MPI_Abort is the
// first: launchers then kill the commands of all ranks in any order.
TimeNs TimeOfKill(const std::string& records_path) {
  std::ifstream file(records_path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.find("MPI_Abort") != line.npos) return 0;
  }
  return MonotonicNs() + EpochOffsetNs();
}

std::string HostName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return host;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobRun>> JobRun::Join(
    const ProfileCommand& command, bool is_quiet,
    const std::string& target_name, const ExporterRegistry& exporters) {
  KYMO_ASSIGN_OR_RETURN(JobFolder folder,
                        JobFolder::Join(command.output_dir, target_name));
  KYMO_ASSIGN_OR_RETURN(std::optional<NetworkPlace> network,
                        FindNetworkPlace(getenv, folder.rank()));
  const bool is_rank_0 = folder.rank().rank == 0;
  std::unique_ptr<JobRun> run(new JobRun(
      command, is_quiet, exporters, std::move(folder), std::move(network)));
  if (is_rank_0) KYMO_RETURN_IF_ERROR(run->StartAnswer());
  return run;
}

JobRun::JobRun(const ProfileCommand& command, bool is_quiet,
               const ExporterRegistry& exporters, JobFolder folder,
               std::optional<NetworkPlace> network)
    : command_(command),
      is_quiet_(is_quiet),
      exporters_(exporters),
      folder_(std::move(folder)),
      network_(std::move(network)) {}

JobRun::~JobRun() {
  if (!is_told_) SayDone(false);
}

std::string JobRun::MeetingPath() const {
  return network_ ? "" : folder_.MeetingPath();
}

// Ranks of MPI that share a folder measure theirs in MPI_Init and
// MPI_Finalize.
bool JobRun::MeasuresClocks() const {
  return network_ || !folder_.rank().is_mpi;
}

bool JobRun::SendsTrace() const { return network_ && folder_.rank().rank != 0; }

// The answer of the whole job is written when this command asks for it, or when
// a launcher has killed it. That process also serves the other ranks.
absl::Status JobRun::StartAnswer() {
  absl::StatusOr<AnswerProcess> answer = AnswerProcess::Fork(
      folder_.path() + "/job.log", [this] { StartServer(); },
      [this](bool is_orphan) { return WriteAnswer(is_orphan); },
      {.last_words = absl::StrCat(
           "the command of rank 0 was killed; what the job's ranks "
           "recorded until then will be in ",
           ShownPath(folder_.path()),
           ", and what is to be said "
           "of it in job.log there")});
  if (!answer.ok()) return answer.status();
  answer_.emplace(*std::move(answer));
  return absl::OkStatus();
}

void JobRun::StartServer() {
  if (!MeasuresClocks() && !keeps_some()) return;
  RankServer::Options options = {.size = folder_.rank().size};
  if (network_) {
    options.token = network_->place.token;
    options.ports = network_->ports;
  } else {
    options.token = NewToken();
    options.is_local = folder_.rank().local_size == folder_.rank().size;
  }
  absl::StatusOr<std::unique_ptr<RankServer>> server = RankServer::Start(
      options,
      {.folder = [this](int64_t rank) { return folder_.RankPath(rank); },
       .alive =
           [this](int64_t rank, int64_t number) {
             folder_.SayAlive(rank, number);
             const std::lock_guard<std::mutex> held(mutex_);
             signs_[rank] = In(kSilent);
           },
       .done = [this](int64_t rank,
                      bool has_trace) { folder_.SayDone(rank, has_trace); },
       .broke_off = [this](int64_t rank,
                           TimeNs time) { folder_.SayBrokeOff(rank, time); },
       .sums =
           [this](const std::string& bytes) { return sums_box_.Add(bytes); },
       .trace =
           [this](int64_t rank) {
             const std::lock_guard<std::mutex> held(mutex_);
             arrived_.insert(rank);
             changed_.notify_all();
           }});
  absl::Status status = server.status();
  if (server.ok()) {
    server_ = *std::move(server);
    if (network_) return;
    MeetingPlace place = {.token = options.token};
    for (std::string& host : OwnAddresses(options.is_local)) {
      place.endpoints.push_back({std::move(host), server_->port()});
    }
    status = WriteMeetingPlace(folder_.MeetingPath(), place);
  }
  if (status.ok()) return;
  Say(absl::StrCat("--ranks: ", std::string(status.message()),
                   network_
                       ? "; the answer will lack the other ranks; set "
                         "KYMO_RANKS_ADDRESS=HOST:PORT with a port that is free"
                       : "; clocks of other machines will not be measured"));
}

int JobRun::WriteAnswer(bool is_orphan) {
  ProfileCommand whole = command_;
  whole.quiet = is_quiet_;
  whole.ranks = false;  // nobody reads the job's timeline for another answer
  WaitLimits limits;
  // The other commands are killed at the same time.
  if (is_orphan) limits.silent = std::chrono::seconds(5);
  const RankChoice choice = {
      // Whoever has ended has sent them before.
      .take_sums = [this] { return sums_box_.Take(0, {}); },
      .keep =
          [this](const std::vector<int64_t>& ranks) {
            return KeepTraces(ranks);
          }};
  limits.traces_follow = keeps_some() && network_;
  const absl::Status status = DeliverJob(folder_, whole, exporters_, limits,
                                         keeps_some() ? &choice : nullptr);
  server_.reset();
  folder_.Close();
  return status.ok() ? 0 : Fail(status, kExitFailed);
}

std::vector<int64_t> JobRun::KeepTraces(const std::vector<int64_t>& ranks) {
  if (network_) return AwaitTraces(ranks);
  for (int64_t rank = 0; rank < folder_.rank().size; ++rank) {
    if (std::ranges::count(ranks, rank) == 0) folder_.RemoveTrace(rank);
  }
  return ranks;
}

std::vector<int64_t> JobRun::AwaitTraces(const std::vector<int64_t>& ranks) {
  if (server_ == nullptr) return {0};
  server_->Decide(ranks);
  std::vector<int64_t> here;
  std::unique_lock<std::mutex> held(mutex_);
  for (const int64_t rank : ranks) {
    Deadline& lives_until = signs_[rank];
    lives_until = std::max(lives_until, In(kSilent));
    while (rank != 0 && !arrived_.contains(rank) && In({}) < lives_until) {
      changed_.wait_until(held, lives_until);
    }
    if (rank == 0 || arrived_.contains(rank)) here.push_back(rank);
  }
  return here;
}

void JobRun::OnTrace(const model::Trace& trace) {
  const auto calls = [&](std::string_view name) {
    return trace.strings().Find(name).has_value();
  };
  has_mpi_ = calls("MPI_Init") || calls("MPI_Init_thread");
  is_finalized_ = calls("MPI_Finalize");
  if (answer_ && has_mpi_ && !is_finalized_) {
    Say(absl::StrCat(
        "rank 0 has ended without MPI_Finalize; if the launcher ends this "
        "command for that, the job's answer will nevertheless be in ",
        ShownPath(folder_.path())));
  }
  if (!keeps_some()) return;
  SayIfBrokeOff();
  sums_ = analysis::RankSums::Of(trace, folder_.rank().rank);
}

// Before its averages, which may get lost with those who pass them on.
void JobRun::SayIfBrokeOff() {
  if (!end_) return;
  const bool has_failed = end_->signal != 0 || end_->status != 0;
  if (analysis::WasToldToEnd(*end_) ||
      (!has_failed && (!has_mpi_ || is_finalized_))) {
    return;
  }
  const int64_t rank = folder_.rank().rank;
  if (!network_ || rank == 0) {
    folder_.SayBrokeOff(rank, end_->time_ns);
  } else if (link_) {
    link_->SayBrokeOff(end_->time_ns);
  }
}

void JobRun::SendSums() {
  const int64_t rank = folder_.rank().rank;
  analysis::RankSums sums;
  if (sums_) sums = *std::exchange(sums_, std::nullopt);
  absl::Status status;
  if (rank == 0) {
    // The process that writes the answer has the other ranks'.
    RankLink::Options options = {
        .rank = 0, .find = [this] {
          return network_ ? std::optional(PlaceOfThis(*network_))
                          : ReadMeetingPlace(folder_.MeetingPath());
        }};
    status = RankLink(std::move(options)).SendSums(sums.Serialize());
  } else if (link_) {
    status = link_->SendSums(tree_->Collect(std::move(sums)).Serialize());
  }
  if (status.ok()) return;
  Say(absl::StrCat("rank ", rank, ": the job's averages lack this rank: ",
                   std::string(status.message())));
}

absl::Status JobRun::Guard(const LastRecords& records) {
  absl::StatusOr<AnswerProcess> guard = AnswerProcess::Fork(
      "/dev/null", [] {},
      [this, &records](bool) {
        if (!folder_.HasTrace()) {
          for (const auto& save : records.savers) save();
        }
        if (network_) return 0;
        if (keeps_some() && !folder_.HasTrace()) {
          folder_.SayBrokeOff(folder_.rank().rank,
                              TimeOfKill(folder_.RankPath() + "/kymo.raw"));
        }
        folder_.SayKilled();
        return 0;
      },
      {.descriptors = records.descriptors});
  if (!guard.ok()) return guard.status();
  guard_.emplace(*std::move(guard));
  return absl::OkStatus();
}

void JobRun::Start(pid_t pid) {
  pid_ = pid;
  // These have threads, so they begin after the fork of the program.
  presence_.emplace(folder_.PresencePath());
  const JobRank& rank = folder_.rank();
  if (rank.rank == 0 || (!MeasuresClocks() && !keeps_some())) return;
  RankLink::Options options = {.rank = rank.rank};
  if (keeps_some()) {
    tree_.emplace(RankTree::Options{.rank = rank.rank,
                                    .size = rank.size,
                                    .is_local = rank.local_size == rank.size});
    options.listen = [this](const std::string& token) {
      return tree_->Listen(token);
    };
  }
  if (network_) {
    options.find = [place = network_->place] { return place; };
    options.keeps_connection = true;
  } else {
    options.find = [path = folder_.MeetingPath()] {
      return ReadMeetingPlace(path);
    };
  }
  link_.emplace(std::move(options));
}

void JobRun::AddRank(Recording& recording, TimeNs end_ns, int wait_status) {
  const RankOfTrace rank = {.rank = folder_.rank().rank,
                            .size = folder_.rank().size,
                            .host = HostName(),
                            .pid = pid_,
                            .start_ns = recording.start_ns(),
                            .end_ns = recording.end_ns()};
  end_ = EndOf(wait_status, end_ns);
  recording.AddShard(RankEndShard(rank, *end_));
  if (!MeasuresClocks()) return;
  std::vector<ClockReading> clocks;
  if (link_) {
    clocks = link_->FinishClocks();
  } else if (folder_.rank().rank == 0) {
    for (const TimeNs time : {recording.start_ns(), recording.end_ns()}) {
      clocks.push_back({.mono_ns = time - EpochOffsetNs()});
    }
  }
  recording.AddShard(RankShard(rank, clocks));
}

void JobRun::SayDone(bool has_trace) {
  is_told_ = true;
  const bool sends = SendsTrace();
  // If the command is killed until then, the guard says it.
  if (!sends) folder_.SayDone(folder_.rank().rank, has_trace);
  guard_.reset();
  if (!sends || !link_) return;  // without a link, the program never started
  const absl::Status status = SendResults(has_trace);
  presence_.reset();
  folder_.Leave();
  if (status.ok()) return;
  Say(absl::StrCat("rank ", folder_.rank().rank,
                   ": the answer of the job lacks this rank: ",
                   std::string(status.message()),
                   " (the port follows from KYMO_RANKS_TOKEN, which must be "
                   "the same in all ranks); its files are in ",
                   ShownPath(RankPath())));
}

// With --keep_ranks, rank 0 can tell which traces it wants when all have ended.
absl::Status JobRun::SendResults(bool has_trace) {
  const std::string trace = folder_.TraceOf(folder_.rank().rank);
  has_trace &= !trace.empty();
  if (!keeps_some()) {
    if (has_trace) KYMO_RETURN_IF_ERROR(link_->SendTrace(trace));
    return link_->SayDone(has_trace);
  }
  KYMO_RETURN_IF_ERROR(link_->SayDone(has_trace));
  if (!has_trace) return absl::OkStatus();
  KYMO_ASSIGN_OR_RETURN(const bool is_wanted, link_->IsTraceWanted());
  return is_wanted ? link_->SendTrace(trace) : absl::OkStatus();
}

bool JobRun::SomeStillRun() const {
  const auto end = std::chrono::steady_clock::now() + kEndTogether;
  while (!folder_.NotDone().empty()) {
    if (std::chrono::steady_clock::now() >= end) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

int JobRun::Finish(bool succeeded) {
  if (keeps_some()) SendSums();
  SayDone(true);
  if (!answer_) return 0;
  const bool has_left = has_mpi_ ? !is_finalized_ : !succeeded;
  if (!has_left || !SomeStillRun()) return answer_->Finish();
  Say(absl::StrCat(
      "rank 0 has ended", has_mpi_ ? " without MPI_Finalize" : " with an error",
      ", and other ranks have not: what they record until they end will be in ",
      ShownPath(folder_.path()), ", and what is to be said of it in job.log ",
      "there"));
  answer_->FinishAlone();
  return 0;
}

}  // namespace kymo::tools
