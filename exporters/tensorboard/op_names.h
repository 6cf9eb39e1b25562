// op_names.h - the names of operations as XProf's op statistics take them.
//
//   FrameworkOpName("aten::addmm")    // "aten/addmm:addmm"
//   FrameworkOpName("ns::f<int>(x)")  // "ns/f_int__x_:f_int__x_"
//
// XProf counts what is called `scope/name:Type`, a form that few C++ names
// have. Scopes become slashes, other characters "_", and the type is the last
// part, with a capital at its beginning if it has capitals at all. Long names
// are cut.
//
//   const OperationNames names(trace, steps);
//   names.Get(trace.name()[event]);   // "aten/addmm:addmm"
//
// Two operations that come to the same name are told apart by a number: "a_b",
// "a_b_2". Threads: immutable once made.
#ifndef KYMO_EXPORTERS_TENSORBOARD_OP_NAMES_H_
#define KYMO_EXPORTERS_TENSORBOARD_OP_NAMES_H_

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
  // Of all operations (cpu_op) of `trace`, which must outlive the object.
  OperationNames(const model::Trace& trace, const StepNames& steps);

  // REQUIRES: some operation has the name, and it is no step.
  std::string Get(model::NameId name) const;

 private:
  const model::Trace& trace_;
  // By name; the others have none.
  absl::flat_hash_map<uint32_t, uint64_t> numbers_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_OP_NAMES_H_
