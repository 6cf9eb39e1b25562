// rank_link.h - a rank's way to the command of rank 0 (rank_server.h).
//
//   RankLink link({.rank = 3, .find = [] { return ReadMeetingPlace(path); }});
//   Run();                                       // the program
//   const std::vector<ClockReading> clocks = link.FinishClocks();
//
// While the program runs, a thread looks for rank 0 and measures how far this
// machine's clock is from rank 0's, by messages there and back (Cristian's
// method: the shortest round trip is believed). It is measured again when the
// program has ended. A rank that shares no folder with rank 0 keeps the
// connection, says every five seconds that it lives, and sends its trace.
//
// Threads: one call at a time. Each call ends: FinishClocks after 10 s at most,
//   the others when rank 0 takes nothing for 30 s.
// Errors: a clock that cannot be measured is not in the list.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_LINK_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_LINK_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/clock.h"
#include "profiler/base/owned_descriptor.h"
#include "tools/profile_command/job/job_socket.h"
#include "tools/profile_command/job/rank_meeting_place.h"

namespace kymo::tools {

// How far this rank's clock is from rank 0's.
struct ClockReading {
  int64_t mono_ns = 0;    // CLOCK_MONOTONIC of this rank, when it was measured
  int64_t offset_ns = 0;  // to be added to get that of rank 0
  int64_t bound_ns = 0;   // by how much the offset may be wrong
};

class RankLink {
 public:
  struct Options {
    int64_t rank = 1;
    // Where rank 0 is; nothing: not known yet.
    std::function<std::optional<MeetingPlace>()> find;
    bool keeps_connection = false;  // the ranks share no folder
    // How long rank 0 is looked for once the program has ended.
    std::chrono::milliseconds patience = std::chrono::seconds(5);
    // Begins to take sums of other ranks (rank_tree.h), and returns the port;
    // 0: it takes none. Empty: the same.
    std::function<uint16_t(const std::string& token)> listen;
    std::function<int64_t()> now = MonotonicNs;  // for tests
  };

  explicit RankLink(Options options);
  ~RankLink();
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;

  std::vector<ClockReading> FinishClocks();

  // With keeps_connection. trace.json or trace.json.gz.
  absl::Status SendTrace(const std::string& path);
  absl::Status SayDone(bool has_trace);
  // The rank left the job before its end (JobFolder::SayBrokeOff). If it does
  // not come through, what comes next says why.
  void SayBrokeOff(int64_t time_ns);

  // Sends the averages of this rank, and of those below it, to the next rank on
  // the way to rank 0 that takes them.
  absl::Status SendSums(const std::string& bytes);
  // Whether rank 0 wants the trace. Waits until it knows that.
  absl::StatusOr<bool> IsTraceWanted();

 private:
  void Run();
  void SayAlive();
  // Tries each address once.
  absl::StatusOr<OwnedDescriptor> Connect();
  absl::StatusOr<OwnedDescriptor> Meet(const MeetingPlace& place,
                                       const Endpoint& endpoint) const;
  absl::StatusOr<ClockReading> Measure(int socket,
                                       std::chrono::milliseconds turn) const;
  // Connects if there is no connection, for as long as the patience lasts.
  absl::Status EnsureConnected();
  absl::StatusOr<Endpoint> Find(int64_t rank);
  absl::Status SendSumsTo(int64_t rank, const std::string& bytes);
  absl::Status SendFile(const std::string& path);
  // Closes the connection if the status is an error.
  absl::Status Checked(absl::Status status);

  const Options options_;
  std::atomic<bool> is_stopped_ = false;
  std::string rank_zero_host_;  // of the last connection
  std::mutex mutex_;            // of all below
  std::condition_variable changed_;
  OwnedDescriptor socket_;
  std::vector<ClockReading> readings_;
  std::thread thread_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_LINK_H_
