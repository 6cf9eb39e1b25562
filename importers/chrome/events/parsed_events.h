// parsed_events.h - the contents of some elements of traceEvents.
//
// These are the elements of one stretch of the file. Names, rows, details and
// arguments are ids of this stretch. Times are ns after the file's
// baseTimeNanoseconds, which the file may say behind its events.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_PARSED_EVENTS_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_PARSED_EVENTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "importers/chrome/events/findings.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/rare_details.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::chrome_import {

using RowIndex = uint32_t;

// A line of the file's timeline: the event's pid and tid and, for work of a
// device, its args. pid and tid are kept as text, since either may be any text.
struct RowKey {
  std::string pid;
  std::string tid;
  bool has_stream = false;
  int32_t device = -1;
  int64_t stream = 0;

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

// An event X or i, or the range that B and E or b and e make together.
struct Range {
  TimeNs start = 0;
  TimeNs end = 0;
  model::NameId name = model::kEmptyName;
  RowIndex row = 0;
  model::DetailIndex detail = model::kNoDetail;
  model::ActivityType type = model::ActivityType::kCpuOp;
  uint8_t flags = 0;
  bool is_open = false;  // never ended
};

// One end of a range: an event B, E, b, e or the like.
struct RangeEnd {
  Range range;  // start is the time of this end
  bool is_begin = false;
  bool is_async = false;
  model::NameId key = model::kEmptyName;  // async: category, id
  uint64_t offset = 0;
};

// An end of a flow from a forward to a backward operation.
struct FlowEnd {
  TimeNs time = 0;
  RowIndex row = 0;
  model::NameId id = model::kEmptyName;
  bool is_start = false;
};

struct Counter {
  model::CounterSample sample;  // `track` is a RowIndex
  bool is_bytes = false;        // its args name the value "bytes"
  // Its name without its id, if that is its thread's, as Kymo writes counters
  // of one name that several threads have.
  model::NameId name_without_id = model::kEmptyName;
};

// The text of a metadata event about its row.
struct RowText {
  enum class Kind : uint8_t { kProcessName, kProcessLabels, kThreadName };
  Kind kind = Kind::kProcessName;
  RowIndex row = 0;
  model::NameId text = model::kEmptyName;
};

struct ParsedEvents {
  model::StringTable strings;
  model::StackTable stacks;
  std::vector<RowKey> rows;
  std::vector<Range> ranges;
  std::vector<RangeEnd> ends;
  std::vector<FlowEnd> flows;
  std::vector<RowText> texts;
  std::vector<model::Detail> details;
  model::RareDetails rare_details;
  std::vector<model::Arg> args;
  std::vector<Counter> counters;
  std::vector<model::MemoryRecord> memory;  // `track` is a RowIndex
  // The recording's window, from the profiler's own marks.
  TimeNs window_start = 0;
  TimeNs window_end = 0;
  bool has_window = false;
  bool has_pytorch_mark = false;  // one of these marks names PyTorch
  model::LossLedger ledger;
  Findings findings;
  uint64_t end_offset = 0;  // the position in the file behind these elements

  // Empties the object, but keeps the memory of the longest lists.
  void Clear() {
    ParsedEvents kept;
    ranges.clear();
    details.clear();
    args.clear();
    kept.ranges.swap(ranges);
    kept.details.swap(details);
    kept.args.swap(args);
    *this = std::move(kept);
  }
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_PARSED_EVENTS_H_
