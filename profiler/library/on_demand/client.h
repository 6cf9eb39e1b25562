// client.h - this process as a dynolog daemon sees it.
//
//   KYMO_ASSIGN_OR_RETURN(auto client, OnDemandClient::Start({}));
//   tracker.SetStepObserver([&] { client->OnStep(tracker.current_step()); });
//
// A thread registers and asks every five seconds; what the daemon answers, or
// sends unasked, is recorded and written by that thread. A recording by steps
// begins and ends in OnStep, on the thread that counts.
//
// Threads: OnStep from any.
// Fork:    a child does not have the thread. It calls CloseInChild() and
//   nothing else; the object is then lost.
// Closing: if the program closes the descriptors, the thread ends, with a
//   warning. Files that the program opens under the same numbers are left
//   alone.
// Trust:   datagrams that are not from the daemon's name, or from a user other
//   than root and this process's own, are ignored, with one warning.
#ifndef KYMO_PROFILER_LIBRARY_ON_DEMAND_CLIENT_H_
#define KYMO_PROFILER_LIBRARY_ON_DEMAND_CLIENT_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/library/on_demand/session.h"
#include "profiler/on_demand/config.h"
#include "profiler/on_demand/endpoint.h"
#include "profiler/record/host/kept_descriptor.h"
#include "profiler/session/distributed_info.h"

namespace kymo {

class OnDemandClient {
 public:
  struct Options {
    std::string daemon = on_demand::kDaemonName;
    std::string socket_folder = on_demand::SocketFolder();
    std::string trace_folder = on_demand::kTraceFolder;
    DurationNs poll_ns = 5 * kNsPerSecond;
    int64_t job = 0;
    DistributedInfo distributed = {};
    int64_t (*current_step)() = [] { return int64_t{0}; };
    // Called on the thread before the first recording.
    void (*before_first)() = [] {};
  };

  static absl::StatusOr<std::unique_ptr<OnDemandClient>> Start(Options options);
  ~OnDemandClient();

  // The process has begun this step.
  void OnStep(int64_t step) noexcept;

  // Ends a recording that runs, writes it, and ends the thread. Returns after
  // `limit` at the latest.
  static constexpr DurationNs kForEver = 0;
  void End(DurationNs limit) noexcept;

  void CloseInChild() noexcept;

 private:
  enum class State {
    kIdle,
    kWaitsForTime,
    kWaitsForStep,
    kRecordsUntilTime,
    kRecordsUntilStep,
    kStopped,  // and is to be written
  };

  OnDemandClient(Options options, on_demand::Endpoint endpoint,
                 on_demand::Address daemon);

  void Run() noexcept;
  void AskDaemon();
  void Wait(int64_t until_ns);
  void Take(const on_demand::Datagram& datagram);
  void Accept(pid_t sender, std::string_view text);
  void EndIfAlone();
  absl::Status Schedule(const on_demand::Config& config);
  void StopEarly();
  // What is due by now.
  void Advance();
  void Begin();
  void Finish();
  void Refuse(const absl::Status& why);
  void Wake() noexcept;

  bool Trusts(const on_demand::Datagram& datagram) const;
  void WarnOnce(const std::string& text);
  void Answer(std::string_view text);

  const Options options_;
  on_demand::Endpoint endpoint_;
  const on_demand::Address daemon_;
  // Two ends of a connection: what is sent to the first wakes the thread.
  record::KeptDescriptor wake_, woken_;
  std::vector<int32_t> pids_;
  std::thread thread_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> counts_steps_ = false;
  std::binary_semaphore has_ended_{0};

  // Of the thread alone.
  bool is_registered_ = false;
  bool has_recorded_ = false;
  bool answers_ = false;
  pid_t command_ = 0;  // that answers go to; 0: a daemon, or not known
  std::set<std::string> warned_;
  std::string path_;

  std::mutex mutex_;  // of what follows
  State state_ = State::kIdle;
  on_demand::Config config_;
  std::unique_ptr<OnDemandSession> session_;
  int64_t due_ns_ = 0;  // when the state ends, by CLOCK_MONOTONIC
  int64_t first_step_ = 0;
  absl::Status trouble_;  // of Start or Stop, within a step
};

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_ON_DEMAND_CLIENT_H_
