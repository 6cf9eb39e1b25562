// json_text.h - strict JSON, appended to a string.
//
//   std::string out = "{\"name\":";
//   AppendJsonString(out, name);
//   out += ",\"ts\":";
//   AppendMicroseconds(out, time_ns - base_ns);
//
// Strings are escaped, never altered: every valid UTF-8 text reads back as it
// was; bytes that are not UTF-8 become U+FFFD, one for each longest part of a
// broken sequence, as the Unicode standard recommends. Numbers are integers
// or the shortest text that reads back as the same double; NaN and infinities,
// which JSON lacks, become strings.
#ifndef KYMO_PROFILER_TEXT_JSON_TEXT_H_
#define KYMO_PROFILER_TEXT_JSON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profiler/base/time.h"

namespace kymo::json {

// With quotes.
void AppendJsonString(std::string& out, std::string_view text);
// The same as a string of its own.
std::string JsonString(std::string_view text);
// ["a", "b"], with `between` between them.
std::string JsonStringList(std::span<const std::string> texts,
                           std::string_view between = ", ");

void AppendInt(std::string& out, int64_t value);
void AppendUint(std::string& out, uint64_t value);

// 1.5, 1e+30, "NaN", "Infinity", "-Infinity".
void AppendDouble(std::string& out, double value);

// Nanoseconds as microseconds with three decimals: 1234567 -> 1234.567.
void AppendMicroseconds(std::string& out, DurationNs ns);

// The same into `to`; returns the end of the text.
// REQUIRES: kMaxNumberLength bytes of room.
inline constexpr size_t kMaxNumberLength = 24;
char* WriteInt(char* to, int64_t value);
char* WriteMicroseconds(char* to, DurationNs ns);

// Whether `text` is one JSON value (RFC 8259) in valid UTF-8, nested at most
// 500 deep. For text that others made and that goes into a file as it stands.
bool IsValidJson(std::string_view text);

// `text` as it stands if it is JSON, else as a string.
void AppendJsonOrString(std::string& out, std::string_view text);

}  // namespace kymo::json

#endif  // KYMO_PROFILER_TEXT_JSON_TEXT_H_
