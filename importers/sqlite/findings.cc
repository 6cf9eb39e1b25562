#include "importers/sqlite/findings.h"

#include <algorithm>

namespace kymo::sqlite {

void Findings::Add(Severity severity, std::string_view rule,
                   std::string_view message, uint64_t count) {
  AddTo(std::ranges::find(list_, rule, &ImportFinding::rule), severity, rule,
        message, count);
}

void Findings::AddEach(Severity severity, std::string_view rule,
                       std::string_view message) {
  AddTo(std::ranges::find_if(list_,
                             [&](const ImportFinding& f) {
                               return f.rule == rule && f.message == message;
                             }),
        severity, rule, message, 1);
}

void Findings::AddTo(std::vector<ImportFinding>::iterator known,
                     Severity severity, std::string_view rule,
                     std::string_view message, uint64_t count) {
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
