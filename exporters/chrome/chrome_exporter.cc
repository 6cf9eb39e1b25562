#include "exporters/chrome/chrome_exporter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exporters/chrome/event_text.h"
#include "exporters/chrome/exact_records.h"
#include "exporters/chrome/memory_events.h"
#include "exporters/chrome/rows.h"
#include "exporters/chrome/wait_slices.h"
#include "exporters/timeline/bounded_file.h"
#include "exporters/timeline/flame_slices.h"
#include "exporters/timeline/ordered_output.h"
#include "exporters/timeline/short_slices.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/plugin/settings.h"
#include "profiler/text/json_text.h"

namespace kymo {
namespace {

using chrome::EventText;
using chrome::ExactRecords;
using chrome::MemoryEvents;
using chrome::Rows;
using model::StackSample;
using model::Trace;
using timeline::FileForm;
using timeline::FlameSlice;
using timeline::OrderedOutput;
using timeline::ShortSlices;

constexpr char kFileName[] = "trace.json";

struct ChromeSettings {
  int64_t memory_events = 1'000'000;  // -1: all
};

SettingTable<ChromeSettings> ChromeTable() {
  return SettingTable<ChromeSettings>(
      "chrome",
      {{.name = "memory_events",
        .value = setting::Integer(&ChromeSettings::memory_events, -1),
        .purpose = "Most records of the heap that are written one by one. Of "
                   "more there is only their sum over time, and so in a file "
                   "that is folded to stay within --max_size. -1 = all.",
        .old_name = "memory_events"}});
}

// The zero of the file's times, chosen as Kineto does, so that traces of one
// time align: whole periods since the epoch. Kineto's periods are quarters of a
// year. From the 51st day on, a time in us with three decimals needs more
// digits than a double has, and readers see ranges overlap by a nanosecond.
// Periods of 30 days stay below 2^42 us.
TimeNs BaseTime(const Trace& trace) {
  constexpr int64_t kPeriodSeconds = 30 * 86'400;
  const int64_t start_s = trace.start_ns() / kNsPerSecond;
  return start_s / kPeriodSeconds * kPeriodSeconds * kNsPerSecond;
}

// Members that this exporter writes itself.
bool IsReserved(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "schemaVersion",    "deviceProperties",
      "displayTimeUnit",  "baseTimeNanoseconds",
      "traceEvents",      "traceName",
      "kymo_loss_ledger", chrome::kHeapRecordsLeftOut};
  return key.starts_with(chrome::kExactRecords) ||
         std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

// `"key": value,\n`; a value that is not JSON becomes a string.
void AppendMember(std::string& out, std::string_view key,
                  std::string_view value) {
  json::AppendJsonString(out, key);
  out += ": ";
  json::AppendJsonOrString(out, value);
  out += ",\n";
}

// The value of a metadata key. If the trace repeats the key, the last counts.
std::optional<std::string_view> FindMetadata(const Trace& trace,
                                             std::string_view key) {
  std::optional<std::string_view> value;
  for (const model::Metadata& pair : trace.metadata()) {
    if (trace.Name(pair.key) == key) value = trace.Name(pair.json_value);
  }
  return value;
}

void AppendMetadata(std::string& out, const Trace& trace) {
  const auto metadata = trace.metadata();
  for (size_t i = 0; i < metadata.size(); ++i) {
    const bool is_last_of_key =
        i + 1 == metadata.size() || metadata[i + 1].key != metadata[i].key;
    const std::string_view key = trace.Name(metadata[i].key);
    if (!is_last_of_key || IsReserved(key)) continue;
    AppendMember(out, key, trace.Name(metadata[i].json_value));
  }
}

// The counters that are not zero, and their parts.
std::string LedgerJson(const model::LossLedger& ledger) {
  std::string json = "{";
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const model::Loss loss = static_cast<model::Loss>(i);
    if (ledger.Get(loss) == 0) continue;
    absl::StrAppend(&json, json.size() > 1 ? ", " : "", "\"",
                    ToAbsl(model::LossName(loss)), "\": ", ledger.Get(loss));
  }
  if (ledger.parts().empty()) return json + "}";
  const char* separator = ", \"parts\": [";
  for (const auto& [part, count] : ledger.parts()) {
    absl::StrAppend(&json, separator, "{\"loss\": \"",
                    ToAbsl(model::LossName(part.loss)), "\", \"of\": ");
    json::AppendJsonString(json, part.of);
    json += ", \"what\": ";
    json::AppendJsonString(json, part.what);
    absl::StrAppend(&json, ", \"count\": ", count, "}");
    separator = ", ";
  }
  return json + "]}";
}

// Everything before the elements of traceEvents.
std::string Head(const Trace& trace, const model::LossLedger& ledger,
                 const MemoryEvents& memory, TimeNs base_ns) {
  std::string out = "{\"schemaVersion\": 1,\n";
  AppendMember(out, "deviceProperties",
               FindMetadata(trace, "deviceProperties").value_or("[]"));
  AppendMetadata(out, trace);
  AppendMember(out, "kymo_loss_ledger", LedgerJson(ledger));
  memory.AppendMembers(out);
  absl::StrAppend(&out,
                  "\"displayTimeUnit\": \"ms\",\n"
                  "\"baseTimeNanoseconds\": ",
                  base_ns, ",\n\"traceEvents\": [\n");
  return out;
}

std::string RowNames(const Rows& rows, const EventText& text) {
  std::string out;
  for (const chrome::ProcessRow& row : rows.processes) {
    text.AppendProcess(out, row);
  }
  for (size_t t = 0; t < rows.tracks.size(); ++t) {
    if (rows.tracks[t].is_used) text.AppendThread(out, rows.tracks[t]);
    if (rows.waits[t].is_used) text.AppendThread(out, rows.waits[t]);
    if (rows.flames[t].is_used) text.AppendThread(out, rows.flames[t]);
  }
  return out;
}

// What a file that had to be folded does not show, beside ranges.
struct LeftOut {
  ShortSlices flames;
  ShortSlices waits;
  bool heap_records = false;
  bool records = false;  // some of each kind (FileForm::left_out)
};

// The samples of the thread that the first one is of.
std::span<const StackSample> OfFirstThread(
    std::span<const StackSample> samples) {
  const auto end = std::find_if(samples.begin(), samples.end(),
                                [&](const StackSample& sample) {
                                  return sample.track != samples.front().track;
                                });
  return {samples.begin(), end};
}

// Bytes that flame charts take at least. It does not count far beyond `enough`,
// and makes no slices where they cannot be so many.
uint64_t LeastFlameBytes(const Trace& trace, uint64_t enough) {
  constexpr uint64_t kLeastSliceBytes = 64;
  constexpr size_t kPartSamples = 256;
  const model::StackTable& stacks = trace.stacks();
  const auto frames_of = [&](const StackSample& sample) {
    return std::min(stacks.depth(sample.stack), timeline::kMaxFlameDepth);
  };
  uint64_t frames = 0;
  for (const StackSample& sample : trace.samples()) frames += frames_of(sample);
  if (frames * kLeastSliceBytes <= enough) return 0;
  uint64_t slices = 0;
  std::span<const StackSample> rest = trace.samples();
  while (!rest.empty() && slices * kLeastSliceBytes <= enough) {
    std::span<const StackSample> part = OfFirstThread(rest);
    part = part.first(std::min(part.size(), kPartSamples));
    rest = rest.subspan(part.size());
    const size_t made =
        timeline::MakeFlameSlices(stacks, part, timeline::SlicePeriodNs(trace))
            .size();
    // Those of the first sample may have begun in the part before it.
    slices += made - std::min<size_t>(made, frames_of(part.front()));
  }
  return slices * kLeastSliceBytes;
}

// Flame charts, one thread after the other.
absl::Status WriteSamples(const Trace& trace, const Rows& rows,
                          const EventText& text, OrderedOutput& output,
                          ShortSlices& flames) {
  const DurationNs period_ns = timeline::SlicePeriodNs(trace);
  std::span<const StackSample> rest = trace.samples();
  while (!rest.empty()) {
    const std::span<const StackSample> samples = OfFirstThread(rest);
    rest = rest.subspan(samples.size());
    const chrome::Row& row = rows.flames[samples.front().track];
    std::vector<FlameSlice> slices =
        timeline::MakeFlameSlices(trace.stacks(), samples, period_ns);
    flames.all += slices.size();
    flames.left_out += std::erase_if(slices, [&](const FlameSlice& slice) {
      return slice.end_ns - slice.start_ns < flames.shorter_than_ns;
    });
    KYMO_RETURN_IF_ERROR(output.Run(
        slices.size(), [&](size_t begin, size_t stop, std::string& out) {
          text.AppendSlices(out, row,
                            std::span(slices).subspan(begin, stop - begin));
        }));
  }
  return absl::OkStatus();
}

absl::Status WriteTrace(const Trace& trace, const FileForm& form,
                        const ExportOptions& options, int64_t max_heap_records,
                        LeftOut& left_out, ByteSink& sink) {
  left_out = {
      .flames = {.shorter_than_ns = timeline::LeastFlameNs(trace, form.fold)},
      .waits = {.shorter_than_ns = timeline::LeastWaitNs(trace, form.fold)},
      .records = form.left_out > 0};
  if (form.fold > 1) {
    // Folded ranges are elsewhere than what they allocated.
    left_out.heap_records = chrome::HeapFits(trace, max_heap_records) &&
                            !chrome::HeapFits(trace, 0);
    max_heap_records = 0;
  }
  const TimeNs base_ns = BaseTime(trace);
  const Rows rows(trace);
  const EventText text(trace, rows, base_ns);
  const bool with_heap = chrome::HeapFits(trace, max_heap_records);
  const ExactRecords exact(trace, rows, base_ns, with_heap);
  const MemoryEvents memory(trace, rows, exact, base_ns, with_heap);
  const chrome::WaitSlices waits(trace, rows, base_ns);
  const model::LossLedger ledger = timeline::LedgerOf(trace, form);
  KYMO_RETURN_IF_ERROR(sink.Append(Head(trace, ledger, memory, base_ns)));
  KYMO_RETURN_IF_ERROR(sink.Append(RowNames(rows, text)));

  OrderedOutput output(sink,
                       trace.event_count() + memory.item_count() +
                           trace.counters().size() + trace.samples().size() +
                           waits.item_count(),
                       options.progress);
  KYMO_RETURN_IF_ERROR(output.Run(
      trace.event_count(), [&](size_t begin, size_t end, std::string& out) {
        for (size_t i = begin; i < end; ++i) {
          text.AppendEvent(out, static_cast<model::EventIndex>(i));
        }
      }));
  KYMO_RETURN_IF_ERROR(memory.Write(output));
  KYMO_RETURN_IF_ERROR(output.Run(
      trace.counters().size(), [&](size_t begin, size_t end, std::string& out) {
        for (size_t i = begin; i < end; ++i) text.AppendCounter(out, i);
      }));
  KYMO_RETURN_IF_ERROR(waits.Write(output, left_out.waits));
  KYMO_RETURN_IF_ERROR(
      WriteSamples(trace, rows, text, output, left_out.flames));

  std::string tail;
  text.AppendMarks(tail);
  tail += "],\n";
  KYMO_RETURN_IF_ERROR(sink.Append(tail));
  KYMO_RETURN_IF_ERROR(exact.Write(sink));
  tail = "\"traceName\": ";
  json::AppendJsonString(tail, form.name);
  tail += "}\n";
  return sink.Append(tail);
}

void NoteLeftOut(const Trace& trace, const LeftOut& left_out,
                 const std::string& name, const ExportOptions& options) {
  if (options.notes == nullptr) return;
  if (left_out.flames.left_out > 0 && !left_out.records) {
    options.notes->notices.push_back(absl::StrCat(
        name, ": ", TextOf(left_out.flames, "slices of flame charts"),
        ", and the file has ",
        trace.sample_sums().empty()
            ? "every sample as numbers"
            : "the newest samples as numbers, and sums of the older ones"));
  }
  if (left_out.waits.left_out > 0 && !left_out.records) {
    options.notes->notices.push_back(
        absl::StrCat(name, ": ", TextOf(left_out.waits, "slices of waits"),
                     ", and the file has every wait as numbers"));
  }
  if (left_out.heap_records) {
    options.notes->notices.push_back(absl::StrCat(
        name,
        ": memory is shown as its sum over time, without each allocation, to "
        "stay within --max_size; 0 shows each of them"));
  }
}

class ChromeExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const ChromeSettings settings,
                          ChromeTable().Read(options.settings));
    LeftOut left_out;
    KYMO_ASSIGN_OR_RETURN(
        std::string name,
        timeline::WriteBounded(
            {.name = kFileName,
             .max_bytes = options.max_bytes,
             .keeps_ranges = options.keeps_ranges,
             .obeys_fold = !trace.samples().empty() ||
                           !chrome::HeapFits(trace, 0) ||
                           timeline::HasWaits(trace),
             .least_bytes = options.max_bytes == 0 || options.gzip
                                ? 0
                                : LeastFlameBytes(trace, options.max_bytes)},
            trace, options, out,
            [&](const Trace& shown, const FileForm& form, ByteSink& sink) {
              return WriteTrace(shown, form, options, settings.memory_events,
                                left_out, sink);
            }));
    if (options.progress) options.progress(1.0);
    if (name.empty()) return std::vector<std::string>();
    NoteLeftOut(trace, left_out, name, options);
    return std::vector<std::string>{std::move(name)};
  }

  HeapRecordNeed HeapRecordsNeeded(
      const ExportOptions& options) const override {
    const auto settings = ChromeTable().Read(options.settings);
    if (!settings.ok() || settings->memory_events < 0) {
      return {.option = "--chrome_memory_events=-1"};
    }
    return {.most = static_cast<uint64_t>(settings->memory_events)};
  }

 private:
  const PluginInfo info_ = {
      .name = "chrome",
      .purpose = "Chrome trace JSON in Kineto's dialect (trace.json)",
      .settings = ChromeTable().infos(),
      .splits_by_step = true,
      .takes_max_bytes = true,
      .files = timeline::NamesOf(kFileName),
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewChromeExporter() {
  return std::make_unique<ChromeExporter>();
}

}  // namespace kymo
