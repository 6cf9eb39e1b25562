#include "importers/chrome/test_document.h"

#include "absl/strings/str_cat.h"
#include "importers/chrome/test_import.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"

namespace kymo::chrome_import {
namespace {

std::string ArgText(const model::Trace& trace, const model::Arg& arg) {
  const std::string key = absl::StrCat(" ", ToAbsl(trace.Name(arg.key)), "=");
  if (arg.type == model::ArgType::kDouble) {
    return absl::StrCat(key, "double ", arg.double_value());
  }
  if (!arg.has_text()) return absl::StrCat(key, arg.int_value());
  return absl::StrCat(key, arg.type == model::ArgType::kString ? "'" : "json ",
                      ToAbsl(trace.Name(arg.string_value())),
                      arg.type == model::ArgType::kString ? "'" : "");
}

std::string EventText(const model::Trace& trace, model::EventIndex i) {
  std::string text = absl::StrCat(
      "  ", i, " ", ToAbsl(trace.EventName(i)), " ", trace.start()[i], "-",
      trace.end()[i], " ", ToAbsl(model::ActivityTypeName(trace.type()[i])));
  if (trace.parent()[i] != model::kNoEvent) {
    absl::StrAppend(&text, " in ", trace.parent()[i]);
  }
  if (trace.flags()[i] != 0) {
    absl::StrAppend(&text, " flags ", trace.flags()[i]);
  }
  if (trace.scope()[i] != model::RecordScope::kFunction) {
    absl::StrAppend(&text, " scope ", static_cast<int>(trace.scope()[i]));
  }
  const model::Detail* const detail = trace.detail(i);
  if (detail == nullptr) return text + "\n";
  if (detail->correlation_id != 0) {
    absl::StrAppend(&text, " #", detail->correlation_id);
  }
  if (detail->sequence_nr >= 0) {
    absl::StrAppend(&text, " seq ", detail->sequence_nr, "/",
                    trace.rare(*detail).forward_thread);
  }
  if (detail->inputs != model::kEmptyName) {
    absl::StrAppend(&text, " inputs ", trace.Name(detail->inputs).size());
  }
  if (detail->stack != model::kEmptyStack) {
    absl::StrAppend(&text, " stack ", trace.stacks().depth(detail->stack));
  }
  for (const model::Arg& arg : trace.args(i)) text += ArgText(trace, arg);
  return text + "\n";
}

std::string TextOf(const Imported& got) {
  if (!got.status.ok()) return got.status.ToString();
  const model::Trace& trace = *got.trace;
  std::string text =
      absl::StrCat("window ", trace.start_ns(), "-", trace.end_ns(), "\n");
  for (const model::Process& process : trace.processes()) {
    absl::StrAppend(&text, "process ", process.pid, " ",
                    ToAbsl(trace.Name(process.name)), "\n");
  }
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    absl::StrAppend(
        &text, track.kind == model::TrackKind::kThread ? "thread " : "stream ",
        track.pid, "/", track.id, " device ", track.device_index, " '",
        ToAbsl(trace.Name(track.name)), "' logical ", track.logical_id, "\n");
    for (model::EventIndex i = trace.track_begin(t); i < trace.track_end(t);
         ++i) {
      text += EventText(trace, i);
    }
  }
  for (const model::CounterSample& counter : trace.counters()) {
    absl::StrAppend(&text, "counter ", counter.track, " ",
                    ToAbsl(trace.Name(counter.name)), " ", counter.time_ns, " ",
                    counter.value, "\n");
  }
  for (const model::MemoryRecord& record : trace.memory()) {
    absl::StrAppend(&text, "memory ", record.track, " ", record.time_ns, " ",
                    record.bytes, " at ", record.address, " event ",
                    static_cast<int>(record.event), " of ",
                    static_cast<int>(record.device_type), ":",
                    static_cast<int>(record.device_index), " total ",
                    record.total_allocated, "/", record.total_reserved,
                    " source ", static_cast<int>(record.source), " depth ",
                    trace.stacks().depth(record.stack), "\n");
  }
  for (const model::AllocationCounts& counts : trace.allocation_counts()) {
    absl::StrAppend(&text, "counts ", counts.track, " ", counts.allocations,
                    " ", counts.frees, " ", counts.allocated_bytes, "\n");
  }
  for (const model::StackSample& sample : trace.samples()) {
    absl::StrAppend(&text, "sample ", sample.track, " ", sample.time_ns, "+",
                    sample.weight_ns, " depth ",
                    trace.stacks().depth(sample.stack), "\n");
  }
  for (const model::Metadata& entry : trace.metadata()) {
    absl::StrAppend(&text, "metadata ", ToAbsl(trace.Name(entry.key)), "=",
                    ToAbsl(trace.Name(entry.json_value)), "\n");
  }
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    if (trace.ledger().Get(loss) == 0) continue;
    absl::StrAppend(&text, "lost ", ToAbsl(model::LossName(loss)), " ",
                    trace.ledger().Get(loss), "\n");
    for (const auto& [part, count] : trace.ledger().parts()) {
      if (part.loss != loss) continue;
      absl::StrAppend(&text, "  of ", part.of, " ", count, " ", part.what,
                      "\n");
    }
  }
  for (const ImportFinding& finding : got.findings) {
    absl::StrAppend(&text, "finding ", finding.rule, " ", finding.count, "\n");
  }
  return text;
}

}  // namespace

std::string TextOf(std::string_view document) {
  const Imported whole = ImportText(document);
  const Imported cut =
      ImportText(document, {.window_bytes = 700, .stretch_bytes = 1});
  EXPECT_EQ(TextOf(cut), TextOf(whole));
  for (const ImportFinding& finding : whole.findings) {
    EXPECT_EQ(cut.Offset(finding.rule), finding.first_offset) << finding.rule;
  }
  return TextOf(whole);
}

}  // namespace kymo::chrome_import
