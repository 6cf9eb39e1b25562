// replay.h - computes from a case of the reference data what PyTorch computed.
//
//   KYMO_ASSIGN_OR_RETURN(const Files results, Replay(files));
//   results.at("table.events.txt") ...
//
// The case's kind is told by its input: `input.json` (events drawn at random),
// `events.json` (events of a real program) or `schedule.json`. Results have the
// names and form of the reference data. More are made than a case has: the
// table of every sort key, and groups by 1 to 10 stack entries.
#ifndef KYMO_TESTS_CONFORMANCE_REPLAY_H_
#define KYMO_TESTS_CONFORMANCE_REPLAY_H_

#include "absl/status/statusor.h"
#include "tests/conformance/files.h"

namespace kymo::conformance {

absl::StatusOr<Files> Replay(const Files& input);

}  // namespace kymo::conformance

#endif  // KYMO_TESTS_CONFORMANCE_REPLAY_H_
