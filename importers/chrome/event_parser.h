// event_parser.h - elements of traceEvents, from text.
//
//   EventParser parser;
//   ParsedEvents events;
//   if (parser.Parse(R"({"ph":"X",...},{"ph":"i",...})", offset, events)) ...
//
// Parse says no where the text is not a list of complete objects, which also
// tells that a stretch of a file was cut where no element ends. The object
// keeps buffers: one for each thread.
#ifndef KYMO_IMPORTERS_CHROME_EVENT_PARSER_H_
#define KYMO_IMPORTERS_CHROME_EVENT_PARSER_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "importers/chrome/parsed_events.h"

namespace kymo::chrome_import {

class EventParser {
 public:
  EventParser();
  ~EventParser();

  // `elements` stand at `offset` of the file. Adds to `out`, which is of no
  // use if the answer is no. Text that only breaks the rules of strings is
  // repaired, and counted.
  [[nodiscard]] bool Parse(std::string_view elements, uint64_t offset,
                           ParsedEvents& out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENT_PARSER_H_
