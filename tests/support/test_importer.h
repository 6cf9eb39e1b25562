// test_importer.h - an importer for tests; the text of a file says what it
// holds.
//
//   fake
//   range NAME PID TID START_NS END_NS
//   window START_NS END_NS                 when it was recorded
//   rank RANK                              of a job of two, as PyTorch says it
//   pytorch                                the file is a trace of PyTorch
//   sample FUNCTION PID TID TIME_NS WEIGHT_NS MODULE   in main
//   finding SEVERITY RULE MESSAGE          (note, warning or error)
//   large RECORD_BYTES TRACE_BYTES LIMIT   the file is offered in windows: the
//                                          one window has all of it
#ifndef KYMO_TESTS_SUPPORT_TEST_IMPORTER_H_
#define KYMO_TESTS_SUPPORT_TEST_IMPORTER_H_

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "profiler/model/recorded_by.h"
#include "profiler/plugin/trace_importer.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo {

class FakeImporter : public TraceImporter {
 public:
  FakeImporter() {
    info_.name = "fake";
    info_.purpose = "what tests write";
    struct Settings {
      int option = 1;
    };
    info_.settings =
        SettingTable<Settings>(
            "fake", {{.name = "option",
                      .value = setting::Integer(&Settings::option, 0, 9),
                      .purpose = "An option.",
                      .old_name = "device"}})
            .infos();
  }
  const PluginInfo& info() const noexcept override { return info_; }
  bool Recognizes(std::string_view head) const override {
    return head.starts_with("fake\n");
  }

  absl::StatusOr<ImportedTrace> Import(const std::string& path,
                                       const ImportOptions&) const override {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    if (line != "fake") return absl::InvalidArgumentError("byte 0: not fake");
    ImportedTrace imported;
    model::TraceShard& shard = imported.shards.emplace_back();
    while (std::getline(file, line)) AddLine(line, imported, shard);
    return imported;
  }

  absl::StatusOr<std::optional<LargeTrace>> OpenLarge(
      const std::string& path, const ImportOptions&) const override {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string kind;
      words >> kind;
      if (kind != "large") continue;
      LargeTrace large;
      words >> large.record_bytes >> large.trace_bytes >> large.memory_limit;
      large.whole_flag = "--fake_option=0";
      large.windows = std::make_unique<OneWindow>(*Import(path, {}));
      return large;
    }
    return std::nullopt;
  }

 private:
  class OneWindow : public TraceWindows {
   public:
    explicit OneWindow(ImportedTrace trace)
        : shard_(std::move(trace.shards.at(0))) {}
    bool is_done() const override { return is_done_; }
    absl::StatusOr<TraceWindow> Next() override {
      is_done_ = true;
      return TraceWindow{.shard = std::move(shard_), .is_last = true};
    }
    std::vector<std::string> Notes() const override { return {"a fake"}; }

   private:
    model::TraceShard shard_;
    bool is_done_ = false;
  };

  static void AddLine(const std::string& line, ImportedTrace& imported,
                      model::TraceShard& shard) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "range") {
      std::string name;
      int64_t pid = 0;
      int64_t tid = 0;
      TimeNs start_ns = 0;
      TimeNs end_ns = 0;
      words >> name >> pid >> tid >> start_ns >> end_ns;
      AddRange(shard.strings.Intern(name), pid, tid, start_ns, end_ns, shard);
    } else if (kind == "sample") {
      std::string function;
      std::string module;
      int64_t pid = 0;
      int64_t tid = 0;
      model::StackSample sample;
      words >> function >> pid >> tid >> sample.time_ns >> sample.weight_ns >>
          module;
      sample.track = TrackOf(pid, tid, shard);
      for (const std::string& name : {std::string("main"), function}) {
        sample.stack = shard.stacks.Push(
            sample.stack,
            shard.stacks.AddFrame({.function = shard.strings.Intern(name),
                                   .module = shard.strings.Intern(module)}));
      }
      shard.samples.push_back(sample);
    } else if (kind == "window") {
      words >> imported.start_ns >> imported.end_ns;
    } else if (kind == "rank") {
      std::string rank;
      words >> rank;
      shard.metadata.push_back(
          {.key = shard.strings.Intern("distributedInfo"),
           .json_value = shard.strings.Intern("{\"rank\": " + rank +
                                              ", \"world_size\": 2}")});
    } else if (kind == "pytorch") {
      model::MarkAsPyTorchs(shard);
    } else if (kind == "finding") {
      std::string severity;
      ImportFinding finding;
      words >> severity >> finding.rule;
      std::getline(words >> std::ws, finding.message);
      finding.severity = severity == "error" ? ImportFinding::Severity::kError
                         : severity == "note"
                             ? ImportFinding::Severity::kNote
                             : ImportFinding::Severity::kWarning;
      finding.count = 1;
      finding.first_offset = 17;
      imported.findings.push_back(finding);
    }
  }

  static model::TrackIndex TrackOf(int64_t pid, int64_t tid,
                                   model::TraceShard& shard) {
    const auto known = std::find_if(
        shard.tracks.begin(), shard.tracks.end(),
        [&](const model::Track& t) { return t.pid == pid && t.id == tid; });
    const auto track =
        static_cast<model::TrackIndex>(known - shard.tracks.begin());
    if (known == shard.tracks.end()) {
      shard.processes.push_back({.pid = pid});
      shard.tracks.push_back(
          {.pid = pid, .id = tid, .logical_id = uint64_t{track} + 1});
      shard.events.emplace_back().track = track;
    }
    return track;
  }

  static void AddRange(model::NameId name, int64_t pid, int64_t tid,
                       TimeNs start_ns, TimeNs end_ns,
                       model::TraceShard& shard) {
    model::TrackEvents& events = shard.events[TrackOf(pid, tid, shard)];
    events.start_ns.push_back(start_ns);
    events.end_ns.push_back(end_ns);
    events.name.push_back(name);
    events.type.push_back(model::ActivityType::kCpuOp);
    events.scope.push_back(model::RecordScope::kFunction);
    events.flags.push_back(0);
  }

  PluginInfo info_;
};

// Writes such a file into the test's folder and returns its path.
inline std::string WriteFake(const std::string& name,
                             const std::string& lines) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << "fake\n" << lines;
  return path;
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_IMPORTER_H_
