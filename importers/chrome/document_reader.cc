#include "importers/chrome/document_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "importers/chrome/json/json_string.h"
#include "importers/chrome/json/value_scanner.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::chrome_import {
namespace {}  // namespace

DocumentReader::DocumentReader(TextSource& source, const ReaderOptions& options,
                               DocumentConsumer& consumer)
    : source_(source),
      options_(options),
      consumer_(consumer),
      window_(source, options.window_bytes),
      parsers_([] { return EventParser(); }) {}

absl::Status DocumentReader::Run() {
  KYMO_RETURN_IF_ERROR(PassSpace());
  if (at_end()) {
    return absl::InvalidArgumentError(
        source_.damage().empty()
            ? "the file is empty"
            : absl::StrCat("nothing can be read: ", source_.damage()));
  }
  // Some editors put a byte order mark at the beginning.
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (window_.text().starts_with(kByteOrderMark)) {
    window_.Pass(kByteOrderMark.size());
    KYMO_RETURN_IF_ERROR(PassSpace());
  }
  const char first = at_end() ? '\0' : window_.text().front();
  if (first == '[') {
    is_bare_list_ = true;
    window_.Pass(1);
    KYMO_RETURN_IF_ERROR(ReadEvents());
  } else if (first == '{') {
    window_.Pass(1);
    KYMO_RETURN_IF_ERROR(ReadObject());
  } else {
    return Unexpected("'{' or '['");
  }
  return FinishDocument();
}

absl::Status DocumentReader::ReadObject() {
  KYMO_RETURN_IF_ERROR(ReadMembers());
  if (has_events_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      is_cut_off_
          ? absl::StrCat("the file ends at byte ", window_.offset(),
                         " before its member traceEvents: no events")
          : "the file is JSON, but has no member traceEvents: not a Chrome "
            "trace");
}

absl::Status DocumentReader::ReadMembers() {
  while (true) {
    KYMO_RETURN_IF_ERROR(PassSpace());
    if (at_end()) return CutOff(), absl::OkStatus();
    const char next = window_.text().front();
    if (next == '}') {
      window_.Pass(1);
      return absl::OkStatus();
    }
    if (next == ',') {
      window_.Pass(1);
      continue;
    }
    if (next != '"') {
      if (!has_events_) return Unexpected("a member's name");
      return CutOff(), absl::OkStatus();
    }
    const size_t length = FindValueEnd(window_.text());
    if (length == std::string_view::npos) {
      if (window_.is_last()) return CutOff(), absl::OkStatus();
      if (window_.text().size() > options_.max_element_bytes) {
        return Unexpected("a member's name of usual length");
      }
      KYMO_RETURN_IF_ERROR(window_.Grow());
      continue;
    }
    std::string scratch;
    const std::string key(
        Unescape(window_.text().substr(1, length - 2), scratch));
    window_.Pass(length);
    KYMO_RETURN_IF_ERROR(PassSpace());
    if (at_end()) return CutOff(), absl::OkStatus();
    if (window_.text().front() != ':') return Unexpected("':'");
    window_.Pass(1);
    KYMO_RETURN_IF_ERROR(PassSpace());
    if (at_end()) return CutOff(), absl::OkStatus();
    KYMO_RETURN_IF_ERROR(ReadValue(key));
    if (is_cut_off_) return absl::OkStatus();
  }
}

absl::Status DocumentReader::ReadValue(const std::string& key) {
  if (key == "traceEvents") {
    if (window_.text().front() != '[') return Unexpected("a list of events");
    window_.Pass(1);
    return ReadEvents();
  }
  while (true) {
    const size_t length = FindValueEnd(window_.text());
    if (length == 0) return Unexpected("a value");
    if (length != std::string_view::npos &&
        (length < window_.text().size() || window_.is_last())) {
      consumer_.TakeMember(key, window_.text().substr(0, length));
      window_.Pass(length);
      return absl::OkStatus();
    }
    if (window_.is_last()) return CutOff(), absl::OkStatus();
    if (window_.text().size() > options_.max_element_bytes) {
      findings_.Add(Rule::kMemberTooLong, window_.offset());
      return SkipValue();
    }
    KYMO_RETURN_IF_ERROR(window_.Grow());
  }
}

absl::Status DocumentReader::SkipValue() {
  ValueScanner scanner;
  while (true) {
    window_.Pass(scanner.Scan(window_.text()));
    if (scanner.done()) return absl::OkStatus();
    if (window_.is_last()) return CutOff(), absl::OkStatus();
    KYMO_RETURN_IF_ERROR(window_.Grow());
  }
}

absl::Status DocumentReader::FinishDocument() {
  TakePending();
  if (!source_.damage().empty()) {
    findings_.Add(Rule::kGzipDamaged, window_.offset());
    if (!is_cut_off_) CutOff();
  }
  if (is_cut_off_) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(PassSpace());
  if ((!at_end() && window_.text().front() != '\0') || source_.has_rest()) {
    findings_.Add(Rule::kTextAfterEnd, window_.offset());
  }
  return absl::OkStatus();
}

absl::Status DocumentReader::PassSpace() {
  while (true) {
    window_.Pass(CountSpace(window_.text()));
    if (!window_.text().empty() || window_.is_last()) return absl::OkStatus();
    KYMO_RETURN_IF_ERROR(window_.Grow());
  }
}

absl::Status DocumentReader::Unexpected(std::string_view wanted) const {
  std::string found = "the end of the file";
  if (!window_.text().empty()) {
    const auto byte = static_cast<unsigned char>(window_.text().front());
    found =
        byte >= 0x20 && byte < 0x7F
            ? absl::StrCat("'", std::string(1, static_cast<char>(byte)), "'")
            : absl::StrCat("byte 0x", absl::Hex(byte, absl::kZeroPad2));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not a Chrome trace: byte ", window_.offset(), " is ", found,
                   " where ", ToAbsl(wanted), " should be"));
}

void DocumentReader::CutOff() {
  is_cut_off_ = true;
  findings_.Add(Rule::kTruncated, window_.offset());
}

}  // namespace kymo::chrome_import
