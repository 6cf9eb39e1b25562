// test_key_averages.h - inputs and stacks for the events of a TestTrace.
//
//   t.AddRange(main, "mm", 0, 10);
//   DetailOfLast(t).inputs = Inputs(t, {2, 3});
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_TEST_KEY_AVERAGES_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_TEST_KEY_AVERAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {

// Inputs: one float or double tensor of the given sizes.
inline model::NameId Inputs(TestTrace& t, std::vector<int64_t> sizes,
                            DType dtype = DType::kFloat) {
  const Input inputs[] = {TensorMeta{.sizes = sizes, .dtype = dtype}};
  std::string encoded(EncodedInputBytes(inputs, 1), '\0');
  EncodeInputs(inputs, 1, encoded.data());
  return t.Intern(encoded);
}

// A stack of functions, outermost first, each at an address of its own.
inline model::StackId Stack(TestTrace& t, std::vector<std::string> functions) {
  static uint64_t address = 0;
  model::StackId stack = model::kEmptyStack;
  for (const std::string& function : functions) {
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame({.function = t.Intern(function),
                                         .file = t.Intern(function + ".cc"),
                                         .line = 7,
                                         .address = ++address}));
  }
  return stack;
}

// The details of the event that was added last.
inline model::Detail& DetailOfLast(TestTrace& t) {
  t.Describe(0);
  return t.data().details.back();
}

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_TEST_KEY_AVERAGES_H_
