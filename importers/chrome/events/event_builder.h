// event_builder.h - turns the members of one event into parts of a trace.
//
//   EventBuilder builder(out);
//   builder.Add(event);    // a range, an end of one, a counter, ...
//
// Threads: one at a time.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_EVENT_BUILDER_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_EVENT_BUILDER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "importers/chrome/events/categories.h"
#include "importers/chrome/events/event_args.h"
#include "importers/chrome/events/parsed_events.h"
#include "importers/chrome/events/raw_event.h"

namespace kymo::chrome_import {

class EventBuilder {
 public:
  // `out` must outlive the object.
  explicit EventBuilder(ParsedEvents& out) : out_(out), args_(out) {}

  void Add(const RawEvent& event);

 private:
  void AddRange(const RawEvent& event);
  void AddInstant(const RawEvent& event);
  void AddEnd(const RawEvent& event);
  void AddFlow(const RawEvent& event);
  void AddCounter(const RawEvent& event);
  void AddMemory(const RawEvent& event, bool is_failure);
  void AddMetadata(const RawEvent& event);
  bool AddMark(const RawEvent& event);

  // Fills in everything except the end. False if the event has no time.
  bool BeginRange(const RawEvent& event, Range& range);
  std::optional<TimeNs> TimeOf(const RawEvent& event);
  RowIndex RowOf(const RawEvent& event);
  RowIndex FindRow(RowKey key);
  model::NameId Name(const JsonValue& value) {
    return out_.strings.Intern(Unescape(value.text, scratch_));
  }
  Category CategoryOf(const RawEvent& event);
  void Drop(Rule rule, const RawEvent& event);

  ParsedEvents& out_;
  EventArgsReader args_;
  std::string scratch_;
  absl::flat_hash_map<std::string, RowIndex> rows_;
  std::string row_key_;
  // About the previous event: the next one mostly has the same.
  std::string last_pid_;
  std::string last_tid_;
  RowIndex last_row_ = 0;
  bool has_last_row_ = false;
  std::string last_category_text_;
  Category last_category_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_EVENT_BUILDER_H_
