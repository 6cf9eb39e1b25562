// rank_server.h - what rank 0 does for the other ranks of a job.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const std::unique_ptr<RankServer> server,
//       RankServer::Start({.size = 8, .token = token}, events));
//   Tell(server->port());
//
// It answers when other ranks measure their clocks, and takes the traces of
// those that do not see its folder (rank_link.h). Whoever does not know the
// token is sent away, and so is who says nothing for 5 s. What `events` lacks,
// it does not take.
//
// One rank at a time measures its clock, so that no other one disturbs it. A
// rank that dies meanwhile keeps the others waiting for 1 s.
//
// Threads: it has one of its own, which calls the functions of `events`.
// Errors: of Start those of the network. Later ones end a connection.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_SERVER_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_SERVER_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"
#include "tools/profile_command/job/job_secret.h"
#include "tools/profile_command/job/rank_protocol.h"

namespace kymo::tools {

class RankServer {
 public:
  struct Options {
    int64_t size = 1;  // of the job
    std::string token;
    std::vector<uint16_t> ports;  // the first free one; empty: any
    bool is_local = false;        // all ranks are on this machine
  };
  struct Events {
    // The folder of a rank's trace.
    std::function<std::string(int64_t rank)> folder;
    // The rank's command lives: it says another number than before.
    std::function<void(int64_t rank, int64_t number)> alive;
    std::function<void(int64_t rank, bool has_trace)> done;
    // The rank left the job before its end (JobFolder::SayBrokeOff).
    std::function<void(int64_t rank, int64_t time_ns)> broke_off;
    // Averages of a rank and of those below it (rank_tree.h). False: it comes
    // too late, or cannot be read.
    std::function<bool(const std::string& bytes)> sums;
    // The trace of the rank has come.
    std::function<void(int64_t rank)> trace;
  };

  static absl::StatusOr<std::unique_ptr<RankServer>> Start(
      const Options& options, Events events);
  ~RankServer();
  RankServer(const RankServer&) = delete;
  RankServer& operator=(const RankServer&) = delete;

  uint16_t port() const { return port_; }

  // Answers those who ask whether their traces are wanted; until then they
  // wait. The last call counts.
  void Decide(const std::vector<int64_t>& wanted);

 private:
  class Connection;

  RankServer(const Options& options, Events events, OwnedDescriptor listener,
             uint16_t port);
  void Run();
  void Accept();
  void EndSilent();
  // False: the server is to end.
  bool TakeOrders();

  const int64_t size_;
  const JobSecret secret_;
  const Events events_;
  const OwnedDescriptor listener_;
  const uint16_t port_;
  OwnedDescriptor orders_read_;
  OwnedDescriptor orders_write_;
  std::list<Connection> connections_;
  std::map<int64_t, WhereIs> listening_;  // by rank
  std::mutex mutex_;
  std::optional<std::set<int64_t>> wanted_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_RANK_SERVER_H_
