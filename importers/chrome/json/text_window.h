// text_window.h - a window that moves over a file's text.
//
//   TextWindow window(*source);
//   KYMO_RETURN_IF_ERROR(window.Grow());    // reads the first bytes
//   window.text();                          // read, and not passed
//   window.Pass(bytes);
//   window.Prefetch();                      // may run while others use text()
//
// Grow keeps the part that was not passed and adds the text behind it. There
// are two buffers, so that one is filled while the other is in use. Memory is
// twice the window, or twice the part that is kept if that is more.
//
// Threads: Prefetch may run while others read text(). Everything else: one at a
//   time.
#ifndef KYMO_IMPORTERS_CHROME_JSON_TEXT_WINDOW_H_
#define KYMO_IMPORTERS_CHROME_JSON_TEXT_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "importers/chrome/json/text_source.h"

namespace kymo::chrome_import {

class TextWindow {
 public:
  static constexpr size_t kWindowBytes = size_t{2} << 20;

  // `source` must outlive the object.
  explicit TextWindow(TextSource& source, size_t window_bytes = kWindowBytes);

  std::string_view text() const {
    return {current_.bytes.get() + begin_, end_ - begin_};
  }
  // REQUIRES: bytes <= text().size().
  void Pass(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  // The position of text() in the file.
  uint64_t offset() const { return offset_; }
  // Whether nothing follows text().
  bool is_last() const { return is_last_; }

  // Reads ahead. Grow returns an error that this meets.
  void Prefetch();
  absl::Status Grow();

 private:
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };

  // Makes the buffer at least that large. Its contents are lost.
  static void Resize(Buffer& buffer, size_t size);

  TextSource& source_;
  const size_t window_bytes_;
  Buffer current_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
  bool is_last_ = false;

  Buffer next_;  // room_ bytes for the kept part, then the new text
  size_t room_ = 0;
  size_t next_bytes_ = 0;
  bool is_ahead_ = false;
  bool is_read_ = false;  // the source has ended
  absl::Status status_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_TEXT_WINDOW_H_
