#include "exporters/tensorboard/xspace/event_bytes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exporters/tensorboard/xspace/device_details.h"
#include "profiler/base/strings.h"
#include "profiler/events/trace_events.h"
#include "profiler/model/op_inputs.h"
#include "profiler/model/shadowed_args.h"
#include "profiler/text/utf8.h"

namespace kymo::tensorboard {
namespace {

using model::ActivityType;
using model::Arg;
using model::ArgType;
using model::Detail;
using model::EventIndex;
using proto::ProtoWriter;

// A flow's two lowest bits.
constexpr uint64_t kFlowIn = 1;
constexpr uint64_t kFlowOut = 2;
// Ids of asynchronous ranges, apart from those of other flows.
constexpr uint64_t kAsyncIds = uint64_t{1} << 40;

// "float[64,32], int[8]": XProf's form. What is no tensor has no shape.
std::string ShapeText(std::string_view encoded) {
  std::string text;
  const auto add = [&](const model::OpInput& tensor) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    ToAbsl(DTypeName(tensor.dtype)), "[",
                    absl::StrJoin(tensor.sizes, ","), "]");
  };
  for (const model::OpInput& input : model::DecodeInputs(encoded)) {
    if (input.is_tensor()) add(input);
    for (const model::OpInput& tensor : input.tensors) add(tensor);
  }
  return text;
}

// "file:line" of the innermost frame that has one.
std::string SourceText(const model::Trace& trace, model::StackId stack) {
  for (; stack != model::kEmptyStack; stack = trace.stacks().parent(stack)) {
    const model::Frame& frame =
        trace.stacks().frame(trace.stacks().leaf(stack));
    if (frame.file == model::kEmptyName) continue;
    return absl::StrCat(ToAbsl(trace.Name(frame.file)), ":", frame.line);
  }
  return "";
}

// A frame a line, innermost first.
std::string StackText(const model::Trace& trace, model::StackId stack) {
  std::string text;
  for (; stack != model::kEmptyStack; stack = trace.stacks().parent(stack)) {
    absl::StrAppend(
        &text, text.empty() ? "" : "\n",
        FrameText(trace, trace.stacks().frame(trace.stacks().leaf(stack))));
  }
  return text;
}

// Viewers make JSON of it, which has no other numbers than finite ones.
void AppendDouble(StatWriter& stats, uint64_t key, double value) {
  if (std::isfinite(value)) {
    stats.Double(key, value);
  } else {
    stats.String(key, std::isnan(value) ? "NaN"
                      : value > 0       ? "Infinity"
                                        : "-Infinity");
  }
}

}  // namespace

void EventBytes::InternTexts(EventIndex begin, EventIndex end) {
  const auto intern = [&](const std::string& text) -> uint64_t {
    return text.empty() ? 0 : ids_.Intern(text);
  };
  for (EventIndex i = begin; i < end; ++i) {
    const Detail* const detail = trace_.detail(i);
    if (detail == nullptr) continue;
    if (ids_.interned_bytes() > kMaxInternedBytes) return;
    if (detail->inputs != model::kEmptyName) {
      const auto [it, is_new] = shapes_.try_emplace(Index(detail->inputs), 0);
      if (is_new) it->second = intern(ShapeText(trace_.Name(detail->inputs)));
    }
    if (detail->stack != model::kEmptyStack) {
      const auto [it, is_new] = stacks_.try_emplace(Index(detail->stack));
      if (is_new) {
        it->second = {intern(SourceText(trace_, detail->stack)),
                      intern(StackText(trace_, detail->stack))};
      }
    }
    intern(OperationText(i));
    intern(DetailsText(i));
  }
}

std::string EventBytes::DetailsText(EventIndex event) const {
  switch (trace_.type()[event]) {
    case ActivityType::kConcurrentKernel:
      return KernelDetails(trace_, event);
    case ActivityType::kGpuMemcpy:
      return CopyDetails(trace_, event);
    case ActivityType::kGpuMemset:
      return FillDetails(trace_, event);
    default:
      return "";
  }
}

std::string EventBytes::OperationText(EventIndex event) const {
  if (context_.launches.LauncherOf(event) == model::kNoEvent) return "";
  const EventIndex operation = context_.launches.OperationOf(event);
  if (operation == model::kNoEvent) return "";
  return context_.operations.Get(trace_.name()[operation]);
}

void EventBytes::AppendFullEvent(std::string& out, EventIndex event,
                                 uint64_t id, uint64_t start_ps,
                                 uint64_t end_ps) const {
  ProtoWriter writer(out);
  const size_t begin = writer.Begin(schema::XLine::kEventsFieldNumber);
  writer.Uint(schema::XEvent::kMetadataIdFieldNumber, id);
  writer.Uint(schema::XEvent::kOffsetPsFieldNumber, start_ps);
  // Statistics of kernels leave out what took less than a nanosecond.
  const bool is_activity = special_ != ActivityType::kCpuOp &&
                           !(trace_.flags()[event] & model::kEventInstant);
  if (is_activity) end_ps = std::max(end_ps, start_ps + TimeBase::kPsPerNs);
  if (end_ps != start_ps) {
    writer.Uint(schema::XEvent::kDurationPsFieldNumber, end_ps - start_ps);
  }

  StatWriter stats(out, StatWriter::kOfEvent);
  AppendStep(stats, event);
  AppendFlow(stats, event);
  AppendLaunch(stats, event);
  if (const Detail* const detail = trace_.detail(event)) {
    if (detail->correlation_id != 0 &&
        !analysis::HasLaunchId(trace_.type()[event])) {
      stats.Uint(ids_.Stat(StatName::kExternalId), detail->correlation_id);
    }
    AppendRecorded(stats, *detail);
    AppendGiven(stats, event);
    if (trace_.flags()[event] & model::kEventFolded) {
      stats.Uint(ids_.Stat(StatName::kFolded), trace_.rare(*detail).calls);
    }
  }
  if (trace_.flags()[event] & model::kEventOpen) {
    stats.Int(ids_.Stat(StatName::kFinished), 0);
  }
  writer.End(begin);
}

