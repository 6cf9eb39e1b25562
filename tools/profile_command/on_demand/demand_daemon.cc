#include "tools/profile_command/on_demand/demand_daemon.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/on_demand/messages.h"
#include "profiler/processes/process_list.h"
#include "tools/profile_command/on_demand/demand_files.h"

namespace kymo::tools {
namespace {

using on_demand::Datagram;
using on_demand::Message;
using State = DemandedProgram::State;

// A recording by steps is over when the program says so.
constexpr int64_t kLongestStepsNs = 4200 * kNsPerSecond;
constexpr int kMostAtOnce = 256;  // datagrams, before other work goes on
constexpr size_t kMostPrograms = 4096;

std::string NameOfProcess(pid_t pid) {
  const auto process = processes::ReadProcess(pid);
  return absl::StrCat(process ? process->name : "process", " (", pid, ")");
}

bool IsGone(pid_t pid) {
  const auto process = processes::ReadProcess(pid);
  return !process || process->has_ended();
}

}  // namespace

bool HasCome(const DemandedProgram& program) {
  return program.state != State::kAwaited && program.state != State::kTold &&
         program.state != State::kRecords;
}

absl::StatusOr<DemandDaemon> DemandDaemon::Bind(Options options) {
  KYMO_ASSIGN_OR_RETURN(
      on_demand::Endpoint endpoint,
      on_demand::Endpoint::Bind(on_demand::kDaemonName, options.socket_folder));
  return DemandDaemon(std::move(options), std::move(endpoint));
}

void DemandDaemon::Set(DemandedProgram& program, State state,
                       std::string_view text) {
  program.state = state;
  program.text = text;
  options_.on_change(program);
}

DemandedProgram* DemandDaemon::Find(const on_demand::Address& address) {
  const auto found =
      std::ranges::find(programs_, address, &DemandedProgram::address);
  return found == programs_.end() ? nullptr : &*found;
}

DemandedProgram& DemandDaemon::Add(const on_demand::Address& address) {
  const std::string name = on_demand::NameOf(address);
  DemandedProgram& program = programs_.emplace_back();
  program.address = address;
  program.is_kymo = name.starts_with(on_demand::kKymoPrefix);
  program.name = name;
  program.log_file =
      absl::StrCat(options_.trace_folder, "/", programs_.size(), ".json");
  program.due_ns = ask_end_ns_;
  return program;
}

bool DemandDaemon::HasKineto() const {
  return std::ranges::any_of(programs_, [](const DemandedProgram& program) {
    return !program.is_kymo;
  });
}

DurationNs DemandDaemon::kymo_duration_ns() const {
  return options_.config.duration_ms * kNsPerMs +
         (HasKineto() ? options_.ask_ns + options_.begin_ns : 0);
}

void DemandDaemon::Begin() {
  ask_end_ns_ = MonotonicNs() + options_.ask_ns;
  for (const char* prefix :
       {on_demand::kKinetoPrefix, on_demand::kKymoPrefix}) {
    for (const std::string& name :
         on_demand::NamesWith(prefix, options_.socket_folder)) {
      const pid_t pid = PidBehind(on_demand::kKymoPrefix, name);
      // PyTorch's say who they are when they ask.
      if (pid != 0 &&
          !MayTell(pid, processes::UserOf(pid).value_or(geteuid()))) {
        continue;
      }
      const auto address = on_demand::AddressOf(name, options_.socket_folder);
      if (address.ok()) Add(*address);
    }
  }
  for (DemandedProgram& program : programs_) {
    if (program.is_kymo) Tell(program);
  }
}

void DemandDaemon::Tell(DemandedProgram& program) {
  on_demand::Config config = options_.config;
  config.log_file = program.log_file;
  if (program.is_kymo) {
    config.duration_ms = kymo_duration_ns() / kNsPerMs;
    config.answer = true;
  }
  const absl::Status sent = endpoint_.Send(
      program.address, on_demand::Encode({on_demand::kRequestType,
                                          on_demand::ConfigText(config)}));
  if (!sent.ok()) return Set(program, State::kEnded);
  const int64_t now_ns = MonotonicNs();
  program.due_ns = program.is_kymo ? now_ns + options_.answer_ns
                   : config.by_iterations()
                       ? now_ns + kLongestStepsNs
                       : now_ns + options_.begin_ns +
                             config.duration_ms * kNsPerMs + options_.write_ns;
  Set(program, State::kTold);
}

bool DemandDaemon::MayTell(pid_t pid, uid_t user) const {
  if (geteuid() != 0 && user != geteuid()) return false;
  return options_.only.empty() || std::ranges::count(options_.only, pid) > 0;
}

// From the first message on, the kernel has said which process it is.
void DemandDaemon::Identify(DemandedProgram& program,
                            const Datagram& datagram) {
  if (program.pid != 0) return;
  program.pid = datagram.pid;
  program.user = datagram.user;
  program.name = NameOfProcess(datagram.pid);
}

void DemandDaemon::Take(const Datagram& datagram) {
  const std::optional<Message> message = on_demand::Decode(datagram.bytes);
  if (!message) return;
  const auto answer = [&](const char* type, std::string body) {
    // A program that has ended needs none.
    (void)endpoint_.Send(datagram.sender,
                         on_demand::Encode({type, std::move(body)}));
  };
  if (message->type == on_demand::kContextType) {
    return answer(on_demand::kContextType, on_demand::EncodeCount(1));
  }
  DemandedProgram* program = Find(datagram.sender);
  if (!MayTell(datagram.pid, datagram.user)) {
    if (message->type == on_demand::kRequestType) {
      answer(on_demand::kRequestType, "");
    }
    if (program != nullptr && program->pid == 0) {
      std::erase_if(programs_, [&](const DemandedProgram& other) {
        return &other == program;
      });
    }
    return;
  }
  if (message->type == on_demand::kRequestType) {
    const auto request = on_demand::DecodeRequest(message->body);
    if (!request) return;
    if ((request->type & on_demand::kActivities) == 0) {
      return answer(on_demand::kRequestType, "");
    }
    if (program == nullptr && MonotonicNs() < ask_end_ns_ &&
        programs_.size() < kMostPrograms) {
      program = &Add(datagram.sender);
    }
    if (program != nullptr) Identify(*program, datagram);
    if (program == nullptr || program->state != State::kAwaited) {
      return answer(on_demand::kRequestType, "");
    }
    return Tell(*program);
  }
  if (message->type == on_demand::kKymoType && program != nullptr &&
      program->is_kymo) {
    Identify(*program, datagram);
    TakeWord(*program, message->body);
  }
}

void DemandDaemon::TakeWord(DemandedProgram& program, std::string_view word) {
  const auto rest = [&](std::string_view begin) {
    return word.substr(std::min(begin.size(), word.size()));
  };
  if (HasCome(program)) return;
  // It said so, and its user has read it.
  const bool has_recorded =
      program.state == State::kRecords && program.text.starts_with("records");
  if (word.starts_with("records") || word.starts_with("waits")) {
    const bool by_steps = options_.config.by_iterations();
    program.due_ns = MonotonicNs() +
                     (by_steps ? kLongestStepsNs : kymo_duration_ns()) +
                     options_.write_ns;
    Set(program, State::kRecords, word);
  } else if (word.starts_with("wrote ")) {
    LookForFile(program, /*may_grow=*/false);
    if (program.state != State::kWrote) {
      Set(program, State::kSilent,
          absl::StrCat("recorded, and wrote ", ToAbsl(rest("wrote ")),
                       ", which is not there for this command: it has a /tmp "
                       "of its own"));
    }
  } else if (word.starts_with("refused ") && has_recorded) {
    Set(program, State::kSilent,
        absl::StrCat("recorded, and wrote no trace: ",
                     ToAbsl(rest("refused "))));
  } else if (word.starts_with("refused ")) {
    Set(program, State::kRefused, rest("refused "));
  } else if (word.starts_with("busy ")) {
    Set(program, State::kRefused, rest("busy "));
  }
}

// "7.json" became "7_1234.json", with the number that the program sees.
void DemandDaemon::LookForFile(DemandedProgram& program, bool may_grow) {
  const std::filesystem::path log_file = program.log_file;
  const std::string begin = log_file.stem().string() + "_";
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(options_.trace_folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(begin) || !name.ends_with(".json")) continue;
    struct stat about;
    if (lstat(entry.path().c_str(), &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_uid != program.user) {
      continue;
    }
    const int64_t before = std::exchange(program.file_bytes, about.st_size);
    // Kymo's files appear whole. Kineto writes into the file itself.
    if (!program.is_kymo && !EndsWithBrace(entry.path())) continue;
    if (may_grow && (before != about.st_size || HasOpen(program.pid, about))) {
      continue;
    }
    program.file = entry.path();
    return Set(program, State::kWrote);
  }
}

void DemandDaemon::NameSilent(DemandedProgram& program) const {
  const pid_t pid = OwnerOfSocket(on_demand::NameOf(program.address));
  if (pid != 0) program.name = NameOfProcess(pid);
}

void DemandDaemon::LookAt(DemandedProgram& program, int64_t now_ns) {
  if (HasCome(program)) return;
  if (program.state == State::kTold && !program.is_kymo) {
    LookForFile(program, /*may_grow=*/true);
    if (HasCome(program)) return;
  }
  if (program.pid != 0 && IsGone(program.pid)) {
    // What it wrote last may be there already.
    LookForFile(program, /*may_grow=*/false);
    if (!HasCome(program)) Set(program, State::kEnded);
  } else if (now_ns >= program.due_ns) {
    if (program.pid == 0) NameSilent(program);
    Set(program, State::kSilent);
  }
}

void DemandDaemon::Advance() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    const std::optional<Datagram> datagram = endpoint_.Receive();
    if (!datagram) break;
    Take(*datagram);
  }
  const int64_t now_ns = MonotonicNs();
  for (DemandedProgram& program : programs_) LookAt(program, now_ns);
}

