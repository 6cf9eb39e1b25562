#include "tools/profile_command/job/job_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/sink.h"
#include "profiler/processes/process_list.h"
#include "profiler/text/visible_text.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/user_folder.h"
#include "tools/profile_command/job/job_secret.h"
#include "tools/profile_command/job/rank_presence.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

// Between two looks at the folder.
constexpr auto kLook = std::chrono::milliseconds(20);
// For rank 0, which may begin later.
constexpr auto kTokenWait = std::chrono::seconds(10);
constexpr auto kFolderWait = std::chrono::seconds(2);

// A job's name as a part of a file name.
std::string AsFileName(std::string_view job) {
  std::string name;
  for (const char c : job.substr(0, 64)) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '.' || c == '_';
    name += is_plain ? c : '-';
  }
  return name;
}

// MPICH's launcher gives a job no name. If all ranks are on this machine, the
// process that started them stands for it.
std::string NameByLauncher() {
  for (int pid = getppid(); pid > 1;) {
    const auto process = processes::ReadProcess(pid);
    if (!process) break;
    if (process->name.starts_with("hydra") ||
        process->name.starts_with("mpi")) {
      return absl::StrCat("local-", pid, "-", process->start_ticks);
    }
    pid = process->parent;
  }
  return "";
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("could not make the folder '", path, "': ", error.message(),
                   "; try another one (--output_dir)"));
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The file is there as a whole or not at all.
absl::Status WriteText(const std::string& path, const std::string& text) {
  KYMO_ASSIGN_OR_RETURN(const auto sink, NewFileSink(path));
  KYMO_RETURN_IF_ERROR(sink->Append(text));
  return sink->Commit();
}

std::optional<fs::file_time_type> TimeOf(const std::string& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  return time;
}

std::string NewRunToken() {
  return absl::StrCat(absl::Hex(RandomNumber(), absl::kZeroPad16));
}

// Files of an earlier run that used the folder. A rank of this run that was
// here first writes its own again.
void RemoveFiles(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    fs::remove(entry.path(), ignored);
  }
}

// Variables that somebody set by hand name no rank, or there are none.
absl::Status NoRank() {
  const char* const rank = getenv("RANK");
  const char* const size = getenv("WORLD_SIZE");
  if (rank == nullptr && size == nullptr) {
    return absl::InvalidArgumentError(
        "--ranks: this process is no rank of a job; start it through mpirun, "
        "srun or torchrun, for example: mpirun -n 8 kymo profile --ranks "
        "./solver");
  }
  const auto shown = [](const char* value) {
    return value == nullptr ? std::string("(not set)")
                            : absl::StrCat("'", VisibleText(value), "'");
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "--ranks: RANK is ", shown(rank), " and WORLD_SIZE is ", shown(size),
      ", which is no rank of a job; set WORLD_SIZE to the number of ranks, and "
      "RANK to a number from 0 to WORLD_SIZE - 1"));
}

constexpr char kHasTrace[] = "trace";
constexpr char kHasNone[] = "none";
constexpr char kHasRecords[] = "records";
constexpr char kRawFile[] = "kymo.raw";

// What rank 0 sees of one rank.
class Watched {
 public:
  using Clock = std::chrono::steady_clock;

  Watched(std::string presence, std::string done)
      : presence_(std::move(presence)), done_(std::move(done)) {}

  void Look() {
    if (!end_.empty()) return;
    end_ = ReadText(done_);
    const std::string sign = ReadText(presence_);
    if (sign.empty() || sign == sign_) return;
    sign_ = sign;
    last_ = Clock::now();
  }
  bool IsAwaited(const WaitLimits& limits, Clock::time_point begin) const {
    if (!end_.empty()) return false;
    return sign_.empty() ? Clock::now() - begin < limits.unseen
                         : Clock::now() - last_ < limits.silent;
  }
  bool HasTrace() const { return end_ == kHasTrace; }
  bool HasRecords() const { return end_ == kHasRecords; }
  MissingReason Reason() const {
    if (!end_.empty()) return MissingReason::kNoTrace;
    return sign_.empty() ? MissingReason::kNeverSeen : MissingReason::kLost;
  }

