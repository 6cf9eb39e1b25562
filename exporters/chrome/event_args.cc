#include "exporters/chrome/event_args.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "profiler/model/activity_type.h"
#include "profiler/model/event_calls.h"
#include "profiler/model/shadowed_args.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {
namespace {

using model::ActivityType;
using model::Arg;
using model::ArgType;
using model::Detail;
using model::EventIndex;
using model::NameId;

enum class Key : uint8_t {
  kExternalId,
  kRecordFunctionId,
  kConcreteInputs,
  kInputType,
  kInputStrides,
  kInputDims,
  kSequenceNumber,
  kFwdThreadId,
  kCallStack,
  kModuleHierarchy,
  kDevice,
  kStream,
  kCorrelation,
  kFinished,
  kFolded,
  kEvIdx,
};

constexpr std::string_view kKeyTexts[] = {
    "External id",   "Record function id", "Concrete Inputs", "Input type",
    "Input Strides", "Input Dims",         "Sequence number", "Fwd thread id",
    "Call stack",    "Module Hierarchy",   "device",          "stream",
    "correlation",   "finished",           "kymo_folded",     "Ev Idx"};

constexpr uint32_t Bit(Key key) {
  return uint32_t{1} << static_cast<uint32_t>(key);
}

}  // namespace

// Appends the object's text to `out`.
class EventArgs::Members {
 public:
  // Keys whose bit is in `given` are left to the program's arguments.
  Members(std::string& out, uint32_t given) : out_(out), given_(given) {}
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  ~Members() {
    if (separator_ == ",") out_ += '}';
  }

  // Where the next member's text goes.
  std::string& Next() {
    out_ += separator_;
    separator_ = ",";
    return out_;
  }
  // Where the value of `key` goes; null: nowhere.
  std::string* Next(Key key) {
    if (given_ & Bit(key)) return nullptr;
    Next() += '"';
    out_ += kKeyTexts[static_cast<size_t>(key)];
    out_ += "\":";
    return &out_;
  }
  void Add(Key key, std::string_view json) {
    if (std::string* const out = Next(key)) *out += json;
  }
  void Add(Key key, uint64_t number) {
    if (std::string* const out = Next(key)) json::AppendUint(*out, number);
  }

 private:
  std::string& out_;
  std::string_view separator_ = ",\"args\":{";
  const uint32_t given_;
};

EventArgs::EventArgs(const model::Trace& trace, const EscapedNames& names,
                     const analysis::Launches& launches)
    : trace_(trace),
      names_(names),
      launches_(launches),
      inputs_(trace),
      stacks_(trace),
      modules_(trace) {
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    const Detail* const detail = trace.detail(i);
    if (detail != nullptr && detail->correlation_id != 0 && IsOperation(i)) {
      has_operation_ids_ = true;
      break;
    }
  }
  has_streams_ = std::any_of(trace.tracks().begin(), trace.tracks().end(),
                             [](const auto& track) {
                               return track.kind == model::TrackKind::kStream;
                             });
  for (size_t i = 0; i < std::size(kKeyTexts); ++i) {
    const std::optional<NameId> name = trace.strings().Find(kKeyTexts[i]);
    if (name) own_keys_.emplace_back(*name, Bit(static_cast<Key>(i)));
  }
}

bool EventArgs::IsOperation(EventIndex event) const {
  const ActivityType type = trace_.type()[event];
  return (type == ActivityType::kCpuOp ||
          type == ActivityType::kUserAnnotation) &&
         !(trace_.flags()[event] & model::kEventInstant);
}

uint32_t EventArgs::GivenKeys(EventIndex event) const {
  uint32_t given = 0;
  if (own_keys_.empty()) return given;
  for (const Arg& arg : trace_.args(event)) {
    for (const auto& [name, bit] : own_keys_) {
      if (arg.key == name) given |= bit;
    }
  }
  return given;
}

