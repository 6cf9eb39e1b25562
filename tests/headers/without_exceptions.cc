// What annotates a program, in one that has neither exceptions nor type
// information: the headers compile, and so do their templates.
#include <memory_resource>
#include <string>

#include "kymo/annotate.h"
#include "kymo/attach.h"
#include "kymo/callbacks.h"
#include "kymo/memory.h"
#include "kymo/memory_resource.h"
#include "kymo/node_id.h"
#include "kymo/record_function.h"
#include "kymo/sequence_number.h"
#include "kymo/thread_state.h"
#include "kymo/warning.h"

namespace kymo {

void UseTheHeaders(int value) {
  KYMO_RECORD_FUNCTION("function", {{"value", value}});
  KYMO_RECORD_OP("operation", value, std::string("text"));
  const RecordFunction numbered("numbered",
                                {.sequence_nr = PeekSequenceNumber()});
  const RecordModule module(std::string("module"));
  Recorded("recorded", [](int) {})(value);
  Propagate([] { Instant("handed on"); })();
  ReportingMemoryResource resource;
  std::pmr::string text("reported", &resource);
  SetMemoryCategory(text.data(), 1, MemoryCategory::kInput);
  RemoveCallback(AddGlobalCallback(RecordFunctionCallback({})));
  kymo_push("pushed");
  kymo_pop();
}

}  // namespace kymo
