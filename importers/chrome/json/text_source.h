// text_source.h - reads the bytes of a file, plain or gzip, piece by piece.
//
//   KYMO_ASSIGN_OR_RETURN(auto source, TextSource::Open(path, max_bytes));
//   KYMO_ASSIGN_OR_RETURN(const size_t bytes, source->Read(buffer, size));
//
// The first bytes of a file tell whether it is gzip; its name does not. Several
// gzip members are one text, as for gzip.
//
// Threads: one at a time. Errors: kNotFound, kPermissionDenied and kUnavailable
//   from the system; kResourceExhausted if gzip unpacks to more than the limit.
//   If a gzip stream ends too early or is damaged, the text ends there: see
//   `damage`.
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
  // `max_unpacked_bytes` limits how large a gzip file may become.
  static absl::StatusOr<std::unique_ptr<TextSource>> Open(
      const std::string& path, int64_t max_unpacked_bytes);

  TextSource() = default;
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  virtual ~TextSource() = default;

  // Fills `to`. Fewer than `size` bytes mean that the text has ended.
  virtual absl::StatusOr<size_t> Read(char* to, size_t size) = 0;

  // The part of the file that was read, from 0 to 1; 0 if it is not known.
  virtual double progress() const = 0;
  // The expected length of the text in bytes; 0 if it is not known.
  virtual uint64_t expected_bytes() const = 0;
  // Why the text ended before the gzip stream did; empty if it did not.
  virtual std::string damage() const { return {}; }
  // Whether something other than zeros follows the gzip stream. It is no text.
  virtual bool has_rest() const { return false; }
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_JSON_TEXT_SOURCE_H_
