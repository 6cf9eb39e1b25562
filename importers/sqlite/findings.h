// findings.h - collects what is wrong with a file, one entry per rule.
//
//   Findings findings;
//   findings.Add(Severity::kWarning, "no_times", "kernel 7 has no times");
//   imported.findings = std::move(findings).Take();
//
// The first message for a rule is kept; later ones are only counted.
// Threads: none.
#ifndef KYMO_IMPORTERS_SQLITE_FINDINGS_H_
#define KYMO_IMPORTERS_SQLITE_FINDINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/plugin/trace_importer.h"

namespace kymo::sqlite {

using Severity = ImportFinding::Severity;

class Findings {
 public:
  // `rule` is stable and lower_snake; `message` is one sentence.
  void Add(Severity severity, std::string_view rule, std::string_view message,
           uint64_t count = 1);

  // Whether the rule has an entry. Then a message need not be made.
  bool Has(std::string_view rule) const;

  const std::vector<ImportFinding>& list() const { return list_; }
  std::vector<ImportFinding> Take() && { return std::move(list_); }

 private:
  std::vector<ImportFinding> list_;  // few; in the order of their first Add
};

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_FINDINGS_H_
