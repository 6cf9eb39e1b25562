// The preloaded runtime, linked into this program. Each test attaches a new
// process of it to an arena, as //tools:profile does, and reads the arena.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sampling/target/target_timer.h"
#include "profiler/base/clock.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/host.h"

extern "C" const kymo::record::HostApi* kymo_host_v1();

namespace kymo {
namespace {

std::atomic<int> timer_inits = 0;
std::atomic<int> timers_started = 0;
std::atomic<int> timers_ended = 0;
std::atomic<int> timers_after_fork = 0;

}  // namespace

// In place of those of the sampler.
void TargetTimerInit() noexcept { ++timer_inits; }
void TargetTimerThreadStart(bool) noexcept { ++timers_started; }
bool TargetTimerBlocksSignal() noexcept { return false; }
void TargetTimerThreadExit() noexcept { ++timers_ended; }
void TargetTimerAfterForkInChild() noexcept { ++timers_after_fork; }

namespace {

using ::testing::ElementsAre;
using ::testing::ExitedWithCode;

void Require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not so: %s (errno %d)\n", what, errno);
  _exit(1);
}
#define REQUIRE(condition) Require(condition, #condition)

int Wait(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

class RuntimeTest : public testing::Test {
 protected:
  RuntimeTest() {
    // A child is a new process of this program. So its constructors see
    // KYMO_ARENA.
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    int fd = -1;
    arena_ = record::Arena::CreateShared({.capacity_bytes = 64 << 20,
                                          .chunk_bytes_total = 64 << 20,
                                          .clock_source = DetectClockSource()},
                                         &fd);
    EXPECT_TRUE(arena_.valid()) << strerror(errno);
    arena_.header().recording.store(1);
    path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd);
    setenv(record::kArenaVariable, path_.c_str(), 1);
  }
  ~RuntimeTest() override {
    unsetenv(record::kArenaVariable);
    unsetenv(kTargetTimerVariable);
  }

  // What was noted, as "PROGRAM"; "-" if it was taken back.
  std::vector<std::string> Starts() const {
    std::vector<std::string> starts;
    for (uint32_t i = 0; i < arena_.start_count(); ++i) {
      const record::StartEntry& start = arena_.start(i);
      starts.emplace_back(
          start.pid.load() == 0 ? "-" : arena_.NameText(start.program));
    }
    return starts;
  }

  record::Arena arena_;
  std::string path_;
};

// Ends with 5 if it gets its arguments and the environment {X=x}.
constexpr char kScript[] = "test \"$1$2$X\" = \"one twox\" && exit 5";
char shell[] = "/bin/sh";
char* const kWords[] = {shell,
                        const_cast<char*>("-c"),
                        const_cast<char*>(kScript),
                        const_cast<char*>("sh"),
                        const_cast<char*>("one "),
                        const_cast<char*>("two"),
                        nullptr};
char* const kVariables[] = {const_cast<char*>("X=x"), nullptr};

// The program of a descriptor with this number.
int OpenAs(int number) {
  const int fd = open(shell, O_PATH);
  REQUIRE(dup2(fd, number) == number);
  return number;
}

// Runs each function in a process; it must run the shell.
void RunAll(const std::vector<void (*)()>& functions) {
  for (const auto function : functions) {
    const pid_t pid = fork();
    if (pid == 0) {
      function();
      _exit(99);
    }
    REQUIRE(Wait(pid) == 5 << 8);
  }
  _exit(0);
}

void UseVariables() {
  setenv("X", "x", 1);
  setenv("PATH", "/none:/bin", 1);
}

TEST_F(RuntimeTest, EachWayToRunAProgramIsNoted) {
  UseVariables();
  const auto run_all = [] {
    RunAll({
        [] { execve(shell, kWords, kVariables); },
        [] { execv(shell, kWords); },
        [] { execvp("sh", kWords); },
        [] {
          setenv("X", "y", 1);
          execvpe("sh", kWords, kVariables);
        },
        [] {
          execl(shell, shell, "-c", kScript, "sh", "one ", "two", nullptr);
        },
        [] {
          execlp("sh", shell, "-c", kScript, "sh", "one ", "two", nullptr);
        },
        [] {
          setenv("X", "y", 1);
          execle(shell, shell, "-c", kScript, "sh", "one ", "two", nullptr,
                 kVariables);
        },
        [] {
          setenv("X", "y", 1);
          execveat(open("/bin", O_PATH), "sh", kWords, kVariables, 0);
        },
        [] { execveat(OpenAs(9), "", kWords, kVariables, AT_EMPTY_PATH); },
        [] { fexecve(OpenAs(10), kWords, kVariables); },
        [] { fexecve(OpenAs(207), kWords, kVariables); },
    });
  };
  const int64_t before_ns = MonotonicNs();
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
  const std::string file = std::filesystem::canonical(shell);
  EXPECT_THAT(Starts(), ElementsAre(shell, shell, "sh", "sh", shell, "sh",
                                    shell, "sh", file, file, file));
  int64_t last_ns = before_ns;
  for (uint32_t i = 0; i < arena_.start_count(); ++i) {
    EXPECT_GE(arena_.start(i).start_monotonic_ns, last_ns);
    last_ns = arena_.start(i).start_monotonic_ns;
    for (uint32_t j = 0; j < i; ++j) {
      EXPECT_NE(arena_.start(i).pid.load(), arena_.start(j).pid.load());
    }
  }
  EXPECT_LE(last_ns, MonotonicNs());
}

TEST_F(RuntimeTest, SpawnedProgramsAreNoted) {
  UseVariables();
  const auto run_all = [] {
    pid_t path = -1, word = -1, none = -1;
    REQUIRE(posix_spawn(&path, shell, nullptr, nullptr, kWords, kVariables) ==
            0);
    REQUIRE(Wait(path) == 5 << 8);
    REQUIRE(posix_spawnp(&word, "sh", nullptr, nullptr, kWords, kVariables) ==
            0);
    REQUIRE(Wait(word) == 5 << 8);
    REQUIRE(posix_spawn(nullptr, shell, nullptr, nullptr, kWords, kVariables) ==
            0);
    REQUIRE(Wait(-1) == 5 << 8);
    REQUIRE(posix_spawn(&none, "/none", nullptr, nullptr, kWords, kVariables) ==
            ENOENT);
    REQUIRE(none == -1);
    REQUIRE(posix_spawnp(&none, "none", nullptr, nullptr, kWords, kVariables) ==
            ENOENT);
    _exit(0);
  };
  const int64_t before_ns = MonotonicNs();
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
  EXPECT_THAT(Starts(), ElementsAre(shell, "sh", shell));
  for (uint32_t i = 0; i < arena_.start_count(); ++i) {
    EXPECT_GE(arena_.start(i).start_monotonic_ns, before_ns);
    EXPECT_LE(arena_.start(i).start_monotonic_ns, MonotonicNs());
  }
}

TEST_F(RuntimeTest, WhatCouldNotRunIsTakenBack) {
  const auto run_all = [] {
    REQUIRE(execve("/none", kWords, kVariables) == -1 && errno == ENOENT);
    REQUIRE(execl("/bin", "/bin", nullptr) == -1 && errno == EACCES);
    REQUIRE(execvp("none", kWords) == -1 && errno == ENOENT);
    REQUIRE(execle("/none", "/none", nullptr, kVariables) == -1);
    REQUIRE(fexecve(-1, kWords, kVariables) == -1);
    REQUIRE(execveat(AT_FDCWD, "", kWords, kVariables, 0) == -1);
    const char* volatile null = nullptr;
    REQUIRE(execve(null, kWords, kVariables) == -1 && errno == EFAULT);
    REQUIRE(execveat(-1, null, kWords, kVariables, AT_EMPTY_PATH) == -1);
    _exit(0);
  };
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
  EXPECT_THAT(Starts(), ElementsAre("-", "-", "-", "-", "-", "-", "-", "-"));
}

TEST_F(RuntimeTest, ProgramsRunAlsoIfNobodyRecords) {
  UseVariables();
  arena_.header().recording.store(0);
  const auto run_all = [] {
    RunAll({[] { execve(shell, kWords, kVariables); },
            [] { fexecve(OpenAs(9), kWords, kVariables); }});
  };
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
  EXPECT_THAT(Starts(), ElementsAre());
}

TEST_F(RuntimeTest, TheLibraryJoinsTheProcessThatItIsPreloadedInto) {
  const std::string preload =
      "LD_PRELOAD=" +
      std::filesystem::absolute(getenv("KYMO_RUNTIME")).string();
  const std::string arena = std::string(record::kArenaVariable) + "=" + path_;
  char* const words[] = {const_cast<char*>("true"), nullptr};
  char* const variables[] = {const_cast<char*>(preload.c_str()),
                             const_cast<char*>(arena.c_str()), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, "/bin/true", nullptr, nullptr, words, variables),
            0);
  EXPECT_EQ(Wait(pid), 0);
  ASSERT_EQ(arena_.process_count(), 1u);
  EXPECT_EQ(arena_.process(0).pid.load(), pid);
  EXPECT_STREQ(arena_.process(0).name, "true");
}

