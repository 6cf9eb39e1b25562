// interned.h - names, values, frames and stacks that packets refer to by id.
//
//   const Interned interned(trace);
//   KYMO_RETURN_IF_ERROR(interned.Write(output));   // before any use of an id
//   packet.Uint(schema::TrackEvent::kNameIidFieldNumber,
//               EventNameId(trace.name()[i]));
//
// An id follows from the index in the trace's own table, so there is no table
// of ids to fill. The constructor finds the entries that packets need, and
// Write writes each of them once. After that, packets can be written in any
// order and on any thread.
//
// Memory: one byte for each string, frame and stack of the trace. Texts are
//   made while they are written.
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

// Keys of the arguments that this exporter adds; the texts are Kineto's,
// and of kFolded that of exporters/chrome/event_args.h.
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
  kFolded,
  kCount,
};
std::string_view KeyText(Key key);

// The four texts of an operation's inputs; see profiler/model/op_inputs.h.
enum class InputText : uint8_t { kConcrete, kTypes, kStrides, kDims, kCount };

constexpr uint64_t CategoryId(model::ActivityType type) {
  return static_cast<uint64_t>(type) + 1;
}
// The slice of a sampled function uses these ids too.
constexpr uint64_t EventNameId(model::NameId name) {
  return uint64_t{Index(name)} + 1;
}
constexpr uint64_t KeyId(Key key) { return static_cast<uint64_t>(key) + 1; }
constexpr uint64_t KeyId(model::NameId key) {
  return static_cast<uint64_t>(Key::kCount) + 1 + Index(key);
}

// Ids of strings that are values of arguments. Texts of the trace, of inputs
// and of stacks share one range of numbers.
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

  // The number of items that Write gives to `output`, for progress.
  size_t item_count() const;
  absl::Status Write(timeline::OrderedOutput& output) const;

 private:
  // Adds the entry at an index to the lists, if packets need it.
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
  // The uses of each entry; 0 if nothing needs it.
  std::vector<uint8_t> names_;   // by NameId
  std::vector<uint8_t> frames_;  // by FrameId
  std::vector<uint8_t> stacks_;  // by StackId
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_INTERNED_H_
