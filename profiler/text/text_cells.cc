#include "profiler/text/text_cells.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace kymo::report {
namespace {

constexpr double kUsPerMs = 1e3;
constexpr double kUsPerSecond = 1e6;

// Whether the byte is 10xxxxxx, which continues a code point.
bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

bool IsUnit(std::string_view word) {
  static constexpr std::string_view kUnits[] = {
      "%", "ns", "us", "ms", "s", "B", "bytes", "KiB", "MiB", "GiB"};
  const size_t length = word.find_last_not_of(",;:.)") + 1;  // 0: not found
  return std::ranges::find(kUnits, word.substr(0, length)) != std::end(kUnits);
}

// Where the word at `at` ends. A number and its unit are one word.
size_t WordEnd(std::string_view line, size_t at) {
  const size_t end = std::min(line.find(' ', at), line.size());
  if (end == at || end == line.size()) return end;
  const size_t next_end = std::min(line.find(' ', end + 1), line.size());
  const bool is_number = line[end - 1] >= '0' && line[end - 1] <= '9';
  return is_number && IsUnit(line.substr(end + 1, next_end - end - 1))
             ? next_end
             : end;
}

}  // namespace

std::string FormatFixed(double value, int decimals) {
  char text[352];  // the longest double has 309 digits before the point
  // Unlike printf, with a point in all locales.
  const auto end = std::to_chars(text, std::end(text), value,
                                 std::chars_format::fixed, decimals);
  return std::string(text, end.ptr);
}

std::string FormatTime(double us, std::string_view time_unit) {
  const bool is_forced =
      time_unit == "s" || time_unit == "ms" || time_unit == "us";
  if (is_forced ? time_unit == "s" : us >= kUsPerSecond) {
    return FormatFixed(us / kUsPerSecond, 3) + "s";
  }
  if (is_forced ? time_unit == "ms" : us >= kUsPerMs) {
    return FormatFixed(us / kUsPerMs, 3) + "ms";
  }
  return FormatFixed(us, 3) + "us";
}

std::string FormatMemory(int64_t bytes) {
  constexpr double kKb = 1024;
  const double value = static_cast<double>(bytes);
  const double size = std::abs(value);
  if (size >= kKb * kKb * kKb) {
    return FormatFixed(value / (kKb * kKb * kKb), 2) + " GB";
  }
  if (size >= kKb * kKb) return FormatFixed(value / (kKb * kKb), 2) + " MB";
  if (size >= kKb) return FormatFixed(value / kKb, 2) + " KB";
  return std::to_string(bytes) + " B";
}

std::string FormatBytes(int64_t bytes) {
  struct Unit {
    double bytes;
    const char* name;
  };
  constexpr Unit kUnits[] = {
      {0x1p30, " GiB"}, {0x1p20, " MiB"}, {0x1p10, " KiB"}};
  const double value = static_cast<double>(bytes);
  for (const Unit& unit : kUnits) {
    // What rounds to 1,024 of a unit is 1 of the next one.
    if (std::abs(value) < unit.bytes * (1 - 0.5 / 1024)) continue;
    const double number = value / unit.bytes;
    const double size = std::abs(number);
    const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return FormatFixed(number, decimals) + unit.name;
  }
  return std::to_string(bytes) + " B";
}

std::string FormatShare(double part, double total) {
  if (total == 0) return "NaN";
  return FormatFixed(part * 100.0 / total, 2) + "%";
}

std::string ShareOrDash(double part, double total) {
  return total == 0 ? "-" : FormatShare(part, total);
}

size_t TextWidth(std::string_view text) {
  size_t width = 0;
  for (const char byte : text) width += !IsContinuation(byte);
  return width;
}

std::string_view TakeFirst(std::string_view text, size_t width) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && width-- == 0) break;
  }
  return text.substr(0, end);
}

std::string_view TakeLast(std::string_view text, size_t width) {
  size_t begin = text.size();
  while (begin > 0 && width > 0) {
    --begin;
    if (!IsContinuation(text[begin])) --width;
  }
  return text.substr(begin);
}

void AppendPadded(std::string& out, std::string_view text, size_t width,
                  Align align) {
  const size_t length = TextWidth(text);
  const size_t padding = length < width ? width - length : 0;
  if (align == Align::kRight) out.append(padding, ' ');
  out.append(text);
  if (align == Align::kLeft) out.append(padding, ' ');
}

std::string Wrapped(std::string_view line, size_t width, size_t indent) {
  size_t at = std::min(line.find_first_not_of(' '), line.size());
  std::string out(line.substr(0, at));
  size_t column = at;
  for (bool is_first = true; at <= line.size(); is_first = false) {
    const size_t end = WordEnd(line, at);
    const std::string_view word = line.substr(at, end - at);
    const size_t length = TextWidth(word);
    if (!is_first && column + 1 + length > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
    at = end + 1;
  }
  return out;
}

}  // namespace kymo::report
