#include "tools/profile_command/options.h"

#include <signal.h>

#include <set>
#include <string>
#include <vector>

#include "backends/builtin/builtin_backends.h"
#include "exporters/builtin/builtin_exporters.h"
#include "gtest/gtest.h"
#include "tests/support/test_flag_fuzzer.h"
#include "tools/profile_command/profile_manual.h"

namespace kymo::tools {
namespace {

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    EXPECT_TRUE(RegisterBuiltinBackends(backends_).ok());
    EXPECT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  }
  absl::StatusOr<ProfileCommand> Parse(const std::vector<std::string>& words) {
    return ParseCommand(words, backends_, exporters_);
  }
  std::string ErrorOf(const std::vector<std::string>& words) {
    return std::string(Parse(words).status().message());
  }

  BackendRegistry backends_;
  ExporterRegistry exporters_;
};

TEST_F(OptionsTest, WhatFollowsTheTargetIsItsOwn) {
  const auto command = Parse({"--row_limit=5", "--cpu_arena_mib", "8",
                              "program", "--row_limit=7", "--nonsense"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->row_limit, 5);
  // PyTorch's key_averages().table() has as many.
  EXPECT_EQ(Parse({"program"})->row_limit, 100);
  EXPECT_EQ(command->settings.at("cpu_arena_mib"), "8");
  EXPECT_EQ(command->target, (std::vector<std::string>{
                                 "program", "--row_limit=7", "--nonsense"}));
}

TEST_F(OptionsTest, ReadsWhichRunningProcessesToRecord) {
  const auto command = Parse({"--pid=12,34", "--duration=1500ms"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->attach.is_wanted());
  EXPECT_EQ(command->attach.pids, (std::vector<pid_t>{12, 34}));
  EXPECT_EQ(command->duration_ns, 1'500'000'000);
  EXPECT_EQ(Parse({"--name=^redis", "--duration", "10"})->duration_ns,
            10'000'000'000);
  EXPECT_EQ(Parse({"--all"})->duration_ns, std::nullopt);
  EXPECT_FALSE(Parse({"program"})->attach.is_wanted());

  EXPECT_EQ(ErrorOf({"--pid=12,x"}),
            "--pid is 'x'; it takes numbers of processes");
  EXPECT_NE(ErrorOf({"--pid=0"}), "");
  EXPECT_EQ(ErrorOf({"--pid="}), "--pid is ''; it takes numbers of processes");
  EXPECT_EQ(ErrorOf({"--name=", "--duration=1"}),
            "--name is ''; it takes a regular expression");
  EXPECT_EQ(ErrorOf({"--name=", "program"}),
            "--name is ''; it takes a regular expression");
  EXPECT_EQ(Parse({"--pid=1", "--duration=0.5"})->duration_ns, 500 * kNsPerMs);
  for (const char* wrong : {"0", "0.0", "-1", "1e3", "nan", ".", "1.5s"}) {
    EXPECT_NE(ErrorOf({"--pid=1", std::string("--duration=") + wrong}), "")
        << wrong;
  }
  EXPECT_EQ(ErrorOf({"--duration=3", "program"}),
            "--duration needs --pid, --name, --all or --on_demand");
  EXPECT_NE(ErrorOf({"--pid=12", "program"}).find("leave out the target"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--all", "--pid=12"}).find("leave out --pid"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--pid=1", "--ranks"}).find("leave out --ranks"),
            std::string::npos);
  EXPECT_TRUE(Parse({"--pid=1", "--profile_memory"})->profile_memory);
  EXPECT_NE(ErrorOf({"--pid=1", "--flight_recorder=30s"}).find("--flight"),
            std::string::npos);
}

// The switches of a command that are on.
std::vector<std::string> SwitchesOf(const ProfileCommand& command) {
  std::vector<std::string> on;
  const auto add = [&](const char* name, bool is_on) {
    if (is_on) on.emplace_back(name);
  };
  add("record_shapes", command.record_shapes);
  add("with_flops", command.with_flops);
  add("with_stack", command.with_stack);
  add("with_modules", command.with_modules);
  add("capture_overload_names", command.capture_overload_names);
  add("profile_memory", command.profile_memory);
  add("group_by_input_shape", command.group_by_input_shape);
  add("gzip", command.gzip);
  add("view", command.view);
  add("strict", command.strict);
  add("quiet", command.quiet);
  add("list", command.list);
  add("version", command.version);
  add("flight_recorder", command.flight_recorder);
  add("row_limit_given", command.row_limit_given);
  return on;
}

TEST_F(OptionsTest, ReadsWhatIsRecordedOnDemand) {
  const auto command = Parse({"--on_demand", "--iterations=3", "--pid=12"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->on_demand);
  EXPECT_EQ(command->iterations, 3);
  EXPECT_EQ(command->attach.pids, std::vector<pid_t>{12});
  EXPECT_TRUE(Parse({"--on_demand"}).ok());
  EXPECT_EQ(ErrorOf({"--iterations=3", "program"}),
            "--iterations needs --on_demand");
  EXPECT_NE(ErrorOf({"--on_demand", "--iterations=3", "--duration=1"}), "");
  EXPECT_NE(ErrorOf({"--on_demand", "--duration=3501"}), "");
  EXPECT_NE(ErrorOf({"--on_demand", "--all"}), "");
  EXPECT_NE(ErrorOf({"--on_demand", "program"}), "");
}

TEST_F(OptionsTest, ASwitchTurnsOnWhatItSaysAndWhatItImplies) {
  using Names = std::vector<std::string>;
  const auto on = [&](const std::string& flag) {
    const auto command = Parse({flag, "program"});
    EXPECT_TRUE(command.ok()) << command.status();
    return command.ok() ? SwitchesOf(*command) : Names{"none"};
  };
  EXPECT_EQ(on("--color=auto"), Names{});
  for (const char* const alone :
       {"record_shapes", "with_stack", "with_modules", "capture_overload_names",
        "profile_memory", "gzip", "view", "strict", "quiet", "list",
        "version"}) {
    EXPECT_EQ(on("--" + std::string(alone)), Names{alone});
    EXPECT_EQ(on("--" + std::string(alone) + "=0"), Names{});
  }
  EXPECT_EQ(on("--with_flops"), (Names{"record_shapes", "with_flops"}));
  EXPECT_EQ(on("--group_by_input_shape"),
            (Names{"record_shapes", "group_by_input_shape"}));
  EXPECT_EQ(on("--group_by_stack_n=1"), Names{"with_stack"});
  EXPECT_EQ(on("--group_by_stack_n=0"), Names{});
  EXPECT_EQ(on("--activities=cpu,memory"), Names{"profile_memory"});
  EXPECT_EQ(on("--activities=cpu"), Names{});
  EXPECT_EQ(on("--flight_recorder=1s"), Names{"flight_recorder"});
  EXPECT_EQ(on("--row_limit=100"), Names{"row_limit_given"});
}

TEST_F(OptionsTest, FlagsWithValuesHaveDefaultsAndBounds) {
  const ProfileCommand none = *Parse({"program"});
  EXPECT_EQ(none.activities, std::vector<std::string>{});
  EXPECT_EQ(none.exporters,
            (std::vector<std::string>{"chrome", "html", "stacks"}));
  EXPECT_EQ(none.output_dir, "");
  EXPECT_EQ(none.sort_by, "");
  EXPECT_EQ(none.color, ColorUse::kAuto);
  EXPECT_EQ(none.group_by_stack_n, 0);
  EXPECT_EQ(none.max_file_bytes, 0);
  EXPECT_EQ(none.dump_signal, 0);
  EXPECT_EQ(none.dump_pid, 0);
  EXPECT_EQ(none.settings, SettingMap{});
  EXPECT_FALSE(none.help);
  const ProfileCommand all = *Parse(
      {"--output_dir=o", "--sort_by=cpu_time_total", "--color=never",
       "--group_by_stack_n=64", "--max_file_mib=3", "--dump=1",
       "--flight_recorder=1s", "--dump_signal=USR1", "program", "--color"});
  EXPECT_EQ(all.output_dir, "o");
  EXPECT_EQ(all.sort_by, "cpu_time_total");
  EXPECT_EQ(all.color, ColorUse::kNever);
  EXPECT_EQ(all.group_by_stack_n, 64);
  EXPECT_EQ(all.max_file_bytes, 3 * 1024 * 1024);
  EXPECT_EQ(all.dump_pid, 1);
  EXPECT_EQ(all.dump_signal, SIGUSR1);
  EXPECT_EQ(ErrorOf({"--group_by_stack_n=65", "a"}),
            "--group_by_stack_n is '65'; it takes a whole number from 0 to 64");
  EXPECT_FALSE(Parse({"--group_by_stack_n=-1", "a"}).ok());
  EXPECT_TRUE(Parse({"--dump_signal=USR2", "--flight_recorder=1s", "a"}).ok());
}

TEST_F(OptionsTest, ThePageThatIsViewedIsWritten) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(Parse({"--view", "a"})->exporters,
            (Names{"chrome", "html", "stacks"}));
  EXPECT_EQ(Parse({"--view", "--export=stacks", "a"})->exporters,
            (Names{"stacks", "html"}));
  EXPECT_EQ(Parse({"--view", "--export=html", "a"})->exporters, Names{"html"});
  EXPECT_TRUE(Parse({"--view", "a"})->view);
  EXPECT_FALSE(Parse({"a"})->view);
}

TEST_F(OptionsTest, ATimelineOfMemoryIsWrittenUnlessFilesAreNamed) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(Parse({"--profile_memory", "a"})->exporters,
            (Names{"chrome", "html", "stacks", "memory_timeline"}));
  EXPECT_EQ(Parse({"--profile_memory", "--export=stacks", "a"})->exporters,
            Names{"stacks"});
  EXPECT_EQ(Parse({"--export=", "a"})->exporters, Names{});
}

TEST_F(OptionsTest, OnlyWhatRunsNothingNeedsNoTarget) {
  EXPECT_EQ(ErrorOf({"--quiet"}),
            "no target; usage: kymo profile [flags] target [argument ...], or "
            "--pid=PID for a process that runs already (see --help)");
  EXPECT_TRUE(Parse({"--list"}).ok());
  EXPECT_TRUE(Parse({"--help"}).ok());
  EXPECT_FALSE(Parse({"--activities=weather", "a"}).ok());
  EXPECT_FALSE(Parse({"--export=weather", "a"}).ok());
}

TEST_F(OptionsTest, TheVersionNeedsNoTarget) {
  const auto command = Parse({"--version"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->version);
}

TEST_F(OptionsTest, FilesAreBoundedUnlessAskedNotToBe) {
  EXPECT_EQ(Parse({"program"})->max_size, uint64_t{100} << 20);
  EXPECT_EQ(Parse({"--max_size=2GiB", "program"})->max_size, uint64_t{2} << 30);
  EXPECT_EQ(Parse({"--max_size=0", "program"})->max_size, 0u);
  EXPECT_EQ(
      ErrorOf({"--max_size=100", "program"}),
      "--max_size is '100'; it takes 0, or a whole number and KiB, MiB or "
      "GiB");
}

TEST_F(OptionsTest, FlightRecorderIsOfAnnotatedRanges) {
  const auto command =
      Parse({"--flight_recorder=30s", "--dump_signal=USR2", "program"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->flight_recorder);
  EXPECT_EQ(command->activities, (std::vector<std::string>{"cpu"}));
  EXPECT_EQ(command->settings.at("cpu_flight_recorder"), "30s");
  EXPECT_EQ(command->dump_signal, SIGUSR2);
  EXPECT_NE(ErrorOf({"--flight_recorder=30s", "--activities=sampling", "a"})
                .find("--activities=cpu"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--flight_recorder=30s", "--activities=cpu,cuda", "a"})
                .find("--activities=cpu"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--flight_recorder=30s", "--profile_memory", "a"})
                .find("leave out --profile_memory"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--dump_signal=USR1", "a"}).find("--flight_recorder"),
            std::string::npos);
  EXPECT_EQ(ErrorOf({"--flight_recorder=30s", "--dump_signal=", "a"}),
            "--dump_signal is ''; it takes one of: USR1, USR2");
}

TEST_F(OptionsTest, DumpNeedsNoTarget) {
  const auto command = Parse({"--dump=123"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->dump_pid, 123);
  EXPECT_FALSE(Parse({"--dump=-5"}).ok());
  EXPECT_EQ(ErrorOf({"--dump=0"}),
            "--dump is '0'; it takes a whole number from 1 on");
}

TEST_F(OptionsTest, OldSpellingsSayTheNew) {
  const auto command =
      Parse({"--arena_mib=8", "--capture_nvtx", "0", "--memory_events=-1",
             "--device=cuda:0", "--keep_raw", "--ranges=0", "program"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->settings,
            (SettingMap{{"chrome_memory_events", "-1"},
                        {"cpu_arena_mib", "8"},
                        {"cpu_keep_raw", "1"},
                        {"cpu_ranges", "0"},
                        {"memory_timeline_device", "cuda:0"},
                        {"nvtx_capture", "0"},
                        {"tensorboard_memory_events", "-1"}}));
  EXPECT_EQ(
      command->notices,
      (std::vector<std::string>{
          "--arena_mib is now --cpu_arena_mib",
          "--capture_nvtx is now --nvtx_capture",
          "--memory_events is now --chrome_memory_events and "
          "--tensorboard_memory_events",
          "--device is now --memory_timeline_device",
          "--keep_raw is now --cpu_keep_raw", "--ranges is now --cpu_ranges"}));
  EXPECT_EQ(command->target, (std::vector<std::string>{"program"}));
}

TEST_F(OptionsTest, SettingsThatDoNothingAreSaid) {
  auto command = Parse({"--memory_mode=counters", "a.out"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->notices,
            std::vector<std::string>{
                "--memory_mode does nothing without --profile_memory"});
  command = Parse({"--memory_mode=counters", "--profile_memory", "a.out"});
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->notices, std::vector<std::string>{});
}

TEST_F(OptionsTest, ValuesOfSettingsAreCheckedBeforeAnythingRuns) {
  EXPECT_EQ(ErrorOf({"--sampling_hz=0", "a"}),
            "--sampling_hz is '0'; it takes a whole number from 1 to 20000");
  EXPECT_EQ(ErrorOf({"--when_full=explode", "a"}),
            "--when_full is 'explode'; it takes one of: drain, overwrite, "
            "stop");
  EXPECT_EQ(ErrorOf({"--stacks_formats=svg", "a"}),
            "--stacks_formats is 'svg'; it takes a list, separated by commas, "
            "of: folded, speedscope, pprof");
  EXPECT_EQ(ErrorOf({"--flight_recorder=5", "a"}),
            "--flight_recorder is '5'; it takes seconds or memory: 1s to "
            "86400s, 1MiB to 65536MiB");
  EXPECT_EQ(ErrorOf({"--cpu_flight_recorder=5s", "a"}),
            "there is no flag --cpu_flight_recorder; the nearest is "
            "--flight_recorder; --help=all lists all flags");
}

// Every setting of a plugin begins with the plugin's name, or with its topic if
// the topic is to become a plugin of its own. No two flags have one name.
TEST_F(OptionsTest, NamesOfFlagsDoNotCollide) {
  std::set<std::string> names;
  for (const SettingInfo& flag : ProfileFlags()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
  }
  const auto add = [&](const PluginInfo& plugin) {
    for (const SettingInfo& setting : plugin.settings) {
      EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
      EXPECT_TRUE(setting.name.starts_with(setting.topic + "_"))
          << setting.name;
      if (setting.default_value.empty()) continue;  // help names none
      EXPECT_TRUE(setting.accepts(setting.default_value)) << setting.name;
    }
  };
  for (const ActivityBackend* const backend : backends_.List()) {
    add(backend->info());
  }
  for (const TraceExporter* const exporter : exporters_.List()) {
    add(exporter->info());
  }
  for (const char* const name :
       {"sampling_hz", "cuda_sync", "memory_mode", "itt_capture",
        "chrome_memory_events", "memory_timeline_device"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(OptionsTest, HelpIsShortUnlessAllIsAskedFor) {
  const auto lines_with = [](const std::string& page, const char* text) {
    int count = 0;
    for (size_t at = page.find(text); at != page.npos;
         at = page.find(text, at + 1)) {
      ++count;
    }
    return count;
  };
  const std::string page = *ProfileManual("", backends_, exporters_);
  EXPECT_EQ(lines_with(page, "\n    --"), 19 + 1) << "19 flags and --help=all";
  EXPECT_EQ(lines_with(page, "\n    kymo "), 1 + 2 + 3);
  const std::string all = *ProfileManual("all", backends_, exporters_);
  for (const SettingInfo& flag : ProfileFlags()) {
    EXPECT_NE(all.find("    --" + flag.name), all.npos) << flag.name;
  }
  EXPECT_NE(all.find("    --cuda_sync\n"), all.npos);
  const std::string cuda = *ProfileManual("cuda", backends_, exporters_);
  EXPECT_EQ(lines_with(cuda, " --cuda_"), 10);
  EXPECT_EQ(lines_with(cuda, "--cpu_"), 0);
  const std::string memory = *ProfileManual("memory", backends_, exporters_);
  EXPECT_EQ(lines_with(memory, "    --memory_"), 5);
  EXPECT_FALSE(ProfileManual("weather", backends_, exporters_).ok());
  for (const std::string& text : {page, all}) {
    for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      EXPECT_LE(end - begin, 80) << text.substr(begin, end - begin);
    }
  }
}

TEST_F(OptionsTest, AnyWordsAreACommandOrAnErrorInALine) {
  FuzzWords words = {
      .names = {"sampling_hz", "arena_mib", "memory_mode", "when_full"},
      .values = {"cpu", "cpu,", "drain", "30s", "USR1", "chrome", "512MiB"}};
  for (const SettingInfo& flag : ProfileFlags()) {
    words.names.push_back(flag.name);
  }
  FuzzFlags(
      words, [&](const auto& line) { return Parse(line); },
      [](const ProfileCommand& command) {
        return command.help || command.list || command.version ||
               command.dump_pid != 0 || command.attach.is_wanted() ||
               command.on_demand || !command.target.empty();
      });
}

}  // namespace
}  // namespace kymo::tools
