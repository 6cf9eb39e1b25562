// path_parts.h - the steps of a critical path, with names, and what they add up
// to.
//
//   PathParts parts(trace);
//   parts.Add({.track = 1, .start_ns = 5, .duration_ns = 7, .cause = "poll"});
//   parts.AddRunning(track, begin_ns, end_ns, "on CPU");
//   for (const PathRow& row : SumOfParts(parts.list())) Print(row);
#ifndef KYMO_PROFILER_REPORT_PATHS_PATH_PARTS_H_
#define KYMO_PROFILER_REPORT_PATHS_PATH_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/wait_names.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::report {

// A part of a step that has one name.
struct NamedPart {
  model::TrackIndex track = 0;
  TimeNs start_ns = 0;
  DurationNs duration_ns = 0;
  std::string_view cause;  // lives as long as the program
  std::string name;
};

class PathParts {
 public:
  explicit PathParts(const model::Trace& trace)
      : trace_(trace), places_(trace) {}

  // Nothing if it takes no time.
  void Add(NamedPart part);
  // [start_ns, end_ns), in which the thread ran, by its innermost ranges.
  // Outside of ranges, each function of the program in which samples are has
  // its share of the time.
  void AddRunning(model::TrackIndex track, TimeNs start_ns, TimeNs end_ns,
                  std::string_view cause);

  const std::vector<NamedPart>& list() const { return list_; }
  analysis::WaitPlaces& places() { return places_; }

 private:
  struct Running {
    model::TrackIndex track = 0;
    std::string_view cause;
  };

  void AddRange(const Running& of, model::EventIndex range, TimeNs start_ns,
                TimeNs end_ns);
  void AddSampled(const Running& of, TimeNs start_ns, TimeNs end_ns);

  const model::Trace& trace_;
  analysis::WaitPlaces places_;
  std::vector<NamedPart> list_;
};

// All parts of one track, cause and name.
struct PathRow {
  model::TrackIndex track = 0;
  double track_share = 0;  // of the path: the time of all of the track's rows
  std::string_view cause;
  std::string name;
  double share = 0;  // of the path
  DurationNs time_ns = 0;
  int64_t count = 0;  // of parts
};

// The track that has most of the path is first. Names with less than 1 % of the
// path are one row, "[other]", for each track and cause.
std::vector<PathRow> SumOfParts(const std::vector<NamedPart>& parts);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_PATHS_PATH_PARTS_H_
