// proc_maps.h - reads mappings from /proc/<pid>/maps.
//
//   for (const ProcMapping& mapping : ReadProcMaps(pid)) Use(mapping.path);
#ifndef KYMO_PROFILER_SYMBOLIZE_PROC_MAPS_H_
#define KYMO_PROFILER_SYMBOLIZE_PROC_MAPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::symbolize {

struct ProcMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  uint64_t device = 0;  // as makedev(3) has it
  uint64_t inode = 0;   // 0 = no file
  bool is_executable = false;
  bool is_shared = false;
  bool is_deleted = false;
  std::string path;  // without " (deleted)"; empty for anonymous memory
};

// Nothing if the line makes no sense.
std::optional<ProcMapping> ParseProcMapsLine(std::string_view line);

// The executable ones. Skips lines that make no sense.
std::vector<ProcMapping> ParseProcMaps(std::string_view text);

// The text of a file, as far as it can be read. Reading a file of a process
// that ends meanwhile is an error, for which std::istreambuf_iterator throws.
std::string ReadProcText(const std::string& path);

// Empty if the process is gone.
std::vector<ProcMapping> ReadProcMaps(int64_t pid);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_PROC_MAPS_H_
