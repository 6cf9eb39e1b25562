// `kymo gate`, from its words to its exit status.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "importers/builtin/builtin_importers.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "tools/command_line/input_files.h"
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
#include "tools/gate_command/program_streams.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kUpdateRuns = 3;

// Nothing: it is not there.
absl::StatusOr<std::optional<std::string>> ReadText(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return absl::NotFoundError(
        absl::StrCat("cannot read the budget ", path, ": ", strerror(errno)));
  }
  if (S_ISDIR(about.st_mode)) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the budget ", path, ": it is a folder"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the budget ", path, ": ", strerror(errno)));
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A link stays a link, and the file keeps its mode.
absl::Status WriteText(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  const std::string real = error ? path : file.string();
  struct stat about;
  const bool is_there = stat(real.c_str(), &about) == 0;
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                        NewFileSink(real));
  KYMO_RETURN_IF_ERROR(sink->Append(text));
  KYMO_RETURN_IF_ERROR(sink->Commit());
  if (is_there) chmod(real.c_str(), about.st_mode & 07777);
  return absl::OkStatus();
}

// Runs take long, so this comes before them.
absl::Status CheckFolderOf(const std::string& budget) {
  std::error_code error;
  const fs::path file = fs::canonical(budget, error);
  const fs::path folder = (error ? fs::path(budget) : file).parent_path();
  const std::string name = folder.empty() ? "." : folder.string();
  if (access(name.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("cannot write the budget ", budget, ": ", strerror(errno)));
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
    unsetenv("TEST_PREMATURE_EXIT_FILE");  // GoogleTest writes it
    if (is_program_) KYMO_RETURN_IF_ERROR(streams_.Make());
    absl::StatusOr<int> result = flags_.update ? Update() : Check();
    if (flags_.output_dir.empty()) {
      // Only if nothing was written into it.
      std::error_code error;
      fs::remove(folder_, error);
    }
    return result;
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

  // What the lines need. Not each program bears to be traced.
  static Measuring MeasuringFor(std::span<const BudgetLine> lines) {
    Measuring measuring;
    for (const BudgetLine& line : lines) {
      const What what = line.measure.what;
      measuring.counts_calls |= IsCounted(what);
      measuring.has_leaks |= what == What::kLeaks || what == What::kLeakedBytes;
    }
    return measuring;
  }

  // A budget that has no line for this shard gets lines of everything.
  Measuring MeasuringForUpdate(const Budget& budget) const {
    const auto is_ours = [&](const BudgetLine& line) {
      return line.shard == options_.shard;
    };
    if (std::ranges::none_of(budget.lines, is_ours)) {
      return {.counts_calls = true, .has_leaks = true};
    }
    return MeasuringFor(budget.lines);
  }

  // `runs`: of a program. Each recording is a run.
  absl::StatusOr<std::vector<Amounts>> Measure(Measuring measuring, int runs,
                                               bool counts_each) {
    if (!is_program_) return MeasureRecordings();
    std::vector<Amounts> measured;
    measuring.streams = streams_.fds();
    for (int i = 0; i < runs; ++i) {
      absl::StatusOr<Amounts> amounts =
          MeasureProgram(words_, folder_, measuring, importers_);
      streams_.Drain();
      if (!amounts.ok()) return amounts.status();
      measuring.counts_calls &= counts_each;
      measured.push_back(*std::move(amounts));
    }
    return measured;
  }

  absl::StatusOr<std::vector<Amounts>> MeasureRecordings() const {
    KYMO_ASSIGN_OR_RETURN(const InputFiles inputs, InputFiles::Open(words_));
    if (!inputs.folder_of_several().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "each recording is a run, and '", inputs.folder_of_several(),
          "' has several traces: name one"));
    }
    std::vector<Amounts> measured;
    for (const std::string& file : inputs.paths()) {
      absl::StatusOr<Amounts> amounts = MeasureFile(file, importers_);
      if (!amounts.ok()) {
        return absl::Status(
            amounts.status().code(),
            inputs.WithNames(ToStd(amounts.status().message())));
      }
      measured.push_back(*std::move(amounts));
    }
    return measured;
  }

  absl::StatusOr<int> Check() {
    KYMO_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                          ReadText(flags_.budget));
    if (!text) {
      return absl::NotFoundError(absl::StrCat(
          "the budget ", flags_.budget,
          " is not there; to write it, use --update (Bazel: run the target "
          "NAME.update)"));
    }
    KYMO_ASSIGN_OR_RETURN(const Budget budget,
                          ReadBudget(*text, flags_.budget));
    const Measuring measuring = MeasuringFor(budget.lines);
    // Times alone take several runs.
    KYMO_ASSIGN_OR_RETURN(
        const std::vector<Amounts> runs,
        Measure(measuring, budget.runs, /*counts_each=*/false));
    KYMO_ASSIGN_OR_RETURN(const std::vector<HeldLine> lines,
                          HoldBudget(budget, runs, options_));
    const std::string report = HeldText(lines, budget);
    KYMO_RETURN_IF_ERROR(WriteText(folder_ + "/budget.txt", report));
    if (!flags_.xml.empty()) {
      KYMO_RETURN_IF_ERROR(
          WriteText(flags_.xml, HeldXml(lines, budget, suite())));
    }
    const int printed = Answer(report);
    if (!IsOverBudget(lines)) return printed;
    if (is_program_) {
      // The verdict stands, whatever this run does.
      const absl::Status page = RecordPage(words_, folder_, streams_.fds());
      streams_.Drain();
      if (!page.ok()) {
        Say(absl::StrCat("no page of the program: ", page.message()));
      }
    }
    Say(absl::StrCat("over the budget; ", folder_,
                     is_program_ ? " has the recording and its page"
                                 : "/budget.txt has these lines",
                     "; if it is meant to take more, use --update (Bazel: run "
                     "the target NAME.update)"));
    return kExitOver;
  }

  absl::StatusOr<int> Update() {
    KYMO_ASSIGN_OR_RETURN(std::optional<std::string> there,
                          ReadText(flags_.budget));
    const std::string old = std::move(there).value_or("");
    KYMO_ASSIGN_OR_RETURN(const Budget budget, ReadBudget(old, flags_.budget));
    KYMO_RETURN_IF_ERROR(CheckFolderOf(flags_.budget));
    KYMO_ASSIGN_OR_RETURN(const std::vector<Amounts> runs,
                          Measure(MeasuringForUpdate(budget), kUpdateRuns,
                                  /*counts_each=*/true));
    std::vector<std::string> notes;
    if (runs.size() == 1) {
      notes.emplace_back(
          "this is one run, so nobody saw which amounts repeat; name several "
          "recordings, or the program");
    }
    KYMO_ASSIGN_OR_RETURN(const std::vector<LineUpdate> updates,
                          UpdatesFor(budget, runs, options_, notes));
    const std::string text =
        updates.empty() ? LinesOf(old) + NewBudget(runs, options_, notes)
                        : UpdatedBudget(old, updates, budget);
    for (const std::string& note : notes) Say(note);
    if (text.find_first_not_of(" \t\r\n") == text.npos) {
      return absl::NotFoundError("nothing was measured that a budget can hold");
    }
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
  ProgramStreams streams_;
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

// Someone who forgot "--".
absl::Status CheckAreNoPrograms(const std::vector<std::string>& files,
                                const std::string& budget) {
  for (const std::string& file : files) {
    char head[4] = {};
    std::ifstream(file, std::ios::binary).read(head, sizeof(head));
    const std::string_view bytes(head, sizeof(head));
    if (!bytes.starts_with("\x7f"
                           "ELF") &&
        !bytes.starts_with("#!"))
      continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file,
                     " is a program, not a recording; to run it: kymo "
                     "gate --budget=",
                     budget, " -- ", file));
  }
  return absl::OkStatus();
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
  const auto dashes = std::ranges::find(arguments, "--");
  const bool is_program = dashes != arguments.end();
  const auto behind = static_cast<size_t>(arguments.end() - dashes);
  if (is_program && words.others.size() != behind - 1) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
                    "'", words.others[0],
                    "' stands before --: name recordings, or a program behind "
                    "--, and not both")),
                kExitUsage);
  }
  if (!is_program) {
    const absl::Status files = CheckAreNoPrograms(words.others, flags.budget);
    if (!files.ok()) return Fail(files, kExitUsage);
  }
  if (flags.update && flags.filtered) {
    return Fail(absl::InvalidArgumentError(
                    "--filtered and --update exclude each other: a part of the "
                    "program says nothing of the whole"),
                kExitUsage);
  }
  Gate gate(flags, words.others, is_program);
  return Report(gate, flags, gate.Run());
}

}  // namespace

int GateMain(const std::vector<std::string>& arguments) {
  OccupyStandardStreams();
  return RunWithLargeStack([&] { return RunGate(arguments); });
}

}  // namespace kymo::tools
