#include "backends/off_cpu/look/thread_counts.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "profiler/processes/stat_fields.h"
#include "profiler/processes/thread_reads.h"

namespace kymo::off_cpu {
namespace {

bool ReadCount(std::string_view text, uint64_t& count) {
  const auto result =
      std::from_chars(text.data(), text.data() + text.size(), count);
  return result.ec == std::errc();
}

uint64_t Difference(uint64_t before, uint64_t now) {
  return now >= before ? now - before : now;
}

}  // namespace

void ParseFaults(std::string_view stat, model::ThreadCounts& counts) {
  auto fields = processes::StatFields::Of(stat);
  if (!fields) return;
  const auto minor = fields->TakeCount(10);
  const auto major = fields->TakeCount(12);
  if (!minor || !major) return;
  counts.minor_faults = *minor;
  counts.major_faults = *major;
  counts.has_faults = true;
}

bool IsEnding(std::string_view stat) {
  constexpr uint64_t kExiting = 4;  // PF_EXITING of Linux
  auto fields = processes::StatFields::Of(stat);
  if (!fields) return false;
  const std::string_view state = fields->Take(3);
  if (state == "Z" || state == "X") return true;
  return (fields->TakeCount(9).value_or(0) & kExiting) != 0;
}

bool IsEnding(int64_t pid, int64_t tid) {
  std::array<char, 1024> buffer;
  return IsEnding(
      processes::ReadThreadFile(pid, tid, "stat", buffer).value_or(""));
}

void ParseIo(std::string_view io, model::ThreadCounts& counts) {
  const auto find = [&](std::string_view key, uint64_t& count) {
    // "read_bytes" also ends "cancelled_write_bytes".
    for (size_t at = io.find(key); at != std::string_view::npos;
         at = io.find(key, at + 1)) {
      if (at == 0 || io[at - 1] == '\n') {
        return ReadCount(io.substr(at + key.size()), count);
      }
    }
    return false;
  };
  model::ThreadCounts read;
  if (!find("rchar: ", read.read_bytes) ||
      !find("wchar: ", read.written_bytes) ||
      !find("syscr: ", read.read_calls) || !find("syscw: ", read.write_calls) ||
      !find("read_bytes: ", read.disk_read_bytes) ||
      !find("write_bytes: ", read.disk_written_bytes)) {
    return;
  }
  read.has_io = true;
  counts += read;
}

model::ThreadCounts ReadThreadCounts(int64_t pid, int64_t tid) {
  model::ThreadCounts counts;
  std::array<char, 1024> buffer;
  ParseFaults(processes::ReadThreadFile(pid, tid, "stat", buffer).value_or(""),
              counts);
  ParseIo(processes::ReadThreadFile(pid, tid, "io", buffer).value_or(""),
          counts);
  return counts;
}

model::ThreadCounts Since(const model::ThreadCounts& before,
                          const model::ThreadCounts& now) {
  model::ThreadCounts since = now;
  for (uint64_t model::ThreadCounts::*const count :
       {&model::ThreadCounts::minor_faults, &model::ThreadCounts::major_faults,
        &model::ThreadCounts::read_calls, &model::ThreadCounts::read_bytes,
        &model::ThreadCounts::write_calls, &model::ThreadCounts::written_bytes,
        &model::ThreadCounts::disk_read_bytes,
        &model::ThreadCounts::disk_written_bytes}) {
    since.*count = Difference(before.*count, now.*count);
  }
  return since;
}

}  // namespace kymo::off_cpu
