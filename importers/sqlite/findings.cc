#include "importers/sqlite/findings.h"

#include <algorithm>

namespace kymo::sqlite {

void Findings::Add(Severity severity, std::string_view rule,
                   std::string_view message, uint64_t count) {
  const auto known =
      std::find_if(list_.begin(), list_.end(),
                   [&](const ImportFinding& f) { return f.rule == rule; });
  if (known != list_.end()) {
    known->count += count;
    return;
  }
  list_.push_back({.severity = severity,
                   .rule = std::string(rule),
                   .message = std::string(message),
                   .count = count});
}

bool Findings::Has(std::string_view rule) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const ImportFinding& f) { return f.rule == rule; });
}

}  // namespace kymo::sqlite
