#include "tools/gate_command/syscall_trace.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>

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

// Its children go on being born while they are killed.
TEST(SyscallTraceTest, EndsWhatIsBornMeanwhile) {
  const TracedRun run =
      Trace({"/bin/sh", "-c", "(while :; do /bin/true & done) & exit 0"});
  EXPECT_EQ(WEXITSTATUS(run.wait_status), 0);
  EXPECT_GE(run.left_behind, 1u);
}

TEST(SyscallTraceTest, SaysWhetherTheLibraryIsThere) {
  EXPECT_TRUE(Trace({"/bin/true"}).has_library);
  // Debian links it statically.
  EXPECT_FALSE(Trace({"/sbin/ldconfig", "--version"}).has_library);
  EXPECT_FALSE(
      Trace({"/bin/sh", "-c", "exec /sbin/ldconfig --version"}).has_library);
}

// Without the library, nobody says where a loader ends.
TEST(SyscallTraceTest, CountsWhatRanBeforeAnExec) {
  const auto files_of = [](const std::vector<std::string>& command) {
    TracedRun run;
    EXPECT_TRUE(TraceSystemCalls(command, {}, run).ok());
    return run.files_opened;
  };
  EXPECT_EQ(files_of({"/bin/sh", "-c", "exec /bin/true"}),
            files_of({"/bin/sh", "-c", ":"}) + files_of({"/bin/true"}));
}

// What compilers call with _FORTIFY_SOURCE.
TEST(SyscallTraceTest, CountsFortifiedCalls) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const TracedRun run = Trace({self, "--fortified"});
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(CallsOf("recvfrom"), 1u);
  EXPECT_EQ(CallsOf("fread"), 1u);
  EXPECT_EQ(CallsOf("poll"), 1u);
}

TEST(SyscallTraceTest, CountsBytesOfCopiesAndOfMessages) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const TracedRun run = Trace({self, "--copies"});
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.bytes_written, 5u + 5u + 1000u + 1000u);
  EXPECT_EQ(run.bytes_read, 5u + 1000u + 1000u);
}

TEST(SyscallTraceTest, AThreadMayBeginAnotherProgram) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const TracedRun run = Trace({self, "--exec_in_thread"});
  EXPECT_EQ(WEXITSTATUS(run.wait_status), 3);
  EXPECT_EQ(run.left_behind, 1u);
}

// A kernel before 5.3: this request fails.
TEST(SyscallTraceTest, OldKernelsAreAnError) {
  const pid_t child = fork();
  if (child == 0) {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_GET_SYSCALL_INFO, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {std::size(filter), filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(2);
    TracedRun run;
    const absl::Status status = TraceSystemCalls({"/bin/true"}, {}, run);
    _exit(absl::IsUnimplemented(status) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kymo::tools

extern "C" {
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
int __poll_chk(pollfd*, nfds_t, int, size_t);
}

// Two messages, then a file that is copied in two ways.
int Copy() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
  char bytes[1000] = "abcde";
  iovec parts[] = {{bytes, 2}, {bytes + 2, 3}};
  mmsghdr messages[2] = {};
  for (int i = 0; i < 2; ++i) {
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  if (sendmmsg(ends[0], messages, 2, 0) != 2) return 2;
  if (recvmmsg(ends[1], messages, 2, MSG_DONTWAIT, nullptr) != 2) return 3;
  const std::string path = std::string(getenv("TEST_TMPDIR")) + "/copied";
  const int from = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  const int to = open((path + "2").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (write(from, bytes, 5) != 5 || ftruncate(from, 1000) != 0) return 4;
  off_t at = 0;
  if (sendfile(to, from, &at, 1000) != 1000) return 5;
  loff_t begin = 0;
  if (copy_file_range(from, &begin, to, nullptr, 1000, 0) != 1000) return 6;
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--copies") return Copy();
  if (argc > 1 && std::string(argv[1]) == "--exec_in_thread") {
    std::thread([] {
      execl("/bin/sh", "sh", "-c", "sleep 1000 & exit 3", nullptr);
    }).join();
    return 1;
  }
  if (argc > 1 && std::string(argv[1]) == "--fortified") {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
    if (send(ends[0], "abc", 3, 0) != 3) return 1;
    char to[8];
    sockaddr_un from;
    socklen_t size = sizeof(from);  // the seventh argument, on the stack
    const ssize_t got =
        __recvfrom_chk(ends[1], to, 8, sizeof(to), 0,
                       reinterpret_cast<sockaddr*>(&from), &size);
    if (got != 3 || size == sizeof(from)) return 1;
    if (__fread_chk(to, sizeof(to), 1, 1, stdin) > 1) return 1;
    return __poll_chk(nullptr, 0, 0, 0);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
