#include "tools/profile_command/job/answer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "tools/command_line/say.h"

namespace kymo::tools {
namespace {

constexpr char kWork = 'w';
constexpr char kLeave = 'l';
constexpr char kAlone = 'a';

void CloseAllBut(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned first = 3;
  for (const int descriptor : kept) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number > first) syscall(SYS_close_range, first, number - 1, 0);
    first = std::max(first, number + 1);
  }
  syscall(SYS_close_range, first, ~0u, 0);
}

void WriteTo(const std::string& log_path) {
  int log =
      open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  if (log < 0) log = open("/dev/null", O_WRONLY);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  close(log);
}

// kWork, kLeave or kAlone; 0: the command is gone.
char ReadOrder(int orders) {
  char order = 0;
  ssize_t size;
  do {
    size = read(orders, &order, 1);
  } while (size < 0 && errno == EINTR);
  return size == 1 ? order : 0;
}

[[noreturn]] void RunHelper(int orders, const std::string& log_path,
                            const std::function<void()>& begin,
                            const std::function<int(bool)>& work,
                            const AnswerProcess::Options& options) {
  setsid();
  // The command alone decides when this process ends.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) {
    signal(number, SIG_IGN);
  }
  std::vector<int> kept = options.descriptors;
  kept.push_back(orders);
  CloseAllBut(std::move(kept));
  // From now on a signal to the command's group does not come here.
  if (send(orders, &kWork, 1, MSG_NOSIGNAL) != 1) {
    // The command is gone already.
  }
  begin();
  const char order = ReadOrder(orders);
  if (order == kLeave) _exit(0);
  if (order != kWork) {
    if (order != kAlone && !options.last_words.empty()) Say(options.last_words);
    WriteTo(log_path);
  }
  const int status = work(order != kWork);
  fflush(nullptr);
  _exit(status);
}

}  // namespace

absl::StatusOr<AnswerProcess> AnswerProcess::Fork(
    const std::string& log_path, const std::function<void()>& begin,
    const std::function<int(bool is_orphan)>& work, const Options& options) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::ErrnoToStatus(errno, "could not make a pair of sockets");
  }
  OwnedDescriptor reads(ends[0]);
  OwnedDescriptor writes(ends[1]);
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) {
    return absl::ErrnoToStatus(
        errno, "could not start the process that writes the job's answer");
  }
  if (pid == 0) RunHelper(reads.get(), log_path, begin, work, options);
  // If it has died, it will have no answer.
  reads = OwnedDescriptor();
  ReadOrder(writes.get());
  return AnswerProcess(pid, std::move(writes));
}

AnswerProcess::AnswerProcess(AnswerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), orders_(std::move(other.orders_)) {}

AnswerProcess::~AnswerProcess() {
  if (pid_ > 0) Order(kLeave);
}

int AnswerProcess::Finish() { return Order(kWork); }

void AnswerProcess::FinishAlone() {
  Send(kAlone);
  pid_ = -1;
}

void AnswerProcess::Send(char order) {
  // If the process is gone, nobody has an answer.
  if (send(orders_.get(), &order, 1, MSG_NOSIGNAL) != 1) errno = 0;
}

int AnswerProcess::Order(char order) {
  Send(order);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace kymo::tools
