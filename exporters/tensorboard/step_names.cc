#include "exporters/tensorboard/step_names.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace kymo::tensorboard {
namespace {

constexpr std::string_view kPrefix = "ProfilerStep#";

}  // namespace

StepNames::StepNames(const model::StringTable& strings) {
  for (uint32_t i = 0; i < strings.size(); ++i) {
    std::string_view text = strings.Get(model::NameId{i});
    if (!text.starts_with(kPrefix)) continue;
    text.remove_prefix(kPrefix.size());
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) continue;
    numbers_[model::NameId{i}] = number;
  }
}

}  // namespace kymo::tensorboard
