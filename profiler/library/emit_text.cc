#include "profiler/library/emit_text.h"

namespace kymo::internal {
namespace {

// Calls visit(sizes, identity) for each entry that the inputs stand for.
template <typename Visit>
void ForEachEntry(std::span<const Input> inputs, Visit visit) {
  for (const Input& input : inputs) {
    const std::span<const int64_t> none;
    if (input.kind == InputKind::kTensor) {
      visit(input.tensor.sizes.values(), input.identity());
    } else if (input.kind == InputKind::kTensorList && input.count != 0) {
      for (const TensorMeta& tensor :
           std::span(static_cast<const TensorMeta*>(input.data), input.count)) {
        visit(tensor.sizes.values(), tensor.identity);
      }
    } else {
      visit(none, static_cast<const void*>(nullptr));
    }
  }
}

void AppendSizes(std::string& text, std::span<const Input> inputs) {
  text += ", sizes = [";
  const char* separator = "";
  ForEachEntry(inputs, [&](std::span<const int64_t> sizes, const void*) {
    text += separator;
    separator = ", ";
    text += '[';
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i != 0) text += ", ";
      text += std::to_string(sizes[i]);
    }
    text += ']';
  });
  text += ']';
}

void AppendProducers(std::string& text, std::span<const Input> inputs,
                     const Producers& producers) {
  text += ", input_op_ids = [";
  const char* separator = "";
  ForEachEntry(inputs, [&](std::span<const int64_t>, const void* identity) {
    const Producer producer = producers.Find(identity);
    text += separator;
    separator = ", ";
    text += '(' + std::to_string(producer.op_id) + ',' +
            std::to_string(producer.output) + ')';
  });
  text += ']';
}

}  // namespace

Producer Producers::Find(const void* identity) const {
  if (identity == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const auto found = producers_.find(identity);
  return found == producers_.end() ? Producer() : found->second;
}

void Producers::Add(uint64_t op_id, std::span<const Input> outputs) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const void* const identity =
        outputs[i].kind == InputKind::kTensor ? outputs[i].identity() : nullptr;
    if (identity == nullptr) continue;
    if (producers_.size() >= kMost) producers_.clear();
    producers_[identity] = {op_id, static_cast<int64_t>(i)};
  }
}

std::string EmittedName(const OperationView& operation,
                        const Producers* producers, SequenceWords words) {
  std::string text(operation.name);
  if (operation.sequence_nr >= 0) {
    const bool stashed = words == SequenceWords::kStashedBackward &&
                         operation.scope == RecordScope::kBackwardFunction;
    text += stashed ? ", stashed seq = " : ", seq = ";
    text += std::to_string(operation.sequence_nr);
  }
  if (operation.handle > 0) {
    text += ", op_id = " + std::to_string(operation.handle);
  }
  if (operation.inputs.empty()) return text;
  AppendSizes(text, operation.inputs);
  if (producers != nullptr) {
    AppendProducers(text, operation.inputs, *producers);
  }
  return text;
}

}  // namespace kymo::internal
