// test_threads.h - what the kernel says of threads and CPUs, and waiting until
// it says so. A sleep that should be long enough is too short on a busy
// machine.
//
//   if (!AwaitState(tid, 'S')) abort();  // now it is blocked
//   const size_t threads = CountThreads();
//   const int64_t before_ns = StolenNs();
//   ... EXPECT_LE(sampled_ns, cpu_ns + StolenSince(before_ns));
//
// Await() and AwaitState() return false after a minute, so that a test can say
// what is missing. Threads may be of any process. The header does not need
// GoogleTest.
#ifndef KYMO_TESTS_SUPPORT_TEST_THREADS_H_
#define KYMO_TESTS_SUPPORT_TEST_THREADS_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace kymo {

// A line of /proc/TID/stat.
struct ThreadStat {
  std::string name;
  char state = 0;  // proc(5): 'S' is asleep, 'T' stopped, 'Z' not yet reaped
  bool is_leaving = false;  // it has begun to end
};

// Nothing if there is no such thread.
inline std::optional<ThreadStat> ReadThreadStat(const std::string& tid) {
  std::ifstream file("/proc/" + tid + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_begin = text.find('(') + 1;
  const size_t name_end = text.rfind(')');  // a name may hold anything
  if (name_end == text.npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ThreadStat stat{.name = text.substr(name_begin, name_end - name_begin)};
  std::string skipped;
  fields >> stat.state;
  for (int field = 4; field < 9; ++field) fields >> skipped;
  unsigned flags = 0;
  fields >> flags;
  constexpr unsigned kExiting = 4;  // the kernel's PF_EXITING
  stat.is_leaving = (flags & kExiting) != 0;
  return stat;
}

// The threads of this process, by number. Those that were joined are left out,
// though /proc may list them for some time after.
inline std::map<pid_t, ThreadStat> LiveThreads() {
  std::map<pid_t, ThreadStat> threads;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string tid = thread.path().filename().string();
    const auto stat = ReadThreadStat(tid);
    if (stat.has_value() && !stat->is_leaving) {
      threads.emplace(std::stoi(tid), *stat);
    }
  }
  return threads;
}

inline size_t CountThreads() { return LiveThreads().size(); }

// 0: this process has no thread of that name.
inline pid_t FindThread(const std::string& name) {
  for (const auto& [tid, stat] : LiveThreads()) {
    if (stat.name == name) return tid;
  }
  return 0;
}

// What the host of a virtual machine took from its CPUs since it started. 0
// where it does not tell.
inline int64_t StolenNs() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  file >> cpu;
  int64_t ticks = 0;
  for (int state = 0; state < 8; ++state) file >> ticks;  // the eighth: steal
  return ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

// At most so much since then: the kernel adds it up at a CPU's next tick, and
// tells whole hundredths of a second.
inline int64_t StolenSince(int64_t before_ns) {
  usleep(20'000);
  const int64_t now_ns = StolenNs();
  if (now_ns == 0) return 0;
  return now_ns - before_ns + 1'000'000'000 / sysconf(_SC_CLK_TCK);
}

// Calls `is_so` each millisecond until it returns true.
template <typename IsSo>
[[nodiscard]] bool Await(IsSo is_so) {
  for (int looks = 0; looks < 60'000; ++looks) {
    if (is_so()) return true;
    usleep(1'000);
  }
  return false;
}

[[nodiscard]] inline bool AwaitState(pid_t tid, char state) {
  return Await([&] {
    const auto stat = ReadThreadStat(std::to_string(tid));
    return stat.has_value() && stat->state == state;
  });
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_THREADS_H_
