// demand_daemon.h - the daemon's end of recordings on demand, for one machine.
//
//   KYMO_ASSIGN_OR_RETURN(DemandDaemon daemon, DemandDaemon::Bind(options));
//   daemon.Begin();               // Kymo's programs record now
//   while (!daemon.IsDone()) {
//     poll(daemon.fd(), 50 ms);
//     daemon.Advance();
//   }
//   for (const DemandedProgram& program : daemon.programs()) Gather(program);
//
// Kymo's programs are told at once, and say what becomes of it. Kineto's
// (PyTorch's) are told when they ask, every five seconds, and say nothing: the
// file that they write is looked for.
//
// Trust:   the kernel says who sent a message. Programs of other users are
//   answered that there is nothing, unless this process is root's. Files count
//   if they belong to the program's user.
// Threads: one.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_DEMAND_DAEMON_H_
#define KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_DEMAND_DAEMON_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/on_demand/config.h"
#include "profiler/on_demand/endpoint.h"

namespace kymo::tools {

struct DemandedProgram {
  enum class State {
    kAwaited,  // has a socket, and has not asked yet
    kTold,
    kRecords,  // of Kymo's, or waits for its step
    kWrote,
    kRefused,  // or busy; `text` says why
    kSilent,   // has not answered, or written, in time; or `text` says why
    kEnded,    // before it wrote anything
  };

  std::string name;  // "train (1234)"
  pid_t pid = 0;     // 0: not known yet
  uid_t user = 0;
  bool is_kymo = false;
  State state = State::kAwaited;
  std::string text;
  std::string file;  // that it wrote

  on_demand::Address address;
  std::string log_file;  // that it was told, without its number
  int64_t due_ns = 0;    // when the state is over at the latest
  int64_t file_bytes = -1;
};

class DemandDaemon {
 public:
  struct Options {
    on_demand::Config config;  // without a file
    std::string trace_folder;  // that all of them may write into
    std::vector<pid_t> only;   // empty: all
    std::string socket_folder = on_demand::SocketFolder();
    // In which Kineto's programs ask, and begin after that.
    DurationNs ask_ns = 7 * kNsPerSecond;
    DurationNs begin_ns = 2 * kNsPerSecond;
    // For what is due at once, and for writing a trace.
    DurationNs answer_ns = 2 * kNsPerSecond;
    DurationNs write_ns = 60 * kNsPerSecond;
    // Called when a program's state has changed.
    std::function<void(const DemandedProgram&)> on_change =
        [](const DemandedProgram&) {};
  };

  // kAlreadyExists if a daemon runs.
  static absl::StatusOr<DemandDaemon> Bind(Options options);

  // Tells Kymo's programs, and finds those of Kineto.
  void Begin();
  // Reads what has come, and looks at files and times.
  void Advance();
  // Whether each program has come to an end of its own.
  bool IsDone() const;
  // Whether there were programs of Kineto's, and all are through.
  bool KinetoIsThrough() const;
  // Asks Kymo's programs to write what they have.
  void StopKymo();
  // The same, and awaits no others.
  void CallOff();

  int fd() const { return endpoint_.fd(); }
  // In a forked child.
  void CloseInChild() { endpoint_.Close(); }
  const std::vector<DemandedProgram>& programs() const { return programs_; }
  // How long Kymo's programs record at most. Where others have to ask first, it
  // is long enough for these, and StopKymo ends it.
  DurationNs kymo_duration_ns() const;

 private:
  DemandDaemon(Options options, on_demand::Endpoint endpoint)
      : options_(std::move(options)), endpoint_(std::move(endpoint)) {}

  DemandedProgram* Find(const on_demand::Address& address);
  DemandedProgram& Add(const on_demand::Address& address);
  void Identify(DemandedProgram& program, const on_demand::Datagram& datagram);
  void Take(const on_demand::Datagram& datagram);
  void TakeWord(DemandedProgram& program, std::string_view word);
  // Of one that has said nothing, by its socket.
  void NameSilent(DemandedProgram& program) const;
  void Tell(DemandedProgram& program);
  void LookForFile(DemandedProgram& program, bool may_grow);
  void LookAt(DemandedProgram& program, int64_t now_ns);
  void Set(DemandedProgram& program, DemandedProgram::State state,
           std::string_view text = {});
  bool MayTell(pid_t pid, uid_t user) const;
  bool HasKineto() const;

  Options options_;
  on_demand::Endpoint endpoint_;
  int64_t ask_end_ns_ = 0;
  std::vector<DemandedProgram> programs_;
};

// Whether it needs no more waiting.
bool HasCome(const DemandedProgram& program);

// "records", "ended before it wrote a trace".
std::string StateText(const DemandedProgram& program);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_ON_DEMAND_DEMAND_DAEMON_H_