bool DemandDaemon::IsDone() const {
  return std::ranges::all_of(programs_, HasCome);
}

bool DemandDaemon::KinetoIsThrough() const {
  return HasKineto() &&
         std::ranges::all_of(programs_, [](const DemandedProgram& program) {
           return program.is_kymo || HasCome(program);
         });
}

void DemandDaemon::StopKymo() {
  for (DemandedProgram& program : programs_) {
    if (!program.is_kymo || HasCome(program)) continue;
    const absl::Status sent = endpoint_.Send(
        program.address,
        on_demand::Encode({on_demand::kRequestType, "KYMO_STOP=1\n"}));
    program.due_ns = MonotonicNs() + (sent.ok() ? options_.write_ns : 0);
  }
}

void DemandDaemon::CallOff() {
  StopKymo();
  for (DemandedProgram& program : programs_) {
    if (!program.is_kymo && !HasCome(program)) {
      if (program.pid == 0) NameSilent(program);
      Set(program, State::kSilent, "wrote nothing before this was ended");
    }
  }
}

std::string StateText(const DemandedProgram& program) {
  switch (program.state) {
    case State::kAwaited:
      return "has not asked yet";
    case State::kTold:
      return program.is_kymo ? "was told" : "was told, and begins within 2 s";
    case State::kRecords:
      return program.text;
    case State::kWrote:
      return "wrote its trace";
    case State::kRefused:
      return absl::StrCat("does not record: ", program.text);
    case State::kEnded:
      return "ended before it wrote a trace";
    case State::kSilent:
      if (!program.text.empty()) return program.text;
      if (program.is_kymo) return "was told, and wrote nothing in time";
      if (program.pid == 0) {
        return "has not asked: it may be recording already, or be stopped";
      }
      return "was told, and wrote nothing: it may be recording already, count "
             "no steps, or have another KINETO_ONDEMAND_TRACE_DIR";
  }
  return "";
}

}  // namespace kymo::tools
