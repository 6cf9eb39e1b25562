#include "backends/off_cpu/objects/other_ends.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/base/clock.h"
#include "profiler/processes/process_list.h"
#include "profiler/symbolize/proc_maps.h"

namespace kymo::off_cpu {
namespace {

// Of "pipe:[4711]"; 0 if it is none.
uint64_t InodeOf(std::string_view link, std::string_view kind) {
  if (!link.starts_with(kind)) return 0;
  link.remove_prefix(kind.size());
  if (!link.starts_with(":[")) return 0;
  uint64_t inode = 0;
  std::from_chars(link.data() + 2, link.data() + link.size(), inode);
  return inode;
}

std::string NameOf(int64_t pid) {
  std::string name =
      symbolize::ReadProcText(absl::StrCat("/proc/", pid, "/comm"));
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return absl::StrCat(name, name.empty() ? "" : " ", "(", pid, ")");
}

// None if the process has ended, or is another user's.
std::vector<int> DescriptorsOf(int64_t pid) {
  return processes::NumbersIn(absl::StrCat("/proc/", pid, "/fd"));
}

constexpr int kNobody = -1;  // never read

// The parent and the children. With kNobody: there may be more.
std::vector<int> RelativesOf(int64_t pid) {
  constexpr size_t kMostThreads = 64;
  constexpr size_t kMostChildren = 16;
  std::vector<int> relatives;
  const auto process = processes::ReadProcess(static_cast<pid_t>(pid));
  if (!process) return {kNobody};
  // 0 is outside of this namespace, and 1 adopts.
  if (process->parent > 1) relatives.push_back(process->parent);
  const std::string tasks = absl::StrCat("/proc/", pid, "/task");
  std::vector<int> threads = processes::NumbersIn(tasks);
  bool is_whole = threads.size() <= kMostThreads;
  if (!is_whole) threads.resize(kMostThreads);
  for (const int tid : threads) {
    const std::string path = absl::StrCat(tasks, "/", tid, "/children");
    // Kernels without this list tell of no children.
    if (access(path.c_str(), R_OK) != 0) {
      is_whole = false;
      continue;
    }
    for (const absl::string_view word : absl::StrSplit(
             symbolize::ReadProcText(path), ' ', absl::SkipEmpty())) {
      int child = 0;
      if (!absl::SimpleAtoi(word, &child)) continue;
      relatives.push_back(child);
    }
  }
  if (relatives.size() > kMostChildren) {
    relatives.resize(kMostChildren);
    is_whole = false;
  }
  if (!is_whole) relatives.push_back(kNobody);
  return relatives;
}

}  // namespace

void OtherEnds::Want(const OtherEnd& end) {
  if (wanted_count_ >= kMostWanted) return;
  std::vector<Wanted>& of_inode = wanted_[end.inode];
  const bool is_known = std::ranges::any_of(of_inode, [&](const Wanted& known) {
    return known.end.id == end.id && known.end.side == end.side;
  });
  if (is_known) return;
  std::vector<int> relatives = RelativesOf(end.own_pid);
  for (const int pid : relatives) {
    if (pid == pid_) is_whole_ = false;  // it is read once more
    if (pid != kNobody && std::ranges::count(relatives_, pid) == 0) {
      relatives_.push_back(pid);
    }
  }
  of_inode.push_back(
      {.end = end, .found = {}, .relatives = std::move(relatives)});
  ++wanted_count_;
}

void OtherEnds::Search(int64_t most_ns, const Found& found) {
  if (wanted_count_ == 0) return;
  const int64_t until_ns = MonotonicNs() + most_ns;
  if (!is_reading_) Begin();
  do {
    if (ReadNext()) continue;
    Tell(found);
    return;
  } while (MonotonicNs() < until_ns);
}

void OtherEnds::Finish(int64_t most_ns, const Found& found) {
  const int64_t until_ns = MonotonicNs() + most_ns;
  while (wanted_count_ > 0 && MonotonicNs() < until_ns) {
    Search(until_ns - MonotonicNs(), found);
  }
}

void OtherEnds::Begin() {
  is_reading_ = true;
  for (auto& [inode, of_inode] : wanted_) {
    for (Wanted& wanted : of_inode) wanted.is_searched = true;
  }
  pids_ = processes::NumbersIn("/proc");
}

bool OtherEnds::ReadNext() {
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kAtOnce; ++i) {
    if (!descriptors_.empty()) {
      LookAt(pid_, descriptors_.back());
      descriptors_.pop_back();
      continue;
    }
    if (pid_ != 0) EndProcess();
    std::vector<int>& next = relatives_.empty() ? pids_ : relatives_;
    if (next.empty()) return false;
    pid_ = next.back();
    next.pop_back();
    descriptors_ = DescriptorsOf(pid_);
    is_whole_ = !descriptors_.empty();
  }
  return true;
}

void OtherEnds::EndProcess() {
  const auto pid = static_cast<int>(std::exchange(pid_, 0));
  if (!is_whole_) return;
  std::optional<bool> is_there;  // asked for relatives only
  for (auto& [inode, of_inode] : wanted_) {
    for (Wanted& wanted : of_inode) {
      if (std::ranges::count(wanted.relatives, pid) == 0) continue;
      if (!is_there) is_there = !DescriptorsOf(pid).empty();
      if (*is_there) std::erase(wanted.relatives, pid);
    }
  }
}

void OtherEnds::LookAt(int64_t pid, int descriptor) {
  const std::string path = absl::StrCat("/proc/", pid, "/fd/", descriptor);
  std::array<char, 64> text;
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  if (size <= 0) return;
  const std::string_view link(text.data(), static_cast<size_t>(size));
  const uint64_t pipe = InodeOf(link, "pipe");
  const uint64_t socket = pipe != 0 ? 0 : InodeOf(link, "socket");
  const auto of_inode = wanted_.find(pipe | socket);
  if ((pipe | socket) == 0 || of_inode == wanted_.end()) return;
  // The link says what the descriptor is for (proc(5)).
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return;
  for (Wanted& wanted : of_inode->second) {
    const Side side = wanted.end.side;
    const bool fits =
        socket != 0 ? side == Side::kSocket
        : side == Side::kReader
            ? (status.st_mode & S_IRUSR) != 0
            : side == Side::kWriter && (status.st_mode & S_IWUSR) != 0;
    // Its name, too: it may have ended before all others were read.
    if (fits) wanted.found.try_emplace(pid, NameOf(pid));
  }
}

void OtherEnds::Tell(const Found& found) {
  is_reading_ = false;
  for (auto& [inode, of_inode] : wanted_) {
    for (const Wanted& wanted : of_inode) {
      if (!wanted.is_searched) continue;
      --wanted_count_;
      // What it holds itself, it most often only has not closed.
      std::map<int64_t, std::string> others = wanted.found;
      others.erase(wanted.end.own_pid);
      if (wanted.found.empty()) continue;
      if (others.empty()) {
        if (wanted.relatives.empty()) found(wanted.end.id, "itself");
        continue;
      }
      std::string text = others.begin()->second;
      if (others.size() > 1) {
        absl::StrAppend(&text, " and ", others.size() - 1,
                        others.size() == 2 ? " other" : " others");
      }
      found(wanted.end.id, text);
    }
    std::erase_if(of_inode,
                  [](const Wanted& wanted) { return wanted.is_searched; });
  }
  absl::erase_if(wanted_,
                 [](const auto& entry) { return entry.second.empty(); });
}

}  // namespace kymo::off_cpu