TEST_F(RuntimeTest, LendsItsRecorder) {
  EXPECT_EQ(kymo_host_v1(), record::OwnHost());
  EXPECT_EXIT(_exit(record::IsRecording() ? 7 : 8), ExitedWithCode(7), "");
  EXPECT_EQ(arena_.process_count(), 1u);
}

void* PassOn(void* argument) { return argument; }
void* Leave(void* argument) { pthread_exit(argument); }

void RunThreads() {
  int value = 0;
  for (const auto function : {PassOn, Leave}) {
    pthread_t thread;
    void* result = nullptr;
    REQUIRE(pthread_create(&thread, nullptr, function, &value) == 0);
    REQUIRE(pthread_join(thread, &result) == 0);
    REQUIRE(result == &value);
  }
  // More than any address space has.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{1} << 60);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, PassOn, nullptr) != 0);
}

int AfterForkOf(int (*count)()) {
  const pid_t pid = fork();
  if (pid == 0) _exit(count());
  return Wait(pid) >> 8;
}

TEST_F(RuntimeTest, ThreadsHaveTimersIfTheyAreAskedFor) {
  setenv(kTargetTimerVariable, "/some/ring", 1);
  const auto run_all = [] {
    REQUIRE(timer_inits == 1);
    RunThreads();
    REQUIRE(timers_started == 2);
    REQUIRE(timers_ended == 2);
    REQUIRE(timers_after_fork == 0);
    REQUIRE(AfterForkOf([] { return timers_after_fork.load(); }) == 1);
    _exit(0);
  };
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
}