void EventBytes::AppendStep(StatWriter& stats, EventIndex event) const {
  const std::optional<int64_t> number =
      context_.steps.Number(trace_.name()[event]);
  if (!number) return;
  stats.Int(ids_.Stat(StatName::kRoot), 1);
  stats.Int(ids_.Stat(StatName::kStepNum), *number);
}

void EventBytes::AppendFlow(StatWriter& stats, EventIndex event) const {
  if (trace_.flags()[event] & model::kEventAsync) {
    stats.Int(ids_.Stat(StatName::kAsync), 1);
    stats.Uint(ids_.Stat(StatName::kFlow),
               (kAsyncIds + event) << 2 | kFlowIn | kFlowOut);
  } else if (!context_.flows.empty() && context_.flows[event].id != 0) {
    const timeline::FlowEnd& end = context_.flows[event];
    stats.Uint(ids_.Stat(StatName::kFlow),
               uint64_t{end.id} << 2 | (end.is_start ? kFlowOut : kFlowIn));
  }
}

void EventBytes::AppendLaunch(StatWriter& stats, EventIndex event) const {
  const ActivityType type = trace_.type()[event];
  // XProf takes every event with a launch's id or an operation for computing. A
  // device that waits does not compute, so it gets neither.
  if (!analysis::HasLaunchId(type) || analysis::IsWait(type)) return;
  const Detail* const detail = trace_.detail(event);
  if (detail != nullptr && detail->correlation_id != 0) {
    stats.Uint(ids_.Stat(StatName::kCorrelationId),
               context_.launches.FileId(event));
  }
  if (analysis::IsRuntimeCall(type)) {
    const auto device = context_.launch_devices.find(event);
    if (device != context_.launch_devices.end()) {
      stats.Int(ids_.Stat(StatName::kDeviceId), device->second);
    }
    return;
  }
  AppendText(stats, StatName::kTfOp, OperationText(event));
  AppendText(stats,
             type == ActivityType::kConcurrentKernel ? StatName::kKernelDetails
             : type == ActivityType::kGpuMemcpy      ? StatName::kMemcpyDetails
                                                     : StatName::kMemsetDetails,
             DetailsText(event));
}

void EventBytes::AppendText(StatWriter& stats, StatName name,
                            const std::string& text) const {
  if (text.empty()) return;
  if (const std::optional<uint64_t> id = ids_.Find(text)) {
    stats.Ref(ids_.Stat(name), ids_.Text(*id));
  } else {
    std::string scratch;
    stats.String(ids_.Stat(name), json::ToUtf8(text, scratch));
  }
}

void EventBytes::AppendRecorded(StatWriter& stats, const Detail& detail) const {
  if (detail.sequence_nr >= 0) {
    stats.Int(ids_.Stat(StatName::kSequenceNumber), detail.sequence_nr);
    stats.Uint(ids_.Stat(StatName::kForwardThread),
               trace_.rare(detail).forward_thread);
  }
  const auto add = [&](StatName name, uint64_t text) {
    if (text != 0) stats.Ref(ids_.Stat(name), ids_.Text(text));
  };
  if (detail.inputs != model::kEmptyName) {
    const auto known = shapes_.find(Index(detail.inputs));
    if (known != shapes_.end()) {
      add(StatName::kShape, known->second);
    } else {
      AppendText(stats, StatName::kShape,
                 ShapeText(trace_.Name(detail.inputs)));
    }
  }
  if (detail.stack != model::kEmptyStack) {
    const auto known = stacks_.find(Index(detail.stack));
    if (known != stacks_.end()) {
      add(StatName::kSource, known->second.source);
      add(StatName::kSourceStack, known->second.stack);
    } else {
      AppendText(stats, StatName::kSource, SourceText(trace_, detail.stack));
      AppendText(stats, StatName::kSourceStack,
                 StackText(trace_, detail.stack));
    }
  }
}

void EventBytes::AppendGiven(StatWriter& stats, EventIndex event) const {
  model::ForEachLastArg(trace_.args(event), [&](const Arg& arg) {
    const uint64_t key = ids_.Key(arg.key);
    switch (arg.type) {
      case ArgType::kInt:
        stats.Int(key, arg.int_value());
        break;
      case ArgType::kDouble:
        AppendDouble(stats, key, arg.double_value());
        break;
      case ArgType::kString:
      case ArgType::kJson:
        stats.Ref(key, ids_.Text(arg.string_value()));
        break;
    }
  });
}

}  // namespace kymo::tensorboard
