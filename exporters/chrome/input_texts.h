// input_texts.h - the inputs of operations as JSON, each distinct one made
// once.
//
//   const InputTexts texts(trace);
//   texts.Get(detail.inputs, scratch).dims   // [[64, 32], []]
//
// The forms are Kineto's; see profiler/model/op_inputs.h.
//
// Threads: const and safe to call concurrently. Memory: kept texts take at most
//   kMaxKeptBytes; inputs beyond that are made at every call.
#ifndef KYMO_EXPORTERS_CHROME_INPUT_TEXTS_H_
#define KYMO_EXPORTERS_CHROME_INPUT_TEXTS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::chrome {

struct InputText {
  std::string concrete;  // "Concrete Inputs"
  std::string types;     // "Input type"
  std::string strides;   // "Input Strides"
  std::string dims;      // "Input Dims"
};

class InputTexts {
 public:
  static constexpr size_t kMaxKeptBytes = size_t{16} << 20;

  // `trace` must outlive the object.
  explicit InputTexts(const model::Trace& trace,
                      size_t max_kept_bytes = kMaxKeptBytes);

  // A kept text, or `scratch`, which it then fills. REQUIRES: `inputs` is not
  // empty.
  const InputText& Get(model::NameId inputs, InputText& scratch) const;

 private:
  const model::Trace& trace_;
  absl::flat_hash_map<uint32_t, InputText> kept_;  // by id
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_INPUT_TEXTS_H_
