#include "importers/chrome/events/call_stack_text.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>

namespace kymo::chrome_import {
namespace {

using model::Frame;
using model::StackId;

struct Place {
  std::string_view file;
  uint32_t line = 0;
  std::string_view function;
};

std::optional<Place> ParsePlace(std::string_view entry) {
  static constexpr std::string_view kBehindLine = "): ";
  const size_t close = entry.find(kBehindLine);
  if (close == std::string_view::npos) return std::nullopt;
  const size_t open = entry.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  const std::string_view digits = entry.substr(open + 1, close - open - 1);
  // These digits would not be written in the same way again.
  if (digits.empty() || (digits.front() == '0' && digits.size() > 1)) {
    return std::nullopt;
  }
  Place place = {.file = entry.substr(0, open),
                 .function = entry.substr(close + kBehindLine.size())};
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, place.line);
  if (error != std::errc() || end != last) return std::nullopt;
  return place;
}

}  // namespace

StackId CallStackTexts::Find(std::string_view text) {
  if (text.empty() || text.back() != ';') return model::kEmptyStack;
  const absl::string_view key(text.data(), text.size());
  const auto it = known_.find(key);
  if (it != known_.end()) return it->second;
  const StackId stack = Make(text);
  known_.emplace(std::string(text), stack);
  return stack;
}

StackId CallStackTexts::Make(std::string_view text) {
  StackId stack = model::kEmptyStack;
  text.remove_suffix(1);
  while (true) {
    const size_t separator = text.rfind(';');
    const std::string_view entry =
        separator == std::string_view::npos ? text : text.substr(separator + 1);
    stack = stacks_.Push(stack, MakeFrame(entry));
    if (separator == std::string_view::npos) return stack;
    text = text.substr(0, separator);
  }
}

model::FrameId CallStackTexts::MakeFrame(std::string_view entry) {
  Frame frame;
  if (const std::optional<Place> place = ParsePlace(entry)) {
    frame.file = strings_.Intern(place->file);
    frame.line = place->line;
    frame.function = strings_.Intern(place->function);
  } else {
    frame.function = strings_.Intern(entry);
  }
  return stacks_.AddFrame(frame);
}

}  // namespace kymo::chrome_import
