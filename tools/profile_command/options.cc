// Long, because the command's own flags stand in one list.
#include "tools/profile_command/options.h"

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/library/backend_library.h"
#include "tools/command_line/exporter_words.h"
#include "tools/command_line/flag_words.h"
#include "tools/command_line/shared_flags.h"
#include "tools/deliver/view_page.h"

namespace kymo::tools {
namespace {

enum class DumpSignal { kNone = 0, kUser1 = SIGUSR1, kUser2 = SIGUSR2 };

constexpr char kTimelineExporter[] = "chrome";

struct Flags : SharedFlags {
  Flags() { exporters = {"chrome", "html", "stacks"}; }

  std::vector<std::string> activities;
  bool record_shapes = false;
  bool with_stack = false;
  bool with_modules = false;
  bool capture_overload_names = false;
  bool profile_memory = false;
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;
  bool ranks = false;
  int keep_ranks = 0;
  bool strict = false;
  ColorUse color = ColorUse::kAuto;
  std::string flight_recorder;
  DumpSignal dump_signal = DumpSignal::kNone;
  std::optional<int> dump;  // a process
  std::vector<std::string> pid;
  std::string name;
  bool all = false;
  std::optional<DurationNs> duration_ns;
  bool on_demand = false;
  int iterations = 0;
};

// "1500ms", or a number of seconds: "10", "0.5".
std::optional<DurationNs> ParseSeconds(std::string_view text) {
  constexpr double kMostSeconds = 1'000'000;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (error != std::errc() || stop != end) return ParseDurationNs(text);
  const double ns = std::round(seconds * static_cast<double>(kNsPerSecond));
  if (!(ns >= 1) || seconds > kMostSeconds) return std::nullopt;
  return static_cast<DurationNs>(ns);
}

// Those of processes that run already.
std::vector<Setting<Flags>> AttachSettings() {
  using F = Flags;
  return {
      {.name = "pid",
       .value = setting::Texts(&F::pid),
       .purpose = "Record these processes, which run already, and what they "
                  "have started and will start, instead of starting a target. "
                  "They are not stopped and not changed. With KYMO_ATTACH=1 "
                  "in its environment, a program that has Kymo in it also "
                  "hands over its annotated ranges (docs/attach.md).",
       .hint = "PID,...",
       .topic = "attach",
       .is_common = true},
      {.name = "name",
       .value = setting::Text(&F::name),
       .purpose = "The same of all processes whose name, or first word of the "
                  "command line, matches this regular expression.",
       .hint = "REGEX",
       .topic = "attach"},
      {.name = "all",
       .value = setting::Switch(&F::all),
       .purpose = "The same of all that the machine runs, where that is "
                  "permitted.",
       .topic = "attach"},
      {.name = "duration",
       .value = setting::Custom<F, std::optional<DurationNs>>(
           &F::duration_ns, ParseSeconds, setting::FormatDuration,
           "a number of seconds, or a whole number with ns, us, ms or s",
           "TIME"),
       .purpose = "How long to record these. Default: until Ctrl-C, or until "
                  "they have ended; with --on_demand 5 seconds.",
       .topic = "attach"},
      {.name = "on_demand",
       .value = setting::Switch(&F::on_demand),
       .purpose = "Record, at the same time, all programs of this machine that "
                  "can be asked to record themselves: those of PyTorch and "
                  "those that link Kymo, if they were started with "
                  "KINETO_USE_DAEMON=1, and those with KYMO_ATTACH=1. All "
                  "traces come into one folder. --pid chooses among them "
                  "(docs/on_demand.md).",
       .topic = "attach"},
      {.name = "iterations",
       .value = setting::Integer(&F::iterations, 1, 1'000'000),
       .purpose = "With --on_demand: record so many steps of each program, "
                  "from its next step on, instead of a time.",
       .hint = "N",
       .topic = "attach"},
  };
}

std::vector<Setting<Flags>> OwnSettings() {
  using F = Flags;
  return {
      {.name = "activities",
       .value = setting::Texts(&F::activities),
       .purpose =
           "What to record, separated by commas: names, or paths of "
           "libraries with a backend (kymo/backend_plugin.h). Default: "
           "everything that can be recorded here, apart from what --list "
           "calls `on request`; what is named must be available.",
       .topic = "record",
       .is_common = true},
      {.name = "record_shapes",
       .value = setting::Switch(&F::record_shapes),
       .purpose = "Keep the inputs of operations: shapes, types, values.",
       .topic = "record",
       .is_common = true},
      {.name = "with_stack",
       .value = setting::Switch(&F::with_stack),
       .purpose = "Keep the stack on which each operation was called.",
       .topic = "record",
       .is_common = true},
      {.name = "with_modules",
       .value = setting::Switch(&F::with_modules),
       .purpose = "Keep the modules that operations belong to.",
       .topic = "record"},
      {.name = "capture_overload_names",
       .value = setting::Switch(&F::capture_overload_names),
       .purpose = "Keep the overload names of operations.",
       .topic = "record"},
      {.name = "profile_memory",
       .value = setting::Switch(&F::profile_memory),
       .purpose = "Watch the heap, and keep what the program reports "
                  "(kymo/memory.h): who allocated how much, what the peak was "
                  "made of, what was never freed.",
       .topic = "record",
       .is_common = true},
      {.name = "group_by_input_shape",
       .value = setting::Switch(&F::group_by_input_shape),
       .purpose = "A row of the table for each combination of input shapes; "
                  "implies --record_shapes.",
       .topic = "table"},
      {.name = "group_by_stack_n",
       .value = setting::Integer(&F::group_by_stack_n, 0, 64),
       .purpose = "A row of the table for each distinct stack of N innermost "
                  "frames; implies --with_stack.",
       .topic = "table"},
      {.name = "color",
       .value = setting::Word(&F::color, {{"auto", ColorUse::kAuto},
                                          {"always", ColorUse::kAlways},
                                          {"never", ColorUse::kNever}}),
       .purpose = "Colour in what is printed; auto: on a terminal, unless "
                  "NO_COLOR is set.",
       .topic = "table"},
      {.name = "ranks",
       .value = setting::Switch(&F::ranks),
       .purpose = "This process is one rank of a job, which mpirun, srun or "
                  "torchrun started: all ranks write into one folder, on one "
                  "clock, and rank 0 writes the answer of the whole job "
                  "(docs/ranks.md). All ranks must have the flag.",
       .topic = "run",
       .is_common = true},
      {.name = "keep_ranks",
       .value = setting::Integer(&F::keep_ranks, 0, 1 << 20),
       .purpose = "With --ranks, for jobs of many ranks: the averages of all "
                  "ranks are added up in the job, and rank 0 reads and keeps "
                  "the traces of N ranks only: the slowest, the fastest, the "
                  "one in the middle, and so on. 0: of all.",
       .hint = "N",
       .topic = "run",
       .is_common = true},
      {.name = "strict",
       .value = setting::Switch(&F::strict),
       .purpose = "Exit with status 3 if the target succeeded but anything was "
                  "lost from the trace.",
       .topic = "run",
       .is_common = true},
      {.name = "flight_recorder",
       .value = setting::Text(&F::flight_recorder),
       .purpose = "Keep only the newest annotated ranges: those of 30s, or "
                  "64MiB. With seconds, --cpu_arena_mib says how much memory "
                  "they may take. Written at the end, or when --dump asks.",
       .hint = "AMOUNT",
       .topic = "flight",
       .is_common = true},
      {.name = "dump",
       .value = setting::Integer(&F::dump, 1),
       .purpose = "Ask the command that records process PID with "
                  "--flight_recorder to write what it has now, for "
                  "`kymo report`; then exit.",
       .hint = "PID",
       .topic = "flight",
       .is_common = true},
      {.name = "dump_signal",
       .value = setting::Word(&F::dump_signal, {{"USR1", DumpSignal::kUser1},
                                                {"USR2", DumpSignal::kUser2}}),
       .purpose = "With --flight_recorder: this signal asks this command for a "
                  "dump, too, and no longer goes to the target.",
       .hint = "NAME",
       .topic = "flight"},
  };
}

const SettingTable<Flags>& FlagTable() {
  static const auto& table = *new SettingTable<Flags>(
      "",
      Joined(
          Joined(OwnSettings(), AttachSettings()),
          SharedSettings<Flags>(
              {.exporters = "Files to write. With --profile_memory the "
                            "default has memory_timeline, too.",
               .sort_by = "Default: self_device_time_total where a device "
                          "worked, else self_cpu_time_total.",
               .sort_words = {},
               .output_name = "<target>",
               .with_flops = "Implies --record_shapes.",
               .list = "Say what can be recorded on this machine, and for "
                       "the rest why not and what would help; then exit."})));
  return table;
}

std::vector<SettingInfo> PluginSettings(const BackendRegistry& backends,
                                        const ExporterRegistry& exporters) {
  // One copy of each, since it is called for each flag.
  std::vector<SettingInfo> settings;
  const auto add = [&](const std::vector<SettingInfo>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
  };
  for (const ActivityBackend* const backend : backends.List()) {
    add(backend->info().settings);
  }
  for (const TraceExporter* const exporter : exporters.List()) {
    add(exporter->info().settings);
  }
  return settings;
}

// Reads the flags of the flight recorder, and sets what follows from them.
absl::Status ReadFlightRecorder(const Flags& flags,
                                const BackendRegistry& backends,
                                ProfileCommand& command) {
  if (flags.flight_recorder.empty()) {
    return flags.dump_signal != DumpSignal::kNone
               ? absl::InvalidArgumentError(
                     "--dump_signal needs --flight_recorder")
               : absl::OkStatus();
  }
  // The setting that this flag stands for.
  constexpr std::string_view kSetting = "cpu_flight_recorder";
  for (const SettingInfo& setting : PluginSettings(backends, {})) {
    if (setting.name == kSetting && !setting.accepts(flags.flight_recorder)) {
      return WrongValue("--flight_recorder", flags.flight_recorder,
                        setting.takes);
    }
  }
  command.flight_recorder = true;
  command.settings[std::string(kSetting)] = flags.flight_recorder;
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
  command.dump_signal = static_cast<int>(flags.dump_signal);
  return absl::OkStatus();
}

// Notices the settings of `activity` that are given although `flag`, which
// records it, is not.
void NoticeUnused(const BackendRegistry& backends, std::string_view activity,
                  std::string_view flag, ProfileCommand& command) {
  for (const ActivityBackend* const backend : backends.List()) {
    if (backend->info().name != activity) continue;
    for (const SettingInfo& setting : backend->info().settings) {
      if (!command.settings.contains(setting.name)) continue;
      command.notices.push_back(absl::StrCat(
          "--", setting.name, " does nothing without ", ToAbsl(flag)));
    }
  }
}

absl::Status ReadOnDemand(const Flags& flags, ProfileCommand& command) {
  constexpr DurationNs kLongest = 3'500 * kNsPerSecond;
  command.on_demand = true;
  command.iterations = flags.iterations;
  if (!command.target.empty() || flags.all || !flags.name.empty() ||
      command.flight_recorder || flags.ranks) {
    return absl::InvalidArgumentError(
        "--on_demand records programs that run already and have registered: "
        "leave out a target, --name, --all, --flight_recorder and --ranks; "
        "--pid chooses among them");
  }
  if (flags.iterations > 0 && flags.duration_ns) {
    return absl::InvalidArgumentError(
        "--iterations counts steps: leave out --duration");
  }
  if (flags.duration_ns.value_or(0) > kLongest) {
    return absl::InvalidArgumentError(
        "--on_demand records for 3500 s at most: say a shorter --duration");
  }
  return absl::OkStatus();
}

// `given`: the flags that the command line has.
absl::Status ReadAttach(const Flags& flags, const SettingMap& given,
                        ProfileCommand& command) {
  AttachRequest& attach = command.attach;
  // As of a variable that a script did not set.
  if (given.contains("pid") && flags.pid.empty()) {
    return WrongValue("--pid", "", "numbers of processes");
  }
  if (given.contains("name") && flags.name.empty()) {
    return WrongValue("--name", "", "a regular expression");
  }
  for (const std::string& word : flags.pid) {
    const auto pid =
        setting::ParseInteger(word, 1, std::numeric_limits<pid_t>::max());
    if (!pid) return WrongValue("--pid", word, "numbers of processes");
    attach.pids.push_back(static_cast<pid_t>(*pid));
  }
  attach.name = flags.name;
  attach.all = flags.all;
  command.duration_ns = flags.duration_ns;
  if (flags.on_demand) return ReadOnDemand(flags, command);
  if (flags.iterations > 0) {
    return absl::InvalidArgumentError("--iterations needs --on_demand");
  }
  if (!attach.is_wanted()) {
    return flags.duration_ns ? absl::InvalidArgumentError(
                                   "--duration needs --pid, --name, --all or "
                                   "--on_demand")
                             : absl::OkStatus();
  }
  const std::string what = "--pid, --name and --all record what runs already";
  if (!command.target.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, ", so leave out the target `", command.target[0], "`"));
  }
  if (attach.all && (!attach.pids.empty() || !attach.name.empty())) {
    return absl::InvalidArgumentError(
        "--all records every process: leave out --pid and --name");
  }
  if (command.ranks) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, ", and ranks are started by their launcher: leave out --ranks"));
  }
  if (command.flight_recorder) {
    return absl::InvalidArgumentError(
        absl::StrCat(what,
                     ", and a flight recorder keeps what is started: leave out "
                     "--flight_recorder"));
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const ProfileCommand& command,
                         const BackendRegistry& backends) {
  KYMO_RETURN_IF_ERROR(FindBackends(backends, command.activities, {}).status());
  if (command.target.empty() && !command.attach.is_wanted() &&
      !command.on_demand && !command.list && !command.version &&
      command.dump_pid == 0) {
    return absl::InvalidArgumentError(
        "no target; usage: kymo profile [flags] target [argument ...], or "
        "--pid=PID for a process that runs already (see --help)");
  }
  return absl::OkStatus();
}

