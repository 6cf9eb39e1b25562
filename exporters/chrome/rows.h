// rows.h - which process and thread ids the lines of a Chrome trace carry.
//
// Every used track of the trace is one row. A track with waits, or that ended
// one, has a second one for these, and one with samples another one for its
// flame chart. Rows of real threads carry the system's ids. Other rows have no
// such id of their own: further lanes, waits, flame charts, streams of one
// number in several processes, and stream 0, which viewers take for the main
// thread. They get an id that nothing else in the file has. So does an id that
// does not fit 31 bits.
#ifndef KYMO_EXPORTERS_CHROME_ROWS_H_
#define KYMO_EXPORTERS_CHROME_ROWS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::chrome {

struct Row {
  bool is_used = false;
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t sort_index = 0;  // rows of a file count up from 0
  std::string name;        // "thread 12 (worker)"
  std::string ids;         // `,"pid":1,"tid":12,"ts":`
};

struct ProcessRow {
  int64_t pid = 0;
  int64_t sort_index = 0;
  std::string name;
  std::string labels;  // "CPU" or "GPU 0"
};

struct Rows {
  explicit Rows(const model::Trace& trace);

  // The id that the file has for a process: most often its own.
  int64_t PidOf(int64_t pid) const;

  std::vector<ProcessRow> processes;  // hosts, then devices
  std::vector<Row> tracks;            // one per track of the trace
  std::vector<Row> waits;             // the same, for waits
  std::vector<Row> flames;            // the same, for samples

 private:
  void AddProcesses(const model::Trace& trace);
  void AddTracks(const model::Trace& trace);
  Row BesideThread(Row row, const char* what);
  Row MakeRow(const model::Trace& trace, model::TrackIndex track,
              uint32_t lane);
  // Whether its row can carry the track's id. A stream's id is then taken.
  bool HasUsualId(const model::Track& track);
  Row Finish(Row row);
  // `id` if it fits 31 bits, else an id that nothing has.
  int64_t FitPid(int64_t pid);
  int64_t NewId();

  std::set<int64_t> taken_;
  std::set<std::pair<int64_t, int64_t>> streams_;  // devices and ids
  std::map<int64_t, int64_t> pids_;                // those that do not fit
  int64_t next_id_ = 1'000'000'000;
  int64_t next_sort_index_ = 0;
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_ROWS_H_
