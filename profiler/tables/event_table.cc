#include <algorithm>
#include <optional>

#include "profiler/model/event_calls.h"
#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

using model::EventIndex;

// A member of the event's detail. Nothing if it is `none`, or if the event has
// no detail.
template <typename T>
std::optional<T> OfDetail(const Source& s, size_t row, T model::Detail::*member,
                          std::type_identity_t<T> none) {
  const model::Detail* const detail = s.detail(row);
  if (detail == nullptr) return std::nullopt;
  return Unless(detail->*member, none);
}

// The same of its rare fields.
template <typename T>
std::optional<T> OfRare(const Source& s, size_t row,
                        T model::RareDetail::*member,
                        std::type_identity_t<T> none) {
  const model::Detail* const detail = s.detail(row);
  if (detail == nullptr) return std::nullopt;
  return Unless(s.trace().rare(*detail).*member, none);
}

std::optional<TextId> InputsOf(const Source& s, size_t row, InputText which) {
  const auto inputs =
      OfDetail(s, row, &model::Detail::inputs, model::kEmptyName);
  if (!inputs) return std::nullopt;
  return s.texts().Input(which, *inputs);
}

bool Has(const Source& s, size_t row, model::EventFlag flag) {
  return (s.trace().flags()[row] & flag) != 0;
}

// Nothing if the column is empty: then nobody recorded it.
template <typename Values>
std::optional<int64_t> Recorded(const Values& values, size_t row) {
  return values.empty() ? std::nullopt : std::optional<int64_t>(values[row]);
}

bool HasNoStream(const Source& s) {
  return std::ranges::all_of(s.trace().tracks(), [](const auto& track) {
    return track.kind == model::TrackKind::kThread;
  });
}

bool IsThread(const Source& s, size_t row) {
  return s.track_of(row).kind == model::TrackKind::kThread;
}

