// The whole command, in processes of their own.
//
// Long, because each thing that it says has its test.
#include "tools/profile_command/command.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/command_line/run_folder.h"
#include "tools/profile_command/control_socket.h"

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// What a command left.
struct Ended {
  int wait_status;
  std::string out;
  std::string err;

  // -1: it died of a signal.
  int status() const {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  }
};

class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/command_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = fs::canonical(pattern);
    target_ = fs::absolute(getenv("KYMO_TARGET"));
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Starts the command in the folder of the test, after `before`.
  pid_t Start(
      const Words& words, void (*before)() = [] {}) const {
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const auto redirect = [&](const char* file, int fd) {
      const std::string path = folder_ + "/" + file;
      dup2(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
           fd);
    };
    redirect(".stdout", STDOUT_FILENO);
    redirect(".stderr", STDERR_FILENO);
    before();
    const int status = chdir(folder_.c_str()) == 0 ? RunCommand(words) : 99;
    fflush(nullptr);
    _exit(status);
  }

  Ended WaitFor(pid_t pid) const {
    Ended ended = {};
    waitpid(pid, &ended.wait_status, 0);
    ended.out = Content(folder_ + "/.stdout");
    ended.err = Content(folder_ + "/.stderr");
    return ended;
  }

  Ended Run(const Words& words) const { return WaitFor(Start(words)); }

  // Records the annotated target, which gets `words`, into out.
  Ended Record(Words flags, const Words& words) const {
    flags.insert(flags.begin(), {"--output_dir=out", "--activities=cpu"});
    flags.push_back(target_);
    flags.insert(flags.end(), words.begin(), words.end());
    return Run(flags);
  }

  // The bytes of the files in out, by name. Of a large file (an arena takes
  // gigabytes of holes) only which one it is, and its time.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ + "/out")) {
      struct stat info = {};
      stat(entry.path().c_str(), &info);
      files[entry.path().filename()] =
          info.st_size < 1 << 20 ? Content(entry.path())
                                 : std::to_string(info.st_ino) + " " +
                                       std::to_string(info.st_mtim.tv_nsec);
    }
    return files;
  }
  Words Names() const {
    Words names;
    for (const auto& [name, content] : Files()) names.push_back(name);
    return names;
  }

  void WaitUntil(const auto& is_true) const {
    for (int i = 0; i < 10'000 && !is_true(); ++i) usleep(1000);
    EXPECT_TRUE(is_true());
  }

  std::string folder_;
  std::string target_;
};

TEST_F(CommandTest, PrintsWhatItIsAskedFor) {
  const Ended version = Run({"--version"});
  EXPECT_EQ(version.status(), 0);
  EXPECT_EQ(version.out, "kymo 0.1.0\n");
  EXPECT_EQ(version.err, "");
  const Ended help = Run({"--help"});
  EXPECT_EQ(help.status(), 0);
  EXPECT_THAT(help.out, StartsWith("NAME\n    kymo profile - "));
  EXPECT_EQ(help.err, "");
  for (const char* const flag : {"--version", "--help", "--list"}) {
    const Ended full = WaitFor(Start({flag}, [] {
      dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    }));
    EXPECT_EQ(full.status(), 1) << flag;
    EXPECT_EQ(full.err,
              "kymo: could not write to standard output: No space left on "
              "device\n");
  }
  const Ended list = Run({"--list", "--memory_mode=counters"});
  EXPECT_EQ(list.status(), 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("cpu        available\n"),
                              HasSubstr("emit_nvtx  not available here\n"),
                              HasSubstr("\nsampling   ")));
  EXPECT_EQ(list.err,
            "kymo: --memory_mode does nothing without --profile_memory\n");
  EXPECT_EQ(Run({"--list", "--memory_mode=counters", "--quiet"}).err, "");
  EXPECT_FALSE(fs::exists(folder_ + "/kymo-out"));
}

