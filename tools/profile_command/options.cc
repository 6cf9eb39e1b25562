#include "tools/profile_command/options.h"

#include <signal.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/activities.h"
#include "profiler/report/table.h"
#include "tools/command_line/exporter_words.h"
#include "tools/command_line/flag_words.h"
#include "tools/command_line/manual.h"

ABSL_FLAG(std::vector<std::string>, activities, {},
          "What to record, separated by commas. Default: everything that can "
          "be recorded here; what is named must be available.");
ABSL_FLAG(std::vector<std::string>, export,
          std::vector<std::string>({"chrome", "stacks"}),
          "Files to write, separated by commas: names of exporters, or paths "
          "(with a slash) of libraries that hold further ones, whose own flags "
          "stand after this one. Default: chrome, stacks, and with "
          "--profile_memory memory_timeline.");
ABSL_FLAG(std::string, output_dir, "",
          "Folder for the files; relative to where you stand. Default: "
          "kymo-out/<target>-<date>-<time>.");
ABSL_FLAG(std::string, sort_by, "",
          "Column to sort the table by, largest first. Default: "
          "self_cpu_time_total.");
ABSL_FLAG(int, row_limit, 30, "Rows of the table; -1 = all.");
ABSL_FLAG(int, sampling_hz, 1000,
          "Samples per second of CPU time and thread, 1 to 20000.");
ABSL_FLAG(bool, record_shapes, false,
          "Keep the inputs of operations: shapes, types, values.");
ABSL_FLAG(bool, with_flops, false,
          "Estimate the FLOPs of operations from their inputs; implies "
          "--record_shapes.");
ABSL_FLAG(bool, with_stack, false,
          "Keep the stack on which each operation was called.");
ABSL_FLAG(bool, with_modules, false,
          "Keep the modules that operations belong to.");
ABSL_FLAG(
    bool, profile_memory, false,
    "Watch the heap, and keep what the program reports (kymo/memory.h): who "
    "allocated how much, what the peak was made of, what was never freed.");
ABSL_FLAG(bool, group_by_input_shape, false,
          "A row of the table for each combination of input shapes; implies "
          "--record_shapes.");
ABSL_FLAG(int, group_by_stack_n, 0,
          "A row of the table for each distinct stack of N innermost frames; "
          "implies --with_stack.");
ABSL_FLAG(bool, gzip, false, "Compress the trace: trace.json.gz.");
ABSL_FLAG(int64_t, max_file_mib, 0,
          "Split timelines whose file would be larger, in MiB, at the steps of "
          "the program: trace.steps_0-99.json. 0 = never.");
ABSL_FLAG(bool, strict, false,
          "Exit with status 3 if the target succeeded but anything was lost "
          "from the trace.");
ABSL_FLAG(bool, quiet, false, "No words on standard error but errors.");
ABSL_FLAG(std::string, flight_recorder, "",
          "Keep the newest only, of annotated ranges: 30s, or 64MiB. With "
          "seconds, --arena_mib says how much memory they may take. Written "
          "at the end, or when --dump asks.");
ABSL_FLAG(int, dump, 0,
          "Ask the command that records process PID with --flight_recorder to "
          "write what it has now, for //tools:report; then exit.");
ABSL_FLAG(std::string, dump_signal, "",
          "With --flight_recorder: this signal, USR1 or USR2, asks this "
          "command for a dump, too, and no longer goes to the target.");
ABSL_FLAG(bool, list, false,
          "Say what can be recorded on this machine, and for the rest why not "
          "and what would help; then exit.");

