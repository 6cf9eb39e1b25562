// row_names.h - reads the names of a trace's rows.
//
//   ParseThreadName("thread 12 (worker) (lane 2)")   // 12, "worker", lane
//   ParseStreamName("stream 7 of process 11 ")       // 7, 11
//
// Knows Kineto's forms, and those that Kymo adds (exporters/chrome/rows.h).
#ifndef KYMO_IMPORTERS_CHROME_ROW_NAMES_H_
#define KYMO_IMPORTERS_CHROME_ROW_NAMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kymo::chrome_import {

struct ThreadName {
  int64_t id = 0;
  std::string_view name;
  bool is_lane = false;
  bool is_waits = false;
  bool is_samples = false;  // the thread's flame chart
};

std::optional<ThreadName> ParseThreadName(std::string_view text);

struct StreamName {
  int64_t id = 0;
  std::optional<int64_t> pid;
  bool is_lane = false;
};

std::optional<StreamName> ParseStreamName(std::string_view text);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_ROW_NAMES_H_
