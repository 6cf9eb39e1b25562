#include "profiler/plugin/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

constexpr size_t kBufferBytes = 256 << 10;

// `what` reads like "could not write 'a.json'".
absl::Status ErrnoStatus(int error, const std::string& what) {
  return absl::Status(
      absl::ErrnoToStatusCode(error),
      absl::StrCat(what, ": ", std::generic_category().message(error)));
}

class StringSink final : public ByteSink {
 public:
  explicit StringSink(std::string* out) : out_(out) {}

  absl::Status Append(std::string_view bytes) override {
    out_->append(bytes);
    return absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }

 private:
  std::string* out_;
};

// "profile/trace.json" -> "profile/.trace.json.<pid>.<n>.tmp".
std::string TemporaryPath(const std::string& path) {
  static std::atomic<uint32_t> counter{0};
  const size_t base = path.find_last_of('/') + 1;  // npos + 1 == 0
  return absl::StrCat(path.substr(0, base), ".", path.substr(base), ".",
                      getpid(), ".",
                      counter.fetch_add(1, std::memory_order_relaxed), ".tmp");
}

std::string LinkOf(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// A new file for `path`. It has no name, or a temporary one where the file
// system cannot do that.
struct NewFile {
  int fd = -1;                 // -1: see errno
  std::string temporary_path;  // empty = no name
};

// A file without a name vanishes with the process, however that ends.
NewFile OpenUnnamed(const std::string& path) {
  const size_t base = path.find_last_of('/') + 1;
  const std::string folder = base == 0 ? "." : path.substr(0, base);
  NewFile file;
  file.fd = AboveStandardStreams(
      open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  // Commit names the file through /proc.
  if (file.fd >= 0 && access(LinkOf(file.fd).c_str(), F_OK) != 0) {
    close(std::exchange(file.fd, -1));
  }
  return file;
}

NewFile OpenTemporary(const std::string& path) {
  NewFile file;
  do {
    file.temporary_path = TemporaryPath(path);
    file.fd = AboveStandardStreams(open(file.temporary_path.c_str(),
                                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                        0666));
    // A killed process of the same pid may have left its file.
  } while (file.fd < 0 && (errno == EEXIST || errno == EINTR));
  return file;
}

// Nothing is at `path` before Commit. After an error, after Commit and in any
// case after destruction the temporary name is gone.
class FileSink final : public ByteSink {
 public:
  FileSink(std::string path, NewFile file)
      : path_(std::move(path)),
        temporary_path_(std::move(file.temporary_path)),
        fd_(file.fd) {
    buffer_.reserve(kBufferBytes);
  }

  ~FileSink() override { Discard(); }

  absl::Status Append(std::string_view bytes) override {
    KYMO_RETURN_IF_ERROR(status_);
    if (buffer_.size() + bytes.size() <= kBufferBytes) {
      buffer_.append(bytes);
      return absl::OkStatus();
    }
    KYMO_RETURN_IF_ERROR(Flush());
    if (bytes.size() >= kBufferBytes) return Write(bytes);
    buffer_.append(bytes);
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    KYMO_RETURN_IF_ERROR(Flush());
    if (!GiveName()) return Fail(errno, "name");
    // Network file systems report what they could not write only here.
    const int closed = close(std::exchange(fd_, -1));
    if (closed != 0 && errno != EINTR) return Fail(errno, "close");
    if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
      return Fail(errno, "rename");
    }
    temporary_path_.clear();
    status_ = absl::FailedPreconditionError(
        absl::StrCat("'", path_, "' is already complete"));
    return absl::OkStatus();
  }

 private:
  // linkat() cannot replace a file, so the name is a temporary one.
  bool GiveName() {
    while (temporary_path_.empty()) {
      std::string name = TemporaryPath(path_);
      if (linkat(AT_FDCWD, LinkOf(fd_).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
        temporary_path_ = std::move(name);
      } else if (errno != EEXIST) {
        return false;
      }
    }
    return true;
  }

  absl::Status Flush() {
    KYMO_RETURN_IF_ERROR(status_);
    KYMO_RETURN_IF_ERROR(Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }

  absl::Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(fd_, bytes.data(), bytes.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return Fail(errno, "write");
      }
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::Status Fail(int error, const char* verb) {
    status_ =
        ErrnoStatus(error, absl::StrCat("could not ", verb, " '", path_, "'"));
    Discard();
    return status_;
  }

  void Discard() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
    if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
    temporary_path_.clear();
  }

  std::string path_;
  std::string temporary_path_;  // empty = the file has no name
  int fd_;                      // -1 = closed
  std::string buffer_;
  absl::Status status_;
};

// Only a regular file may be replaced: renaming over a device or a pipe would
// destroy it.
absl::Status CheckReplaceable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("'", path, "' exists and is not a regular file"));
}

// `name` as OutputDirectory takes it: relative, without "..".
absl::Status CheckRelative(const std::filesystem::path& name) {
  bool good = !name.empty() && name.is_relative() && name.has_filename();
  for (const std::filesystem::path& part : name) good &= part != "..";
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", name.string(), "' is not the relative name of a file"));
}

absl::Status MakeFolders(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return ErrnoStatus(error.value(), absl::StrCat("could not make folder '",
                                                 folder.string(), "'"));
}

}  // namespace

std::unique_ptr<ByteSink> NewStringSink(std::string* out) {
  return std::make_unique<StringSink>(out);
}

absl::StatusOr<std::unique_ptr<ByteSink>> NewFileSink(const std::string& path) {
  KYMO_RETURN_IF_ERROR(CheckReplaceable(path));
  NewFile file = OpenUnnamed(path);
  if (file.fd < 0) file = OpenTemporary(path);
  if (file.fd < 0) {
    return ErrnoStatus(errno, absl::StrCat("could not make '", path, "'"));
  }
  return std::make_unique<FileSink>(path, std::move(file));
}

absl::StatusOr<std::unique_ptr<ByteSink>> OutputDirectory::Open(
    std::string_view name) {
  const std::filesystem::path relative(name);
  KYMO_RETURN_IF_ERROR(CheckRelative(relative));
  const std::filesystem::path full =
      std::filesystem::path(path_.empty() ? "." : path_) / relative;
  KYMO_RETURN_IF_ERROR(MakeFolders(full.parent_path()));
  return NewFileSink(full.string());
}

void OutputDirectory::Remove(std::string_view name) noexcept {
  try {
    const std::filesystem::path relative(name);
    if (!CheckRelative(relative).ok()) return;
    const std::filesystem::path full =
        std::filesystem::path(path_.empty() ? "." : path_) / relative;
    unlink(full.c_str());  // files only, never folders
  } catch (const std::bad_alloc&) {
    // The file stays. It is complete.
  }
}

absl::Status OutputDirectory::CheckWritable() {
  const std::filesystem::path folder(path_.empty() ? "." : path_);
  KYMO_RETURN_IF_ERROR(MakeFolders(folder));
  return NewFileSink((folder / "write_check").string()).status();
}

}  // namespace kymo
