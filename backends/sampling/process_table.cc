#include "backends/sampling/process_table.h"

#include <algorithm>
#include <fstream>

#include "profiler/processes/other_memory.h"

namespace kymo::sampling {
namespace {

// The arguments, separated by spaces; empty if the process is gone.
std::string ReadCommandLine(int64_t pid) {
  std::string text = processes::ReadArguments(pid);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

// The name of the main thread.
std::string ReadName(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// The number of a thread that ended may be another's.
void Begin(SampledThread& thread, std::string_view name) {
  thread.name = name;
  thread.program_name.clear();
  thread.program_name_due_ns = 0;
}

}  // namespace

SampledProcess& ProcessTable::Process(int64_t pid) {
  const auto [at, is_new] = processes_.try_emplace(pid);
  if (is_new) at->second.live_threads.insert(pid);
  return at->second;
}

std::string ProcessTable::NameOf(int64_t pid) const {
  const auto at = processes_.find(pid);
  return at == processes_.end() ? std::string() : at->second.name;
}

SampledThread& ProcessTable::Thread(int64_t pid, int64_t tid) {
  return threads_[{pid, tid}];
}

void ProcessTable::OnFork(int64_t pid, int64_t tid, int64_t parent_pid,
                          int64_t parent_tid, TimeNs time_ns) {
  const std::string thread_name = Thread(parent_pid, parent_tid).name;
  Begin(Thread(pid, tid), thread_name);
  if (pid == parent_pid) {
    Process(pid).live_threads.insert(tid);
    return;
  }
  SampledProcess child;
  const SampledProcess& parent = Process(parent_pid);
  child.parent_pid = parent_pid;
  child.name = parent.name;
  child.command_line = parent.command_line;
  child.start_ns = time_ns;
  child.live_threads = {tid};
  child.space = parent.space;
  child.jit_parent =
      parent.jit_program != 0 ? parent.jit_program : parent.jit_parent;
  Process(pid) = std::move(child);
}

bool ProcessTable::OnExit(int64_t pid, int64_t tid, TimeNs time_ns) {
  SampledProcess& process = Process(pid);
  process.live_threads.erase(tid);
  if (!process.live_threads.empty()) return false;
  process.end_ns = time_ns;
  process.space = symbolize::AddressSpace();
  process.python = nullptr;
  return true;
}

void ProcessTable::OnName(int64_t pid, int64_t tid, std::string_view name,
                          bool is_exec) {
  if (is_exec) {
    Begin(Thread(pid, tid), name);
  } else {
    Thread(pid, tid).name = name;
  }
  SampledProcess& process = Process(pid);
  if (is_exec) {
    process.space.Clear();
    process.jit_program = process.jit_parent = 0;
    process.python = nullptr;
    process.maps_read_ns = 0;
    process.live_threads = {tid};  // exec ends all others
    process.command_line = ReadCommandLine(pid);
  }
  if (is_exec || process.name.empty()) process.name = name;
}

bool ProcessTable::IsNameDue(int64_t pid, int64_t tid, int64_t monotonic_ns) {
  return monotonic_ns >= Thread(pid, tid).program_name_due_ns;
}

void ProcessTable::OnProgramName(int64_t pid, int64_t tid,
                                 std::string_view name, int64_t monotonic_ns) {
  SampledThread& thread = Thread(pid, tid);
  thread.program_name = name;
  thread.program_name_due_ns = monotonic_ns + kNsPerSecond;
  Track(pid, tid);
}

void ProcessTable::OnOthersName(int64_t pid, int64_t tid,
                                int64_t monotonic_ns) {
  Thread(pid, tid).program_name_due_ns = monotonic_ns + 100 * kNsPerMs;
}

void ProcessTable::OnExisting(int64_t pid, int64_t tid, std::string_view name) {
  Thread(pid, tid).name = name;
  SampledProcess& process = Process(pid);
  process.live_threads.insert(tid);
  if (!process.name.empty()) return;
  process.name = ReadName(pid);
  if (process.command_line.empty()) process.command_line = ReadCommandLine(pid);
}

void ProcessTable::OnTimerSample(int64_t pid, int64_t tid, int64_t parent_pid,
                                 int64_t image_ns,
                                 std::string_view thread_name) {
  Thread(pid, tid).name = thread_name;
  SampledProcess& process = Process(pid);
  if (process.parent_pid == 0) process.parent_pid = parent_pid;
  if (process.image_ns == image_ns) return;
  process.image_ns = image_ns;
  process.space.Clear();
  process.jit_program = process.jit_parent = 0;
  process.python = nullptr;
  process.files.clear();
  process.maps_read_ns = 0;
  process.command_line = ReadCommandLine(pid);
  process.name = ReadName(pid);
  if (process.name.empty()) process.name = thread_name;
}

model::TrackIndex ProcessTable::Track(int64_t pid, int64_t tid) {
  SampledThread& thread = Thread(pid, tid);
  if (thread.track == model::kNoTrack) {
    thread.track = static_cast<model::TrackIndex>(tracks_.size());
    tracks_.push_back({pid, tid});
    Process(pid);
  }
  return thread.track;
}

void ProcessTable::Describe(model::TraceShard& shard) const {
  for (const auto& [pid, process] : processes_) {
    shard.processes.push_back(
        {.pid = pid,
         .parent_pid = process.parent_pid,
         .name = shard.strings.Intern(process.name),
         .command_line = shard.strings.Intern(process.command_line),
         .start_ns = process.start_ns,
         .end_ns = process.end_ns});
  }
  for (const auto& [pid, tid] : tracks_) {
    const SampledThread& thread = threads_.at({pid, tid});
    shard.tracks.push_back(
        {.kind = model::TrackKind::kThread,
         .pid = pid,
         .id = tid,
         .name = shard.strings.Intern(
             thread.program_name.empty() ? thread.name : thread.program_name)});
  }
}

}  // namespace kymo::sampling
