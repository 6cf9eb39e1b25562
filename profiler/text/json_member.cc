#include "profiler/text/json_member.h"

#include <simdjson.h>

namespace kymo::json {

std::optional<int64_t> IntMember(std::string_view object,
                                 std::string_view key) {
  simdjson::dom::parser parser;
  int64_t value = 0;
  if (parser.parse(simdjson::padded_string(object))[key].get(value) !=
      simdjson::SUCCESS) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> TextMember(std::string_view object,
                                      std::string_view key) {
  simdjson::dom::parser parser;
  std::string_view value;
  if (parser.parse(simdjson::padded_string(object))[key].get(value) !=
      simdjson::SUCCESS) {
    return std::nullopt;
  }
  return std::string(value);
}

std::optional<std::string> TextOf(std::string_view json) {
  simdjson::dom::parser parser;
  std::string_view value;
  if (parser.parse(simdjson::padded_string(json)).get(value) !=
      simdjson::SUCCESS) {
    return std::nullopt;
  }
  return std::string(value);
}

}  // namespace kymo::json
