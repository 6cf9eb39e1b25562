#include "profiler/symbolize/proc_maps.h"

#include <sys/sysmacros.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace kymo::symbolize {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

}  // namespace

std::optional<ProcMapping> ParseProcMapsLine(std::string_view line) {
  const std::string text(line);
  ProcMapping mapping;
  char access[5] = {};
  unsigned device_major = 0;
  unsigned device_minor = 0;
  int path_at = 0;
  const int fields = std::sscanf(
      text.c_str(),
      "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
      &mapping.start, &mapping.end, access, &mapping.file_offset, &device_major,
      &device_minor, &mapping.inode, &path_at);
  if (fields < 7 || path_at == 0) return std::nullopt;
  if (mapping.end <= mapping.start) return std::nullopt;
  mapping.device = makedev(device_major, device_minor);
  mapping.is_executable = access[2] == 'x';
  mapping.is_shared = access[3] == 's';
  mapping.path = text.substr(static_cast<size_t>(path_at));
  if (mapping.path.ends_with(kDeleted)) {
    mapping.is_deleted = true;
    mapping.path.resize(mapping.path.size() - kDeleted.size());
  }
  return mapping;
}

std::vector<ProcMapping> ParseProcMaps(std::string_view text) {
  std::vector<ProcMapping> mappings;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    auto mapping = ParseProcMapsLine(text.substr(0, end));
    if (mapping && mapping->is_executable) {
      mappings.push_back(*std::move(mapping));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return mappings;
}

std::string ReadProcText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return std::move(text).str();
}

std::vector<ProcMapping> ReadProcMaps(int64_t pid) {
  namespace fs = std::filesystem;
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string text = ReadProcText(folder + "/maps");
  // A main thread that has ended has no memory any more. Others may have.
  std::error_code error;
  for (fs::directory_iterator thread(folder + "/task", error), end;
       !error && text.empty() && thread != end; thread.increment(error)) {
    text = ReadProcText(thread->path().string() + "/maps");
  }
  return ParseProcMaps(text);
}

}  // namespace kymo::symbolize
