// raw_event.h - the members of one element of traceEvents, as text.
//
// Views point into the text that is being parsed.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_RAW_EVENT_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_RAW_EVENT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "importers/chrome/json/json_value.h"

namespace kymo::chrome_import {

struct RawArg {
  std::string_view key;  // escaped
  JsonValue value;
};

struct RawEvent {
  char phase = 0;  // 0: missing
  bool has_time = false;
  bool has_duration = false;
  uint16_t seen_members = 0;  // a bit for each known member
  JsonValue name;
  JsonValue category;
  JsonValue pid;
  JsonValue tid;
  JsonValue time;
  JsonValue duration;
  JsonValue id;     // or id2, as text
  JsonValue scope;  // of an async id
  std::vector<RawArg> args;
  uint32_t ignored_members = 0;
  uint32_t unreadable_members = 0;
  uint32_t repeated_members = 0;
  uint64_t offset = 0;  // in the file

  // Resets everything, but keeps the memory of `args`.
  void Clear() {
    phase = 0;
    has_time = has_duration = false;
    seen_members = 0;
    name = category = pid = tid = time = duration = id = scope = JsonValue();
    args.clear();
    ignored_members = unreadable_members = repeated_members = 0;
    offset = 0;
  }
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_RAW_EVENT_H_
