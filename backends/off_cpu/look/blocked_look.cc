#include "backends/off_cpu/look/blocked_look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>

#include "profiler/base/clock.h"
#include "profiler/processes/other_memory.h"
#include "profiler/processes/schedstat.h"
#include "profiler/processes/thread_reads.h"

namespace kymo::off_cpu {
namespace {

constexpr size_t kPageBytes = 4096;
// Most stacks are shorter. Each page is a part of its own, because the kernel
// copies a part whole or not at all.
constexpr size_t kMostPages = 16;

// Of the files that are read here.
using FileText = std::array<char, 256>;

}  // namespace

BlockedLook::Result BlockedLook::Take(int64_t pid, int64_t tid) {
  const auto before = processes::ReadSchedStat(pid, tid);
  if (!before) return Result::kRuns;
  FileText buffer;
  const auto text = processes::ReadThreadFile(pid, tid, "syscall", buffer);
  if (!text) {
    return errno == EACCES || errno == EPERM ? Result::kRefused : Result::kRuns;
  }
  const auto call = ParseCall(*text);
  if (!call) return Result::kRuns;
  call_ = *call;
  time_ns_ = static_cast<uint64_t>(MonotonicNs());
  function_ = processes::ReadThreadFile(pid, tid, "wchan", buffer).value_or("");
  if (function_ == "0") function_.clear();
  times_on_cpu_ = before->times_on_cpu;
  CopyStack(pid, tid);
  return IsStillTrue(pid, tid) ? Result::kSeen : Result::kRuns;
}

bool BlockedLook::IsStillTrue(int64_t pid, int64_t tid) const {
  const auto now = processes::ReadSchedStat(pid, tid);
  return now && now->times_on_cpu == times_on_cpu_;
}

// By the thread: a main thread that has ended has no memory.
void BlockedLook::CopyStack(int64_t pid, int64_t tid) {
  const uint64_t begin = call_.stack_pointer;
  const size_t first = kPageBytes - begin % kPageBytes;
  std::array<iovec, kMostPages> pages;
  size_t bytes = 0;
  for (iovec& page : pages) {
    page.iov_base = reinterpret_cast<void*>(begin + bytes);
    page.iov_len = bytes == 0 ? first : kPageBytes;
    bytes += page.iov_len;
  }
  stack_.resize(bytes);
  const ssize_t copied = processes::ReadOtherMemory(pid, tid, pages, stack_);
  stack_bytes_ = copied < 0 ? 0 : static_cast<size_t>(copied);
}

std::optional<BlockedCall> ReadCall(int64_t pid, int64_t tid) {
  FileText buffer;
  const auto text = processes::ReadThreadFile(pid, tid, "syscall", buffer);
  return text ? ParseCall(*text) : std::nullopt;
}

DescriptorInfo LookAtDescriptor(int64_t pid, int64_t tid, uint64_t number) {
  std::array<char, PATH_MAX> text;
  snprintf(text.data(), text.size(), "/proc/%lld/task/%lld/fd/%llu",
           static_cast<long long>(pid), static_cast<long long>(tid),
           static_cast<unsigned long long>(number));
  const std::string path = text.data();
  const ssize_t size = readlink(path.c_str(), text.data(), text.size());
  DescriptorInfo info;
  if (size < 0) {
    if (errno != ENOENT) return info;
    // A process that ends has lost its memory before its descriptors.
    snprintf(text.data(), text.size(), "/proc/%lld/task/%lld/exe",
             static_cast<long long>(pid), static_cast<long long>(tid));
    info.is_closed =
        readlink(text.data(), text.data() + PATH_MAX / 2, PATH_MAX / 2) > 0;
    return info;
  }
  info.link.assign(text.data(), static_cast<size_t>(size));
  struct statx file;
  // Does not ask the server of a network's file, which may not answer.
  if (statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO,
            &file) == 0) {
    info.mode = file.stx_mode & S_IFMT;
    info.inode = file.stx_ino;
  }
  if (S_ISFIFO(info.mode)) {  // the link itself says so (proc(5))
    struct stat link;
    info.is_writable =
        lstat(path.c_str(), &link) == 0 && (link.st_mode & S_IWUSR) != 0;
  }
  return info;
}

}  // namespace kymo::off_cpu
