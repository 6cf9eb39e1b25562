// module_hierarchy.h - the modules that an event ran inside of.
//
//   const ModuleHierarchy modules(trace);
//   if (modules.Has(event)) {
//     modules.Names(event);   // {"Net", "Conv"}: the outermost module first
//     modules.Text(event);    // "Net.Conv.": PyTorch's form
//   }
//
// A module is a range with the flag kEventModule. A module's own hierarchy
// holds only the modules around it, not the module itself. An event inside of
// more than kMostModules modules has the innermost of them, and kMoreModules in
// place of the others, so that all hierarchies together stay linear.
//
// Threads: immutable once made. Cost: the constructor is linear in the events.
//   It keeps four bytes an event, and nothing if the trace has no modules.
#ifndef KYMO_PROFILER_ANALYSIS_MODULE_HIERARCHY_H_
#define KYMO_PROFILER_ANALYSIS_MODULE_HIERARCHY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::analysis {

class ModuleHierarchy {
 public:
  static constexpr size_t kMostModules = 64;
  static constexpr std::string_view kMoreModules = "[more modules]";

  // `trace` must outlive this object.
  explicit ModuleHierarchy(const model::Trace& trace);

  bool Has(model::EventIndex event) const {
    return !innermost_.empty() && innermost_[event] != model::kNoEvent;
  }
  // The names point into the trace. Both functions REQUIRE Has(event).
  std::vector<std::string_view> Names(model::EventIndex event) const;
  std::string Text(model::EventIndex event) const;

 private:
  const model::Trace& trace_;
  // The innermost module around each event; empty if there are no modules.
  std::vector<model::EventIndex> innermost_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MODULE_HIERARCHY_H_
