#include "tools/profile_command/job/job_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/user_folder.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

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

// Name, parent and start of a process, from /proc/PID/stat.
struct ProcessFacts {
  std::string name;
  int parent = 0;
  std::string start;
};
std::optional<ProcessFacts> FactsOf(int pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) {
    return std::nullopt;
  }
  ProcessFacts facts = {.name = text.substr(open + 1, close - open - 1)};
  std::istringstream fields(text.substr(close + 1));
  std::string field;
  // Behind the name: state, parent, ..., and the start is field 22 of all.
  for (int number = 3; fields >> field; ++number) {
    if (number == 4) facts.parent = atoi(field.c_str());
    if (number == 22) facts.start = field;
  }
  return facts;
}

// MPICH's launcher gives a job no name. If all ranks are on this machine, the
// process that started them stands for it.
std::string NameByLauncher() {
  for (int pid = getppid(); pid > 1;) {
    const std::optional<ProcessFacts> facts = FactsOf(pid);
    if (!facts) break;
    if (facts->name.starts_with("hydra") || facts->name.starts_with("mpi")) {
      return absl::StrCat("local-", pid, "-", facts->start);
    }
    pid = facts->parent;
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

void Touch(const std::string& path) { std::ofstream(path).flush(); }

}  // namespace

JobFolder::JobFolder(std::string path, std::string meeting, const JobRank& rank)
    : path_(std::move(path)), meeting_(std::move(meeting)), rank_(rank) {}

absl::StatusOr<JobFolder> JobFolder::Join(const std::string& folder,
                                          const std::string& target_name) {
  const std::optional<JobRank> rank = FindJobRank(getenv);
  if (!rank) {
    return absl::InvalidArgumentError(
        "--ranks: this process is no rank of a job; start it through mpirun, "
        "srun or torchrun, for example: mpirun -n 8 kymo profile --ranks "
        "./solver");
  }
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
  // Without a name, files of an earlier job in the folder could not be told
  // from this one's. Then the ranks do not meet.
  const std::string meeting =
      job.empty() ? "" : absl::StrCat(path, "/.kymo-job-", job);
  JobFolder result(path, meeting, rank);
  KYMO_RETURN_IF_ERROR(MakeFolder(result.RankPath()));
  if (!meeting.empty()) {
    KYMO_RETURN_IF_ERROR(MakeFolder(meeting));
    Touch(absl::StrCat(meeting, "/rank-", rank.rank));
  }
  return result;
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

void JobFolder::SayDone() const {
  if (!meeting_.empty()) Touch(absl::StrCat(meeting_, "/done-", rank_.rank));
}

JobFiles JobFolder::WaitForRanks(std::chrono::milliseconds patience) const {
  using Clock = std::chrono::steady_clock;
  std::vector<bool> is_done(static_cast<size_t>(rank_.size));
  int64_t open = rank_.size;
  for (auto last = Clock::now();
       open > 0 && !meeting_.empty() && Clock::now() - last < patience;) {
    for (int64_t rank = 0; rank < rank_.size; ++rank) {
      std::error_code error;
      if (is_done[rank] ||
          !fs::exists(absl::StrCat(meeting_, "/done-", rank), error)) {
        continue;
      }
      is_done[rank] = true;
      --open;
      last = Clock::now();
    }
    if (open > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  JobFiles files;
  for (int64_t rank = 0; rank < rank_.size; ++rank) {
    std::string trace =
        is_done[rank] || meeting_.empty() ? TraceOf(rank) : std::string();
    if (trace.empty()) {
      files.missing.push_back(rank);
    } else {
      files.traces.push_back(std::move(trace));
    }
  }
  return files;
}

}  // namespace kymo::tools
