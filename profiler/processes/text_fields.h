// text_fields.h - takes lines, words and numbers off the front of a text.
//
//   std::string_view rest = "ctxt 28119489\nbtime 1795355208\n";
//   std::string_view line = NextLine(rest);
//   NextWord(line);                          // "ctxt"
//   NextCount(line);                         // 28119489
//
// Made for files of /proc and /sys, whose texts are never trusted: any bytes
// are legal.
//
// Threads: any.
#ifndef KYMO_PROFILER_PROCESSES_TEXT_FIELDS_H_
#define KYMO_PROFILER_PROCESSES_TEXT_FIELDS_H_

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace kymo::processes {

// The next line without its end; empty when nothing is left.
inline std::string_view NextLine(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

// The next word between blanks; empty when nothing is left.
inline std::string_view NextWord(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t\r\n";
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

// `word` as a whole number. Nothing for a sign, other characters, and numbers
// beyond 64 bits.
inline std::optional<uint64_t> ToCount(std::string_view word) {
  uint64_t count = 0;
  const char* const end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, count);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return count;
}

inline std::optional<uint64_t> NextCount(std::string_view& rest) {
  return ToCount(NextWord(rest));
}

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_TEXT_FIELDS_H_
