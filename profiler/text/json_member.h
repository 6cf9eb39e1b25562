// json_member.h - single values of a JSON text that somebody else wrote.
//
//   json::IntMember("{\"rank\": 3}", "rank")     // 3
//   json::TextMember("{\"host\": \"a\"}", "host")  // "a"
//   json::TextOf("\"a\"")                          // "a"
//
// Nothing if the text is no JSON, has no such member, or the value has another
// type.
#ifndef KYMO_PROFILER_TEXT_JSON_MEMBER_H_
#define KYMO_PROFILER_TEXT_JSON_MEMBER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kymo::json {

std::optional<int64_t> IntMember(std::string_view object, std::string_view key);
std::optional<std::string> TextMember(std::string_view object,
                                      std::string_view key);
std::optional<std::string> TextOf(std::string_view json);

}  // namespace kymo::json

#endif  // KYMO_PROFILER_TEXT_JSON_MEMBER_H_
