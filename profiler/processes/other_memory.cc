#include "profiler/processes/other_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/base/descriptor.h"
#include "profiler/base/time.h"

namespace kymo::processes {
namespace {

// Shorter waits are common while a program maps libraries.
constexpr int64_t kLongNs = 20 * kNsPerMs;
// With fewer, whoever has the lock gets a CPU again soon.
constexpr size_t kThreadsPerCpu = 64;
constexpr int64_t kCountAgainNs = kNsPerSecond;
constexpr int64_t kSlowNs = 2 * kNsPerSecond;
// Of processes that ended, too.
constexpr size_t kMostProcesses = 4096;
constexpr size_t kMostArgumentBytes = size_t{128} << 10;

int64_t NowNs() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

// How often this thread waited for something else than a CPU.
int64_t WaitsOfThisThread() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

ssize_t ReadByKernel(int64_t tid, std::span<const iovec> pieces,
                     std::span<std::byte> into) {
  const iovec to = {into.data(), into.size()};
  return process_vm_readv(static_cast<pid_t>(tid), &to, 1, pieces.data(),
                          pieces.size(), /*flags=*/0);
}

// /proc/PID/NAME, as much as fits.
ssize_t ReadFile(int64_t pid, const char* name, std::span<std::byte> into) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%lld/%s", static_cast<long long>(pid),
           name);
  const int fd = AboveStandardStreams(open(path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return -1;
  size_t size = 0;
  ssize_t now = 0;
  while (size < into.size() &&
         (now = read(fd, into.data() + size, into.size() - size)) > 0) {
    size += static_cast<size_t>(now);
  }
  close(fd);
  return now < 0 ? -1 : static_cast<ssize_t>(size);
}

// The folder of each thread is a link to its folder's folder.
size_t CountThreads(int64_t pid) {
  char path[48];
  snprintf(path, sizeof(path), "/proc/%lld/task", static_cast<long long>(pid));
  struct stat folder;
  return stat(path, &folder) == 0 ? folder.st_nlink - 2 : 0;
}

}  // namespace

struct PatientReader::State {
  struct Process {
    bool is_crowd = false;
    int64_t counted_ns = 0;     // its threads
    int64_t slow_until_ns = 0;  // it kept somebody waiting
  };
  struct Job {
    Read read;
    std::vector<std::byte> bytes;
    ssize_t result = -1;
    int error = 0;
    bool is_done = false;
  };

  // What the other thread does. Several callers may wait for jobs of theirs at
  // a time: one that is done stays its caller's when the next one comes.
  void Run() {
    // Where it is permitted: its caller waits for 2 ms only.
    (void)setpriority(PRIO_PROCESS, 0, -20);
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return job != nullptr || is_over; });
      if (is_over) return;
      const std::shared_ptr<Job> mine = job;
      lock.unlock();
      mine->result = mine->read(mine->bytes);
      mine->error = errno;
      lock.lock();
      mine->is_done = true;
      job = nullptr;
      changed.notify_all();
    }
  }

  std::mutex processes_mutex;
  std::map<int64_t, Process> processes;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  bool has_thread = false;
  bool is_over = false;
  // Its caller's, too. Null: the next one may come.
  std::shared_ptr<Job> job;
};

PatientReader::PatientReader(ThreadCount threads, size_t cpus)
    : threads_(std::move(threads)),
      most_threads_(cpus * kThreadsPerCpu),
      state_(std::make_shared<State>()) {}

PatientReader::~PatientReader() {
  const std::scoped_lock lock(state_->mutex);
  state_->is_over = true;
  state_->changed.notify_all();
}

bool PatientReader::IsSlow(int64_t pid, int64_t now_ns) {
  const std::scoped_lock lock(state_->processes_mutex);
  if (state_->processes.size() > kMostProcesses) state_->processes.clear();
  State::Process& process = state_->processes[pid];
  if (process.counted_ns == 0 || now_ns - process.counted_ns >= kCountAgainNs) {
    process.counted_ns = now_ns;
    process.is_crowd = threads_(pid) > most_threads_;
  }
  return process.is_crowd || now_ns < process.slow_until_ns;
}