 private:
  std::string presence_;
  std::string done_;
  std::string end_;
  std::string sign_;
  Clock::time_point last_;
};

}  // namespace

JobFolder::JobFolder(std::string path, std::string meeting, const JobRank& rank)
    : path_(std::move(path)), meeting_(std::move(meeting)), rank_(rank) {}

absl::StatusOr<JobFolder> JobFolder::Join(const std::string& folder,
                                          const std::string& target_name) {
  const std::optional<JobRank> rank = FindJobRank(getenv);
  if (!rank) return NoRank();
  return Join(folder, target_name, *rank);
}

absl::StatusOr<JobFolder> JobFolder::Join(const std::string& folder,
                                          const std::string& target_name,
                                          const JobRank& rank) {
  std::string job = AsFileName(rank.job);
  if (job.empty() && rank.local_size == rank.size) job = NameByLauncher();
  if (job.empty() && folder.empty()) {
    return absl::InvalidArgumentError(
        "--ranks: the launcher gives the job no name; name a folder that all "
        "ranks see with --output_dir");
  }
  const std::string path =
      fs::absolute(folder.empty() ? absl::StrCat(UserPath(kDefaultFolder), "/",
                                                 target_name, "-job-", job)
                                  : UserPath(folder));
  const std::string meeting =
      absl::StrCat(path, "/.kymo-job", job.empty() ? "" : "-", job);
  JobFolder result(path, meeting, rank);
  KYMO_RETURN_IF_ERROR(MakeFolder(result.RankPath()));
  KYMO_RETURN_IF_ERROR(MakeFolder(meeting));
  result.old_trace_ = TimeOf(result.TraceOf(rank.rank));
  if (rank.rank == 0) KYMO_RETURN_IF_ERROR(result.Open());
  SayPresence(result.PresencePath(), 0);
  return result;
}

// Rank 0 begins this run of the job.
absl::Status JobFolder::Open() {
  RemoveFiles(meeting_);
  token_ = NewRunToken();
  return WriteText(TokenPath(), token_);
}

void JobFolder::RemoveTrace(int64_t rank) const {
  const std::string path = RankPath(rank);
  // Its command ends at this moment, and has the folder until then.
  const auto end = std::chrono::steady_clock::now() + kFolderWait;
  for (;;) {
    const absl::StatusOr<std::unique_ptr<RunFolder>> taken =
        RunFolder::Take(path);
    if (taken.ok() && (*taken)->RemoveOld().ok()) break;
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(kLook);
  }
  std::error_code error;
  fs::remove(path + "/.kymo-files", error);
  fs::remove(path, error);  // if nothing of somebody else is there
}

void JobFolder::Close() const {
  if (ReadText(TokenPath()) != token_) return;
  RemoveFiles(meeting_);
  std::error_code error;
  fs::remove(meeting_, error);
}

std::string JobFolder::RankPath(int64_t rank) const {
  return absl::StrCat(path_, "/rank-", rank);
}

std::string JobFolder::TraceOf(int64_t rank) const {
  for (const char* const name : {"trace.json", "trace.json.gz"}) {
    std::string path = absl::StrCat(RankPath(rank), "/", name);
    std::error_code error;
    if (fs::exists(path, error)) return path;
  }
  return "";
}

std::string JobFolder::TokenPath() const {
  return absl::StrCat(meeting_, "/token");
}

std::string JobFolder::PresencePath(int64_t rank) const {
  return absl::StrCat(meeting_, "/rank-", rank);
}

std::string JobFolder::DonePath(int64_t rank, const std::string& token) const {
  return absl::StrCat(meeting_, "/done-", rank, ".", token);
}

std::string JobFolder::LeftPath(int64_t rank, const std::string& token) const {
  return absl::StrCat(meeting_, "/left-", rank, ".", token);
}

void JobFolder::SayAlive(int64_t rank, int64_t number) const {
  SayPresence(PresencePath(rank), number);
}

