#include "profiler/analysis/findings/finding_text.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/text/short_name.h"
#include "profiler/text/text_cells.h"

namespace kymo::analysis {
namespace {

using report::FormatFixed;

constexpr size_t kMostNameWidth = 60;

}  // namespace

std::string TimeText(DurationNs ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
  const double value = static_cast<double>(ns);
  for (const Unit& unit : kUnits) {
    // What rounds to 1,000 of a unit is 1 of the next one.
    if (std::abs(value) < 0.9995 * unit.ns) continue;
    const double number = value / unit.ns;
    const double size = std::abs(number);
    const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return FormatFixed(number, decimals) + unit.name;
  }
  return absl::StrCat(ns, " ns");
}

std::string PercentText(double part, double whole) {
  const double percent = whole == 0 ? 0 : 100 * part / whole;
  return FormatFixed(percent, percent < 9.95 && percent > 0 ? 1 : 0) + " %";
}

std::string CountText(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string CountText(int64_t count, std::string_view one,
                      std::string_view many) {
  return absl::StrCat(CountText(count), " ", ToAbsl(count == 1 ? one : many));
}

std::string OthersText(int64_t others, std::string_view one,
                       std::string_view many) {
  if (others == 0) return "";
  return absl::StrCat(
      "; ", CountText(others, one, many),
      others == 1 ? " more waits for these" : " more wait for these");
}

std::string NameText(std::string_view name) {
  return name.empty() ? "[unknown]" : report::ShortName(name, kMostNameWidth);
}

std::string TrackText(const model::Trace& trace, model::TrackIndex index) {
  const model::Track& track = trace.tracks()[index];
  if (track.kind == model::TrackKind::kStream) {
    return absl::StrCat("stream ", track.id, " of device ", track.device_index);
  }
  const std::string_view name = trace.Name(track.name);
  if (name.empty()) return absl::StrCat("thread ", track.id);
  return absl::StrCat("thread ", NameText(name), " (", track.id, ")");
}

}  // namespace kymo::analysis