ssize_t PatientReader::ReadFrom(int64_t pid, std::span<std::byte> into,
                                const Read& read,
                                const std::function<Read()>& copy,
                                int64_t limit_ns) {
  const int64_t begin_ns = NowNs();
  if (IsSlow(pid, begin_ns)) return ReadByOther(into, copy(), limit_ns);
  const int64_t waits = WaitsOfThisThread();
  const ssize_t result = read(into);
  const int error = errno;
  const int64_t end_ns = NowNs();
  // If it did not wait, it only had to give its CPU to others.
  if (end_ns - begin_ns > kLongNs && WaitsOfThisThread() != waits) {
    const std::scoped_lock lock(state_->processes_mutex);
    state_->processes[pid].slow_until_ns = end_ns + kSlowNs;
  }
  errno = error;
  return result;
}

ssize_t PatientReader::ReadByOther(std::span<std::byte> into, Read read,
                                   int64_t limit_ns) {
  std::unique_lock lock(state_->mutex);
  if (!state_->has_thread) {
    try {
      std::thread([state = state_] { state->Run(); }).detach();
    } catch (const std::system_error&) {
      errno = EBUSY;  // no thread
      return -1;
    }
    state_->has_thread = true;
  }
  // It still waits with what somebody gave up.
  if (state_->job != nullptr) {
    errno = EBUSY;
    return -1;
  }
  const auto job = std::make_shared<State::Job>();
  job->read = std::move(read);
  job->bytes.resize(into.size());
  state_->job = job;
  state_->changed.notify_all();
  const bool is_done =
      state_->changed.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                               [&job] { return job->is_done; });
  if (!is_done) {
    errno = EBUSY;
    return -1;
  }
  if (job->result > 0) {
    memcpy(into.data(), job->bytes.data(), static_cast<size_t>(job->result));
  }
  errno = job->error;
  return job->result;
}

namespace {

// It is never destroyed, because the other thread may still wait with the
// process's last read.
PatientReader& TheReader() {
  static auto& reader = *new PatientReader(
      CountThreads,
      static_cast<size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L)));
  return reader;
}

}  // namespace

ssize_t ReadOtherMemory(int64_t pid, int64_t tid, std::span<const iovec> pieces,
                        std::span<std::byte> into) {
  // A program reads its own memory at once.
  if (pid == getpid()) return ReadByKernel(tid, pieces, into);
  return TheReader().ReadFrom(
      pid, into,
      [&](std::span<std::byte> to) { return ReadByKernel(tid, pieces, to); },
      [&]() -> PatientReader::Read {
        return [tid, kept = std::vector(pieces.begin(), pieces.end())](
                   std::span<std::byte> to) {
          return ReadByKernel(tid, kept, to);
        };
      });
}

size_t ReadOtherWords(int64_t pid, std::span<const uint64_t> addresses,
                      std::span<uint64_t> words) {
  std::vector<iovec> pieces;
  for (const uint64_t address : addresses) {
    pieces.push_back({reinterpret_cast<void*>(address), sizeof(uint64_t)});
  }
  const ssize_t bytes =
      ReadOtherMemory(pid, pid, pieces, std::as_writable_bytes(words));
  return bytes < 0 ? 0 : static_cast<size_t>(bytes) / sizeof(uint64_t);
}

std::string ReadArguments(int64_t pid) {
  std::string text(kMostArgumentBytes, '\0');
  const PatientReader::Read read = [pid](std::span<std::byte> into) {
    return ReadFile(pid, "cmdline", into);
  };
  const ssize_t size = TheReader().ReadFrom(
      pid, std::as_writable_bytes(std::span(text)), read, [&] { return read; },
      100 * kNsPerMs);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

}  // namespace kymo::processes
