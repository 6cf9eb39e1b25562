// event_parser.h - parses elements of traceEvents.
//
//   EventParser parser;
//   ParsedEvents events;
//   if (parser.Parse(R"({"ph":"X",...},{"ph":"i",...})", offset, events)) ...
//
// Parse returns false if the text is not a list of complete objects. That also
// shows that a stretch of a file was cut where no element ends. The object
// keeps buffers, so use one for each thread.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_EVENT_PARSER_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_EVENT_PARSER_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "importers/chrome/events/parsed_events.h"

namespace kymo::chrome_import {

class EventParser {
 public:
  EventParser();
  ~EventParser();

  // `elements` are at `offset` in the file. Adds to `out`, which must not be
  // used if the result is false. Text that only breaks the rules for strings is
  // repaired, and the repair is counted.
  [[nodiscard]] bool Parse(std::string_view elements, uint64_t offset,
                           ParsedEvents& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_EVENT_PARSER_H_
