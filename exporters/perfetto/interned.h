// interned.h - names, values, frames and stacks that packets refer to by id.
//
//   const Interned interned(trace);
//   KYMO_RETURN_IF_ERROR(interned.Write(output));   // before any use
//   packet.Uint(event::kNameId, EventNameId(trace.name()[i]));
//
// An id is that of the trace's own table plus one, so that no table of ids has
// to be kept or filled in order: which entries are needed is found once, they
// are written once, and everything after may be written in parallel.
//
// Memory: a byte per string, frame and stack of the trace; texts are made while
//   they are written.
#ifndef KYMO_EXPORTERS_PERFETTO_INTERNED_H_
#define KYMO_EXPORTERS_PERFETTO_INTERNED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

// Keys of arguments that this exporter gives, in Kineto's words.
enum class Key : uint8_t {
  kExternalId,
  kCorrelation,
  kConcreteInputs,
  kInputType,
  kInputStrides,
  kInputDims,
  kFlops,
  kSequenceNumber,
  kFwdThreadId,
  kCallStack,
  kModuleHierarchy,
  kFinished,
  kModule,
  kCount,
};
std::string_view KeyText(Key key);

// The four texts of an operation's inputs; see model/op_inputs.h.
enum class InputText : uint8_t { kConcrete, kTypes, kStrides, kDims, kCount };

constexpr uint64_t CategoryId(model::ActivityType type) {
  return static_cast<uint64_t>(type) + 1;
}
// Also of the slice of a sampled function.
constexpr uint64_t EventNameId(model::NameId name) {
  return uint64_t{Index(name)} + 1;
}
constexpr uint64_t KeyId(Key key) { return static_cast<uint64_t>(key) + 1; }
constexpr uint64_t KeyId(model::NameId key) {
  return static_cast<uint64_t>(Key::kCount) + 1 + Index(key);
}

// Strings as values: texts of the trace, of inputs and of stacks share one
// space of ids.
inline constexpr uint64_t kValueKinds =
    static_cast<uint64_t>(InputText::kCount) + 2;
constexpr uint64_t TextId(model::NameId text) {
  return kValueKinds * Index(text) + 1;
}
constexpr uint64_t InputTextId(model::NameId inputs, InputText which) {
  return kValueKinds * Index(inputs) + 2 + static_cast<uint64_t>(which);
}
constexpr uint64_t StackTextId(model::StackId stack) {
  return kValueKinds * Index(stack) + kValueKinds;
}

constexpr uint64_t FrameNumber(model::FrameId frame) {
  return uint64_t{Index(frame)} + 1;
}
constexpr uint64_t SourceLocationId(model::FrameId frame) {
  return FrameNumber(frame);
}
constexpr uint64_t CallstackId(model::StackId stack) { return Index(stack); }

class Interned {
 public:
  // `trace` must outlive the object.
  explicit Interned(const model::Trace& trace);

  // For progress: what Write gives to its output.
  size_t item_count() const;
  absl::Status Write(timeline::OrderedOutput& output) const;

 private:
  // Adds the entry of an index to the lists, if it is needed.
  using Add = std::function<void(proto::ProtoWriter&, uint32_t)>;

  void FindEventNames();
  void FindDetails();
  void FindSamples();
  void FindFrames(model::StackId stack, uint8_t use);

  absl::Status WriteKeys(timeline::OrderedOutput& output) const;
  absl::Status WriteList(timeline::OrderedOutput& output, size_t n,
                         const Add& add) const;
  void AddName(proto::ProtoWriter& lists, uint32_t name) const;
  void AddInputs(proto::ProtoWriter& lists, uint32_t name) const;
  void AddFrame(proto::ProtoWriter& lists, uint32_t frame) const;
  void AddStack(proto::ProtoWriter& lists, uint32_t stack) const;

  const model::Trace& trace_;
  std::vector<uint8_t> names_;   // by NameId: what for
  std::vector<uint8_t> frames_;  // by FrameId
  std::vector<uint8_t> stacks_;  // by StackId
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_INTERNED_H_