// Sets from `flags` everything except activities, exporters and the flight
// recorder.
void SetCommand(const Flags& flags, ProfileCommand& command) {
  command.profile_memory = flags.profile_memory ||
                           std::ranges::count(flags.activities, "memory") > 0;
  command.output_dir = flags.output_dir;
  command.sort_by = flags.sort_by.value_or("");
  command.row_limit = flags.row_limit;
  command.color = flags.color;
  command.group_by_input_shape = flags.group_by_input_shape;
  command.group_by_stack_n = flags.group_by_stack_n;
  command.with_flops = flags.with_flops;
  command.record_shapes =
      flags.record_shapes || flags.with_flops || flags.group_by_input_shape;
  command.with_stack = flags.with_stack || flags.group_by_stack_n > 0;
  command.with_modules = flags.with_modules;
  command.capture_overload_names = flags.capture_overload_names;
  command.gzip = flags.gzip;
  command.view = flags.view;
  command.max_size = flags.max_size;
  command.max_file_bytes = flags.max_file_mib << 20;
  command.ranks = flags.ranks;
  command.keep_ranks = flags.keep_ranks;
  command.strict = flags.strict;
  command.quiet = flags.quiet;
  command.list = flags.list;
  command.version = flags.version;
  command.dump_pid = flags.dump.value_or(0);
}

}  // namespace

