// event_store.h - collects the parsed stretches of a file under common ids.
//
//   EventStore store;
//   store.text_bytes = source.expected_bytes();
//   store.Add(events);   // in the order of the file; changes its ids
//
// Names, stacks, details and rows of a stretch get ids of the shard that is
// being made. Ranges stay in the order of the file, in blocks that can be freed
// one by one.
//
// Memory: as soon as a list grows, it asks for what the whole file will need if
// the rest of it is like the part so far. Pages that are not written take none.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_EVENT_STORE_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_EVENT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "importers/chrome/events/parsed_events.h"
#include "profiler/base/column.h"
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

using RangeBlock = Column<Range>;

struct EventStore {
  void Add(ParsedEvents& events);
  void AddRanges(const std::vector<Range>& ranges);
  // The row of that pid and tid, which has events.
  RowIndex AddRow(const std::string& pid, const std::string& tid);

  uint64_t text_bytes = 0;  // of the file, as expected; 0: not known
  model::TraceShard shard;  // strings, stacks, details, args, ledger
  std::vector<FileRow> rows;
  std::vector<FileProcess> processes;
  std::vector<RangeBlock> ranges;
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
  void MoveRanges(ParsedEvents& events, const Ids& ids);
  void AddOthers(ParsedEvents& events, const Ids& ids);
  void Move(Range& range, const Ids& ids);

  absl::flat_hash_map<std::string, RowIndex> row_ids_;
  absl::flat_hash_map<std::string, uint32_t> pid_ids_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_EVENT_STORE_H_
