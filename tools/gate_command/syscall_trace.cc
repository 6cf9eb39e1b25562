#include "tools/gate_command/syscall_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "absl/strings/str_cat.h"
#include "profiler/base/owned_descriptor.h"
#include "tools/runtime/blocking_calls.h"

namespace kymo::tools {
namespace {

constexpr int kSyscallStop = SIGTRAP | 0x80;

// ptrace(2): the event of a stop.
int EventOf(int status) { return status >> 16; }

enum class Kind {
  kOther,
  kOpen,
  kRead,
  kWrite,
  kCopy,  // reads and writes as many bytes
  kReadMessages,
  kWriteMessages
};

Kind KindOf(uint64_t number) {
  switch (number) {
#ifdef SYS_open  // AArch64 has only the newer ones.
    case SYS_open:
    case SYS_creat:
#endif
    case SYS_openat:
#ifdef SYS_openat2
    case SYS_openat2:
#endif
    case SYS_open_by_handle_at:
      return Kind::kOpen;
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_recvfrom:
    case SYS_recvmsg:
      return Kind::kRead;
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_vmsplice:
      return Kind::kWrite;
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
      return Kind::kCopy;
    case SYS_recvmmsg:
      return Kind::kReadMessages;
    case SYS_sendmmsg:
      return Kind::kWriteMessages;
    default:
      return Kind::kOther;
  }
}

struct Counts {
  uint64_t system_calls = 0;
  uint64_t files_opened = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

struct Thread {
  // Since an exec, until the loader is done: then these do not count.
  bool may_be_loading = false;
  Counts loading;
  uint64_t call = 0;      // the one that it is in
  uint64_t messages = 0;  // its second argument
};

// The bytes of the first `count` messages at `address` in a thread's memory.
uint64_t BytesOfMessages(pid_t thread, uint64_t address, uint64_t count) {
  std::vector<mmsghdr> messages(std::min<uint64_t>(count, UIO_MAXIOV));
  const iovec to = {messages.data(), messages.size() * sizeof(mmsghdr)};
  const iovec from = {reinterpret_cast<void*>(address), to.iov_len};
  const ssize_t got = process_vm_readv(thread, &to, 1, &from, 1, 0);
  messages.resize(got < 0 ? 0 : static_cast<size_t>(got) / sizeof(mmsghdr));
  uint64_t bytes = 0;
  for (const mmsghdr& message : messages) bytes += message.msg_len;
  return bytes;
}

absl::Status CannotTell(int error) {
  return absl::UnimplementedError(absl::StrCat(
      "this kernel does not say which system call a program makes (",
      strerror(error),
      "), so system calls, files and bytes cannot be counted; Linux 5.3 and "
      "later does; remove these lines from the budget"));
}

class Tracer {
 public:
  Tracer(pid_t program, TracedRun& run) : program_(program), run_(run) {
    threads_[program].may_be_loading = true;  // until its exec
  }

  absl::Status Follow() {
    for (;;) {
      int status = 0;
      rusage usage = {};
      const pid_t thread =
          wait4(-1, &status, __WALL | (has_ended_ ? WNOHANG : 0), &usage);
      if (thread < 0 && errno == EINTR) continue;
      if (thread < 0) break;
      if (thread == 0) {
        EndLeftovers();
        usleep(1000);
        continue;
      }
      if (WIFSTOPPED(status)) {
        if (has_ended_) {
          threads_.try_emplace(thread);
          EndLeftovers();
        }
        Handle(thread, status);
        continue;
      }
      End(thread);
      if (thread == program_) {
        has_ended_ = true;
        end_of_patience_ = std::chrono::steady_clock::now() +
                           std::chrono::milliseconds(kPatienceMs);
        run_.wait_status = status;
        // It includes those of children that the program waited for.
        page_faults_ = static_cast<uint64_t>(usage.ru_minflt) +
                       static_cast<uint64_t>(usage.ru_majflt);
      }
    }
    run_.page_faults =
        page_faults_ > loading_faults_ ? page_faults_ - loading_faults_ : 0;
    return broken_;
  }

 private:
  // What the program left behind, such as a daemon, may stay for ever. A
  // process that is born meanwhile ends at its first stop.
  void EndLeftovers() {
    if (std::chrono::steady_clock::now() < end_of_patience_) return;
    for (const auto& [id, thread] : threads_) {
      kill(id, SIGKILL);
      killed_.insert(id);
    }
    run_.left_behind = killed_.size();
  }

  void Handle(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    if (signal == kSyscallStop) {
      Count(thread);
      ptrace(PTRACE_SYSCALL, thread, nullptr, nullptr);
      return;
    }
    const int event = EventOf(status);
    if (event == PTRACE_EVENT_STOP) {
      threads_.try_emplace(thread);  // each thread's first stop
      const bool is_group_stop = signal == SIGSTOP || signal == SIGTSTP ||
                                 signal == SIGTTIN || signal == SIGTTOU;
      ptrace(is_group_stop ? PTRACE_LISTEN : PTRACE_SYSCALL, thread, nullptr,
             nullptr);
      return;
    }
    if (event == PTRACE_EVENT_EXEC) {
      // A thread that does it takes the main thread's id.
      unsigned long former = 0;
      if (ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &former) == 0 &&
          static_cast<pid_t>(former) != thread) {
        End(static_cast<pid_t>(former));
      }
      // What this process did before the program's exec is not the program's.
      if (has_begun_) CountLoading(threads_[thread]);
      has_begun_ = true;
      threads_[thread] = {.may_be_loading = true};
      if (thread == program_) run_.has_library = false;
    }
    const long passed_on = event == 0 ? signal : 0;
    ptrace(PTRACE_SYSCALL, thread, nullptr, passed_on);
  }