std::span<const SettingInfo> ProfileFlags() { return FlagTable().infos(); }

absl::StatusOr<ProfileCommand> ParseCommand(
    const std::vector<std::string>& arguments, BackendRegistry& backends,
    ExporterRegistry& exporters) {
  ProfileCommand command;
  bool export_given = false;
  FlagRules rules;
  rules.own = FlagTable().infos();
  rules.plugin_settings = [&] { return PluginSettings(backends, exporters); };
  rules.on_flag = [&](std::string_view name,
                      std::string_view value) -> absl::Status {
    if (name == "activities") {
      KYMO_ASSIGN_OR_RETURN(command.activities,
                            LoadBackends(setting::SplitList(value), backends));
    }
    if (name != "export") return absl::OkStatus();
    export_given = true;
    KYMO_ASSIGN_OR_RETURN(
        command.exporters,
        FindAllExporters(setting::SplitList(value), exporters));
    return absl::OkStatus();
  };
  KYMO_ASSIGN_OR_RETURN(FlagWords words, ReadFlagWords(arguments, rules));
  command.help = words.help;
  command.notices = std::move(words.notices);
  if (command.help) return command;
  command.settings = std::move(words.settings);
  command.target = std::move(words.others);
  KYMO_ASSIGN_OR_RETURN(const Flags flags, FlagTable().Read(words.own));
  SetCommand(flags, command);
  command.row_limit_given = words.own.contains("row_limit");
  if (!export_given) {
    command.exporters = flags.exporters;
    if (command.profile_memory) command.exporters.push_back("memory_timeline");
  }
  if (command.view &&
      std::ranges::count(command.exporters, kPageExporter) == 0) {
    command.exporters.emplace_back(kPageExporter);
  }
  if (command.keep_ranks > 0 && !command.ranks) {
    return absl::InvalidArgumentError("--keep_ranks needs --ranks");
  }
  // The whole job's answer is made of the ranks' timelines.
  if (command.ranks &&
      std::ranges::count(command.exporters, kTimelineExporter) == 0) {
    command.exporters.emplace_back(kTimelineExporter);
  }
  if (!command.profile_memory) {
    NoticeUnused(backends, "memory", "--profile_memory", command);
  }
  KYMO_RETURN_IF_ERROR(ReadFlightRecorder(flags, backends, command));
  KYMO_RETURN_IF_ERROR(ReadAttach(flags, words.own, command));
  KYMO_RETURN_IF_ERROR(CheckValues(command, backends));
  return command;
}

}  // namespace kymo::tools
