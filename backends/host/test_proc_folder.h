// test_proc_folder.h - a folder with files like those of /proc, for tests, and
// the values of a shard's counters.
//
//   ProcFolder folder;
//   folder.Write("proc/stat", "cpu  1 2 3 4\n");
//   MachineCounters machine(folder.paths(), 1, true);
//
//   ValuesOf(shard, 1, "machine.run_queue")   // {{time, value}, ...}
#ifndef KYMO_BACKENDS_HOST_TEST_PROC_FOLDER_H_
#define KYMO_BACKENDS_HOST_TEST_PROC_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/host/machine_counters.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::host {

class ProcFolder {
 public:
  ProcFolder()
      : root_(testing::TempDir() + "/" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(root_);
  }
  ~ProcFolder() { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, std::string_view text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void Remove(const std::string& path) const {
    std::filesystem::remove_all(root_ / path);
  }
  HostPaths paths() const {
    return {.proc = (root_ / "proc").string(), .sys = (root_ / "sys").string()};
  }

 private:
  const std::filesystem::path root_;
};

using Values = std::vector<std::pair<TimeNs, double>>;

inline Values ValuesOf(const model::TraceShard& shard, int64_t pid,
                       std::string_view name) {
  Values values;
  for (const model::CounterSample& sample : shard.counters) {
    if (shard.tracks[sample.track].pid == pid &&
        shard.strings.Get(sample.name) == name) {
      values.emplace_back(sample.time_ns, sample.value);
    }
  }
  return values;
}

inline std::set<std::string> NamesOf(const model::TraceShard& shard) {
  std::set<std::string> names;
  for (const model::CounterSample& sample : shard.counters) {
    names.insert(std::string(shard.strings.Get(sample.name)));
  }
  return names;
}

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_TEST_PROC_FOLDER_H_
