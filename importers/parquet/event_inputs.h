// event_inputs.h - what the operations of a row group got as inputs.
//
//   const std::vector<model::NameId> inputs =
//       ReadInputs(group, {kShapes, kTypes, kStrides, kConcrete}, strings);
//
// Threads: one call at a time, since texts are interned.
#ifndef KYMO_IMPORTERS_PARQUET_EVENT_INPUTS_H_
#define KYMO_IMPORTERS_PARQUET_EVENT_INPUTS_H_

#include <array>
#include <cstddef>
#include <vector>

#include "importers/chrome/events/input_encoder.h"
#include "importers/parquet/row_group.h"
#include "profiler/model/string_table.h"

namespace kymo::parquet_import {

// Shapes, types, strides and concrete values.
using InputColumns = std::array<size_t, chrome_import::kInputKeys>;

// The encoded inputs of each row. Empty: no row has any.
std::vector<model::NameId> ReadInputs(const RowGroup& group,
                                      const InputColumns& columns,
                                      model::StringTable& strings);

}  // namespace kymo::parquet_import

#endif  // KYMO_IMPORTERS_PARQUET_EVENT_INPUTS_H_
