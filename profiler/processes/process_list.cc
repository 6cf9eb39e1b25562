#include "profiler/processes/process_list.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include "profiler/processes/stat_fields.h"

namespace kymo::processes {
namespace {

constexpr uint64_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD

std::string Folder(const std::string& proc, pid_t pid) {
  return proc + "/" + std::to_string(pid);
}

// Empty if it cannot be read. A process may end in the middle of it.
std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<int> NumbersIn(const std::string& folder) {
  std::vector<int> numbers;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int number = 0;
    const auto read =
        std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size()) {
      numbers.push_back(number);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::optional<ProcessInfo> ParseProcess(std::string_view stat) {
  auto fields = StatFields::Of(stat);
  if (!fields) return std::nullopt;
  const std::string_view state = fields->Take(3);
  const auto parent = fields->TakeCount(4);
  const auto flags = fields->TakeCount(9);
  const auto threads = fields->TakeCount(20);
  const auto start_ticks = fields->TakeCount(22);
  if (!fields->pid() || state.empty() || !parent || !flags || !threads ||
      !start_ticks) {
    return std::nullopt;
  }
  ProcessInfo process;
  process.pid = static_cast<pid_t>(*fields->pid());
  process.parent = static_cast<pid_t>(*parent);
  process.name = fields->name();
  process.state = state[0];
  process.is_kernel_thread = (*flags & kKernelThreadFlag) != 0;
  process.thread_count = static_cast<int64_t>(*threads);
  process.start_ticks = *start_ticks;
  return process;
}

std::optional<ProcessInfo> ReadProcess(pid_t pid, const std::string& proc) {
  // A name may have line breaks, so this takes more than the first line.
  std::ifstream file(Folder(proc, pid) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return ParseProcess(text.str());
}

std::vector<ProcessInfo> ListProcesses(const std::string& proc) {
  std::vector<ProcessInfo> processes;
  for (const pid_t pid : NumbersIn(proc)) {
    if (auto process = ReadProcess(pid, proc)) {
      processes.push_back(*std::move(process));
    }
  }
  return processes;
}

std::vector<pid_t> RunningSince(pid_t first, const std::string& proc) {
  std::vector<pid_t> pids;
  const auto begin = ReadProcess(first, proc);
  if (!begin) return pids;
  for (const ProcessInfo& process : ListProcesses(proc)) {
    if (process.start_ticks >= begin->start_ticks && !process.has_ended()) {
      pids.push_back(process.pid);
    }
  }
  return pids;
}

std::vector<pid_t> ThreadsOf(pid_t pid, const std::string& proc) {
  return NumbersIn(Folder(proc, pid) + "/task");
}

std::string NameOf(pid_t pid, pid_t tid, const std::string& proc) {
  return FirstLine(Folder(proc, pid) + "/task/" + std::to_string(tid) +
                   "/comm");
}

pid_t InnerNumberOf(pid_t pid, pid_t tid, const std::string& proc) {
  std::ifstream status(Folder(proc, pid) + "/task/" + std::to_string(tid) +
                       "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(6));
    pid_t inner = 0;  // the last one
    for (pid_t number; numbers >> number;) inner = number;
    return inner;
  }
  return 0;
}

std::optional<uid_t> UserOf(pid_t pid, const std::string& proc) {
  std::ifstream status(Folder(proc, pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream numbers(line.substr(4));
    uid_t user = 0;
    if (numbers >> user) return user;
  }
  return std::nullopt;
}

std::vector<ProcessInfo> TreeOf(std::span<const ProcessInfo> all,
                                std::span<const pid_t> roots, pid_t left_out) {
  std::set<pid_t> ours(roots.begin(), roots.end());
  ours.erase(left_out);
  // A number may be smaller than its parent's, so one pass is not enough.
  for (bool found_more = true; found_more;) {
    found_more = false;
    for (const ProcessInfo& process : all) {
      if (process.pid != left_out && ours.contains(process.parent)) {
        found_more = ours.insert(process.pid).second || found_more;
      }
    }
  }
  std::vector<ProcessInfo> tree;
  std::ranges::copy_if(
      all, std::back_inserter(tree),
      [&](const ProcessInfo& process) { return ours.contains(process.pid); });
  return tree;
}

}  // namespace kymo::processes