TEST_F(CommandTest, WrongWordsAreUsageErrors) {
  const Ended nothing = Run({});
  EXPECT_EQ(nothing.status(), 2);
  EXPECT_EQ(
      nothing.err,
      "kymo: no target; usage: kymo profile [flags] target [argument ...], or "
      "--pid=PID for a process that runs already (see --help)\n");
  const Ended topic = Run({"--help=weather"});
  EXPECT_EQ(topic.status(), 2);
  EXPECT_EQ(topic.out, "");
  EXPECT_THAT(topic.err, StartsWith("kymo: --help has no topic 'weather'; "));
  // This one shows only when the recording is prepared.
  const Ended folding =
      Record({"--profile_memory", "--memory_fold_above=7", "--export=perfetto"},
             {"ranges", "3"});
  EXPECT_EQ(folding.status(), 2);
  EXPECT_THAT(folding.err, HasSubstr("--memory_fold_above keeps sums"));
}

TEST_F(CommandTest, RecordsAndWritesAndShows) {
  const Ended ended = Record({}, {"ranges", "3"});
  EXPECT_EQ(ended.status(), 0);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(
      ended.err,
      AllOf(StartsWith("kymo: recording cpu, nvtx\ntarget: "),
            ContainsRegex("\ntarget: [0-9.]+ s, [0-9.]+ s of CPU, "
                          "1 process, 1 thread; 4 ranges\n\nRange  *Self CPU"),
            ContainsRegex("\nouter .* 1\n"), ContainsRegex("\ninner .* 3\n"),
            Not(HasSubstr(" more")),
            EndsWith("\nkymo: wrote out\n"
                     "kymo: all in one page: open out/report.html in a "
                     "browser\n"
                     "kymo: timeline: open out/trace.json in "
                     "https://ui.perfetto.dev\n"
                     "kymo: flame graph: open out/stacks.speedscope.json in "
                     "https://www.speedscope.app\n"
                     "kymo: all tables: out/key_averages.txt\n")));
  const auto files = Files();
  EXPECT_THAT(Names(), ElementsAre(".kymo-files", "key_averages.txt",
                                   "report.html", "stacks.folded",
                                   "stacks.pb.gz", "stacks.speedscope.json",
                                   "summary.json", "trace.json"));
  EXPECT_THAT(files.at("trace.json"),
              HasSubstr("\"" + target_ + " ranges 3\""));
  EXPECT_THAT(files.at("trace.json"), Not(HasSubstr("use_device")));
  EXPECT_THAT(files.at("key_averages.txt"), HasSubstr("inner"));
}

