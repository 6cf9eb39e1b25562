// findings.h - collects what is wrong with a file, mostly one entry per rule.
//
//   Findings findings;
//   findings.Add(Severity::kWarning, "no_times", "kernel 7 has no times");
//   imported.findings = std::move(findings).Take();
//
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
  // `rule` is stable and lower_snake; `message` is one sentence. The first
  // message for a rule is kept; later ones are only counted.
  void Add(Severity severity, std::string_view rule, std::string_view message,
           uint64_t count = 1);
  // The same, but each message is kept. For few: one a table.
  void AddEach(Severity severity, std::string_view rule,
               std::string_view message);

  // Whether the rule has an entry. Then a message need not be made.
  bool Has(std::string_view rule) const;

  const std::vector<ImportFinding>& list() const { return list_; }
  std::vector<ImportFinding> Take() && { return std::move(list_); }

 private:
  void AddTo(std::vector<ImportFinding>::iterator known, Severity severity,
             std::string_view rule, std::string_view message, uint64_t count);

  std::vector<ImportFinding> list_;  // few; in the order of their first Add
};

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_FINDINGS_H_
