#include "importers/chrome/json/text_source.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/status_macros.h"

namespace kymo::chrome_import {
namespace {

absl::Status SystemError(const std::string& path, int error) {
  const std::string text =
      absl::StrCat("cannot read ", path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

class PlainFile final : public TextSource {
 public:
  PlainFile(std::string path, OwnedDescriptor file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    size_t done = 0;
    while (done < size) {
      const ssize_t bytes = read(file_.get(), to + done, size - done);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0) return SystemError(path_, errno);
      if (bytes == 0) break;
      done += static_cast<size_t>(bytes);
    }
    read_ += done;
    return done;
  }

  double progress() const override {
    return size_ == 0 ? 0 : static_cast<double>(read_) / size_;
  }
  uint64_t expected_bytes() const override { return size_; }

 private:
  const std::string path_;
  const OwnedDescriptor file_;
  const uint64_t size_;  // 0: not a regular file
  uint64_t read_ = 0;
};

class GzipFile final : public TextSource {
 public:
  GzipFile(std::unique_ptr<TextSource> file, std::string head,
           int64_t max_bytes)
      : file_(std::move(file)),
        input_(kInputBytes),
        left_(static_cast<uint64_t>(std::max<int64_t>(max_bytes, 0))) {
    std::copy(head.begin(), head.end(), input_.begin());
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
    state_.next_in = input_.data();
    state_.avail_in = static_cast<uint32_t>(head.size());
  }

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    // Asks for one byte more than allowed, to see whether there is more.
    const uint64_t wanted = std::min<uint64_t>(size, left_ + 1);
    size_t done = 0;
    while (done < wanted && !is_over_) {
      KYMO_ASSIGN_OR_RETURN(
          const size_t bytes,
          Inflate(to + done, std::min<uint64_t>(wanted - done, kMostAtOnce)));
      done += bytes;
    }
    if (done > left_) {
      return absl::ResourceExhaustedError(
          "the file unpacks to more bytes than max_unpacked_bytes allows; "
          "raise the limit (--max_unpacked_mib) if you trust it");
    }
    left_ -= done;
    return done;
  }

  double progress() const override { return file_->progress(); }
  // gzip shrinks JSON traces of real programs by about this factor.
  uint64_t expected_bytes() const override {
    return 12 * file_->expected_bytes();
  }
  std::string damage() const override { return damage_; }
  bool has_rest() const override { return has_rest_; }

 private:
  static constexpr size_t kInputBytes = size_t{256} << 10;
  static constexpr size_t kMostAtOnce = size_t{1} << 30;

  absl::StatusOr<size_t> Inflate(char* to, size_t size) {
    if (state_.avail_in == 0) KYMO_RETURN_IF_ERROR(Refill());
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      KYMO_ASSIGN_OR_RETURN(const bool has_begun, BeginMember());
      if (!has_begun) return 0;
    }
    const bool is_end_of_input = state_.avail_in == 0;
    state_.next_out = reinterpret_cast<uint8_t*>(to);
    state_.avail_out = static_cast<uint32_t>(size);
    const int result = isal_inflate(&state_);
    const size_t bytes = size - state_.avail_out;
    if (result != ISAL_DECOMP_OK) {
      Stop(result == ISAL_INCORRECT_CHECKSUM
               ? "the checksum of the gzip stream is wrong"
               : "the gzip stream is damaged");
    } else if (is_end_of_input && bytes == 0 &&
               state_.block_state != ISAL_BLOCK_FINISH) {
      Stop("the gzip stream ends too early");
    }
    return bytes;
  }

  absl::Status Refill() {
    KYMO_ASSIGN_OR_RETURN(
        const size_t bytes,
        file_->Read(reinterpret_cast<char*>(input_.data()), input_.size()));
    state_.next_in = input_.data();
    state_.avail_in = static_cast<uint32_t>(bytes);
    return absl::OkStatus();
  }

  // Whether another member follows, maybe behind zeros, which are padding.
  absl::StatusOr<bool> BeginMember() {
    while (state_.avail_in > 0 && state_.next_in[0] == 0) {
      ++state_.next_in;
      if (--state_.avail_in == 0) KYMO_RETURN_IF_ERROR(Refill());
    }
    if (state_.avail_in == 0 || state_.next_in[0] != 0x1f) {
      has_rest_ = state_.avail_in > 0;
      is_over_ = true;
      return false;
    }
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;
    return true;
  }

  void Stop(std::string why) {
    damage_ = std::move(why);
    is_over_ = true;
  }

  const std::unique_ptr<TextSource> file_;
  std::vector<uint8_t> input_;
  inflate_state state_{};
  uint64_t left_;  // before the limit
  bool is_over_ = false;
  bool has_rest_ = false;
  std::string damage_;
};

// First the bytes that were read to look at, then the rest.
class WithHead final : public TextSource {
 public:
  WithHead(std::unique_ptr<TextSource> file, std::string head)
      : file_(std::move(file)), head_(std::move(head)) {}

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    const size_t from_head = head_.copy(to, size);
    head_.erase(0, from_head);
    KYMO_ASSIGN_OR_RETURN(const size_t bytes,
                          file_->Read(to + from_head, size - from_head));
    return from_head + bytes;
  }
  double progress() const override { return file_->progress(); }
  uint64_t expected_bytes() const override { return file_->expected_bytes(); }

 private:
  const std::unique_ptr<TextSource> file_;
  std::string head_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TextSource>> TextSource::Open(
    const std::string& path, int64_t max_unpacked_bytes) {
  OwnedDescriptor plain(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!plain.is_open()) return SystemError(path, errno);
  struct stat about;
  const bool is_known =
      fstat(plain.get(), &about) == 0 && S_ISREG(about.st_mode);
  std::unique_ptr<TextSource> file = std::make_unique<PlainFile>(
      path, std::move(plain),
      is_known ? static_cast<uint64_t>(about.st_size) : 0);
  std::string head(2, '\0');
  KYMO_ASSIGN_OR_RETURN(const size_t bytes,
                        file->Read(head.data(), head.size()));
  head.resize(bytes);
  if (head == "\x1f\x8b") {
    return std::make_unique<GzipFile>(std::move(file), std::move(head),
                                      max_unpacked_bytes);
  }
  return std::make_unique<WithHead>(std::move(file), std::move(head));
}

}  // namespace kymo::chrome_import
