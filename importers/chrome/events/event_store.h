// event_store.h - collects the parsed stretches of a file under common ids.
//
//   EventStore store;
//   store.Add(std::move(events));   // in the order of the file
//
// Names, stacks, details and rows of a stretch get ids of the shard that is
// being made. Ranges stay in the blocks in which they came.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_EVENT_STORE_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_EVENT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "importers/chrome/events/parsed_events.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

// A line of the timeline, and what the file says about it.
struct FileRow {
  RowKey key;
  uint32_t pid = 0;         // numbers the texts of pids in file order
  bool has_events = false;  // of any kind
  bool has_device_work = false;
  model::NameId thread_name = model::kEmptyName;
};

struct FileProcess {
  std::string pid;
  model::NameId name = model::kEmptyName;
  model::NameId labels = model::kEmptyName;
};

struct EventStore {
  void Add(ParsedEvents events);
  // The row of that pid and tid, which has events.
  RowIndex AddRow(const std::string& pid, const std::string& tid);
  // Moves details and arguments into the shard, at the end.
  void JoinDetails();

  model::TraceShard shard;  // strings, stacks, details, args, ledger
  std::vector<FileRow> rows;
  std::vector<FileProcess> processes;
  std::vector<std::vector<Range>> ranges;
  std::vector<RangeEnd> ends;
  std::vector<FlowEnd> flows;
  std::vector<Counter> counters;
  Column<model::MemoryRecord> memory;  // `track` is a row
  bool has_window = false;
  bool has_pytorch_mark = false;
  TimeNs window_start = 0;
  TimeNs window_end = 0;
  Findings findings;

 private:
  struct Ids {
    std::vector<model::NameId> names;
    std::vector<model::StackId> stacks;
    std::vector<RowIndex> rows;
  };

  Ids MakeIds(const ParsedEvents& events);
  RowIndex FindRow(const RowKey& key);
  void AddDetails(ParsedEvents& events, const Ids& ids);
  void AddRanges(ParsedEvents& events, const Ids& ids);
  void AddOthers(ParsedEvents& events, const Ids& ids);
  void Move(Range& range, const Ids& ids);

  absl::flat_hash_map<std::string, RowIndex> row_ids_;
  absl::flat_hash_map<std::string, uint32_t> pid_ids_;
  std::vector<std::vector<model::Detail>> details_;
  std::vector<std::vector<model::Arg>> args_;
  uint32_t detail_count_ = 0;
  uint32_t arg_count_ = 0;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_EVENT_STORE_H_
