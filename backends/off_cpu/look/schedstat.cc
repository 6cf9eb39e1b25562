#include "backends/off_cpu/look/schedstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include <charconv>
#include <system_error>

#include "profiler/base/descriptor.h"

namespace kymo::off_cpu {
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
  char text[96];  // three numbers of 20 digits
  snprintf(text, sizeof(text), "/proc/%lld/task/%lld/schedstat",
           static_cast<long long>(pid), static_cast<long long>(tid));
  const int fd = AboveStandardStreams(open(text, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return std::nullopt;
  const ssize_t size = read(fd, text, sizeof(text));
  close(fd);
  if (size <= 0) return std::nullopt;
  return ParseSchedStat(std::string_view(text, static_cast<size_t>(size)));
}

bool ThreadExists(int64_t pid, int64_t tid) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%lld/task/%lld",
           static_cast<long long>(pid), static_cast<long long>(tid));
  return access(path, F_OK) == 0;
}

}  // namespace kymo::off_cpu
