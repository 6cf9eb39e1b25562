#include "exporters/tensorboard/step_names.h"

#include <optional>

#include "profiler/analysis/steps.h"

namespace kymo::tensorboard {

StepNames::StepNames(const model::StringTable& strings) {
  for (uint32_t i = 0; i < strings.size(); ++i) {
    const std::optional<int64_t> number =
        analysis::StepNumber(strings.Get(model::NameId{i}));
    if (number) numbers_[model::NameId{i}] = *number;
  }
}

}  // namespace kymo::tensorboard
