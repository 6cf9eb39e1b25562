// test_import.h - traces from text, for tests.
//
//   const Imported got = ImportText(R"([{"ph":"X",...}])");
//   ASSERT_TRUE(got.status.ok());
//   got.trace->EventName(0)
//   got.Count("truncated")        // of a finding
#ifndef KYMO_IMPORTERS_CHROME_TEST_IMPORT_H_
#define KYMO_IMPORTERS_CHROME_TEST_IMPORT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "importers/chrome/import_document.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"

namespace kymo::chrome_import {

class TextInMemory : public TextSource {
 public:
  explicit TextInMemory(std::string_view text) : rest_(text) {}

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    const size_t bytes = rest_.copy(to, size);
    rest_.remove_prefix(bytes);
    return bytes;
  }
  double progress() const override { return 0; }
  uint64_t expected_bytes() const override { return 0; }

 private:
  std::string_view rest_;
};

struct Imported {
  absl::Status status;
  std::optional<model::Trace> trace;
  std::vector<ImportFinding> findings;

  uint64_t Count(std::string_view rule) const {
    for (const ImportFinding& finding : findings) {
      if (finding.rule == rule) return finding.count;
    }
    return 0;
  }
  uint64_t Offset(std::string_view rule) const {
    for (const ImportFinding& finding : findings) {
      if (finding.rule == rule) return finding.first_offset;
    }
    return ~uint64_t{0};
  }
  // "name@start+length" for each range, in the order of the trace; an open
  // range ends with "?".
  std::vector<std::string> Ranges() const {
    std::vector<std::string> ranges;
    for (model::EventIndex i = 0; i < trace->event_count(); ++i) {
      const TimeNs start = trace->start()[i];
      ranges.push_back(std::string(trace->EventName(i)) + "@" +
                       std::to_string(start) + "+" +
                       std::to_string(trace->end()[i] - start));
      if (trace->flags()[i] & model::kEventOpen) ranges.back() += "?";
    }
    return ranges;
  }
};

inline Imported ImportText(std::string_view text,
                           const ReaderOptions& options = {}) {
  Imported imported;
  TextInMemory source(text);
  absl::StatusOr<ImportedTrace> got = ImportDocument(source, options);
  imported.status = got.status();
  if (!got.ok()) return imported;
  imported.findings = std::move(got->findings);
  absl::StatusOr<model::Trace> trace =
      Normalize(std::move(got->shards),
                {.start_ns = got->start_ns, .end_ns = got->end_ns});
  imported.status = trace.status();
  if (!trace.ok()) return imported;
  imported.trace.emplace(*std::move(trace));
  EXPECT_TRUE(model::ValidateTrace(*imported.trace).ok())
      << model::ValidateTrace(*imported.trace) << "\n"
      << text.substr(0, 10'000);
  return imported;
}

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_TEST_IMPORT_H_
