#include "profiler/text/json_check.h"

#include <simdjson.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::json {

absl::Status CheckJson(std::string_view text) {
  simdjson::dom::parser parser;
  const simdjson::error_code error =
      parser.parse(simdjson::padded_string(text)).error();
  if (error == simdjson::SUCCESS) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", ToAbsl(text.substr(0, 80)), text.size() > 80 ? "..." : "",
      "' is not JSON: ", simdjson::error_message(error)));
}

}  // namespace kymo::json
