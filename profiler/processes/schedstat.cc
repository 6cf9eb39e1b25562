#include "profiler/processes/schedstat.h"

#include <stdio.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <system_error>

#include "profiler/processes/thread_reads.h"

namespace kymo::processes {
namespace {

std::optional<DurationNs> TakeNumber(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  DurationNs value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

}  // namespace

std::optional<SchedStat> ParseSchedStat(std::string_view text) {
  const auto on_cpu_ns = TakeNumber(text);
  if (!on_cpu_ns) return std::nullopt;
  const auto waited_ns = TakeNumber(text);
  const auto times_on_cpu = TakeNumber(text);
  if (!waited_ns || !times_on_cpu) return std::nullopt;
  return SchedStat{.on_cpu_ns = *on_cpu_ns,
                   .waited_ns = *waited_ns,
                   .times_on_cpu = *times_on_cpu};
}

std::optional<SchedStat> ReadSchedStat(int64_t pid, int64_t tid) {
  std::array<char, 96> buffer;  // three numbers of 20 digits
  const auto text = ReadThreadFile(pid, tid, "schedstat", buffer);
  return text ? ParseSchedStat(*text) : std::nullopt;
}

bool ThreadExists(int64_t pid, int64_t tid) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%lld/task/%lld",
           static_cast<long long>(pid), static_cast<long long>(tid));
  return access(path, F_OK) == 0;
}

}  // namespace kymo::processes
