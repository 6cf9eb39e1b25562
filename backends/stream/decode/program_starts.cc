#include "backends/stream/decode/program_starts.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/stream/decode/preloading.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"

namespace kymo::stream {
namespace {

using record::Arena;

// The longest time from an exec to the first constructor on a busy machine.
constexpr int64_t kAttachNs = 200 * kNsPerMs;

// When processes attached, by pid, in order.
using Attached = std::unordered_map<int32_t, std::vector<int64_t>>;

Attached ReadAttached(const Arena& arena) {
  Attached attached;
  for (uint32_t i = 0; i < arena.process_count(); ++i) {
    const record::ProcessEntry& entry = arena.process(i);
    // acquire: the rest of the entry was written before.
    const int32_t pid = entry.pid.load(std::memory_order_acquire);
    if (pid != 0) attached[pid].push_back(entry.attach_monotonic_ns);
  }
  for (auto& [pid, times] : attached) std::sort(times.begin(), times.end());
  return attached;
}

struct Start {
  int32_t pid;
  uint32_t program;
  int64_t time_ns;
  record::StartEnvironment environment;
};

// By pid, then time.
std::vector<Start> ReadStarts(const Arena& arena) {
  std::vector<Start> starts;
  for (uint32_t i = 0; i < arena.start_count(); ++i) {
    const record::StartEntry& entry = arena.start(i);
    // acquire: as above.
    const int32_t pid = entry.pid.load(std::memory_order_acquire);
    if (pid == 0) continue;
    starts.push_back(
        {pid, entry.program, entry.start_monotonic_ns, entry.environment});
  }
  std::sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
    return std::pair(a.pid, a.time_ns) < std::pair(b.pid, b.time_ns);
  });
  return starts;
}

// Starts after which no process of that pid attached before its next start.
std::vector<Start> FindUnrecorded(const Arena& arena) {
  const std::vector<Start> starts = ReadStarts(arena);
  // Read after the starts, so that a process that attaches meanwhile is found.
  const Attached attached = ReadAttached(arena);
  std::vector<Start> unrecorded;
  for (size_t i = 0; i < starts.size(); ++i) {
    const Start& start = starts[i];
    const auto it = attached.find(start.pid);
    if (it != attached.end()) {
      const auto next =
          std::lower_bound(it->second.begin(), it->second.end(), start.time_ns);
      const bool is_last =
          i + 1 == starts.size() || starts[i + 1].pid != start.pid;
      if (next != it->second.end() &&
          (is_last || *next < starts[i + 1].time_ns)) {
        continue;
      }
    }
    unrecorded.push_back(start);
  }
  std::sort(unrecorded.begin(), unrecorded.end(),
            [](const Start& a, const Start& b) {
              return std::pair(a.time_ns, a.pid) < std::pair(b.time_ns, b.pid);
            });
  return unrecorded;
}

// One that has ended, but that its parent has not waited for, is not.
bool IsAlive(int32_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text, '\0');
  // "PID (NAME) STATE ...": a name may have parentheses, too.
  const size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] != 'Z' &&
         text[name_end + 2] != 'X';
}

// What kept a program from attaching, as words that follow "it".
std::string ObstacleOf(const std::string& path,
                       record::StartEnvironment environment) {
  std::string obstacle = ObstacleToPreloading(path);
  if (!obstacle.empty()) return obstacle;
  switch (environment) {
    case record::StartEnvironment::kNoPreload:
      return "was started without Kymo's runtime in LD_PRELOAD";
    case record::StartEnvironment::kNoArena:
      return "was started without KYMO_ARENA in its environment";
    case record::StartEnvironment::kComplete:
      break;
  }
  return "runs as another user than this command, does not see /proc of this "
         "command, has no address space for the records (ulimit -v), or ended "
         "at once";
}

}  // namespace

std::vector<UnrecordedProgram> UnrecordedPrograms(const Arena& arena) {
  std::vector<UnrecordedProgram> programs;
  for (const Start& start : FindUnrecorded(arena)) {
    programs.push_back({.pid = start.pid,
                        .start_monotonic_ns = start.time_ns,
                        .environment = start.environment,
                        .path = std::string(arena.NameText(start.program))});
  }
  return programs;
}

uint64_t CountUnrecorded(const Arena& arena) {
  const record::ArenaHeader& header = arena.header();
  const uint64_t unknown_starts =
      header.starts_without_entry.load(std::memory_order_relaxed);
  const uint64_t unknown_processes =
      header.processes_without_entry.load(std::memory_order_relaxed);
  const uint64_t candidates = FindUnrecorded(arena).size() + unknown_starts;
  return candidates - std::min(candidates, unknown_processes);
}

uint64_t CountUnsampled(const Arena& arena) {
  const std::vector<UnrecordedProgram> programs = UnrecordedPrograms(arena);
  return static_cast<uint64_t>(std::count_if(
      programs.begin(), programs.end(), [](const UnrecordedProgram& program) {
        return GivesMoreRights(program.path);
      }));
}

void AwaitAttaching(const Arena& arena) {
  const int64_t end_ns = MonotonicNs() + kAttachNs;
  for (int64_t now_ns; (now_ns = MonotonicNs()) < end_ns;) {
    const std::vector<Start> unrecorded = FindUnrecorded(arena);
    if (std::none_of(
            unrecorded.begin(), unrecorded.end(), [now_ns](const Start& start) {
              return start.time_ns > now_ns - kAttachNs && IsAlive(start.pid);
            })) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::vector<std::string> DescribeUnrecorded(const Arena& arena,
                                            bool are_sampled) {
  const char* const what = are_sampled ? " sampled only" : " not recorded";
  constexpr size_t kMostPrograms = 5;
  using Program = std::pair<std::string, record::StartEnvironment>;
  std::map<Program, uint64_t> counts;
  std::vector<Program> order;  // of their first starts
  for (UnrecordedProgram& unrecorded : UnrecordedPrograms(arena)) {
    Program program(std::move(unrecorded.path), unrecorded.environment);
    if (counts[program]++ == 0) order.push_back(std::move(program));
  }
  std::vector<std::string> sentences;
  for (size_t i = 0; i < std::min(order.size(), kMostPrograms); ++i) {
    const auto& [path, environment] = order[i];
    const uint64_t count = counts[order[i]];
    sentences.push_back(absl::StrCat(
        path, " was", GivesMoreRights(path) ? " not recorded" : what,
        count > 1 ? absl::StrCat(" (", count, " times)") : "", ": it ",
        ObstacleOf(path, environment)));
  }
  if (order.size() > kMostPrograms) {
    sentences.push_back(absl::StrCat(order.size() - kMostPrograms,
                                     " further programs were", what));
  }
  return sentences;
}

}  // namespace kymo::stream
