#include "importers/chrome/row_names.h"

#include <cstddef>

#include "importers/chrome/json/decimal.h"

namespace kymo::chrome_import {
namespace {

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool TakeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Takes the number up to the next space, and the space.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  const size_t space = text.find(' ');
  const auto number = ParseInt(text.substr(0, space));
  if (!number) return std::nullopt;
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return number;
}

// Takes a " (lane 2)" from the end.
bool TakeLane(std::string_view& text) {
  static constexpr std::string_view kLane = " (lane ";
  const size_t at = text.rfind(kLane);
  if (at == std::string_view::npos || text.back() != ')') return false;
  const size_t number = at + kLane.size();
  if (!ParseInt(text.substr(number, text.size() - 1 - number))) return false;
  text.remove_suffix(text.size() - at);
  return true;
}

}  // namespace

std::optional<ThreadName> ParseThreadName(std::string_view text) {
  ThreadName thread;
  thread.is_samples = TakeSuffix(text, " samples");
  thread.is_waits = !thread.is_samples && TakeSuffix(text, " waits");
  thread.is_lane = TakeLane(text);
  if (!TakePrefix(text, "thread ")) return std::nullopt;
  const auto id = TakeNumber(text);
  if (!id || !TakePrefix(text, "(") || !TakeSuffix(text, ")")) {
    return std::nullopt;
  }
  thread.id = *id;
  thread.name = text;
  return thread;
}

std::optional<StreamName> ParseStreamName(std::string_view text) {
  StreamName stream;
  stream.is_lane = TakeLane(text);
  if (!TakePrefix(text, "stream ")) return std::nullopt;
  const auto id = TakeNumber(text);
  if (!id) return std::nullopt;
  stream.id = *id;
  if (text.empty()) return stream;
  if (!TakePrefix(text, "of process ")) return std::nullopt;
  stream.pid = TakeNumber(text);
  if (!stream.pid || !text.empty()) return std::nullopt;
  return stream;
}

}  // namespace kymo::chrome_import
