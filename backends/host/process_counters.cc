#include "backends/host/process_counters.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"
#include "profiler/processes/text_fields.h"

namespace kymo::host {
namespace {

using processes::ToCount;

constexpr auto kEnds = FileReader::Absent::kIsNormal;
constexpr uint64_t kThreadsOfEveryReading = 16;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Calls use(name) for every entry, "." and ".." apart. False if the folder
// cannot be read.
template <typename Use>
bool ForEachEntry(const std::string& path, const Use& use) {
  const int fd = AboveStandardStreams(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd < 0) return false;
  const std::unique_ptr<DIR, CloseFolder> folder(fdopendir(fd));
  if (folder == nullptr) {
    close(fd);
    return false;
  }
  while (const dirent* const entry = readdir(folder.get())) {
    if (entry->d_name[0] != '.') use(entry->d_name);
  }
  return true;
}

// Percent of one core for each tick in a second.
double PercentPerTick() {
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  return 100.0 / static_cast<double>(ticks_per_second);
}

}  // namespace

std::optional<uint64_t> CountDescriptors(const std::string& folder) {
  // Since 6.2 the kernel has the number at hand. For other folders of /proc,
  // and before, the size is 0.
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0) return std::nullopt;
  if (info.st_size > 0) return static_cast<uint64_t>(info.st_size);
  uint64_t count = 0;
  if (!ForEachEntry(folder, [&](const char*) { ++count; })) {
    return std::nullopt;
  }
  return count;
}

ProcessCounters::ProcessCounters(const std::string& proc, pid_t pid,
                                 bool is_new)
    : pid_(pid),
      is_new_(is_new),
      folder_(absl::StrCat(proc, "/", pid)),
      user_(pid, "process.cpu.user_percent", PercentPerTick()),
      system_(pid, "process.cpu.system_percent", PercentPerTick()),
      minor_faults_(pid, "process.page_faults.minor_per_s"),
      major_faults_(pid, "process.page_faults.major_per_s"),
      voluntary_(pid, "process.context_switches.voluntary_per_s"),
      involuntary_(pid, "process.context_switches.involuntary_per_s"),
      disk_read_(pid, "process.disk.read_bytes_per_s"),
      disk_written_(pid, "process.disk.written_bytes_per_s"),
      rss_(pid, "process.memory.rss_bytes"),
      descriptors_(pid, "process.descriptors"),
      thread_count_(pid, "process.threads") {}

ProcessCounters::Reading ProcessCounters::Read(TimeNs now_ns,
                                               FileReader& reader,
                                               CounterLog& log) {
  Reading reading;
  const auto text = reader.Read(folder_ + "/stat", "/proc/PID/stat", kEnds);
  if (!text) {
    // A program that has no descriptors left is alive.
    reading.is_alive = start_ticks_ != 0 && !reader.was_absent();
    return reading;
  }
  const std::optional<ProcessStat> stat = ParseProcessStat(*text);
  if (!stat || stat->is_gone()) return reading;
  const bool is_first = start_ticks_ == 0;
  if (is_first) start_ticks_ = stat->start_ticks;
  if (stat->start_ticks != start_ticks_) return reading;
  reading.is_alive = true;

  const bool has_values = !is_first || !is_new_;
  if (has_values && stat->name != name_) {
    name_ = std::string(stat->name);
    log.NameProcess(pid_, stat->parent_pid, name_);
  }
  user_.Update(log, now_ns, stat->user_ticks);
  system_.Update(log, now_ns, stat->system_ticks);
  minor_faults_.Update(log, now_ns, stat->minor_faults);
  major_faults_.Update(log, now_ns, stat->major_faults);
  if (has_values) {
    const auto page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
    rss_.Set(log, now_ns, static_cast<double>(stat->rss_pages) * page_bytes);
    thread_count_.Set(log, now_ns, static_cast<double>(stat->threads));
    if (const auto count = CountDescriptors(folder_ + "/fd")) {
      descriptors_.Set(log, now_ns, static_cast<double>(*count));
    }
  }
  // `stat` is of the text that the next reading replaces.
  const uint64_t threads = stat->threads;
  if (const auto io = reader.Read(folder_ + "/io", "/proc/PID/io", kEnds)) {
    if (const std::optional<DiskBytes> bytes = ParseDiskBytes(*io)) {
      disk_read_.Update(log, now_ns, bytes->read);
      disk_written_.Update(log, now_ns, bytes->written);
    }
  }
  if (is_first || threads <= kThreadsOfEveryReading ||
      now_ns - threads_read_ns_ >= kNsPerSecond) {
    reading.children = ReadThreads(now_ns, reader, log);
  }
  return reading;
}

std::vector<pid_t> ProcessCounters::ReadThreads(TimeNs now_ns,
                                                FileReader& reader,
                                                CounterLog& log) {
  const bool is_first = threads_read_ns_ == 0;
  threads_read_ns_ = now_ns;
  std::vector<pid_t> children;
  std::map<pid_t, Switches> now;
  const std::string tasks = folder_ + "/task";
  ForEachEntry(tasks, [&](const char* name) {
    const auto tid = ToCount(name);
    if (!tid) return;
    const std::string task = absl::StrCat(tasks, "/", name);
    if (const auto text = reader.Read(task + "/children",
                                      "/proc/PID/task/TID/children", kEnds)) {
      const std::vector<pid_t> pids = ParseChildren(*text);
      children.insert(children.end(), pids.begin(), pids.end());
    }
    if (const auto text =
            reader.Read(task + "/status", "/proc/PID/task/TID/status", kEnds)) {
      const std::optional<Switches> switches = ParseSwitches(*text);
      if (switches) now.emplace(static_cast<pid_t>(*tid), *switches);
    }
  });
  if (now.empty()) return children;
  for (const auto& [tid, count] : now) {
    // A thread that is new since the last reading has all of its switches since
    // then. At the first reading they are from before the recording.
    const auto it = thread_switches_.find(tid);
    const Switches before = it != thread_switches_.end() ? it->second
                            : is_first                   ? count
                                                         : Switches();
    switches_.voluntary += Growth(before.voluntary, count.voluntary);
    switches_.involuntary += Growth(before.involuntary, count.involuntary);
  }
  thread_switches_ = std::move(now);
  voluntary_.Update(log, now_ns, switches_.voluntary);
  involuntary_.Update(log, now_ns, switches_.involuntary);
  return children;
}

void ProcessCounters::Pause(TimeNs now_ns, CounterLog& log) {
  for (Rate* const rate :
       {&user_, &system_, &minor_faults_, &major_faults_, &voluntary_,
        &involuntary_, &disk_read_, &disk_written_}) {
    rate->End(log, now_ns);
  }
}

void ProcessCounters::End(TimeNs now_ns, CounterLog& log) {
  Pause(now_ns, log);
  for (Gauge* const gauge : {&rss_, &descriptors_, &thread_count_}) {
    gauge->End(log, now_ns);
  }
}

}  // namespace kymo::host
