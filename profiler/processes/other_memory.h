// other_memory.h - reads the memory of another process, and never waits long.
//
//   const ssize_t bytes = ReadOtherMemory(pid, tid, pieces, into);
//
// As process_vm_readv(2) and proc_pid_cmdline(5), which take the lock of the
// process's mappings. On a
// machine that is full, the thread that has this lock may wait a second for a
// CPU. A recorder that waits with it loses records. So from a process that has
// many more threads than there are CPUs, or kept us waiting for 20 ms in the
// last two seconds, another thread reads, and this one waits 2 ms at most.
//
// Threads: any. 1 us; 10 to 60 us if another thread has to read.
#ifndef KYMO_PROFILER_PROCESSES_OTHER_MEMORY_H_
#define KYMO_PROFILER_PROCESSES_OTHER_MEMORY_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace kymo::processes {

// How many bytes of `pieces` it read into `into`, in order. Less than 0, and
// errno: nothing; EBUSY: it would have taken long. `tid`: a thread of the
// process, which still has memory if its main thread has ended.
ssize_t ReadOtherMemory(int64_t pid, int64_t tid, std::span<const iovec> pieces,
                        std::span<std::byte> into);

// Words that lie apart, at most kMostOtherWords. How many could be read, from
// the first one on.
inline constexpr size_t kMostOtherWords = 1024;  // IOV_MAX
size_t ReadOtherWords(int64_t pid, std::span<const uint64_t> addresses,
                      std::span<uint64_t> words);

// The arguments of the process, each with a 0 behind it, up to 128 KiB. Empty:
// it is gone, or this would have taken 100 ms.
std::string ReadArguments(int64_t pid);

// What does so.
class PatientReader {
 public:
  // Fills what it is given, as read(2).
  using Read = std::function<ssize_t(std::span<std::byte> into)>;
  // How many threads a process has; 0: not known.
  using ThreadCount = std::function<size_t(int64_t pid)>;

  PatientReader(ThreadCount threads, size_t cpus);
  PatientReader(const PatientReader&) = delete;
  PatientReader& operator=(const PatientReader&) = delete;
  ~PatientReader();

  // Calls one of them, which read the same of the process: `read` here and now,
  // or `copy`, which may use nothing of the caller's, on another thread.
  ssize_t ReadFrom(int64_t pid, std::span<std::byte> into, const Read& read,
                   const std::function<Read()>& copy,
                   int64_t limit_ns = 2'000'000);

 private:
  struct State;
  // Whether a reader of this process may have to wait long.
  bool IsSlow(int64_t pid, int64_t now_ns);
  ssize_t ReadByOther(std::span<std::byte> into, Read read, int64_t limit_ns);

  const ThreadCount threads_;
  const size_t most_threads_;
  const std::shared_ptr<State> state_;  // the other thread's, too
};

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_OTHER_MEMORY_H_
