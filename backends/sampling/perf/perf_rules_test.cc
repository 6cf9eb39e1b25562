#include "backends/sampling/perf/perf_rules.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>

namespace kymo::sampling {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Docker, containerd and podman refuse with EPERM or ENOSYS (defaultErrnoRet of
// their profiles), and permit it with CAP_PERFMON. The kernel refuses with
// EACCES: perf_event_open(2).
TEST(PerfRefusalTest, AdvisesWhatHelpsAgainstWhatRefuses) {
  for (const int error : {EPERM, ENOSYS}) {
    const std::string text =
        PerfRefusal(error, {.paranoid = 2, .has_filter = true});
    EXPECT_THAT(text, HasSubstr("seccomp filter forbids it"));
    EXPECT_THAT(text, HasSubstr("--cap-add=PERFMON"));
    EXPECT_THAT(text, Not(HasSubstr("sysctl")));
  }
  EXPECT_THAT(PerfRefusal(EACCES, {.paranoid = 3, .has_filter = true}),
              AllOf(HasSubstr("perf_event_paranoid is 3; run `sysctl"),
                    HasSubstr("as root"), Not(HasSubstr("seccomp"))));
  EXPECT_THAT(PerfRefusal(EACCES, {.paranoid = 3, .is_root = true}),
              AllOf(HasSubstr("on the host"), Not(HasSubstr("as root"))));
  EXPECT_THAT(
      PerfRefusal(EPERM, {.paranoid = 1, .is_root = true}),
      AllOf(HasSubstr("is 1; that permits it"), Not(HasSubstr("sysctl"))));
  EXPECT_THAT(
      PerfRefusal(ENOSYS, {}),
      AllOf(HasSubstr("kernel has no perf events"), Not(HasSubstr("sysctl"))));
}

TEST(PerfRefusalTest, SaysExactlyWhatToDo) {
  const std::string filter =
      "a seccomp filter forbids it, whatever perf_event_paranoid is; start the "
      "container with --cap-add=PERFMON, or with "
      "--security-opt=seccomp=unconfined";
  const std::string none = "this kernel has no perf events of software clocks";
  EXPECT_EQ(PerfRefusal(EPERM, {.has_filter = true}), filter);
  EXPECT_EQ(PerfRefusal(ENOSYS, {.has_filter = true}), filter);
  for (const bool has_filter : {true, false}) {
    EXPECT_EQ(PerfRefusal(ENOENT, {.has_filter = has_filter}), none);
    EXPECT_EQ(PerfRefusal(EOPNOTSUPP, {.has_filter = has_filter}), none);
  }
  EXPECT_EQ(PerfRefusal(EACCES, {.paranoid = 2}),
            "perf_event_paranoid is 2; run `sysctl "
            "kernel.perf_event_paranoid=1` as root, or give the command "
            "CAP_PERFMON");
  EXPECT_EQ(PerfRefusal(EPERM, {.paranoid = 2, .is_root = true}),
            "perf_event_paranoid is 2; run `sysctl "
            "kernel.perf_event_paranoid=1` on the host, or start this "
            "container with --cap-add=PERFMON");
  for (const int level : {1, 0, -1}) {
    EXPECT_EQ(PerfRefusal(EACCES, {.paranoid = level}),
              "perf_event_paranoid is " + std::to_string(level) +
                  "; that permits it, so another rule of this machine forbids "
                  "it (a security module, a container)");
  }
}

TEST(PerfRefusalTest, TheRulesAreThoseOfThisProcess) {
  const PerfRules rules = ReadPerfRules();
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = PerfRules().paranoid;
  file >> level;
  EXPECT_EQ(rules.paranoid, level);
  EXPECT_EQ(rules.is_root, geteuid() == 0);
  EXPECT_EQ(rules.has_filter, prctl(PR_GET_SECCOMP) == 2);
}

}  // namespace
}  // namespace kymo::sampling
