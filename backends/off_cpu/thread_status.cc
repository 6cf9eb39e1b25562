#include "backends/off_cpu/thread_status.h"

#include <sched.h>

#include <charconv>
#include <cstddef>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "profiler/processes/process_list.h"
#include "profiler/symbolize/proc_maps.h"

namespace kymo::off_cpu {
namespace {

// The text after "KEY:\t" of a line.
std::optional<std::string_view> FieldOf(std::string_view text,
                                        std::string_view key) {
  while (!text.empty()) {
    const size_t size = text.find('\n');
    std::string_view line = text.substr(0, size);
    text.remove_prefix(size == std::string_view::npos ? text.size() : size + 1);
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(":\t")) return line.substr(2);
  }
  return std::nullopt;
}

template <typename T>
bool ReadNumber(std::string_view text, T& number) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

std::optional<ThreadStatus> ParseThreadStatus(std::string_view text) {
  const auto name = FieldOf(text, "Name");
  const auto state = FieldOf(text, "State");
  const auto voluntary = FieldOf(text, "voluntary_ctxt_switches");
  const auto involuntary = FieldOf(text, "nonvoluntary_ctxt_switches");
  ThreadStatus status;
  if (!name || !state || !voluntary || !involuntary ||
      !ReadNumber(*voluntary, status.voluntary_switches) ||
      !ReadNumber(*involuntary, status.involuntary_switches)) {
    return std::nullopt;
  }
  status.name = *name;
  status.has_ended = state->starts_with('Z') || state->starts_with('X');
  status.is_running = state->starts_with('R');
  return status;
}

std::optional<ThreadStatus> ReadThreadStatus(int64_t pid, int64_t tid) {
  return ParseThreadStatus(symbolize::ReadProcText(
      absl::StrCat("/proc/", pid, "/task/", tid, "/status")));
}

std::vector<int64_t> ThreadsOf(int64_t pid) {
  const auto threads = processes::ThreadsOf(static_cast<pid_t>(pid));
  return {threads.begin(), threads.end()};
}

std::vector<int64_t> ChildrenOf(int64_t pid, int64_t tid) {
  std::vector<int64_t> children;
  std::istringstream text(symbolize::ReadProcText(
      absl::StrCat("/proc/", pid, "/task/", tid, "/children")));
  for (int64_t child; text >> child;) children.push_back(child);
  return children;
}

uint32_t CpuCount(int64_t pid) {
  cpu_set_t cpus;
  if (sched_getaffinity(static_cast<pid_t>(pid), sizeof(cpus), &cpus) != 0) {
    return 0;
  }
  return static_cast<uint32_t>(CPU_COUNT(&cpus));
}

}  // namespace kymo::off_cpu