namespace kymo::tools {
namespace {

constexpr int64_t kMostFileBytes = int64_t{1} << 40;

constexpr OwnFlag kOwnFlags[] = {
    {"activities", "NAMES"},
    {"dump", "PID"},
    {"dump_signal", "NAME"},
    {"export", "NAMES"},
    {"flight_recorder", "AMOUNT"},
    {"group_by_input_shape", nullptr},
    {"group_by_stack_n", "N"},
    {"gzip", nullptr},
    {"list", nullptr},
    {"max_file_mib", "N"},
    {"output_dir", "DIR"},
    {"profile_memory", nullptr},
    {"quiet", nullptr},
    {"record_shapes", nullptr},
    {"row_limit", "N"},
    {"sampling_hz", "N"},
    {"sort_by", "COLUMN"},
    {"strict", nullptr},
    {"with_flops", nullptr},
    {"with_modules", nullptr},
    {"with_stack", nullptr},
};

constexpr char kFlightRecorder[] = "flight_recorder";

// What the flags of the flight recorder say, and what follows from them.
absl::Status ReadFlightRecorder(ProfileCommand& command) {
  const std::string amount = absl::GetFlag(FLAGS_flight_recorder);
  const std::string signal = absl::GetFlag(FLAGS_dump_signal);
  if (amount.empty()) {
    return signal.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(
                                "--dump_signal needs --flight_recorder");
  }
  command.flight_recorder = true;
  command.settings[kFlightRecorder] = amount;
  if (command.activities.empty()) command.activities = {"cpu"};
  if (command.activities != std::vector<std::string>{"cpu"}) {
    return absl::InvalidArgumentError(
        "--flight_recorder keeps what programs annotate, not samples nor what "
        "devices do: leave out --activities, or say --activities=cpu");
  }
  if (command.profile_memory) {
    return absl::InvalidArgumentError(
        "--flight_recorder keeps no heap, since a block may have been "
        "allocated "
        "before what is kept: leave out --profile_memory");
  }
  if (signal == "USR1") command.dump_signal = SIGUSR1;
  if (signal == "USR2") command.dump_signal = SIGUSR2;
  if (!signal.empty() && command.dump_signal == 0) {
    return absl::InvalidArgumentError("--dump_signal takes USR1 or USR2");
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const ProfileCommand& command,
                         const BackendRegistry& backends) {
  KYMO_RETURN_IF_ERROR(PlanBackends(backends, command.activities, {}).status());
  const auto keys = report::TableSortKeys();
  if (!command.sort_by.empty() &&
      std::find(keys.begin(), keys.end(), command.sort_by) == keys.end()) {
    std::string known;
    for (const std::string_view key : keys) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", ToAbsl(key));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("there is no column '", command.sort_by,
                     "' to sort by; it is one of: ", known));
  }
  if (command.sampling_hz < 1 || command.sampling_hz > 20000) {
    return absl::InvalidArgumentError("--sampling_hz takes 1 to 20000");
  }
  if (command.max_file_bytes < 0 || command.max_file_bytes > kMostFileBytes) {
    return absl::InvalidArgumentError("--max_file_mib takes 0 to 1048576");
  }
  if (command.group_by_stack_n < 0 || command.group_by_stack_n > 64) {
    return absl::InvalidArgumentError("--group_by_stack_n takes 0 to 64");
  }
  if (command.dump_pid < 0) {
    return absl::InvalidArgumentError("--dump takes a process id");
  }
  if (command.target.empty() && !command.list && command.dump_pid == 0) {
    return absl::InvalidArgumentError(
        "no target; usage: profile [flags] target [argument ...] (see --help)");
  }
  return absl::OkStatus();
}

FlagRules Rules(const BackendRegistry& backends,
                const ExporterRegistry& exporters) {
  FlagRules rules;
  rules.flags = kOwnFlags;
  rules.plugin_options = [&] {
    std::set<std::string> names;
    for (const ActivityBackend* backend : backends.List()) {
      AddOptionNames(backend->info(), names);
    }
    for (const TraceExporter* exporter : exporters.List()) {
      AddOptionNames(exporter->info(), names);
    }
    return names;
  };
  return rules;
}

}  // namespace

