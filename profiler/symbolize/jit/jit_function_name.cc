#include "profiler/symbolize/jit/jit_function_name.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace kymo::symbolize {
namespace {

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

// Takes ":123" off the end.
std::optional<uint32_t> TakeNumber(std::string_view& text) {
  const size_t colon = text.find_last_of(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  text = text.substr(0, colon);
  return number;
}

// Where the file begins in "name file"; both may have blanks in them.
size_t FindFile(std::string_view text) {
  for (const std::string_view begin : {" /", " file:", " node:"}) {
    const size_t at = text.find(begin);
    if (at != std::string_view::npos) return at;
  }
  return text.find_last_of(' ');
}

// "fib /srv/app.js:3:14" without the sign of the compiler.
NamedFrame JavaScript(std::string_view text) {
  std::string_view name = text;
  const auto column = TakeNumber(name);
  const auto line = column ? TakeNumber(name) : std::nullopt;
  const size_t blank = line ? FindFile(name) : std::string_view::npos;
  if (blank == std::string_view::npos) return {.function = std::string(text)};
  const std::string_view file = name.substr(blank + 1);
  NamedFrame frame{.function = std::string(name.substr(0, blank)),
                   .file = std::string(file),
                   .line = *line};
  if (frame.function.empty()) {
    frame.function = "(anonymous) ";
    frame.function += file.substr(file.find_last_of('/') + 1);
    frame.function += ':' + std::to_string(*line);
  }
  return frame;
}

// "fib:/srv/app.py"
NamedFrame Python(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {.function = std::string(text)};
  return {.function = std::string(text.substr(0, colon)),
          .file = std::string(text.substr(colon + 1))};
}

}  // namespace

bool IsJavaScriptName(std::string_view name) { return name.starts_with("JS:"); }

bool IsScriptOf(std::string_view name, std::string_view file) {
  if (std::ranges::any_of(file, IsControl)) return false;
  // Of other scripts comes code of functions that were inlined.
  for (const std::string_view begin :
       {"/", "file:", "node:", "http:", "https:"}) {
    if (file.starts_with(begin)) return true;
  }
  return !file.empty() && NameOfJitFunction(name).file == file;
}

NamedFrame NameOfJitFunction(std::string_view name) {
  constexpr std::string_view kPython = "py::";
  std::string text(name);
  std::ranges::replace_if(text, IsControl, '?');
  if (IsJavaScriptName(text)) {
    std::string_view rest = std::string_view(text).substr(3);
    // Code for a loop that was running when it was compiled.
    if (rest.starts_with("o*") || rest.starts_with("o+")) rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of("*~^+'"), rest.size()));
    return JavaScript(rest);
  }
  if (text.starts_with(kPython)) {
    return Python(std::string_view(text).substr(kPython.size()));
  }
  return {.function = Demangle(text.c_str())};
}

}  // namespace kymo::symbolize