TEST_F(RuntimeTest, ThreadsHaveNoTimersIfTheyAreNotAskedFor) {
  const auto run_all = [] {
    RunThreads();
    REQUIRE(timer_inits == 0);
    REQUIRE(timers_started == 0);
    REQUIRE(timers_ended == 0);
    REQUIRE(AfterForkOf([] { return timers_after_fork.load(); }) == 0);
    _exit(0);
  };
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
}

// The numbers of the files that the stack of the caller is in.
std::vector<uint64_t> FilesOfStack() {
  uint64_t pcs[64];
  const uint64_t count = record::OwnHost()->capture_stack(
      __builtin_frame_address(0), pcs, std::size(pcs));
  REQUIRE(count > 1);
  std::vector<uint64_t> files;
  for (uint64_t i = 0; i < count; ++i) {
    files.push_back(pcs[i] >> record::kFileNumberShift);
  }
  return files;
}

std::vector<uint64_t> files_in_library;
void CaptureInLibrary(void*) { files_in_library = FilesOfStack(); }

// The mappings that the arena has of each file: the numbers of the file.
std::map<std::string, std::vector<uint64_t>> MappingsOf(
    const record::Arena& arena) {
  std::map<std::string, std::vector<uint64_t>> mappings;
  record::ChunkReader reader(arena);
  reader.ReadAll([&](const record::ChunkView& view) {
    record::ForEachRecord(
        view, [&](const record::Slot& head,
                  std::span<const record::Slot> payload, uint32_t) {
          if (record::UnpackKind(head.kind_scope_depth) !=
              record::SlotKind::kMapping) {
            return;
          }
          record::MappingPayload mapping;
          memcpy(&mapping, payload.data(), sizeof(mapping));
          const auto* const path =
              reinterpret_cast<const char*>(payload.subspan(1).data());
          EXPECT_EQ(mapping.start >> record::kFileNumberShift,
                    mapping.end >> record::kFileNumberShift);
          mappings[std::filesystem::path(path).filename()].push_back(
              mapping.start >> record::kFileNumberShift);
        });
  });
  return mappings;
}

TEST_F(RuntimeTest, AddressesAndMappingsCarryTheNumbersOfTheirFiles) {
  const auto run_all = [] {
    const std::vector<uint64_t> files = FilesOfStack();
    REQUIRE(files.front() != 0);
    for (const uint64_t file : files) REQUIRE(file != 0);
    REQUIRE(FilesOfStack() == files);
    void* const library = dlopen(getenv("KYMO_LIBRARY"), RTLD_NOW);
    REQUIRE(library != nullptr);
    const auto call = reinterpret_cast<void (*)(void (*)(void*), void*)>(
        dlsym(library, "test_library_small"));
    REQUIRE(call != nullptr);
    call(CaptureInLibrary, nullptr);
    bool is_new = false;
    for (const uint64_t file : files_in_library) {
      is_new |= std::count(files.begin(), files.end(), file) == 0;
    }
    REQUIRE(is_new);
    call(CaptureInLibrary, nullptr);
    _exit(0);
  };
  EXPECT_EXIT(run_all(), ExitedWithCode(0), "");
  // The first stack tells the mappings, and the first one in a library that was
  // loaded later tells them again.
  auto mappings = MappingsOf(arena_);
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").filename();
  EXPECT_EQ(mappings[program].size(), 2u);
  ASSERT_EQ(mappings["libtest_library_small.so"].size(), 1u);
  EXPECT_NE(mappings["libtest_library_small.so"][0], 0u);
  EXPECT_NE(mappings["libtest_library_small.so"][0], mappings[program][0]);
  EXPECT_NE(mappings[program][0], 0u);
  EXPECT_EQ(mappings[program][0], mappings[program][1]);
}

}  // namespace
}  // namespace kymo
