#include "profiler/symbolize/kernel/kept_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "profiler/base/owned_descriptor.h"
#include "profiler/base/whole_io.h"

namespace kymo::symbolize {
namespace {

// The first line of what is kept in this boot; empty if that is not known.
std::string FirstLine() {
  const OwnedDescriptor file(
      open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char id[64];
  const ssize_t size = read(file.get(), id, sizeof(id));
  if (size <= 1 || id[size - 1] != '\n') return "";
  return "Kymo, boot " + std::string(id, static_cast<size_t>(size));
}

}  // namespace

std::optional<KeptLines> KeptLines::Open(const std::string& path) {
  const std::string first = FirstLine();
  const OwnedDescriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about;
  if (first.empty() || fstat(file.get(), &about) != 0 ||
      !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
      (about.st_mode & (S_IRWXG | S_IRWXO)) != 0 || about.st_size == 0) {
    return std::nullopt;
  }
  const auto bytes = static_cast<size_t>(about.st_size);
  void* const base =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (base == MAP_FAILED) return std::nullopt;
  KeptLines kept(base, bytes);
  const std::string_view all(static_cast<const char*>(base), bytes);
  if (!all.starts_with(first)) return std::nullopt;
  kept.lines_ = all.substr(first.size());
  return kept;
}

bool KeptLines::Write(const std::string& path, std::string_view lines) {
  const std::string first = FirstLine();
  if (first.empty()) return false;
  const std::string fresh = path + "." + std::to_string(getpid());
  bool is_whole = false;
  {
    const OwnedDescriptor file(
        open(fresh.c_str(),
             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) return false;
    is_whole = WriteWhole(file.get(), 0, first.data(), first.size()) &&
               WriteWhole(file.get(), first.size(), lines.data(), lines.size());
  }
  if (is_whole && rename(fresh.c_str(), path.c_str()) == 0) return true;
  unlink(fresh.c_str());
  return false;
}

KeptLines::KeptLines(KeptLines&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(other.bytes_),
      lines_(other.lines_) {}

KeptLines::~KeptLines() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

}  // namespace kymo::symbolize
