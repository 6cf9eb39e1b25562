// emit_text.h - the names of emitted ranges, as PyTorch writes them.
//
//   aten::add, seq = 5, op_id = 7, sizes = [[2, 3], [], [4]],
//   input_op_ids = [(3,0), (0,-1), (0,-1)]                      (one line)
//
//   , seq = N           where the operation has a sequence number
//   , op_id = N         where it has a handle
//   , sizes = ...       where it has inputs that are asked for: of a tensor its
//                       sizes, of a list of tensors each one's, else []
//   , input_op_ids = .. where producers are known: of each of these the
//                       operation that made it and which of its outputs it is,
//                       or (0,-1)
#ifndef KYMO_PROFILER_LIBRARY_EMIT_TEXT_H_
#define KYMO_PROFILER_LIBRARY_EMIT_TEXT_H_

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "kymo/callbacks.h"
#include "profiler/base/op_inputs.h"

namespace kymo::internal {

struct Producer {
  uint64_t op_id = 0;
  int64_t output = -1;
};

// Which operation made a tensor, by TensorMeta::identity. Threads: any.
class Producers {
 public:
  Producer Find(const void* identity) const;
  // The outputs of an operation that has ended. The tensors of a list have no
  // producer, as in PyTorch (updateOutputTensorTracker in nvtx_observer.cpp).
  void Add(uint64_t op_id, std::span<const Input> outputs);

 private:
  // Identities are addresses, which are never said to be free; beyond this
  // many all are forgotten.
  static constexpr size_t kMost = 1u << 16;

  mutable std::mutex mutex_;
  std::unordered_map<const void*, Producer> producers_;
};

enum class SequenceWords {
  kSame,             // ", seq = N" for all, as PyTorch does today
  kStashedBackward,  // ", stashed seq = N" for backward, as it once did
};

// `producers` may be null: then input_op_ids are not said.
std::string EmittedName(const OperationView& operation,
                        const Producers* producers, SequenceWords words);

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_LIBRARY_EMIT_TEXT_H_
