// `kymo gate`, from its words to its exit status.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "importers/builtin/builtin_importers.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tools/command_line/large_stack.h"
#include "tools/command_line/run_folder.h"
#include "tools/command_line/say.h"
#include "tools/command_line/standard_streams.h"
#include "tools/command_line/user_folder.h"
#include "tools/gate_command/gate_flags.h"
#include "tools/gate_command/gate_run.h"
#include "tools/gate_command/hold.h"
#include "tools/gate_command/main.h"
#include "tools/gate_command/own_words.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kUpdateRuns = 3;

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (fs::is_directory(path)) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the budget ", path, ": it is a folder"));
  }
  if (!file && !(file.eof() && fs::exists(path))) {
    return absl::NotFoundError(absl::StrCat(
        "cannot read the budget ", path, ": ", strerror(errno),
        "; to write it, use --update (Bazel: run the target NAME.update)"));
  }
  return text.str();
}

// A link stays a link.
absl::Status WriteText(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                        NewFileSink(error ? path : file.string()));
  KYMO_RETURN_IF_ERROR(sink->Append(text));
  return sink->Commit();
}

// With a line break at the end, so that more lines can follow.
std::string LinesOf(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

class Gate {
 public:
  Gate(GateFlags flags, std::vector<std::string> words, bool is_program)
      : flags_(std::move(flags)),
        words_(std::move(words)),
        is_program_(is_program) {
    options_.is_filtered = flags_.filtered;
    options_.is_recording = !is_program_;
    if (flags_.shard >= 0) options_.shard = flags_.shard;
  }

  absl::StatusOr<int> Run() {
    KYMO_RETURN_IF_ERROR(RegisterBuiltinImporters(importers_));
    KYMO_ASSIGN_OR_RETURN(folder_, Folder());
    // A GoogleTest would write a report of its own over ours, and its
    // allocations would count under `bazel test`, but not in an update.
    unsetenv("XML_OUTPUT_FILE");
    return flags_.update ? Update() : Check();
  }

  std::string suite() const {
    const std::string name = fs::path(flags_.budget).filename().string();
    return name.substr(0, name.find('.'));
  }

 private:
  absl::StatusOr<std::string> Folder() const {
    std::string folder = UserPath(flags_.output_dir);
    if (flags_.output_dir.empty()) {
      KYMO_ASSIGN_OR_RETURN(folder,
                            MakeDatedFolder(UserPath(kDefaultFolder), suite()));
    }
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      return absl::ErrnoToStatus(error.value(),
                                 absl::StrCat("cannot make ", folder));
    }
    return folder;
  }

  absl::StatusOr<Amounts> MeasureOnce(const Measuring& measuring) {
    if (is_program_) {
      return MeasureProgram(words_, folder_, measuring, importers_);
    }
    return MeasureFiles(words_, importers_);
  }

  absl::StatusOr<int> Check() {
    KYMO_ASSIGN_OR_RETURN(const std::string text, ReadText(flags_.budget));
    KYMO_ASSIGN_OR_RETURN(const Budget budget, ReadBudget(text, flags_.budget));
    Measuring measuring;
    for (const BudgetLine& line : budget.lines) {
      const What what = line.measure.what;
      measuring.counts_calls |= IsCounted(what);
      measuring.has_leaks |= what == What::kLeaks || what == What::kLeakedBytes;
    }
    std::vector<Amounts> runs;
    for (int i = 0; i < (is_program_ ? budget.runs : 1); ++i) {
      KYMO_ASSIGN_OR_RETURN(Amounts amounts, MeasureOnce(measuring));
      measuring.counts_calls = false;  // times alone take several runs
      runs.push_back(std::move(amounts));
    }
    KYMO_ASSIGN_OR_RETURN(const std::vector<HeldLine> lines,
                          HoldBudget(budget, runs, options_));
    const std::string report = HeldText(lines, budget);
    fputs(report.c_str(), stdout);
    KYMO_RETURN_IF_ERROR(WriteText(folder_ + "/budget.txt", report));
    if (!flags_.xml.empty()) {
      KYMO_RETURN_IF_ERROR(
          WriteText(flags_.xml, HeldXml(lines, budget, suite())));
    }
    if (!IsOverBudget(lines)) return 0;
    if (is_program_) {
      // The verdict stands, whatever this run does.
      const absl::Status page = RecordPage(words_, folder_);
      if (!page.ok()) {
        Say(absl::StrCat("no page of the program: ", page.message()));
      }
    }
    Say(absl::StrCat("over the budget; ", folder_,
                     " has the recording and its page; if it is meant to take "
                     "more, use --update (Bazel: run the target NAME.update)"));
    return kExitOver;
  }

  absl::StatusOr<int> Update() {
    std::vector<Amounts> runs;
    for (int i = 0; i < (is_program_ ? kUpdateRuns : 1); ++i) {
      KYMO_ASSIGN_OR_RETURN(Amounts amounts, MeasureOnce({.counts_calls = true,
                                                          .has_leaks = true}));
      runs.push_back(std::move(amounts));
    }
    std::vector<std::string> notes;
    std::string old;
    if (fs::exists(flags_.budget)) {
      KYMO_ASSIGN_OR_RETURN(old, ReadText(flags_.budget));
    }
    KYMO_ASSIGN_OR_RETURN(const Budget budget, ReadBudget(old, flags_.budget));
    KYMO_ASSIGN_OR_RETURN(const std::vector<LineUpdate> updates,
                          UpdatesFor(budget, runs, options_, notes));
    const std::string text =
        updates.empty() ? LinesOf(old) + NewBudget(runs, options_, notes)
                        : UpdatedBudget(old, updates, budget);
    for (const std::string& note : notes) Say(note);
    KYMO_RETURN_IF_ERROR(WriteText(flags_.budget, text));
    Say(absl::StrCat(text == old ? "nothing changed in " : "wrote ",
                     flags_.budget));
    return 0;
  }

  const GateFlags flags_;
  const std::vector<std::string> words_;
  const bool is_program_;
  HoldOptions options_;
  ImporterRegistry importers_;
  std::string folder_;
};

int Report(const Gate& gate, const GateFlags& flags,
           const absl::StatusOr<int>& result) {
  if (result.ok()) return *result;
  const std::string message(result.status().message());
  if (!flags.xml.empty()) {
    WriteText(flags.xml, ErrorXml(message, gate.suite())).IgnoreError();
  }
  return Fail(result.status(), absl::IsInvalidArgument(result.status()) ||
                                       absl::IsNotFound(result.status())
                                   ? kExitUsage
                                   : kExitFailed);
}

int RunGate(const std::vector<std::string>& arguments) {
  const OwnWords words = ReadOwnWords(arguments, MakeGateManual());
  if (words.exit_status) return *words.exit_status;
  const GateFlags flags = *GateFlagTable().Read(words.flags);
  if (flags.budget.empty() || words.others.empty()) {
    return Fail(absl::InvalidArgumentError(
                    "usage: kymo gate --budget=FILE -- PROGRAM [argument ...] "
                    "(see kymo gate --help)"),
                kExitUsage);
  }
  // Behind "--" stands a program, else recordings.
  const bool is_program = std::ranges::count(arguments, "--") > 0;
  Gate gate(flags, words.others, is_program);
  return Report(gate, flags, gate.Run());
}

}  // namespace

int GateMain(const std::vector<std::string>& arguments) {
  OccupyStandardStreams();
  return RunWithLargeStack([&] { return RunGate(arguments); });
}

}  // namespace kymo::tools