void JobFolder::Leave() const {
  std::error_code error;
  fs::remove(PresencePath(), error);
  fs::remove(meeting_, error);  // if nothing else is there
}

void JobFolder::SayDone(int64_t rank, bool has_trace) const {
  SayEnd(rank, has_trace ? kHasTrace : kHasNone);
}

bool JobFolder::HasTrace() const {
  const std::optional<fs::file_time_type> time = TimeOf(TraceOf(rank_.rank));
  return time.has_value() && time != old_trace_;
}

void JobFolder::SayKilled() const {
  if (HasTrace()) return SayEnd(rank_.rank, kHasTrace);
  std::error_code error;
  if (fs::exists(absl::StrCat(RankPath(), "/", kRawFile), error)) {
    SayEnd(rank_.rank, kHasRecords);
  }
}

void JobFolder::SayBrokeOff(int64_t rank, int64_t time_ns) const {
  const std::string token = AwaitToken();
  if (token.empty()) return;
  if (!WriteText(LeftPath(rank, token), absl::StrCat(time_ns)).ok()) {
    // Then it may be another rank that is kept.
  }
}

std::optional<int64_t> JobFolder::FirstToBreakOff() const {
  std::set<std::pair<int64_t, int64_t>> left;  // when, and the rank
  for (int64_t rank = 0, time = 0; rank < rank_.size; ++rank) {
    if (absl::SimpleAtoi(ReadText(LeftPath(rank, token_)), &time)) {
      left.emplace(time, rank);
    }
  }
  if (left.empty() || std::ssize(left) == rank_.size) return std::nullopt;
  return left.begin()->second;
}

std::string JobFolder::AwaitToken() const {
  if (!token_.empty()) return token_;
  using Clock = std::chrono::steady_clock;
  if (!token_until_) token_until_ = Clock::now() + kTokenWait;
  std::string token = ReadText(TokenPath());
  while (token.empty() && Clock::now() < *token_until_) {
    std::this_thread::sleep_for(kLook);
    token = ReadText(TokenPath());
  }
  return token;
}

void JobFolder::SayEnd(int64_t rank, const char* end_of_rank) const {
  const std::string token = AwaitToken();
  if (token.empty()) return;
  if (!WriteText(DonePath(rank, token), end_of_rank).ok()) {
    // Rank 0 misses this rank, and says so.
  }
}

std::vector<int64_t> JobFolder::NotDone() const {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < rank_.size; ++rank) {
    if (ReadText(DonePath(rank, token_)).empty()) ranks.push_back(rank);
  }
  return ranks;
}

JobFiles JobFolder::WaitForRanks(
    const WaitLimits& limits,
    const std::function<void(const std::vector<int64_t>&)>& on_wait) const {
  std::vector<Watched> ranks;
  for (int64_t rank = 0; rank < rank_.size; ++rank) {
    ranks.emplace_back(PresencePath(rank), DonePath(rank, token_));
  }
  const auto begin = Watched::Clock::now();
  for (;;) {
    std::vector<int64_t> awaited;
    for (int64_t rank = 0; rank < rank_.size; ++rank) {
      ranks[rank].Look();
      if (ranks[rank].IsAwaited(limits, begin)) awaited.push_back(rank);
    }
    if (awaited.empty()) break;
    if (on_wait) on_wait(awaited);
    std::this_thread::sleep_for(kLook);
  }
  JobFiles files;
  for (int64_t rank = 0; rank < rank_.size; ++rank) {
    std::string trace = ranks[rank].HasTrace() ? TraceOf(rank) : std::string();
    if (ranks[rank].HasRecords()) {
      trace = absl::StrCat(RankPath(rank), "/", kRawFile);
      files.killed.push_back(rank);
    }
    if (limits.traces_follow && ranks[rank].HasTrace()) continue;
    if (trace.empty()) {
      files.missing.push_back({rank, ranks[rank].Reason()});
    } else {
      files.traces.push_back(std::move(trace));
    }
  }
  return files;
}

}  // namespace kymo::tools
