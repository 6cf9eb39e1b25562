#include "exporters/perfetto/event_args.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "exporters/perfetto/trace.pb.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/flops.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/shadowed_args.h"
#include "profiler/text/utf8.h"

namespace kymo::perfetto {
namespace {

using model::Arg;
using model::ArgType;
using model::Detail;
using model::EventIndex;
using model::NameId;
using schema::DebugAnnotation;
using schema::TrackEvent;

constexpr uint32_t Bit(Key key) {
  return uint32_t{1} << static_cast<uint32_t>(key);
}

void AppendArg(proto::ProtoWriter& event, const Arg& arg) {
  const size_t begin = event.Begin(TrackEvent::kDebugAnnotationsFieldNumber);
  event.Uint(DebugAnnotation::kNameIidFieldNumber, KeyId(arg.key));
  if (arg.type == ArgType::kInt) {
    event.Int(DebugAnnotation::kIntValueFieldNumber, arg.int_value());
  } else if (arg.type == ArgType::kDouble) {
    event.Double(DebugAnnotation::kDoubleValueFieldNumber, arg.double_value());
  } else {  // text, or text that is JSON
    event.Uint(DebugAnnotation::kStringValueIidFieldNumber,
               TextId(arg.string_value()));
  }
  event.End(begin);
}

}  // namespace

// Those of our own keys, on their way into a TrackEvent.
class EventArgs::Annotations {
 public:
  // Keys whose bit is in `given` are left to the program's arguments.
  Annotations(proto::ProtoWriter& event, uint32_t given)
      : event_(event), given_(given) {}

  void AddUint(Key key, uint64_t value) {
    Add(key, DebugAnnotation::kUintValueFieldNumber, value);
  }
  void AddInt(Key key, int64_t value) {
    Add(key, DebugAnnotation::kIntValueFieldNumber,
        static_cast<uint64_t>(value));
  }
  void AddFalse(Key key) {
    Add(key, DebugAnnotation::kBoolValueFieldNumber, 0);
  }
  void AddStringId(Key key, uint64_t id) {
    Add(key, DebugAnnotation::kStringValueIidFieldNumber, id);
  }
  void AddString(Key key, std::string_view text) {
    if (given_ & Bit(key)) return;
    std::string scratch;
    const size_t begin = event_.Begin(TrackEvent::kDebugAnnotationsFieldNumber);
    event_.Uint(DebugAnnotation::kNameIidFieldNumber, KeyId(key));
    event_.String(DebugAnnotation::kStringValueFieldNumber,
                  json::ToUtf8(text, scratch));
    event_.End(begin);
  }

 private:
  void Add(Key key, uint32_t field, uint64_t value) {
    if (given_ & Bit(key)) return;
    const size_t begin = event_.Begin(TrackEvent::kDebugAnnotationsFieldNumber);
    event_.Uint(DebugAnnotation::kNameIidFieldNumber, KeyId(key));
    event_.Uint(field, value);
    event_.End(begin);
  }

  proto::ProtoWriter& event_;
  const uint32_t given_;
};

EventArgs::EventArgs(const model::Trace& trace)
    : trace_(trace), modules_(trace) {
  const auto& details = trace.data().details;
  const bool has_inputs = std::any_of(
      details.begin(), details.end(),
      [](const Detail& d) { return d.inputs != model::kEmptyName; });
  if (has_inputs) {
    flops_ = EstimateFlops(trace, FlopsRegistry::Process()).flops;
  }
  for (size_t i = 0; i < static_cast<size_t>(Key::kCount); ++i) {
    const Key key = static_cast<Key>(i);
    const std::optional<NameId> name = trace.strings().Find(KeyText(key));
    if (name) own_keys_.emplace_back(*name, key);
  }
}

uint32_t EventArgs::GivenKeys(EventIndex event) const {
  uint32_t given = 0;
  if (own_keys_.empty()) return given;
  for (const Arg& arg : trace_.args(event)) {
    for (const auto& [name, key] : own_keys_) {
      if (arg.key == name) given |= Bit(key);
    }
  }
  return given;
}

void EventArgs::Append(proto::ProtoWriter& writer, EventIndex event) const {
  Annotations to(writer, GivenKeys(event));
  const Detail* const detail = trace_.detail(event);
  if (detail != nullptr) {
    if (detail->stack != model::kEmptyStack) {
      writer.Uint(TrackEvent::kCallstackIidFieldNumber,
                  CallstackId(detail->stack));
    }
    AppendRecorded(to, event, *detail);
  }
  model::ForEachLastArg(trace_.args(event),
                        [&](const Arg& arg) { AppendArg(writer, arg); });
  if (modules_.Has(event)) {
    to.AddString(Key::kModuleHierarchy, modules_.Text(event));
  }
  if (trace_.flags()[event] & model::kEventOpen) to.AddFalse(Key::kFinished);
}

void EventArgs::AppendRecorded(Annotations& to, EventIndex event,
                               const Detail& detail) const {
  if (detail.correlation_id != 0) {
    to.AddUint(analysis::HasLaunchId(trace_.type()[event]) ? Key::kCorrelation
                                                           : Key::kExternalId,
               detail.correlation_id);
  }
  if (detail.inputs != model::kEmptyName) {
    static constexpr std::pair<Key, InputText> kTexts[] = {
        {Key::kConcreteInputs, InputText::kConcrete},
        {Key::kInputType, InputText::kTypes},
        {Key::kInputStrides, InputText::kStrides},
        {Key::kInputDims, InputText::kDims}};
    for (const auto& [key, which] : kTexts) {
      to.AddStringId(key, InputTextId(detail.inputs, which));
    }
  }
  if (!flops_.empty() && flops_[event] != 0) {
    to.AddInt(Key::kFlops, flops_[event]);
  }
  if (detail.sequence_nr >= 0) {
    to.AddInt(Key::kSequenceNumber, detail.sequence_nr);
    to.AddUint(Key::kFwdThreadId, trace_.rare(detail).forward_thread);
  }
  if (detail.stack != model::kEmptyStack) {
    to.AddStringId(Key::kCallStack, StackTextId(detail.stack));
  }
  if (trace_.flags()[event] & model::kEventFolded) {
    to.AddUint(Key::kFolded, trace_.rare(detail).calls);
  }
}

}  // namespace kymo::perfetto