constexpr Column kColumns[] = {
    Define("id", "Number of the event",
           [](const Source&, size_t row) { return row; }),
    Define("track_id", "The line of the timeline that it is on",
           [](const Source& s, size_t row) { return s.trace().track()[row]; })
        .Of("tracks.id"),
    Define("parent_id", "The innermost range around it, on its track",
           [](const Source& s, size_t row) {
             return Unless(s.trace().parent()[row], model::kNoEvent);
           })
        .Of("events.id"),
    DefineFrom(
        "depth", "How many ranges of its track are around it",
        [](const Source& s) -> const auto& { return s.depth(); },
        [](const auto& depth, size_t row) { return depth[row]; }),
    Define("name", "Name of the operation, kernel or mark",
           [](const Source& s, size_t row) { return s.trace().name()[row]; }),
    Define("category",
           "Kineto's category: cpu_op, user_annotation, kernel, ...",
           [](const Source& s, size_t row) {
             return s.texts().category(s.trace().type()[row]);
           }),
    Define("start_ns", "When it began, since the epoch",
           [](const Source& s, size_t row) { return s.trace().start()[row]; })
        .In("ns"),
    Define("dur_ns", "How long it lasted; 0 of an instant",
           [](const Source& s, size_t row) {
             return s.trace().end()[row] - s.trace().start()[row];
           })
        .In("ns"),
    DefineFrom(
        "self_ns", "dur_ns without that of its direct children",
        [](const Source& s) -> const auto& { return s.self_ns(); },
        [](const auto& self_ns, size_t row) { return self_ns[row]; })
        .In("ns"),
    DefineFrom(
        "step",
        "The step of its process in which it began or, on a device, was "
        "launched",
        [](const Source& s) -> const auto& { return s.step(); },
        [](const auto& step, size_t row) { return Unless(step[row], kNoStep); })
        .EmptyIf([](const Source& s) { return s.steps().empty(); }),
    Define("pid", "The process's id",
           [](const Source& s, size_t row) { return s.track_of(row).pid; }),
    Define("tid", "The thread's id; NULL on a device",
           [](const Source& s, size_t row) {
             return IsThread(s, row) ? std::optional(s.track_of(row).id)
                                     : std::nullopt;
           }),
    Define("device", "The device's number; NULL on a thread",
           [](const Source& s, size_t row) {
             return IsThread(s, row)
                        ? std::nullopt
                        : std::optional(s.track_of(row).device_index);
           })
        .EmptyIf(HasNoStream),
    Define("stream", "The device's stream; NULL on a thread",
           [](const Source& s, size_t row) {
             return IsThread(s, row) ? std::nullopt
                                     : std::optional(s.track_of(row).id);
           })
        .EmptyIf(HasNoStream),
    Define("is_instant", "It is a point in time",
           [](const Source& s, size_t row) {
             return Has(s, row, model::kEventInstant);
           }),
    Define("is_open", "It had not ended when the recording ended",
           [](const Source& s, size_t row) {
             return Has(s, row, model::kEventOpen);
           }),
    Define("is_async",
           "It ended elsewhere than it began: no parent, no children",
           [](const Source& s, size_t row) {
             return Has(s, row, model::kEventAsync);
           }),
    Define("is_module", "It is a module of the program",
           [](const Source& s, size_t row) {
             return Has(s, row, model::kEventModule);
           }),
    Define("is_repeated",
           "The trace is a window of a larger one, and the event counts in an "
           "earlier window",
           [](const Source& s, size_t row) {
             return Has(s, row, model::kEventRepeated);
           }),
    DefineFrom(
        "is_duplicate",
        "In traces of PyTorch: the only child of a range of its name, which "
        "key_averages() counts as one with it",
        [](const Source& s) -> const auto& { return s.is_duplicate(); },
        [](const auto& is_duplicate, size_t row) {
          return !is_duplicate.empty() && is_duplicate[row] != 0;
        }),
    Define("calls",
           "For how many ranges it stands; more than 1 only in files that were "
           "folded",
           [](const Source& s, size_t row) {
             return model::Calls(s.trace(), static_cast<EventIndex>(row));
           }),
    Define("scope", "PyTorch's RecordScope: 0 function, 1 backward, 7 user",
           [](const Source& s, size_t row) {
             return static_cast<int>(s.trace().scope()[row]);
           }),
    Define("correlation_id",
           "Links calls of a device's runtime to the work that they launched",
           [](const Source& s, size_t row) {
             return OfDetail(s, row, &model::Detail::correlation_id, 0);
           })
        .EmptyIf(
            [](const Source& s) { return !s.details_have().correlation_id; }),
    Define("sequence_nr", "Links backward to forward operations",
           [](const Source& s, size_t row) {
             return OfDetail(s, row, &model::Detail::sequence_nr, -1);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().sequence_nr; }),
    Define("forward_thread",
           "Of a backward operation: the forward one's thread, by logical_id",
           [](const Source& s, size_t row) {
             return OfRare(s, row, &model::RareDetail::forward_thread, 0);
           })
        .EmptyIf(
            [](const Source& s) { return !s.details_have().forward_thread; }),
    Define("debug_handle", "PyTorch's debug handle",
           [](const Source& s, size_t row) {
             return OfRare(s, row, &model::RareDetail::debug_handle, -1);
           })
        .EmptyIf(
            [](const Source& s) { return !s.details_have().debug_handle; }),
    Define("node_id", "The distributed node that the program gave it",
           [](const Source& s, size_t row) {
             return OfRare(s, row, &model::RareDetail::node_id, -1);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().node_id; }),
    Define("overload_name", "Overload of the operation: Tensor, out, ...",
           [](const Source& s, size_t row) {
             return OfDetail(s, row, &model::Detail::overload_name,
                             model::kEmptyName);
           })
        .EmptyIf(
            [](const Source& s) { return !s.details_have().overload_name; }),
    Define("input_shapes", "Sizes of the inputs, in JSON",
           [](const Source& s, size_t row) {
             return InputsOf(s, row, InputText::kDims);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().inputs; }),
    Define("input_strides", "Strides of the inputs, in JSON",
           [](const Source& s, size_t row) {
             return InputsOf(s, row, InputText::kStrides);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().inputs; }),
    Define("input_types", "Types of the inputs, in JSON",
           [](const Source& s, size_t row) {
             return InputsOf(s, row, InputText::kTypes);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().inputs; }),
    Define("concrete_inputs", "Values of the scalar inputs, in JSON",
           [](const Source& s, size_t row) {
             return InputsOf(s, row, InputText::kConcrete);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().inputs; }),
    Define("stack_id", "The calls in which it began",
           [](const Source& s, size_t row) -> std::optional<uint32_t> {
             const auto stack =
                 OfDetail(s, row, &model::Detail::stack, model::kEmptyStack);
             if (!stack) return std::nullopt;
             return Index(*stack);
           })
        .EmptyIf([](const Source& s) { return !s.details_have().stack; })
        .Of("stacks.id"),
    DefineFrom(
        "wait_ns",
        "For how long its thread waited in it; NULL if nobody recorded that",
        [](const Source& s) -> const auto& { return s.wait_ns(); },
        [](const auto& wait_ns, size_t row) {
          return wait_ns.empty() || wait_ns[row] < 0
                     ? std::nullopt
                     : std::optional<int64_t>(wait_ns[row]);
        })
        .In("ns")
        .EmptyIf([](const Source& s) { return s.wait_ns().empty(); }),
    DefineFrom(
        "cpu_memory_bytes",
        "Memory allocated less freed on the host while it was open",
        [](const Source& s) -> const auto& {
          return s.memory_usage().cpu_bytes;
        },
        [](const auto& bytes, size_t row) { return Recorded(bytes, row); })
        .In("bytes")
        .EmptyIf(
            [](const Source& s) { return s.memory_usage().cpu_bytes.empty(); }),
    DefineFrom(
        "device_memory_bytes", "The same on devices",
        [](const Source& s) -> const auto& {
          return s.memory_usage().device_bytes;
        },
        [](const auto& bytes, size_t row) { return Recorded(bytes, row); })
        .In("bytes")
        .EmptyIf([](const Source& s) {
          return s.memory_usage().device_bytes.empty();
        }),
    DefineFrom(
        "flops",
        "Floating-point operations by PyTorch's formulas; 0 if it has none",
        [](const Source& s) -> const auto& { return s.flops(); },
        [](const auto& flops, size_t row) { return flops[row]; }),
};

}  // namespace

Table EventsTable() {
  return {.name = "events",
          .meaning =
              "A range or instant: an operation, an annotation, a "
              "call of a runtime, or work of a device",
          .order = "track, start, parents before children",
          .example =
              "select name, count(*), sum(dur_ns), sum(self_ns) "
              "from events group by name order by 4 desc limit 10",
          .columns = kColumns,
          .row_count = [](const Source& s) { return s.trace().event_count(); }};
}

}  // namespace kymo::tables
