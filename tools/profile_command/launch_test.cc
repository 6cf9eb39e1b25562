#include "tools/profile_command/launch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <string>

namespace kymo::tools {
namespace {

// Starts a program that ends with 0 if /proc/self/status has a line like
// `pattern`, else with 1; returns how it ended.
int StatusOf(const std::string& pattern) {
  auto child = Child::Fork({"grep", "-qE", pattern, "/proc/self/status"},
                           "/bin/grep", {});
  if (!child.ok() || !child->Exec().ok()) return -1;
  while (!child->WaitFor(/*timeout_ms=*/1000)) {
  }
  return child->wait_status();
}

// SigIgn is a mask in hexadecimal digits. SIGCHLD is 17, so its bit is the
// lowest one of the fifth digit from the right.
constexpr char kIgnoresChild[] = "^SigIgn:\\s*[0-9a-f]*[13579bdf][0-9a-f]{4}$";
static_assert(SIGCHLD == 17);

TEST(LaunchTest, AnIgnoredSignalOfChildrenIsIgnoredInTheTarget) {
  struct sigaction ignore = {}, before = {}, after = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);
  // The status of the child is still known.
  EXPECT_EQ(StatusOf(kIgnoresChild), 0);
  EXPECT_EQ(WEXITSTATUS(StatusOf("^NoSuchLine:")), 1);
  // And this process ignores the signal again.
  sigaction(SIGCHLD, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST(LaunchTest, ASignalThatIsNotIgnoredIsNotIgnoredInTheTarget) {
  EXPECT_EQ(WEXITSTATUS(StatusOf(kIgnoresChild)), 1);
}

}  // namespace
}  // namespace kymo::tools
