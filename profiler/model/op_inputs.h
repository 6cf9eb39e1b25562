// op_inputs.h - the inputs of an operation, read back from their encoding.
//
//   const std::string_view encoded = trace.Name(detail.inputs);
//   const std::vector<OpInput> inputs = DecodeInputs(encoded);
//   InputShapes(encoded);     // {{64, 32}, {}}
//   InputDimsJson(encoded);   // "[[64, 32], []]", as traces write them
//
// The recorder writes the encoding; profiler/base/op_inputs.h describes it. A
// broken program may have written anything, so nothing here trusts the bytes:
// the list ends before the first input that cannot be read.
//
// The texts are PyTorch's, with one exception: a string among the inputs is a
// concrete input here, where PyTorch shows nothing. A list of more than 30
// scalars is shown as if it were not there; a tensor list of more than 30 has
// no sizes.
//
// Cost: meant for one call per distinct input, not per event.
#ifndef KYMO_PROFILER_MODEL_OP_INPUTS_H_
#define KYMO_PROFILER_MODEL_OP_INPUTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/op_inputs.h"

namespace kymo::model {

struct OpInput {
  InputKind kind = InputKind::kNone;
  DType dtype = DType::kUnknown;  // kTensor
  std::vector<int64_t> sizes;     // kTensor
  std::vector<int64_t> strides;   // kTensor; empty: not recorded
  std::vector<OpInput> tensors;   // kTensorList
  std::vector<int64_t> integers;  // kInt, kBool: one; kIntList, kBoolList
  std::vector<double> doubles;    // kDouble: one; kDoubleList
  std::string text;               // kString

  bool is_tensor() const { return kind == InputKind::kTensor; }
};

std::vector<OpInput> DecodeInputs(std::string_view encoded);

// PyTorch's flat view: the sizes of each input that is a tensor; empty for
// others.
std::vector<std::vector<int64_t>> InputShapes(std::string_view encoded);
// The same as text, such as "[[64, 32], []]".
std::string InputShapesText(std::string_view encoded);

// "Input Dims" and "Input Strides" as JSON; a tensor list has one entry for
// each of its tensors.
std::string InputDimsJson(std::string_view encoded);
std::string InputStridesJson(std::string_view encoded);

// One entry per input: "float", "TensorList", "Scalar", "ScalarList" or "".
std::vector<std::string> InputDTypes(std::string_view encoded);

// One entry per input: "6", "1.", "0.5", "False", "[64, 32]" or "".
std::vector<std::string> ConcreteInputs(std::string_view encoded);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_OP_INPUTS_H_
