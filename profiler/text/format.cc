#include "profiler/text/format.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/text/python_text.h"
#include "profiler/text/text_cells.h"

namespace kymo {

std::string FormatTime(double us, std::string_view time_unit) {
  return report::FormatTime(us, time_unit);
}

std::string FormatMemory(int64_t bytes) { return report::FormatMemory(bytes); }

absl::StatusOr<std::string> FormatTimeShare(double us, double total_us) {
  if (total_us == 0 && us != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected time_us == 0 but got ", PythonFloat(us)));
  }
  return report::FormatShare(us, total_us);
}

}  // namespace kymo
