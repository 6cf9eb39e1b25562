// op_names.h - the names of operations in the form that XProf counts.
//
//   FrameworkOpName("aten::addmm")    // "aten/addmm:addmm"
//   FrameworkOpName("ns::f<int>(x)")  // "ns/f_int__x_:f_int__x_"
//
// XProf's op statistics count events called `scope/name:Type`. Few C++ names
// have that form, so this file makes it: scopes become slashes, and characters
// that XProf does not allow become "_". The type is the last part of the name.
// If it has capitals at all, its first letter becomes one. Long names are cut.
//
//   const OperationNames names(trace, steps);
//   names.Get(trace.name()[event]);   // "aten/addmm:addmm"
//
// If two operations would get the same name, the second gets a number: "a_b",
// "a_b_2". Threads: immutable once made.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_OP_NAMES_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_OP_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

std::string FrameworkOpName(std::string_view name);

class OperationNames {
 public:
  // Names all operations (cpu_op) of `trace`, which must outlive this object.
  OperationNames(const model::Trace& trace, const StepNames& steps);

  // REQUIRES: an operation has this name, and the name is not that of a step.
  std::string Get(model::NameId name) const;

 private:
  const model::Trace& trace_;
  // By name. A name that needs no number is not in the map.
  absl::flat_hash_map<uint32_t, uint64_t> numbers_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_OP_NAMES_H_
