// rank_meeting_place.h - where a rank finds the command of rank 0.
//
//   KYMO_ASSIGN_OR_RETURN(const std::optional<NetworkPlace> network,
//                         FindNetworkPlace(getenv, rank));
//
// Ranks that share a folder find it in a file there, which only its owner can
// read: a port that was free, a token, and rank 0's addresses. Ranks that share
// none need these environment variables, the same for all ranks:
//
//   KYMO_RANKS_TOKEN     at least 16 characters that nobody else knows
//   KYMO_RANKS_ADDRESS   rank 0's machine, as HOST, HOST:PORT or [HOST]:PORT;
//                        not needed if MASTER_ADDR or Slurm's list of nodes
//                        has it
//
// Without a port there, it is one of four that follow from the token and the
// job's name.
//
// Threads: any. Errors: kInvalidArgument, with what to set.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_MEETING_PLACE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_MEETING_PLACE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/job_rank.h"
#include "tools/profile_command/job/job_socket.h"

namespace kymo::tools {

struct MeetingPlace {
  std::string token;
  std::vector<Endpoint> endpoints;  // to be tried in this order
};

struct NetworkPlace {
  MeetingPlace place;           // no endpoints in rank 0
  std::vector<uint16_t> ports;  // for rank 0
};

// Nothing: KYMO_RANKS_TOKEN is not set, so the ranks share a folder.
absl::StatusOr<std::optional<NetworkPlace>> FindNetworkPlace(
    const GetVariable& get, const JobRank& rank);

// "node[03-05,7],other" -> "node03".
std::string FirstOfHostList(std::string_view list);

// The file in the folder `meeting`. Reading it returns nothing if it is not
// there, or not whole.
absl::Status WriteMeetingPlace(const std::string& meeting,
                               const MeetingPlace& place);
std::optional<MeetingPlace> ReadMeetingPlace(const std::string& meeting);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_MEETING_PLACE_H_
