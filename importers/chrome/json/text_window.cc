#include "importers/chrome/json/text_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"

namespace kymo::chrome_import {
namespace {

// Most events that the window's end cuts are shorter than this.
constexpr size_t kRoom = size_t{64} << 10;

// Small files need no large buffers.
size_t FirstBytes(uint64_t expected_bytes, size_t window_bytes) {
  constexpr uint64_t kLeast = 4096;
  if (expected_bytes == 0) return window_bytes;
  return std::min<uint64_t>(window_bytes, std::max(expected_bytes + 1, kLeast));
}

}  // namespace

TextWindow::TextWindow(TextSource& source, size_t window_bytes)
    : source_(source),
      window_bytes_(FirstBytes(source.expected_bytes(), window_bytes)) {}

void TextWindow::Resize(Buffer& buffer, size_t size) {
  if (buffer.size >= size) return;
  buffer.bytes.reset(new char[size]);
  buffer.size = size;
}

void TextWindow::Prefetch() {
  if (is_ahead_ || is_read_ || !status_.ok()) return;
  room_ = kRoom;
  Resize(next_, room_ + window_bytes_);
  absl::StatusOr<size_t> bytes =
      source_.Read(next_.bytes.get() + room_, window_bytes_);
  if (!bytes.ok()) {
    status_ = std::move(bytes).status();
    return;
  }
  next_bytes_ = *bytes;
  is_read_ = next_bytes_ < window_bytes_;
  is_ahead_ = true;
}

absl::Status TextWindow::Grow() {
  Prefetch();
  if (!status_.ok()) return status_;
  if (!is_ahead_) return absl::OkStatus();  // nothing follows text()
  const std::string_view kept = text();
  if (kept.size() > room_) {
    Buffer larger;
    Resize(larger, kept.size() + next_bytes_);
    std::memcpy(larger.bytes.get() + kept.size(), next_.bytes.get() + room_,
                next_bytes_);
    next_ = std::move(larger);
    room_ = kept.size();
  }
  const size_t begin = room_ - kept.size();
  if (!kept.empty()) {
    std::memcpy(next_.bytes.get() + begin, kept.data(), kept.size());
  }
  std::swap(current_, next_);
  begin_ = begin;
  end_ = room_ + next_bytes_;
  is_last_ = is_read_;
  is_ahead_ = false;
  return absl::OkStatus();
}

}  // namespace kymo::chrome_import
