#include "tools/gate_command/compare.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/standard_streams.h"
#include "tools/command_line/user_folder.h"
#include "tools/gate_command/own_words.h"
#include "tools/gate_command/self_run.h"
#include "tools/run_diff/fail_if.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSides[] = {"base", "head"};

struct CompareFlags {
  int runs = 10;
  int warmup = 1;
  std::string cpus = "one";
  std::string activities;
  std::string fail_if;
  bool markdown = false;
  std::string output_dir;
  bool version = false;
};

const SettingTable<CompareFlags>& CompareFlagTable() {
  using F = CompareFlags;
  static const auto& table = *new SettingTable<CompareFlags>(
      "",
      {{.name = "runs",
        .value = setting::Integer(&F::runs, 2, 1000),
        .purpose = "Runs of each program.",
        .topic = "compare",
        .is_common = true},
       {.name = "warmup",
        .value = setting::Integer(&F::warmup, 0, 100),
        .purpose = "Runs of each program before, which do not count.",
        .topic = "compare"},
       {.name = "cpus",
        .value = setting::Text(&F::cpus),
        .purpose = "The CPUs that the programs and their recorder run on: one "
                   "(the last), all, or a list such as 0-3,6. A program with "
                   "several threads needs as many.",
        .hint = "CPUS",
        .topic = "compare",
        .is_common = true},
       {.name = "activities",
        .value = setting::Text(&F::activities),
        .purpose = "What to record, as in kymo profile. Without it, what kymo "
                   "profile records by default.",
        .hint = "NAMES",
        .topic = "compare"},
       {.name = "fail_if",
        .value = setting::Text(&F::fail_if),
        .purpose = "End with status 4 if something surely changed by more, "
                   "such as steady_cpu>5%,allocations>0.",
        .hint = "LIMITS",
        .topic = "compare",
        .is_common = true},
       {.name = "markdown",
        .value = setting::Switch(&F::markdown),
        .purpose = "Print Markdown, for a merge request.",
        .topic = "compare"},
       {.name = "output_dir",
        .value = setting::Text(&F::output_dir),
        .purpose = "Folder for the recordings. Default: "
                   "kymo-out/compare-<time>.",
        .hint = "DIR",
        .topic = "compare"},
       {.name = "version",
        .value = setting::Switch(&F::version),
        .purpose = "Print the version of Kymo; then exit.",
        .topic = "compare"}});
  return table;
}

absl::Status Pin(const std::string& cpus) {
  if (cpus == "all") return absl::OkStatus();
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  if (cpus == "one") {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
      return absl::ErrnoToStatus(errno, "could not ask for the CPUs");
    }
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_SET(cpu, &chosen);
      break;
    }
  } else {
    const std::optional<cpu_set_t> list = ParseCpus(cpus);
    if (!list) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cpus is '", cpus,
                       "'; it takes one, all, or a list such as 0-3,6"));
    }
    chosen = *list;
  }
  if (sched_setaffinity(0, sizeof(chosen), &chosen) != 0) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot run on --cpus=", cpus, "; try --cpus=all"));
  }
  return absl::OkStatus();
}

class Comparison {
 public:
  Comparison(const CompareFlags& flags, const std::vector<std::string>& words)
      : flags_(flags), words_(words) {}

  absl::StatusOr<int> Run() {
    // A wrong word is an error before the runs, which take long.
    if (!flags_.fail_if.empty()) {
      KYMO_RETURN_IF_ERROR(ParseLimits(flags_.fail_if).status());
    }
    KYMO_RETURN_IF_ERROR(Pin(flags_.cpus));
    folder_ = UserPath(flags_.output_dir);
    if (flags_.output_dir.empty()) {
      KYMO_ASSIGN_OR_RETURN(
          folder_, MakeDatedFolder(UserPath(kDefaultFolder), "compare"));
    }
    for (int i = 0; i < flags_.warmup; ++i) {
      for (const int side : {0, 1}) KYMO_RETURN_IF_ERROR(Record(side));
    }
    std::vector<std::string> files[2];
    for (const int side : RunOrder(flags_.runs)) {
      KYMO_RETURN_IF_ERROR(Record(side));
      const std::string path = absl::StrFormat(
          "%s/%s/%03d.json", folder_, kSides[side], files[side].size() + 1);
      KYMO_RETURN_IF_ERROR(Keep(path));
      files[side].push_back(path);
    }
    return Report(files[0], files[1]);
  }

