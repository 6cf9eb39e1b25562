#include "tools/report_command/check_report.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/thread_states.h"
#include "profiler/text/json_writer.h"
#include "profiler/text/text_cells.h"
#include "tools/report_command/check_trace.h"

namespace kymo::tools {
namespace {

using Severity = ImportFinding::Severity;

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

// "gemm at 1.500ms on stream 7 of process 1".
std::string EventPlace(const model::Trace& trace, model::EventIndex event) {
  if (event == model::kNoEvent) return "";
  const model::Track& track = trace.tracks()[trace.track()[event]];
  const double us =
      static_cast<double>(trace.start()[event] - trace.start_ns()) / kNsPerUs;
  return absl::StrCat(
      ToAbsl(trace.EventName(event)), " at ", report::FormatTime(us, ""),
      track.kind == model::TrackKind::kStream ? " on stream " : " on thread ",
      track.id, " of process ", track.pid);
}

// Databases have no bytes to name, and some findings are about a whole file.
std::string BytePlace(const ImportFinding& finding) {
  if (finding.first_offset == 0) return "";
  return absl::StrCat("byte ", finding.first_offset);
}

std::string Plural(size_t count, const char* word) {
  return absl::StrCat(count, " ", word, count == 1 ? "" : "s");
}

// Recordings without ranges have samples and waits alone.
std::string Contents(const model::Trace& trace) {
  std::vector<std::string> parts;
  const auto add = [&](size_t count, const char* word) {
    if (count != 0) parts.push_back(Plural(count, word));
  };
  add(trace.event_count(), "event");
  add(trace.samples().size() + model::SummedSamples(trace), "sample");
  if (trace.thread_states() != nullptr) {
    add(trace.thread_states()->waits.size(), "wait");
  }
  return parts.empty() ? Plural(0, "event") : absl::StrJoin(parts, ", ");
}

}  // namespace

size_t CountFindings(const LoadedTrace& loaded) {
  size_t count = 0;
  for (const LoadedFile& file : loaded.files) {
    count += static_cast<size_t>(
        std::ranges::count_if(file.findings, [](const ImportFinding& finding) {
          return finding.severity != ImportFinding::Severity::kNote;
        }));
  }
  for (int i = 0; i < static_cast<int>(model::Loss::kCount); ++i) {
    count += loaded.trace.ledger().Get(static_cast<model::Loss>(i)) != 0;
  }
  return count;
}

CheckReport::CheckReport(const LoadedTrace& loaded)
    : files_(absl::StrJoin(loaded.files, ", ",
                           [](std::string* out, const LoadedFile& file) {
                             out->append(file.path);
                           })),
      contents_(Contents(loaded.trace)),
      event_count_(loaded.trace.event_count()) {
  for (const LoadedFile& file : loaded.files) {
    for (const ImportFinding& f : file.findings) {
      lines_.push_back(
          {f.severity, f.rule, f.count, BytePlace(f), f.message, file.path});
    }
  }
  for (const TraceFinding& f : CheckTrace(loaded.trace)) {
    lines_.push_back({f.severity, f.rule, f.count,
                      EventPlace(loaded.trace, f.first), f.message, ""});
  }
  std::stable_sort(
      lines_.begin(), lines_.end(),
      [](const Line& a, const Line& b) { return a.severity > b.severity; });
}

bool CheckReport::is_clean() const {
  return CountOf(Severity::kNote) == lines_.size();
}

size_t CheckReport::CountOf(Severity severity) const {
  return static_cast<size_t>(std::count_if(
      lines_.begin(), lines_.end(),
      [&](const Line& line) { return line.severity == severity; }));
}

std::string CheckReport::Text(TextFormat format) const {
  if (format == TextFormat::kText) return PlainText();
  const DataTable data = Data();
  if (format == TextFormat::kCsv) return data.Csv();
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  json.Member("clean", is_clean());
  json.Member("events", static_cast<int64_t>(event_count_));
  json.Key("findings");
  data.WriteJson(json);
  json.EndObject();
  return text + "\n";
}

std::string CheckReport::PlainText() const {
  std::string text;
  for (const Line& line : lines_) {
    absl::StrAppend(
        &text,
        absl::StrFormat("%-8s %-22s %9u", SeverityName(line.severity),
                        line.rule, line.count),
        line.place.empty() && line.file.empty() ? "" : "  ", line.place,
        line.place.empty() || line.file.empty() ? "" : " of ", line.file,
        "\n         ", line.message, "\n");
  }
  absl::StrAppend(
      &text,
      lines_.empty() ? "nothing found" : Plural(lines_.size(), "finding"),
      " in ", files_, " (", contents_, ")");
  if (!lines_.empty()) {
    absl::StrAppend(&text, ": ", Plural(CountOf(Severity::kError), "error"),
                    ", ", Plural(CountOf(Severity::kWarning), "warning"), ", ",
                    Plural(CountOf(Severity::kNote), "note"));
  }
  return text + "\n";
}

DataTable CheckReport::Data() const {
  DataTable data({"severity", "rule", "count", "first", "file", "message"});
  for (const Line& line : lines_) {
    data.AddRow({std::string(SeverityName(line.severity)), line.rule,
                 static_cast<int64_t>(line.count), line.place, line.file,
                 line.message});
  }
  return data;
}

}  // namespace kymo::tools
