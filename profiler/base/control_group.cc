#include "profiler/base/control_group.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace kymo {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
// Version 1 says 2^63 - 1, less a part of a page, where there is no limit.
constexpr uint64_t kLeastUnlimited = uint64_t{1} << 62;

// The names of a version's files, and the keys of its memory.stat.
struct Names {
  const char* limit;
  const char* used;
  std::string_view cache[2];
};
constexpr Names kVersion1 = {"/memory.limit_in_bytes",
                             "/memory.usage_in_bytes",
                             {"total_active_file", "total_inactive_file"}};
constexpr Names kVersion2 = {
    "/memory.max", "/memory.current", {"active_file", "inactive_file"}};

uint64_t LeftOf(uint64_t limit, uint64_t used) {
  return limit > used ? limit - used : 0;
}

// A file that holds a number; "max" and no file are no limit.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kUnlimited;
}

uint64_t PageCacheOf(const std::string& folder, const Names& names) {
  std::ifstream stat(folder + "/memory.stat");
  uint64_t cached = 0;
  std::string key;
  for (uint64_t bytes = 0; stat >> key >> bytes;) {
    if (key == names.cache[0] || key == names.cache[1]) cached += bytes;
  }
  return cached;
}

uint64_t LeftIn(const std::string& folder, const Names& names) {
  const uint64_t limit = NumberIn(folder + names.limit);
  if (limit >= kLeastUnlimited) return kUnlimited;
  const uint64_t used = NumberIn(folder + names.used);
  if (used == kUnlimited) return limit;
  return LeftOf(limit, LeftOf(used, PageCacheOf(folder, names)));
}

}  // namespace

std::vector<ControlGroup> ControlGroupsWith(
    const std::string& groups_of_process, std::string_view controller) {
  std::ifstream file(groups_of_process);
  const std::string wanted = "," + std::string(controller) + ",";
  std::vector<ControlGroup> groups;
  // "0::/path" of version 2, and "4:cpu,cpuacct:/path" of version 1.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == line.npos || line.find('/', second) != second + 1) continue;
    const std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    if (is_version_2 || controllers.find(wanted) != controllers.npos) {
      groups.push_back({is_version_2, line.substr(second + 1)});
    }
  }
  return groups;
}

std::vector<std::string> GroupAndAround(const std::string& top,
                                        std::string path) {
  std::vector<std::string> folders;
  while (path.size() > 1) {
    folders.push_back(top + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(top);
  return folders;
}

uint64_t ControlGroupMemoryLeft(const std::string& groups_of_process,
                                const std::string& mount) {
  uint64_t left = kUnlimited;
  for (const ControlGroup& group :
       ControlGroupsWith(groups_of_process, "memory")) {
    const Names& names = group.is_version_2 ? kVersion2 : kVersion1;
    const std::string top = group.is_version_2 ? mount : mount + "/memory";
    for (const std::string& folder : GroupAndAround(top, group.path)) {
      left = std::min(left, LeftIn(folder, names));
    }
  }
  return left;
}

}  // namespace kymo
