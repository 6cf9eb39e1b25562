#include "tools/gate_command/syscall_trace.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "tools/runtime/blocking_calls.h"

namespace kymo::tools {
namespace {

std::string CountsPath() {
  return std::string(getenv("TEST_TMPDIR")) + "/calls";
}

// The environment that preloads the library, with fresh counts.
std::map<std::string, std::string> Preloading() {
  std::ofstream(CountsPath(), std::ios::binary)
      << std::string(sizeof(BlockingCallCounts), '\0');
  return {{"LD_PRELOAD",
           std::filesystem::absolute(getenv("KYMO_CALLS_LIBRARY")).string()},
          {kCallsVariable, CountsPath()}};
}

uint64_t CallsOf(const std::string& function) {
  std::ifstream file(CountsPath(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto* const counts =
      reinterpret_cast<const BlockingCallCounts*>(bytes.data());
  for (size_t i = 0; i < kBlockingCallCount; ++i) {
    if (function == kBlockingCallNames[i]) return counts->calls[i];
  }
  ADD_FAILURE() << function;
  return 0;
}

TracedRun Trace(const std::vector<std::string>& command) {
  TracedRun run;
  const absl::Status status = TraceSystemCalls(command, Preloading(), run);
  EXPECT_TRUE(status.ok()) << status;
  return run;
}

TEST(SyscallTraceTest, CountsFilesAndBytesOfAProgram) {
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/input";
  std::ofstream(path) << std::string(1000, 'x');
  const TracedRun one = Trace({"/bin/cat", path});
  EXPECT_EQ(CallsOf("read"), 2u);
  EXPECT_TRUE(WIFEXITED(one.wait_status));
  EXPECT_EQ(one.bytes_read, 1000u);
  EXPECT_EQ(one.bytes_written, 1000u);
  const TracedRun two = Trace({"/bin/cat", path, path});
  EXPECT_EQ(two.bytes_read, 2000u);
  EXPECT_EQ(two.files_opened, one.files_opened + 1);
  EXPECT_GT(two.system_calls, one.system_calls);
  EXPECT_EQ(Trace({"/bin/cat", path}).system_calls, one.system_calls);
}

// The loader's own calls are left out: /bin/true does next to nothing.
TEST(SyscallTraceTest, LeavesTheLoaderOut) {
  const TracedRun run = Trace({"/bin/true"});
  EXPECT_LT(run.system_calls, 10u);
  EXPECT_EQ(run.bytes_read, 0u);
}

TEST(SyscallTraceTest, FollowsChildren) {
  const TracedRun run = Trace({"/bin/sh", "-c", "/bin/echo abc; /bin/echo d"});
  EXPECT_EQ(run.bytes_written, 6u);
  EXPECT_EQ(WEXITSTATUS(run.wait_status), 0);
}

TEST(SyscallTraceTest, TellsHowTheProgramEnded) {
  EXPECT_EQ(WEXITSTATUS(Trace({"/bin/sh", "-c", "exit 7"}).wait_status), 7);
  EXPECT_EQ(WTERMSIG(Trace({"/bin/sh", "-c", "kill -9 $$"}).wait_status), 9);
}

TEST(SyscallTraceTest, ProgramThatIsNotThere) {
  TracedRun run;
  const absl::Status status = TraceSystemCalls({"/no/such"}, {}, run);
  EXPECT_EQ(status.message(), "cannot run /no/such: No such file or directory");
}

TEST(SyscallTraceTest, EndsWhatAProgramLeavesBehind) {
  const TracedRun run = Trace({"/bin/sh", "-c", "sleep 1000 & exit 3"});
  EXPECT_EQ(WEXITSTATUS(run.wait_status), 3);
  EXPECT_EQ(run.left_behind, 1u);
}

}  // namespace
}  // namespace kymo::tools
