// call_stack_text.h - turns call stacks, as traces write them, back into
// frames.
//
//   CallStackTexts texts(strings, stacks);
//   texts.Find("mm.cc(7): mm;main.cc(90): main;")   // innermost first
//
// A frame "FILE(LINE): FUNCTION" is taken apart if its parts give the same text
// again (FrameText in profiler/events/trace_events.h). Any other text becomes
// the frame's function.
// Threads: one at a time.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_CALL_STACK_TEXT_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_CALL_STACK_TEXT_H_

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::chrome_import {

class CallStackTexts {
 public:
  // Both must outlive the object.
  CallStackTexts(model::StringTable& strings, model::StackTable& stacks)
      : strings_(strings), stacks_(stacks) {}

  // kEmptyStack if the text does not have a separator behind every frame.
  model::StackId Find(std::string_view text);

 private:
  model::StackId Make(std::string_view text);
  model::FrameId MakeFrame(std::string_view entry);

  model::StringTable& strings_;
  model::StackTable& stacks_;
  absl::flat_hash_map<std::string, model::StackId> known_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_CALL_STACK_TEXT_H_
