#include "profiler/analysis/stacks_through.h"

#include <algorithm>

namespace kymo::analysis {

StacksThrough::StacksThrough(const model::Trace& trace,
                             std::span<const std::string_view> functions)
    : trace_(trace) {
  for (const std::string_view function : functions) {
    const auto id = trace.strings().Find(function);
    if (id) functions_.push_back(*id);
  }
  std::ranges::sort(functions_);
}

StacksThrough::StacksThrough(const model::Trace& trace, std::string_view prefix)
    : trace_(trace) {
  for (uint32_t i = 0; i < trace.strings().size(); ++i) {
    const model::NameId id{i};
    if (trace.strings().Get(id).starts_with(prefix)) functions_.push_back(id);
  }
}

bool StacksThrough::Has(model::StackId stack) {
  if (functions_.empty()) return false;
  const auto [at, is_new] = known_.try_emplace(Index(stack));
  if (is_new) at->second = Look(stack);
  return at->second;
}

bool StacksThrough::Look(model::StackId stack) const {
  const model::StackTable& stacks = trace_.stacks();
  for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
    const model::NameId function = stacks.frame(stacks.leaf(stack)).function;
    if (std::ranges::binary_search(functions_, function)) return true;
  }
  return false;
}

}  // namespace kymo::analysis
