// json_check.h - whether a text is JSON.
//
//   KYMO_RETURN_IF_ERROR(json::CheckJson("{\"epoch\": 3}"));
#ifndef KYMO_PROFILER_TEXT_JSON_CHECK_H_
#define KYMO_PROFILER_TEXT_JSON_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

namespace kymo::json {

// kInvalidArgument unless `text` is one complete JSON value (RFC 8259).
absl::Status CheckJson(std::string_view text);

}  // namespace kymo::json

#endif  // KYMO_PROFILER_TEXT_JSON_CHECK_H_
