// case.h - a case of the reference data: events, and how they were recorded.
//
//   KYMO_ASSIGN_OR_RETURN(Case c, ReadSyntheticCase(files.at("input.json")));
//   KYMO_RETURN_IF_ERROR(c.events.build_tree());
//
// Only raw fields are read; what PyTorch computed from them is not.
#ifndef KYMO_TESTS_CONFORMANCE_CASE_H_
#define KYMO_TESTS_CONFORMANCE_CASE_H_

#include <string>

#include "absl/status/statusor.h"
#include "profiler/events/event_list.h"

namespace kymo::conformance {

struct Case {
  EventList events;
  std::string torch;    // "2.14.1"; of real cases
  std::string options;  // JSON; of real cases
};

// `input.json`: events as drawn at random. They are sorted by (start, longer
// first), as they were given to PyTorch.
absl::StatusOr<Case> ReadSyntheticCase(const std::string& json);

// `events.json`: events that a program recorded, in list order. Those with the
// id 0 are frames of the program's language.
absl::StatusOr<Case> ReadRealCase(const std::string& json);

}  // namespace kymo::conformance

#endif  // KYMO_TESTS_CONFORMANCE_CASE_H_