 private:
  absl::Status Record(int side) {
    std::vector<std::string> words = {"profile",
                                      "--quiet",
                                      "--profile_memory",
                                      "--nomemory_stacks",
                                      "--max_size=0",
                                      "--export=chrome",
                                      "--output_dir=" + folder_ + "/run"};
    if (!flags_.activities.empty()) {
      words.push_back("--activities=" + flags_.activities);
    }
    words.emplace_back("--");
    words.push_back(words_[side]);
    words.insert(words.end(), words_.begin() + 2, words_.end());
    // What the programs print stays out of the tables.
    return RunRecorder(words, words_[side], folder_ + "/run/trace.json",
                       kOutputToError);
  }

  absl::Status Keep(const std::string& path) const {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (!error) fs::rename(folder_ + "/run/trace.json", path, error);
    if (!error) return absl::OkStatus();
    return absl::ErrnoToStatus(error.value(),
                               absl::StrCat("cannot make ", path));
  }

  absl::StatusOr<int> Report(const std::vector<std::string>& base,
                             const std::vector<std::string>& head) const {
    std::vector<std::string> words = {"report", "--diff", "--quiet"};
    if (flags_.markdown) words.emplace_back("--format=markdown");
    if (!flags_.fail_if.empty()) {
      words.push_back("--fail_if=" + flags_.fail_if);
    }
    words.insert(words.end(), base.begin(), base.end());
    words.emplace_back("--");
    words.insert(words.end(), head.begin(), head.end());
    KYMO_ASSIGN_OR_RETURN(const int status, RunSelf(words));
    Say("recordings: " + ShownPath(folder_));
    return WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed;
  }

  const CompareFlags& flags_;
  const std::vector<std::string>& words_;  // BASE HEAD ARGUMENT ...
  std::string folder_;
};

}  // namespace

std::vector<int> RunOrder(int runs) {
  std::vector<int> order;
  for (int i = 0; i < runs; ++i) {
    order.push_back(i % 2);
    order.push_back(1 - i % 2);
  }
  return order;
}

std::optional<cpu_set_t> ParseCpus(std::string_view text) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
    const std::vector<std::string> ends = absl::StrSplit(part, '-');
    int first = 0;
    int last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || first < 0 || last < first ||
        last >= CPU_SETSIZE) {
      return std::nullopt;
    }
    for (int cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &cpus);
  }
  return cpus;
}

Manual MakeCompareManual() {
  Manual manual;
  manual.name =
      "kymo compare - runs two programs in turns, and says what "
      "differs for sure";
  manual.synopsis = "kymo compare [flags] BASE HEAD [argument ...]";
  manual.description = {
      "Records both programs several times with the same arguments, in the "
      "order base, head, head, base, and compares their rows with kymo report "
      "--diff: slower, faster, no change seen, or too noisy, with the smallest "
      "change that would have been seen."};
  manual.examples =
      "kymo compare --runs=10 ./bench.old ./bench\n"
      "kymo compare --fail_if='steady_cpu>5%,allocations>0' ./old ./new";
  manual.own = CompareFlagTable().infos();
  manual.end =
      "\nEXIT STATUS\n"
      "    0    done\n"
      "    1    a program failed, or could not be recorded\n"
      "    2    the command line is wrong\n"
      "    4    something changed by more than --fail_if says\n";
  return manual;
}

int CompareMain(const std::vector<std::string>& arguments) {
  OccupyStandardStreams();
  const OwnWords words = ReadOwnWords(arguments, MakeCompareManual());
  if (words.exit_status) return *words.exit_status;
  const CompareFlags flags = *CompareFlagTable().Read(words.flags);
  if (words.others.size() < 2) {
    return Fail(absl::InvalidArgumentError(
                    "usage: kymo compare [flags] BASE HEAD [argument ...] (see "
                    "kymo compare --help)"),
                kExitUsage);
  }
  const absl::StatusOr<int> status = Comparison(flags, words.others).Run();
  if (status.ok()) return *status;
  return Fail(status.status(), absl::IsInvalidArgument(status.status())
                                   ? kExitUsage
                                   : kExitFailed);
}

}  // namespace kymo::tools