  void Count(pid_t id) {
    __ptrace_syscall_info info = {};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof(info), &info) <= 0) {
      if (errno != ESRCH) broken_ = CannotTell(errno);  // ESRCH: it was killed
      return;
    }
    const auto found = threads_.try_emplace(id);
    Thread& thread = found.first->second;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      thread.call = info.entry.nr;
      thread.messages = info.entry.args[1];
      if (info.entry.nr == SYS_prctl &&
          info.entry.args[0] == static_cast<uint64_t>(kCountsBegin)) {
        thread.may_be_loading = false;
        if (id == program_) run_.has_library = true;
        thread.loading = {};
        loading_faults_ += info.entry.args[1];
        return;
      }
      ++CountsOf(thread).system_calls;
      return;
    }
    if (info.op != PTRACE_SYSCALL_INFO_EXIT || info.exit.is_error) return;
    const auto result = static_cast<uint64_t>(info.exit.rval);
    Counts& counts = CountsOf(thread);
    switch (KindOf(thread.call)) {
      case Kind::kOpen:
        ++counts.files_opened;
        break;
      case Kind::kRead:
        counts.bytes_read += result;
        break;
      case Kind::kWrite:
        counts.bytes_written += result;
        break;
      case Kind::kCopy:
        counts.bytes_read += result;
        counts.bytes_written += result;
        break;
      case Kind::kReadMessages:
        counts.bytes_read += BytesOfMessages(id, thread.messages, result);
        break;
      case Kind::kWriteMessages:
        counts.bytes_written += BytesOfMessages(id, thread.messages, result);
        break;
      case Kind::kOther:
        break;
    }
  }

  Counts& CountsOf(Thread& thread) {
    return thread.may_be_loading ? thread.loading : sum_;
  }

  // For a program that has ended, or begins another one, and of which nobody
  // said that the loader was done: there was none.
  void CountLoading(const Thread& thread) {
    const Counts& counts = thread.loading;
    sum_.system_calls += counts.system_calls;
    sum_.files_opened += counts.files_opened;
    sum_.bytes_read += counts.bytes_read;
    sum_.bytes_written += counts.bytes_written;
  }

  void End(pid_t id) {
    const auto found = threads_.find(id);
    if (found != threads_.end()) {
      CountLoading(found->second);
      threads_.erase(found);
    }
    run_.system_calls = sum_.system_calls;
    run_.files_opened = sum_.files_opened;
    run_.bytes_read = sum_.bytes_read;
    run_.bytes_written = sum_.bytes_written;
  }

  const pid_t program_;
  TracedRun& run_;
  std::map<pid_t, Thread> threads_;
  Counts sum_;
  uint64_t page_faults_ = 0;
  uint64_t loading_faults_ = 0;
  bool has_begun_ = false;  // the program
  bool has_ended_ = false;
  std::chrono::steady_clock::time_point end_of_patience_;
  std::set<pid_t> killed_;
  absl::Status broken_;
};

// In the child. `go` ends when the tracer is there; `failed` gets errno.
[[noreturn]] void Become(std::vector<char*>& words,
                         const std::map<std::string, std::string>& environment,
                         const StreamDescriptors& streams, int go, int failed) {
  char byte = 0;
  [[maybe_unused]] ssize_t done = TEMP_FAILURE_RETRY(read(go, &byte, 1));
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  TakeStreams(streams);
  if (byte == 1) execvp(words[0], words.data());
  const int error = errno;
  done = write(failed, &error, sizeof(error));
  _exit(127);
}

absl::Status CannotTrace(int error) {
  return absl::PermissionDeniedError(absl::StrCat(
      "this system lets no program be traced (", strerror(error),
      "), so system calls, files, page faults and bytes cannot be counted; "
      "in a container, try --cap-add=SYS_PTRACE, or remove these lines from "
      "the budget"));
}

}  // namespace

absl::Status TraceSystemCalls(
    const std::vector<std::string>& command,
    const std::map<std::string, std::string>& environment, TracedRun& run,
    const StreamDescriptors& streams) {
  int go[2], failed[2];
  if (pipe2(go, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "could not make a pipe");
  }
  OwnedDescriptor go_read(go[0]), go_write(go[1]);
  if (pipe2(failed, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "could not make a pipe");
  }
  OwnedDescriptor failed_read(failed[0]), failed_write(failed[1]);
  std::vector<std::string> copies = command;
  std::vector<char*> words;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "could not fork");
  if (child == 0) {
    Become(words, environment, streams, go_read.get(), failed_write.get());
  }
  failed_write = OwnedDescriptor();
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                            PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                            PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0) {
    const int error = errno;
    go_write = OwnedDescriptor();  // the child ends
    waitpid(child, nullptr, 0);
    return CannotTrace(error);
  }
  // From the start of the program on, and not only from its next stop.
  ptrace(PTRACE_INTERRUPT, child, nullptr, nullptr);
  const char byte = 1;
  if (write(go_write.get(), &byte, 1) != 1) {
    return absl::ErrnoToStatus(errno, "could not start the program");
  }
  const absl::Status followed = Tracer(child, run).Follow();
  int error = 0;
  if (read(failed_read.get(), &error, sizeof(error)) == sizeof(error)) {
    return absl::ErrnoToStatus(error, absl::StrCat("cannot run ", command[0]));
  }
  return followed;
}

}  // namespace kymo::tools
