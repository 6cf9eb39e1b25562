#include "profiler/text/text_cells.h"

#include <cstdio>
#include <cstdlib>

namespace kymo::report {
namespace {

constexpr double kUsPerMs = 1e3;
constexpr double kUsPerSecond = 1e6;

// Whether the byte is 10xxxxxx, which continues a code point.
bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::string FormatFixed(double value, int decimals) {
  char text[352];  // the longest double has 309 digits before the point
  const int length = std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return std::string(text, static_cast<size_t>(length));
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

std::string FormatShare(double part, double total) {
  if (total == 0) return "NaN";
  return FormatFixed(part * 100.0 / total, 2) + "%";
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

}  // namespace kymo::report
