#include "backends/cupti/decode/saved_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/mapped/regular_file.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::cupti {

std::vector<std::string> FindLogs(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("cuda-") && name.ends_with(".log")) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

LogFacts FactsOf(const LogHeader& header) {
  LogFacts facts;
  facts.pid = header.pid;
  facts.cupti_version = header.cupti_version;
  facts.state = header.state.load(std::memory_order_acquire);
  facts.buffers_out = header.buffers_out.load(std::memory_order_relaxed);
  facts.buffers_refused =
      header.buffers_refused.load(std::memory_order_relaxed);
  facts.bytes_lost = header.bytes_lost.load(std::memory_order_relaxed);
  facts.problem.assign(header.problem,
                       strnlen(header.problem, sizeof(header.problem)));
  return facts;
}

absl::Status SaveLog(const LogHeader& header,
                     std::span<const std::byte> records,
                     const std::string& path) {
  // For this user only, as all raw files, and never through a link.
  unlink(path.c_str());
  const int fd = AboveStandardStreams(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const std::unique_ptr<FILE, int (*)(FILE*)> file(
      fd < 0 ? nullptr : fdopen(fd, "wb"), &fclose);
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  char page[kLogHeaderBytes] = {};
  memcpy(page, static_cast<const void*>(&header), sizeof(header));
  if (fwrite(page, 1, sizeof(page), file.get()) != sizeof(page) ||
      fwrite(records.data(), 1, records.size(), file.get()) != records.size() ||
      fflush(file.get()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

absl::StatusOr<SavedLog> SavedLog::Map(const std::string& path) {
  struct stat status = {};
  const OwnedDescriptor file = OpenRegularFile(path, &status);
  if (!file.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  const size_t size = static_cast<size_t>(std::max<off_t>(status.st_size, 0));
  void* memory = MAP_FAILED;
  if (size >= kLogHeaderBytes) {
    memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  }
  if (memory == MAP_FAILED) {
    return absl::DataLossError(
        absl::StrCat(path, " is too short for a log of CUDA activities"));
  }
  SavedLog log;
  log.file_ = {static_cast<const std::byte*>(memory), size};
  log.guard_ = ShrinkGuard(memory, size);
  const auto& header = *static_cast<const LogHeader*>(memory);
  log.facts_ = FactsOf(header);
  if (header.magic != kLogMagic || header.version != kLogVersion) {
    return absl::DataLossError(absl::StrCat(
        path, " is no log of CUDA activities of version ", kLogVersion));
  }
  return log;
}

SavedLog::SavedLog(SavedLog&& other) noexcept
    : file_(std::exchange(other.file_, {})),
      guard_(std::move(other.guard_)),
      facts_(std::move(other.facts_)) {}

SavedLog::~SavedLog() {
  if (!file_.empty()) {
    guard_ = ShrinkGuard();
    munmap(const_cast<std::byte*>(file_.data()), file_.size());
  }
}

}  // namespace kymo::cupti
