#include "examples/train_mlp/options.h"

#include <charconv>
#include <system_error>

namespace mlp {
namespace {

constexpr int64_t kLargest = 1'000'000;

struct NumberFlag {
  std::string_view name;
  int64_t Options::*target;
  int64_t smallest;
};

constexpr NumberFlag kNumberFlags[] = {
    {"epochs", &Options::epochs, 1}, {"batch_size", &Options::batch_size, 1},
    {"hidden", &Options::hidden, 1}, {"threads", &Options::threads, 1},
    {"seed", &Options::seed, 0},
};

std::string ParseNumber(const NumberFlag& flag, std::string_view text,
                        Options& options) {
  const char* const end = text.data() + text.size();
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < flag.smallest ||
      value > kLargest) {
    return "--" + std::string(flag.name) + " must be a number from " +
           std::to_string(flag.smallest) + " to " + std::to_string(kLargest) +
           ", not '" + std::string(text) + "'";
  }
  options.*flag.target = value;
  return "";
}

std::string ParseOption(std::string_view argument, Options& options) {
  if (argument == "--help") {
    options.help = true;
    return "";
  }
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  if (equals != std::string_view::npos) {
    const std::string_view value = argument.substr(equals + 1);
    if (name == "--counts") {
      options.counts = value;
      return "";
    }
    for (const NumberFlag& flag : kNumberFlags) {
      if (name.starts_with("--") && name.substr(2) == flag.name) {
        return ParseNumber(flag, value, options);
      }
    }
  }
  return "unknown argument '" + std::string(argument) + "'; see --help";
}

}  // namespace

std::string ParseOptions(std::span<const std::string_view> arguments,
                         Options& options) {
  for (const std::string_view argument : arguments) {
    std::string problem = ParseOption(argument, options);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace mlp
