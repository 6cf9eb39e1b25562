#include "exporters/perfetto/interned.h"

#include <iterator>

#include "exporters/perfetto/packet_bytes.h"
#include "exporters/perfetto/trace.pb.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/trace_events.h"
#include "profiler/model/op_inputs.h"
#include "profiler/text/json_text.h"
#include "profiler/text/utf8.h"

namespace kymo::perfetto {
namespace {

using model::FrameId;
using model::NameId;
using model::StackId;
using proto::ProtoWriter;
using schema::Callstack;
using schema::Frame;
using schema::InternedData;
using schema::InternedText;
using schema::Mapping;
using schema::SourceLocation;
using schema::TracePacket;

// The uses of a name of the trace.
enum NameUse : uint8_t {
  kEventName = 1,
  kKey = 2,
  kText = 4,
  kInputs = 8,
  kFunction = 16,
  kSourcePath = 32,
  kMapping = 64,
};

// And a frame or a stack.
enum StackUse : uint8_t {
  kFramesSeen = 1,   // of a stack: those of all frames are marked
  kSampled = 2,      // shown as slices
  kOperation = 4,    // of a stack: an operation's
  kIsCallstack = 8,  // of a stack: somebody's whole one
};

constexpr std::string_view kKeyTexts[] = {
    "External id", "correlation",      "Concrete Inputs",
    "Input type",  "Input Strides",    "Input Dims",
    "flops",       "Sequence number",  "Fwd thread id",
    "Call stack",  "Module Hierarchy", "finished",
    "module",      "kymo_folded"};
static_assert(std::size(kKeyTexts) == static_cast<size_t>(Key::kCount));

void AddText(ProtoWriter& lists, uint32_t list, uint64_t id,
             std::string_view text) {
  std::string scratch;
  const size_t entry = lists.Begin(list);
  lists.Uint(InternedText::kIidFieldNumber, id);
  lists.String(InternedText::kTextFieldNumber, json::ToUtf8(text, scratch));
  lists.End(entry);
}

std::string MakeInputText(std::string_view encoded, InputText which) {
  switch (which) {
    case InputText::kConcrete:
      return json::JsonStringList(model::ConcreteInputs(encoded));
    case InputText::kTypes:
      return json::JsonStringList(model::InputDTypes(encoded));
    case InputText::kStrides:
      return model::InputStridesJson(encoded);
    case InputText::kDims:
      return model::InputDimsJson(encoded);
    case InputText::kCount:
      break;
  }
  return "";
}

}  // namespace

std::string_view KeyText(Key key) {
  return kKeyTexts[static_cast<size_t>(key)];
}

Interned::Interned(const model::Trace& trace)
    : trace_(trace),
      names_(trace.strings().size()),
      frames_(trace.stacks().frame_count()),
      stacks_(trace.stacks().stack_count()) {
  FindEventNames();
  FindDetails();
  FindSamples();
}

void Interned::FindEventNames() {
  for (const NameId name : trace_.name()) names_[Index(name)] |= kEventName;
}

void Interned::FindDetails() {
  for (const model::Detail& detail : trace_.data().details) {
    if (detail.inputs != model::kEmptyName) {
      names_[Index(detail.inputs)] |= kInputs;
    }
    if (detail.stack == model::kEmptyStack) continue;
    stacks_[Index(detail.stack)] |= kOperation | kIsCallstack;
    FindFrames(detail.stack, 0);
  }
  for (const model::Arg& arg : trace_.data().args) {
    names_[Index(arg.key)] |= kKey;
    if (arg.type != model::ArgType::kInt &&
        arg.type != model::ArgType::kDouble) {
      names_[Index(arg.string_value())] |= kText;
    }
  }
}

void Interned::FindSamples() {
  for (const model::StackSample& sample : trace_.samples()) {
    if (sample.stack == model::kEmptyStack) continue;
    stacks_[Index(sample.stack)] |= kIsCallstack;
    FindFrames(sample.stack, kSampled);
  }
}

// Marks the frames of a stack and the names that they need.
void Interned::FindFrames(StackId stack, uint8_t use) {
  const model::StackTable& stacks = trace_.stacks();
  const uint8_t seen = kFramesSeen | use;
  for (; stack != model::kEmptyStack && (stacks_[Index(stack)] & seen) != seen;
       stack = stacks.parent(stack)) {
    stacks_[Index(stack)] |= seen;
    const FrameId id = stacks.leaf(stack);
    const model::Frame& frame = stacks.frame(id);
    frames_[Index(id)] |= seen;
    names_[Index(frame.function)] |= kFunction;
    names_[Index(frame.module)] |= kMapping;
    if (frame.file != model::kEmptyName) {
      names_[Index(frame.file)] |= kSourcePath;
    }
    if (use & kSampled) {
      names_[Index(frame.function)] |= kEventName;
      names_[Index(frame.module)] |= kText;
    }
  }
}

size_t Interned::item_count() const {
  return 2 * names_.size() + frames_.size() + stacks_.size();
}

absl::Status Interned::Write(timeline::OrderedOutput& output) const {
  KYMO_RETURN_IF_ERROR(WriteKeys(output));
  KYMO_RETURN_IF_ERROR(
      WriteList(output, names_.size(),
                [this](ProtoWriter& lists, uint32_t i) { AddName(lists, i); }));
  KYMO_RETURN_IF_ERROR(WriteList(
      output, names_.size(),
      [this](ProtoWriter& lists, uint32_t i) { AddInputs(lists, i); }));
  KYMO_RETURN_IF_ERROR(WriteList(
      output, frames_.size(),
      [this](ProtoWriter& lists, uint32_t i) { AddFrame(lists, i); }));
  return WriteList(
      output, stacks_.size(),
      [this](ProtoWriter& lists, uint32_t i) { AddStack(lists, i); });
}

// Categories and keys of our own.
absl::Status Interned::WriteKeys(timeline::OrderedOutput& output) const {
  constexpr size_t kTypes = static_cast<size_t>(model::ActivityType::kCount);
  constexpr size_t kKeys = static_cast<size_t>(Key::kCount);
  return WriteList(output, kTypes + kKeys, [](ProtoWriter& lists, uint32_t i) {
    if (i < kTypes) {
      const auto type = static_cast<model::ActivityType>(i);
      AddText(lists, InternedData::kEventCategoriesFieldNumber,
              CategoryId(type), model::ActivityTypeName(type));
    } else {
      const Key key = static_cast<Key>(i - kTypes);
      AddText(lists, InternedData::kDebugAnnotationNamesFieldNumber, KeyId(key),
              KeyText(key));
    }
  });
}

// One packet per range of entries.
absl::Status Interned::WriteList(timeline::OrderedOutput& output, size_t n,
                                 const Add& add) const {
  return output.Run(n, [&](size_t begin, size_t end, std::string& out) {
    std::string entries;
    ProtoWriter lists(entries);
    for (size_t i = begin; i < end; ++i) add(lists, static_cast<uint32_t>(i));
    if (entries.empty()) return;
    ProtoWriter writer(out);
    const size_t packet = writer.Begin(schema::Trace::kPacketFieldNumber);
    writer.Uint(TracePacket::kTrustedPacketSequenceIdFieldNumber, kSequence);
    writer.Uint(TracePacket::kSequenceFlagsFieldNumber,
                TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    writer.String(TracePacket::kInternedDataFieldNumber, entries);
    writer.End(packet);
  });
}

void Interned::AddName(ProtoWriter& lists, uint32_t name) const {
  const uint8_t use = names_[name];
  if (use == 0) return;
  const NameId id{name};
  const std::string_view text = trace_.Name(id);
  if (use & kEventName) {
    AddText(lists, InternedData::kEventNamesFieldNumber, EventNameId(id), text);
  }
  if (use & kKey) {
    AddText(lists, InternedData::kDebugAnnotationNamesFieldNumber, KeyId(id),
            text);
  }
  if (use & kText) {
    AddText(lists, InternedData::kDebugAnnotationStringValuesFieldNumber,
            TextId(id), text);
  }
  const uint64_t number = uint64_t{name} + 1;
  if (use & kFunction) {
    AddText(lists, InternedData::kFunctionNamesFieldNumber, number, text);
  }
  if (use & kSourcePath) {
    AddText(lists, InternedData::kSourcePathsFieldNumber, number, text);
  }
  if (use & kMapping) {
    AddText(lists, InternedData::kMappingPathsFieldNumber, number, text);
    const size_t entry = lists.Begin(InternedData::kMappingsFieldNumber);
    lists.Uint(Mapping::kIidFieldNumber, number);
    lists.Uint(Mapping::kPathStringIdsFieldNumber, number);
    lists.End(entry);
  }
}

void Interned::AddInputs(ProtoWriter& lists, uint32_t name) const {
  if (!(names_[name] & kInputs)) return;
  const NameId id{name};
  for (size_t i = 0; i < static_cast<size_t>(InputText::kCount); ++i) {
    const InputText which = static_cast<InputText>(i);
    AddText(lists, InternedData::kDebugAnnotationStringValuesFieldNumber,
            InputTextId(id, which), MakeInputText(trace_.Name(id), which));
  }
}

void Interned::AddFrame(ProtoWriter& lists, uint32_t index) const {
  if (frames_[index] == 0) return;
  const FrameId id{index};
  const model::Frame& frame = trace_.stacks().frame(id);
  const size_t entry = lists.Begin(InternedData::kFramesFieldNumber);
  lists.Uint(Frame::kIidFieldNumber, FrameNumber(id));
  lists.Uint(Frame::kFunctionNameIdFieldNumber,
             uint64_t{Index(frame.function)} + 1);
  lists.Uint(Frame::kMappingIdFieldNumber, uint64_t{Index(frame.module)} + 1);
  lists.Uint(Frame::kRelPcFieldNumber, frame.address);
  if (frame.file != model::kEmptyName) {
    lists.Uint(Frame::kSourcePathIidFieldNumber,
               uint64_t{Index(frame.file)} + 1);
    lists.Uint(Frame::kLineNumberFieldNumber, frame.line);
  }
  lists.End(entry);
  if (!(frames_[index] & kSampled) || frame.file == model::kEmptyName) return;
  std::string scratch;
  const size_t place = lists.Begin(InternedData::kSourceLocationsFieldNumber);
  lists.Uint(SourceLocation::kIidFieldNumber, SourceLocationId(id));
  lists.String(SourceLocation::kFileNameFieldNumber,
               json::ToUtf8(trace_.Name(frame.file), scratch));
  lists.String(SourceLocation::kFunctionNameFieldNumber,
               json::ToUtf8(trace_.Name(frame.function), scratch));
  lists.Uint(SourceLocation::kLineNumberFieldNumber, frame.line);
  lists.End(place);
}

void Interned::AddStack(ProtoWriter& lists, uint32_t index) const {
  const StackId id{index};
  const model::StackTable& stacks = trace_.stacks();
  if (stacks_[index] & kIsCallstack) {
    const size_t entry = lists.Begin(InternedData::kCallstacksFieldNumber);
    lists.Uint(Callstack::kIidFieldNumber, CallstackId(id));
    for (const FrameId frame : stacks.Frames(id)) {
      lists.Uint(Callstack::kFrameIdsFieldNumber, FrameNumber(frame));
    }
    lists.End(entry);
  }
  if (!(stacks_[index] & kOperation)) return;
  std::string text;
  for (StackId at = id; at != model::kEmptyStack; at = stacks.parent(at)) {
    text += FrameText(trace_, stacks.frame(stacks.leaf(at)));
    text += ';';
  }
  AddText(lists, InternedData::kDebugAnnotationStringValuesFieldNumber,
          StackTextId(id), text);
}

}  // namespace kymo::perfetto
