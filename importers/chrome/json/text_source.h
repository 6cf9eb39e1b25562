// text_source.h - the bytes of a file, plain or gzip, one window after another.
//
//   KYMO_ASSIGN_OR_RETURN(auto source, TextSource::Open(path, max_bytes));
//   KYMO_ASSIGN_OR_RETURN(const size_t bytes, source->Read(buffer, size));
//
// Whether a file is gzip is told by its first bytes, not by its name. Members
// one behind the other are one text, as in gzip.
//
// Threads: one at a time. Errors: kNotFound, kPermissionDenied, kUnavailable
// of the system; kResourceExhausted for gzip beyond the limit. A gzip stream
// that ends too early or is damaged ends the text there: see `damage`.
#ifndef KYMO_IMPORTERS_CHROME_JSON_TEXT_SOURCE_H_
#define KYMO_IMPORTERS_CHROME_JSON_TEXT_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kymo::chrome_import {

class TextSource {
 public:
  // Most bytes that a gzip file may unpack to.
  static absl::StatusOr<std::unique_ptr<TextSource>> Open(
      const std::string& path, int64_t max_unpacked_bytes);

  TextSource() = default;
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  virtual ~TextSource() = default;

  // Fills `to`; fewer than `size` bytes are the last ones.
  virtual absl::StatusOr<size_t> Read(char* to, size_t size) = 0;

  // How much of the file was read, 0..1; 0 where nobody knows.
  virtual double progress() const = 0;
  // Bytes of text that may be expected; 0 where nobody knows.
  virtual uint64_t expected_bytes() const = 0;
  // Why the text ended before the gzip stream did; empty: it did not.
  virtual std::string damage() const { return {}; }
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_TEXT_SOURCE_H_
