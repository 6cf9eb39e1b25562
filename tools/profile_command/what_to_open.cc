#include "tools/profile_command/what_to_open.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::tools {
namespace {

// The name of the first part of a timeline that --max_file_mib split
// (trace.steps_0-99.json, ...). Empty: there are no parts.
std::string FirstPart(const std::vector<std::string>& names) {
  constexpr std::string_view kBegin = "trace.steps_";
  std::string first;
  int64_t first_step = std::numeric_limits<int64_t>::max();
  for (const std::string& name : names) {
    int64_t step = 0;
    if (!name.starts_with(kBegin) ||
        std::from_chars(name.data() + kBegin.size(), name.data() + name.size(),
                        step)
                .ec != std::errc() ||
        step > first_step) {
      continue;
    }
    first_step = step;
    first = name;
  }
  return first;
}

}  // namespace

std::string WhatWasWritten(size_t written, size_t tried,
                           const std::string& shown) {
  if (written >= tried) return absl::StrCat("wrote ", shown);
  return absl::StrCat("wrote ", written, " of ", tried, " files into ", shown);
}

std::vector<std::string> WhatToOpen(const std::vector<std::string>& names,
                                    const std::string& shown) {
  struct Viewer {
    std::string_view file;
    std::string_view before;
    std::string_view after;
  };
  const std::string first_part = FirstPart(names);
  const Viewer viewers[] = {
      {"report.html", "all in one page: open ", " in a browser"},
      {first_part, "timeline: open ",
       " and the parts after it in https://ui.perfetto.dev"},
      {"trace.json", "timeline: open ", " in https://ui.perfetto.dev"},
      {"trace.json.gz", "timeline: open ", " in https://ui.perfetto.dev"},
      {"trace.pftrace", "timeline: open ", " in https://ui.perfetto.dev"},
      {"tensorboard", "TensorBoard: tensorboard --logdir ", ""},
      {"memory_timeline.html", "memory: open ", " in a browser"},
      {"stacks.speedscope.json", "flame graph: open ",
       " in https://www.speedscope.app"},
      {"stacks.speedscope.json.gz", "flame graph: open ",
       " in https://www.speedscope.app"},
  };
  constexpr size_t kMostLines = 3;
  std::vector<std::string> lines;
  // Of TensorBoard's files the run's names have the folder, too.
  const auto is_there = [&](std::string_view file) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return name.starts_with(file) &&
             (name.size() == file.size() || name[file.size()] == '/');
    });
  };
  for (const Viewer& viewer : viewers) {
    if (lines.size() == kMostLines) break;
    if (viewer.file.empty() || !is_there(viewer.file)) continue;
    lines.push_back(absl::StrCat(ToAbsl(viewer.before), shown, "/",
                                 ToAbsl(viewer.file), ToAbsl(viewer.after)));
  }
  constexpr char kTables[] = "key_averages.txt";
  if (is_there(kTables)) {
    lines.push_back(absl::StrCat("all tables: ", shown, "/", kTables));
  }
  return lines;
}

}  // namespace kymo::tools