void EventArgs::Append(std::string& out, EventIndex event) const {
  Members members(out, GivenKeys(event));
  const Detail* const detail = trace_.detail(event);
  const bool has_more = detail != nullptr || modules_.Has(event) ||
                        IsOnStream(event) || MayBeNamed(event);
  if (has_more) AppendIds(members, event);
  if (detail != nullptr) AppendRecorded(members, *detail);
  AppendGiven(members, event);
  if (modules_.Has(event)) {
    std::string* const to = members.Next(Key::kModuleHierarchy);
    if (to != nullptr) json::AppendJsonString(*to, modules_.Text(event));
  }
  if (trace_.flags()[event] & model::kEventOpen) {
    members.Add(Key::kFinished, "false");
  }
  if (trace_.flags()[event] & model::kEventFolded) {
    members.Add(Key::kFolded, model::Calls(trace_, event));
  }
  if (has_more && IsOperation(event)) members.Add(Key::kEvIdx, event);
}

void EventArgs::AppendIds(Members& members, EventIndex event) const {
  if (analysis::HasLaunchId(trace_.type()[event])) {
    AppendDriverIds(members, event);
  } else if (const uint64_t id = OperationId(event)) {
    members.Add(Key::kExternalId, id);
  }
  if (IsOperation(event)) members.Add(Key::kRecordFunctionId, "0");
  if (IsOnStream(event)) {
    const model::Track& track = trace_.tracks()[trace_.track()[event]];
    if (std::string* const out = members.Next(Key::kDevice)) {
      json::AppendInt(*out, track.device_index);
    }
    if (std::string* const out = members.Next(Key::kStream)) {
      json::AppendInt(*out, track.id);
    }
  }
}

void EventArgs::AppendDriverIds(Members& members, EventIndex event) const {
  const Detail* const detail = trace_.detail(event);
  if (detail == nullptr || detail->correlation_id == 0) return;
  const EventIndex operation = launches_.OperationOf(event);
  if (operation != model::kNoEvent) {
    members.Add(Key::kExternalId, OperationId(operation));
  }
  members.Add(Key::kCorrelation, detail->correlation_id);
}

uint64_t EventArgs::OperationId(EventIndex event) const {
  const Detail* const detail = trace_.detail(event);
  if (has_operation_ids_ || !IsOperation(event)) {
    return detail != nullptr ? detail->correlation_id : 0;
  }
  return uint64_t{event} + 1;
}

void EventArgs::AppendRecorded(Members& members, const Detail& detail) const {
  if (detail.sequence_nr >= 0) {
    members.Add(Key::kSequenceNumber,
                static_cast<uint64_t>(detail.sequence_nr));
    members.Add(Key::kFwdThreadId, trace_.rare(detail).forward_thread);
  }
  if (detail.inputs != model::kEmptyName) {
    InputText scratch;
    const InputText& text = inputs_.Get(detail.inputs, scratch);
    members.Add(Key::kConcreteInputs, text.concrete);
    members.Add(Key::kInputType, text.types);
    members.Add(Key::kInputStrides, text.strides);
    members.Add(Key::kInputDims, text.dims);
  }
  if (detail.stack != model::kEmptyStack) {
    std::string* const to = members.Next(Key::kCallStack);
    if (to != nullptr) stacks_.Append(*to, detail.stack);
  }
}

// A whole number gets a point, so that it stays a double when it is read back.
static void AppendGivenDouble(std::string& out, double value) {
  const size_t begin = out.size();
  json::AppendDouble(out, value);
  if (out.find_first_not_of("-0123456789", begin) == out.npos) out += ".0";
}

void EventArgs::AppendGiven(Members& members, EventIndex event) const {
  model::ForEachLastArg(trace_.args(event), [&](const Arg& arg) {
    std::string& out = members.Next();
    names_.Append(out, arg.key);
    out += ':';
    switch (arg.type) {
      case ArgType::kInt:
        json::AppendInt(out, arg.int_value());
        break;
      case ArgType::kDouble:
        AppendGivenDouble(out, arg.double_value());
        break;
      case ArgType::kString:
        names_.Append(out, arg.string_value());
        break;
      case ArgType::kJson:
        json::AppendJsonOrString(out, trace_.Name(arg.string_value()));
        break;
    }
  });
}

}  // namespace kymo::chrome
