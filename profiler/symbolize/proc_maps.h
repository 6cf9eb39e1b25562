// proc_maps.h - reads executable mappings from /proc/<pid>/maps.
#ifndef KYMO_PROFILER_SYMBOLIZE_PROC_MAPS_H_
#define KYMO_PROFILER_SYMBOLIZE_PROC_MAPS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::symbolize {

struct ProcMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  uint64_t inode = 0;  // 0 = no file
  bool is_deleted = false;
  std::string path;  // without " (deleted)"; empty for anonymous memory
};

// Skips lines that make no sense.
std::vector<ProcMapping> ParseProcMaps(std::string_view text);

// The text of a file, as far as it can be read. Reading a file of a process
// that ends meanwhile is an error, for which std::istreambuf_iterator throws.
std::string ReadProcText(const std::string& path);

// Empty if the process is gone.
std::vector<ProcMapping> ReadProcMaps(int64_t pid);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_PROC_MAPS_H_
