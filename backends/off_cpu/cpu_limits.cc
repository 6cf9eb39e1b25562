#include "backends/off_cpu/cpu_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/control_group.h"
#include "profiler/base/mapped/regular_file.h"
#include "profiler/processes/text_fields.h"

namespace kymo::off_cpu {
namespace {

constexpr char kMount[] = "/sys/fs/cgroup";
constexpr DurationNs kPauseNs = 500 * kNsPerMs;

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// Device and inode, which tell groups apart. Zeros of none.
std::pair<uint64_t, uint64_t> IdOf(const OwnedDescriptor& folder) {
  struct stat status = {};
  fstat(folder.get(), &status);
  return {status.st_dev, status.st_ino};
}

OwnedDescriptor Open(const std::string& folder) {
  return OwnedDescriptor(
      open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// The groups of the hierarchy at `mount` that are around the process.
std::vector<std::string> GroupsAt(const std::string& mount,
                                  const std::string& process,
                                  const std::string& path) {
  const std::string of_process = process + "/root" + mount;
  // A path from this process's group up to another one: the process is outside
  // of what is seen at `mount`.
  if (path.starts_with("/..")) {
    if (IdOf(Open(of_process)) == IdOf(Open(mount))) return {};
    return {of_process};
  }
  // The top of this process's view may be a container that the process, as seen
  // from outside, is not in. So the process's own view says what its top is.
  for (const std::string& top : {mount, of_process}) {
    if (path.size() > 1 && IsFolder(top + path)) {
      return GroupAndAround(top, path);
    }
  }
  // A container may see its own group only, as the top.
  return {of_process};
}

std::string TextOf(const OwnedDescriptor& folder, const char* name) {
  // The folder may be one that the target's user made.
  const OwnedDescriptor file = OpenRegularFile(name, nullptr, folder.get());
  char text[4096];
  const ssize_t size =
      file.is_open() ? read(file.get(), text, sizeof(text)) : 0;
  return std::string(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
}

// Nothing if it is no number, such as "max" and "-1", where there is no limit.
std::optional<uint64_t> NumberIn(std::string_view word) {
  constexpr uint64_t kMost = uint64_t{1} << 53;  // us, 285 years
  const auto number = processes::ToCount(word);
  return number && *number <= kMost ? number : std::nullopt;
}

DurationNs Us(uint64_t us) { return static_cast<DurationNs>(us) * kNsPerUs; }

// Quota and period of a group. A quota of 0: it has no limit.
void ReadLimit(const OwnedDescriptor& folder, model::CpuLimit& limit) {
  std::string both = TextOf(folder, "cpu.max");
  if (both.empty()) {
    both = absl::StrCat(TextOf(folder, "cpu.cfs_quota_us"), " ",
                        TextOf(folder, "cpu.cfs_period_us"));
  }
  std::string_view text = both;
  const auto quota_us = NumberIn(processes::NextWord(text));
  const auto period_us = NumberIn(processes::NextWord(text));
  if (!quota_us || !period_us || *period_us == 0) return;
  limit.quota_ns = Us(*quota_us);
  limit.period_ns = Us(*period_us);
}

// Nothing if the group has ended, or has no limit.
std::optional<model::CpuLimit> Read(const OwnedDescriptor& folder) {
  model::CpuLimit limit;
  ReadLimit(folder, limit);
  const std::string stat = TextOf(folder, "cpu.stat");
  std::string_view text = stat;
  int found = 0;
  for (std::string_view key = processes::NextWord(text); !key.empty();
       key = processes::NextWord(text)) {
    const auto number = NumberIn(processes::NextWord(text));
    if (!number) continue;
    ++found;
    if (key == "nr_periods") {
      limit.periods = *number;
    } else if (key == "nr_throttled") {
      limit.throttled_periods = *number;
    } else if (key == "throttled_usec") {
      limit.throttled_ns = Us(*number);
    } else if (key == "throttled_time") {
      limit.throttled_ns = static_cast<DurationNs>(*number);
    } else {
      --found;
    }
  }
  if (found != 3) return std::nullopt;
  return limit;
}

std::vector<OwnedDescriptor> Opened(const std::vector<std::string>& folders) {
  std::vector<OwnedDescriptor> opened;
  for (const std::string& folder : folders) {
    OwnedDescriptor file = Open(folder);
    if (file.is_open()) opened.push_back(std::move(file));
  }
  return opened;
}

}  // namespace

std::vector<std::string> CpuGroupsOf(const std::string& process,
                                     const std::string& mount) {
  std::vector<std::string> version_2;
  for (const ControlGroup& group :
       ControlGroupsWith(process + "/cgroup", "cpu")) {
    if (!group.is_version_2) {
      // The folder may be a link to the one with all controllers' names.
      return GroupsAt(mount + "/cpu", process, group.path);
    }
    version_2 = GroupsAt(mount, process, group.path);
  }
  return version_2;
}

void CpuLimits::Begin(pid_t pid, const std::optional<RunningTarget>& running) {
  std::vector<std::vector<std::string>> folders;
  if (running && running->all) {
    // Also of a container's processes, the first one has the number 1.
    auto of_first = CpuGroupsOf("/proc/1", kMount);
    if (!of_first.empty()) folders = {{of_first.back()}};
    return BeginIn(folders);
  }
  for (const pid_t process : running ? running->pids : std::vector{pid}) {
    folders.push_back(CpuGroupsOf(absl::StrCat("/proc/", process), kMount));
  }
  BeginIn(folders);
}

void CpuLimits::BeginIn(const std::vector<std::vector<std::string>>& folders) {
  groups_.clear();
  next_look_ns_ = 0;
  if (folders.empty()) return;
  std::vector<OwnedDescriptor> common = Opened(folders[0]);
  for (size_t i = 1; i < folders.size(); ++i) {
    const std::vector<OwnedDescriptor> others = Opened(folders[i]);
    std::erase_if(common, [&others](const OwnedDescriptor& folder) {
      return std::ranges::find(others, IdOf(folder), IdOf) == others.end();
    });
  }
  for (OwnedDescriptor& folder : common) {
    const auto before = Read(folder);
    if (!before) continue;
    groups_.push_back({.folder = std::move(folder),
                       .before = *before,
                       .limit = {.quota_ns = before->quota_ns,
                                 .period_ns = before->period_ns}});
  }
}

void CpuLimits::Look(TimeNs now_ns) {
  if (now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kPauseNs;
  Look();
}

void CpuLimits::Look() {
  for (Group& group : groups_) {
    auto now = Read(group.folder);
    const model::CpuLimit& before = group.before;
    if (!now || now->periods < before.periods ||
        now->throttled_periods < before.throttled_periods ||
        now->throttled_ns < before.throttled_ns) {
      continue;
    }
    now->periods -= before.periods;
    // The kernel may count a period while the file is read.
    now->throttled_periods = std::min(
        now->throttled_periods - before.throttled_periods, now->periods);
    now->throttled_ns -= before.throttled_ns;
    group.limit = *now;
  }
}

model::CpuLimit CpuLimits::Strongest() const {
  const auto strength = [](const model::CpuLimit& limit) {
    return std::tuple(limit.throttled_ns, -limit.cpus());
  };
  model::CpuLimit strongest;
  for (const Group& group : groups_) {
    if (!group.limit.is_possible()) continue;
    if (strongest.quota_ns == 0 ||
        strength(group.limit) > strength(strongest)) {
      strongest = group.limit;
    }
  }
  return strongest;
}

}  // namespace kymo::off_cpu
