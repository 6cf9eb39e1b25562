#include "tools/profile_command/pre_flight.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kymo/version.h"

namespace kymo::tools {

std::string PreFlightLine(const PreFlight& facts) {
  std::string line =
      absl::StrCat("recording ", absl::StrJoin(facts.recorded, ", "));
  for (const Recording::Skipped& skipped : facts.skipped) {
    if (absl::IsNotFound(skipped.why)) continue;
    absl::StrAppend(&line, "; not ", skipped.backend, " (",
                    skipped.why.message(), ")");
  }
  for (const std::string& limitation : facts.limitations) {
    absl::StrAppend(&line, "; ", limitation);
  }
#if defined(__aarch64__)
  line += "; Kymo was not tested on AArch64's hardware, only under an emulator";
#endif
  if (!facts.obstacle.empty()) {
    const bool is_sampled = std::ranges::count(facts.recorded, "sampling") != 0;
    const bool has_ranges =
        facts.records_itself && std::ranges::count(facts.recorded, "cpu") != 0;
    const char* const what =
        has_ranges
            ? (is_sampled ? "it is sampled, and its own ranges are recorded"
                          : "only its own ranges are recorded")
            : (is_sampled ? "it is sampled only" : "nothing of it is recorded");
    absl::StrAppend(&line, "; ", facts.target_name, " ", facts.obstacle,
                    ", so nothing can be preloaded into it: ", what,
                    has_ranges && facts.wants_stacks ? ", without stacks" : "");
  } else if (facts.heap_is_hidden) {
    absl::StrAppend(
        &line, "; ", facts.target_name,
        " brings a malloc of its own, so its heap is not seen: link its "
        "allocator as a shared library, or put //:memory_hooks into it");
  }
  if (facts.has_other_kymo) {
    absl::StrAppend(&line, "; ", facts.has_this_kymo ? "a part of " : "",
                    facts.target_name,
                    " was built with another version of Kymo, so its ranges "
                    "are not recorded: build it with Kymo " KYMO_VERSION
                    ", which this command is of");
  }
  return line;
}

}  // namespace kymo::tools
