// pre_flight.h - one line about what will be recorded, and what will not.
//
//   PreFlight facts = {.recorded = {"cpu"}, .target_name = "a.out"};
//   fprintf(stderr, "kymo: %s\n", PreFlightLine(facts).c_str());
//   // kymo: recording cpu
#ifndef KYMO_TOOLS_PROFILE_COMMAND_PRE_FLIGHT_H_
#define KYMO_TOOLS_PROFILE_COMMAND_PRE_FLIGHT_H_

#include <string>
#include <vector>

#include "profiler/session/recording.h"

namespace kymo::tools {

struct PreFlight {
  std::vector<std::string> recorded;  // activities
  std::vector<Recording::Skipped> skipped;
  std::vector<std::string> limitations;
  std::string target_name;
  // Why nothing can be preloaded into the target; empty if it can.
  std::string obstacle;
  // Such a target was built with Kymo all the same, and can record its ranges.
  bool records_itself = false;
  // Ranges are to have stacks, which only the preloaded runtime takes.
  bool wants_stacks = false;
  // The heap is to be watched, but the target brings a malloc of its own.
  bool heap_is_hidden = false;
  // A copy of Kymo in the target can record for this one, or cannot.
  bool has_this_kymo = false;
  bool has_other_kymo = false;
};

// An activity that does not exist on this machine (kNotFound) is not worth a
// line; --list has it.
std::string PreFlightLine(const PreFlight& facts);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_PRE_FLIGHT_H_
