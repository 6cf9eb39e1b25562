// test_process_state.h - what this process has open: to see what a test left.
//
//   const ProcessState before = ProcessState::Now(folder);
//   Work();
//   EXPECT_EQ(ProcessState::NewSince(before, folder), "");
//
// Linux only: it reads /proc.
#ifndef KYMO_PROFILER_PLUGIN_TEST_PROCESS_STATE_H_
#define KYMO_PROFILER_PLUGIN_TEST_PROCESS_STATE_H_

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace kymo {

class ProcessState {
 public:
  // Descriptors, threads and children of this process, and files of `folder`.
  static ProcessState Now(const std::string& folder) {
    ProcessState state;
    ForEachEntry("/proc/self/fd", [&](const std::string& name, int own) {
      if (name == std::to_string(own)) return;
      char target[512] = {};
      (void)!readlink(("/proc/self/fd/" + name).c_str(), target,
                      sizeof(target) - 1);
      state.things_.insert("descriptor " + name + " of " + target);
    });
    ForEachEntry("/proc/self/task", [&](const std::string& name, int) {
      state.things_.insert("thread " + name);
    });
    ForEachEntry("/proc", [&](const std::string& name, int) {
      if (ParentOf(name) == getpid()) state.things_.insert("child " + name);
    });
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(folder)) {
      state.things_.insert("file " + file.path().string());
    }
    return state;
  }

  // What is there now and was not before, as text. Threads and children may
  // take a moment to go away: they get two seconds.
  static std::string NewSince(const ProcessState& before,
                              const std::string& folder) {
    std::string added;
    for (int i = 0; i < 200; ++i) {
      added.clear();
      for (const std::string& thing : Now(folder).things_) {
        if (!before.things_.contains(thing)) added += thing + "; ";
      }
      if (added.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return added;
  }

 private:
  // Calls f(name, the descriptor that reads the folder) for each entry.
  template <typename F>
  static void ForEachEntry(const char* folder, const F& f) {
    DIR* const dir = opendir(folder);
    if (dir == nullptr) return;
    while (const dirent* const entry = readdir(dir)) {
      if (entry->d_name[0] != '.') f(std::string(entry->d_name), dirfd(dir));
    }
    closedir(dir);
  }

  // 0 for what is no process.
  static pid_t ParentOf(const std::string& pid) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) return 0;
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string line;
    std::getline(stat, line);
    // The name, in parentheses, may contain anything. Then: state, parent.
    const size_t end = line.rfind(')');
    if (end == std::string::npos || end + 4 > line.size()) return 0;
    return static_cast<pid_t>(std::atoi(line.c_str() + end + 4));
  }

  std::set<std::string> things_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_TEST_PROCESS_STATE_H_
