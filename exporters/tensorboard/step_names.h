// step_names.h - which ranges of a trace are steps of the program.
//
//   const StepNames steps(trace.strings());
//   steps.Number(trace.name()[event]);   // 7 for "ProfilerStep#7"
//
// Threads: immutable once made. Cost: the constructor looks at every name of
//   the trace once.
#ifndef KYMO_EXPORTERS_TENSORBOARD_STEP_NAMES_H_
#define KYMO_EXPORTERS_TENSORBOARD_STEP_NAMES_H_

#include <cstdint>
#include <map>
#include <optional>

#include "profiler/model/string_table.h"

namespace kymo::tensorboard {

class StepNames {
 public:
  explicit StepNames(const model::StringTable& strings);

  bool empty() const { return numbers_.empty(); }
  const std::map<model::NameId, int64_t>& numbers() const { return numbers_; }

  std::optional<int64_t> Number(model::NameId name) const {
    if (numbers_.empty()) return std::nullopt;
    const auto it = numbers_.find(name);
    if (it == numbers_.end()) return std::nullopt;
    return it->second;
  }

 private:
  std::map<model::NameId, int64_t> numbers_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_STEP_NAMES_H_