absl::StatusOr<ProfileCommand> ParseCommand(
    const std::vector<std::string>& arguments, const BackendRegistry& backends,
    ExporterRegistry& exporters) {
  ProfileCommand command;
  bool export_given = false;
  FlagRules rules = Rules(backends, exporters);
  rules.on_flag = [&](std::string_view name) -> absl::Status {
    if (name != "export") return absl::OkStatus();
    export_given = true;
    KYMO_ASSIGN_OR_RETURN(
        command.exporters,
        FindAllExporters(absl::GetFlag(FLAGS_export), exporters));
    return absl::OkStatus();
  };
  KYMO_ASSIGN_OR_RETURN(FlagWords words, ReadFlagWords(arguments, rules));
  command.help = words.help;
  if (command.help) return command;
  command.settings = std::move(words.settings);
  command.target = std::move(words.others);
  command.activities = absl::GetFlag(FLAGS_activities);
  command.profile_memory = absl::GetFlag(FLAGS_profile_memory);
  if (!export_given) {
    command.exporters = absl::GetFlag(FLAGS_export);
    if (command.profile_memory) command.exporters.push_back("memory_timeline");
  }
  command.output_dir = absl::GetFlag(FLAGS_output_dir);
  command.sort_by = absl::GetFlag(FLAGS_sort_by);
  command.row_limit = absl::GetFlag(FLAGS_row_limit);
  command.sampling_hz = absl::GetFlag(FLAGS_sampling_hz);
  command.group_by_input_shape = absl::GetFlag(FLAGS_group_by_input_shape);
  command.group_by_stack_n = absl::GetFlag(FLAGS_group_by_stack_n);
  command.with_flops = absl::GetFlag(FLAGS_with_flops);
  command.record_shapes = absl::GetFlag(FLAGS_record_shapes) ||
                          command.with_flops || command.group_by_input_shape;
  command.with_stack =
      absl::GetFlag(FLAGS_with_stack) || command.group_by_stack_n > 0;
  command.with_modules = absl::GetFlag(FLAGS_with_modules);
  command.gzip = absl::GetFlag(FLAGS_gzip);
  command.max_file_bytes = absl::GetFlag(FLAGS_max_file_mib) * (1 << 20);
  command.strict = absl::GetFlag(FLAGS_strict);
  command.quiet = absl::GetFlag(FLAGS_quiet);
  command.list = absl::GetFlag(FLAGS_list);
  command.dump_pid = absl::GetFlag(FLAGS_dump);
  KYMO_RETURN_IF_ERROR(ReadFlightRecorder(command));
  KYMO_RETURN_IF_ERROR(CheckValues(command, backends));
  return command;
}

std::string ManualPage(const BackendRegistry& backends,
                       const ExporterRegistry& exporters) {
  std::string page =
      "NAME\n"
      "    profile - where a program's time goes, as a table, a timeline and "
      "stacks\n\n"
      "SYNOPSIS\n"
      "    profile [flags] target [argument ...]\n"
      "    bazel run --run_under=//tools:profile //your:binary\n\n"
      "DESCRIPTION\n";
  AppendWrapped(
      page,
      "Runs the target, records it and everything that it starts, and writes "
      "what it saw. Ranges that the program annotates with Kymo are recorded "
      "exactly; a program that knows nothing of Kymo is sampled. Standard "
      "streams, signals and exit status of the target stay its own.",
      4);
  page += '\n';
  AppendWrapped(page,
                "The target is a program on the PATH, a path, or a Bazel label "
                "(//your:binary), which is built first. Flags stand before it.",
                4);
  page += "\nFLAGS\n";
  AppendFlags(page, kOwnFlags);
  page += "\nACTIVITIES\n";
  for (const ActivityBackend* backend : backends.List()) {
    AppendPlugin(page, backend->info());
  }
  page += "\nEXPORTERS\n";
  for (const TraceExporter* exporter : exporters.List()) {
    AppendPlugin(page, exporter->info());
  }
  page +=
      "\nFILES\n"
      "    key_averages.txt, summary.json and the exporters' files, in the "
      "output\n"
      "    folder. The table is also shown on standard error if that is a "
      "terminal.\n"
      "    dump-1.raw and so on are a flight recorder's dumps. kymo.raw is all "
      "as it\n"
      "    was recorded: with --keep_raw=1, and where the trace would not fit "
      "into\n"
      "    memory (--max_memory). //tools:report reads these.\n\n"
      "EXIT STATUS\n"
      "    The target's own. A target that died of a signal: profile dies of "
      "it too.\n"
      "    127, 126    the target was not found, or cannot be executed\n"
      "    2           the command line is wrong\n"
      "    1           the recording could not be made\n"
      "    3           --strict, and something was lost\n";
  return page;
}

std::string ListActivities(const BackendRegistry& backends,
                           const SessionOptions& options) {
  std::string text;
  for (const ActivityBackend* backend : backends.List()) {
    const absl::Status status = backend->Availability(options);
    absl::StrAppend(&text, absl::StrFormat("%-10s %s\n", backend->info().name,
                                           status.ok() ? "available"
                                                       : "not available here"));
    AppendWrapped(text, backend->info().purpose, 11);
    if (!status.ok()) {
      AppendWrapped(text, ToStd(status.message()), 11);
    } else if (const std::string limitation = backend->Limitation(options);
               !limitation.empty()) {
      AppendWrapped(text, limitation, 11);
    }
    for (const PluginPart& part : backend->info().parts) {
      absl::StrAppend(&text, absl::StrFormat("%-10s part of %s\n", part.name,
                                             backend->info().name));
      AppendWrapped(text, part.purpose, 11);
    }
  }
  return text;
}

}  // namespace kymo::tools