TEST_F(CommandTest, QuietSaysNothing) {
  const Ended ended =
      Record({"--quiet", "--export=", "--memory_mode=counters"}, {"exit", "0"});
  EXPECT_EQ(ended.status(), 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(Names(),
              ElementsAre(".kymo-files", "key_averages.txt", "summary.json"));
}

TEST_F(CommandTest, OneOfTheRanksSaysThatTooFewFilesMayBeOpen) {
  constexpr char kFew[] = "kymo: only 30 files may be open: ";
  const auto allow_few = [] {
    // Root could raise the limit.
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    const rlimit few = {30, 30};
    if (syscall(SYS_capset, &header, none) != 0 ||
        setrlimit(RLIMIT_NOFILE, &few) != 0) {
      _exit(98);
    }
  };
  const auto error_of = [&](const Words& words) {
    return WaitFor(Start(words, allow_few)).err;
  };
  const std::string attach = "--pid=1000000000";
  EXPECT_THAT(error_of({"no_program"}), HasSubstr(kFew));
  EXPECT_THAT(error_of({"--quiet", "no_program"}), Not(HasSubstr(kFew)));
  EXPECT_THAT(error_of({attach}), HasSubstr(kFew));
  EXPECT_THAT(error_of({"--quiet", attach}), Not(HasSubstr(kFew)));
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_THAT(error_of({"--ranks", "no_program"}), HasSubstr(kFew));
  EXPECT_THAT(error_of({"--ranks", "--quiet", "no_program"}),
              Not(HasSubstr(kFew)));
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  EXPECT_THAT(error_of({"--ranks", "no_program"}), Not(HasSubstr(kFew)));
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST_F(CommandTest, TheScreenHasAsManyRowsAsAskedFor) {
  EXPECT_THAT(Record({"--row_limit=1"}, {"ranges", "3"}).err,
              HasSubstr("\nand 1 more\n"));
}

TEST_F(CommandTest, TimesAreTheTargets) {
  // What a script's earlier children used is still its own after `exec kymo`.
  const auto burn = [] {
    if (system("sh -c 'ulimit -c 0; ulimit -t 1; while :; do :; done'") == -1)
      _exit(98);
  };
  const Ended ended = WaitFor(
      Start({"--output_dir=out", "--activities=cpu", "sleep", "0.2"}, burn));
  const size_t at = ended.err.find("\nsleep: ");
  ASSERT_NE(at, std::string::npos) << ended.err;
  double wall_s = 0, cpu_s = 0;
  ASSERT_EQ(
      sscanf(&ended.err[at], "\nsleep: %lf s, %lf s of CPU", &wall_s, &cpu_s),
      2)
      << ended.err;
  EXPECT_GE(wall_s, 0.2);
  EXPECT_LT(cpu_s, 0.5);  // of the second that the child before took
  EXPECT_THAT(ended.err, HasSubstr("Nothing was recorded: "));
}

TEST_F(CommandTest, TheFolderIsNamedAfterTheTarget) {
  const Ended ended = Run({"--activities=cpu", target_, "exit", "0"});
  EXPECT_THAT(ended.err,
              ContainsRegex("\nkymo: wrote kymo-out/target-[0-9]{8}-[0-9]{6}"
                            "\n"));
}

TEST_F(CommandTest, EndsAsTheTargetEnds) {
  const Ended failed = Record({"--strict"}, {"exit", "7"});
  EXPECT_EQ(failed.status(), 7);
  EXPECT_THAT(failed.err, HasSubstr("; exit status 7\n"));
  const Ended killed = Record({}, {"signal", "15"});
  EXPECT_TRUE(WIFSIGNALED(killed.wait_status));
  EXPECT_EQ(WTERMSIG(killed.wait_status), SIGTERM);
  EXPECT_THAT(killed.err, HasSubstr("killed by signal 15 (Terminated)\n"));
}

TEST_F(CommandTest, QuietHidesWhatIsNoError) {
  const Words small = {"--max_size=10KiB", "--export=html"};
  EXPECT_THAT(Record(small, {"ranges", "3"}).err,
              HasSubstr("report.html is left out: its tables alone take more "
                        "than its 10240 bytes of --max_size; --max_size=0 "
                        "writes it\n"));
  Words quiet = small;
  quiet.push_back("--quiet");
  EXPECT_EQ(Record(quiet, {"ranges", "3"}).err, "");
}

TEST_F(CommandTest, TargetsThatCannotRunHaveTheStatusesOfShells) {
  const Ended missing = Run({"no-such-program"});
  EXPECT_EQ(missing.status(), 127);
  EXPECT_EQ(missing.err, "kymo: no-such-program: command not found\n");
  const Ended folder = Run({folder_});
  EXPECT_EQ(folder.status(), 126);
  EXPECT_EQ(folder.err, "kymo: " + folder_ + ": is not a regular file\n");
  EXPECT_FALSE(fs::exists(folder_ + "/kymo-out"));
}

TEST_F(CommandTest, ARunThatDoesNotStartChangesNothing) {
  const std::string script = folder_ + "/script";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  fs::permissions(script, fs::perms::owner_all);
  const Words broken = {"--output_dir=out", "--activities=cpu",
                        "--cpu_keep_raw", script};
  const Ended ended = Run(broken);
  EXPECT_EQ(ended.status(), 127);
  EXPECT_EQ(ended.err,
            "kymo: recording cpu, nvtx\nkymo: " + script +
                ": there is no '/no/such/interpreter', which its first "
                "line names as its interpreter\n");
  EXPECT_FALSE(fs::exists(folder_ + "/out"));
  EXPECT_EQ(Record({"--cpu_keep_raw"}, {"ranges", "3"}).status(), 0);
  const auto before = Files();
  EXPECT_TRUE(before.contains("kymo.raw"));
  EXPECT_EQ(Run(broken).status(), 127);
  EXPECT_TRUE(Files() == before);
  // The next run replaces all of them.
  Record({"--export="}, {"exit", "0"});
  EXPECT_THAT(Names(),
              ElementsAre(".kymo-files", "key_averages.txt", "summary.json"));
}

TEST_F(CommandTest, AFileOfTheUserIsNotReplaced) {
  fs::create_directory(folder_ + "/out");
  std::ofstream(folder_ + "/out/summary.json") << "of the user";
  const Ended ended = Record({}, {"exit", "0"});
  EXPECT_EQ(ended.status(), 1);
  EXPECT_THAT(ended.err, HasSubstr("out/summary.json' is not of an earlier"));
  EXPECT_THAT(Names(), ElementsAre("summary.json"));
}

TEST_F(CommandTest, StrictSaysWhatItDoesNotAccept) {
  EXPECT_EQ(Record({"--strict"}, {"ranges", "3"}).status(), 0);
  fs::remove_all(folder_ + "/out");
  fs::create_directories(folder_ + "/out/trace.json");
  const Ended lenient = Record({}, {"ranges", "3"});
  EXPECT_EQ(lenient.status(), 0);
  EXPECT_THAT(lenient.err, ContainsRegex("\nkymo: .*trace.json"));
  EXPECT_THAT(lenient.err, Not(HasSubstr("timeline: ")));
  const Ended unwritten = Record({"--strict"}, {"ranges", "3"});
  EXPECT_EQ(unwritten.status(), 3);
  EXPECT_THAT(unwritten.err, EndsWith("\nkymo: --strict: status 3, because a "
                                      "file could not be written\n"));
  // 32 bytes a range: more than the arena holds.
  const Words small = {"--cpu_arena_mib=1", "--cpu_when_full=stop", "--strict"};
  const Ended both = Record(small, {"ranges", "100000"});
  EXPECT_EQ(both.status(), 3);
  EXPECT_THAT(both.err, EndsWith("\nkymo: --strict: status 3, because the "
                                 "trace is not whole, and a file could not be "
                                 "written\n"));
  EXPECT_THAT(both.err,
              ContainsRegex("\nLost: [0-9]+ events_dropped_arena_full \\("));
  fs::remove_all(folder_ + "/out");
  EXPECT_THAT(Record(small, {"ranges", "100000"}).err,
              EndsWith("because the trace is not whole\n"));
  EXPECT_EQ(Record(small, {"exit", "7"}).status(), 7);
}

TEST_F(CommandTest, NothingWrittenIsAFailure) {
  for (const char* const name : {"key_averages.txt", "summary.json"}) {
    fs::create_directories(folder_ + "/out/" + name);
  }
  const Ended ended = Record({"--export="}, {"ranges", "3"});
  EXPECT_EQ(ended.status(), 1);
  EXPECT_THAT(ended.err, Not(HasSubstr("kymo: wrote")));
  EXPECT_EQ(Record({"--export="}, {"exit", "7"}).status(), 7);
}

TEST_F(CommandTest, AFolderIsForOneRun) {
  const auto other = RunFolder::Take(folder_ + "/out");
  ASSERT_TRUE(other.ok()) << other.status();
  const Ended ended = Record({}, {"ranges", "3"});
  EXPECT_EQ(ended.status(), 1);
  EXPECT_EQ(ended.err, "kymo: another run is writing into '" + folder_ +
                           "/out'; try another folder (--output_dir)\n");
}

TEST_F(CommandTest, FlagsReachTheRecording) {
  // What trace.json has with the flag only.
  const std::pair<const char*, const char*> parts[] = {
      {"--record_shapes", "\"Input Dims\""},
      {"--with_stack", "LargeProduct"},
      {"--capture_overload_names", "aten::mm.out"},
      {"--profile_memory", "[memory]"}};
  Record({"--export=chrome"}, {"operations", "1"});
  const std::string without = Files().at("trace.json");
  Words flags = {"--export=chrome"};
  for (const auto& [flag, part] : parts) {
    EXPECT_THAT(without, Not(HasSubstr(part)));
    flags.push_back(flag);
  }
  Record(flags, {"operations", "1"});
  const std::string trace = Files().at("trace.json");
  for (const auto& [flag, part] : parts) {
    EXPECT_THAT(trace, HasSubstr(part)) << flag;
  }
}

TEST_F(CommandTest, WhatCannotBeSeenIsSaidBefore) {
  const std::string own_malloc = fs::absolute(getenv("KYMO_OWN_MALLOC"));
  const Words run = {"--output_dir=out", "--activities=cpu", own_malloc};
  Words memory = run;
  memory.insert(memory.begin(), "--profile_memory");
  EXPECT_THAT(Run(memory).err,
              ContainsRegex("kymo: recording cpu.*; own_malloc brings a malloc "
                            "of its own"));
  EXPECT_THAT(Run(run).err, StartsWith("kymo: recording cpu, nvtx\n"));
}

TEST_F(CommandTest, ALargeRecordingEndsWithTableAndStacks) {
  const Ended ended =
      Record({"--cpu_max_memory=20MiB", "--strict"}, {"ranges", "500000"});
  EXPECT_EQ(ended.status(), 3);
  EXPECT_THAT(
      ended.err,
      AllOf(HasSubstr(" MiB of memory, more than the 20 MiB that may be taken "
                      "(--cpu_max_memory)\n"),
            HasSubstr("\nkymo: not written, because it needs the whole trace: "
                      "chrome\n"),
            ContainsRegex("\n *inner .* 500000"),
            EndsWith("\nkymo: wrote out\n"
                     "kymo: all in one page: open out/report.html in a "
                     "browser\n"
                     "kymo: all tables: out/key_averages.txt\n"
                     "kymo: --strict: status 3, because the recording is "
                     "larger than memory\n")));
  EXPECT_THAT(Names(),
              ElementsAre(".kymo-files", "key_averages.txt", "kymo.raw",
                          "report.html", "stacks.folded", "summary.json"));
}

TEST_F(CommandTest, DumpsOnRequestAndOnTheSignal) {
  const pid_t command = Start({"--flight_recorder=16MiB", "--dump_signal=USR1",
                               "--output_dir=out", target_, "wait_for_signal"});
  WaitUntil([&] { return Content(folder_ + "/.stdout") == "ready\n"; });
  const std::string dump = folder_ + "/out/dump-";
  kill(command, SIGUSR1);
  WaitUntil(
      [&] { return Content(folder_ + "/.stderr").ends_with("dump-1.raw\n"); });
  const auto asked = AskForDump(command);
  EXPECT_EQ(asked.value_or(""), dump + "2.raw") << asked.status();
  EXPECT_TRUE(fs::exists(dump + "1.raw"));
  EXPECT_TRUE(fs::exists(dump + "2.raw"));
  kill(command, SIGTERM);
  const Ended ended = WaitFor(command);
  EXPECT_EQ(ended.status(), 7);
  EXPECT_THAT(ended.err, HasSubstr("\nkymo: wrote " + dump + "1.raw\n"));
  EXPECT_THAT(ended.err, ContainsRegex("\nwaiting .* [0-9]+\n"));
  const Ended late = Run({"--dump=" + std::to_string(command)});
  EXPECT_EQ(late.status(), 1);
  EXPECT_THAT(late.err, HasSubstr("is not recorded with --flight_recorder"));
}

}  // namespace
}  // namespace kymo::tools
