// name_families.h - dynamic names of a trace, made one.
//
//   const NameFamilies families(trace.strings());
//   families.Of(name);             // of "request 7" and "request 8" the same
//   families.Text(families.Of(name));   // "request #"
//
// Names that differ in their decimal numbers only are a family if there are
// more than kMostMembers of them: so many are made by the program as it runs,
// and a graph with a node for each shows nothing. Fewer, such as the layers of
// a model, stay apart.
//
// Threads: immutable once made. Cost: the constructor looks at every name of
//   the trace once.
#ifndef KYMO_EXPORTERS_TENSORBOARD_NAME_FAMILIES_H_
#define KYMO_EXPORTERS_TENSORBOARD_NAME_FAMILIES_H_

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/string_table.h"

namespace kymo::tensorboard {

class NameFamilies {
 public:
  static constexpr size_t kMostMembers = 100;

  // `strings` must outlive this object.
  explicit NameFamilies(const model::StringTable& strings);

  // The member that stands for its family; the name itself if it has none.
  model::NameId Of(model::NameId name) const {
    const auto it = family_.find(name);
    return it == family_.end() ? name : it->second;
  }
  // What to show for a name that Of returned: with `#` for each number if it
  // stands for a family.
  std::string Text(model::NameId name) const;

 private:
  const model::StringTable& strings_;
  absl::flat_hash_map<model::NameId, model::NameId> family_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_NAME_FAMILIES_H_
