#include "profiler/library/on_demand/client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kymo/warning.h"
#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/signals_blocked.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/on_demand/messages.h"
#include "profiler/processes/process_list.h"
#include "profiler/record/host/host.h"
#include "profiler/record/own_threads.h"

namespace kymo {
namespace {

using on_demand::Config;
using on_demand::Datagram;
using on_demand::Endpoint;
using on_demand::Message;

constexpr size_t kMostAncestors = 16;
constexpr int kMostAtOnce = 64;  // datagrams, before other work goes on
// A daemon's clock and ours are the same; a message may have waited.
constexpr int64_t kOldestStartNs = 10 * kNsPerSecond;
constexpr int64_t kLongestWaitNs = 3600 * kNsPerSecond;
// A program that counts no more steps is not recorded for ever.
constexpr int64_t kLongestStepsNs = 600 * kNsPerSecond;

int64_t EpochNs() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

// This process, its parent and so on, without init.
std::vector<int32_t> Ancestors() {
  std::vector<int32_t> pids = {getpid()};
  for (int32_t pid = getppid(); pid > 1 && pids.size() < kMostAncestors;) {
    pids.push_back(pid);
    const auto process = processes::ReadProcess(pid);
    pid = process ? process->parent : 0;
  }
  return pids;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OnDemandClient>> OnDemandClient::Start(
    Options options) {
  KYMO_ASSIGN_OR_RETURN(
      const on_demand::Address daemon,
      on_demand::AddressOf(options.daemon, options.socket_folder));
  std::random_device random;
  KYMO_ASSIGN_OR_RETURN(
      Endpoint endpoint,
      Endpoint::Bind(absl::StrFormat("%s%d-%08x", on_demand::kKymoPrefix,
                                     getpid(), random()),
                     options.socket_folder));
  std::unique_ptr<OnDemandClient> client(
      new OnDemandClient(std::move(options), std::move(endpoint), daemon));
  // No eventfd: all of these are one file to fstat.
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  client->wake_ = record::KeptDescriptor(AboveStandardStreams(pair[0]));
  client->woken_ = record::KeptDescriptor(AboveStandardStreams(pair[1]));
  try {
    const SignalsBlocked blocked;
    client->thread_ = std::thread(&OnDemandClient::Run, client.get());
  } catch (const std::system_error& error) {
    return absl::ErrnoToStatus(error.code().value(), "no thread");
  }
  return client;
}

OnDemandClient::OnDemandClient(Options options, Endpoint endpoint,
                               on_demand::Address daemon)
    : options_(std::move(options)),
      endpoint_(std::move(endpoint)),
      daemon_(daemon) {}

OnDemandClient::~OnDemandClient() {
  End(kForEver);
  wake_.Close();
  woken_.Close();
}

void OnDemandClient::CloseInChild() noexcept {
  endpoint_.Close();
  wake_.Close();
  woken_.Close();
}

void OnDemandClient::End(DurationNs limit) noexcept {
  if (!thread_.joinable()) return;
  is_ending_ = true;
  Wake();
  if (limit != kForEver &&
      !has_ended_.try_acquire_for(std::chrono::nanoseconds(limit))) {
    return;
  }
  thread_.join();
}

void OnDemandClient::Wake() noexcept {
  // If it is full, the thread is about to wake up.
  (void)send(wake_.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void OnDemandClient::Run() noexcept {
  pthread_setname_np(pthread_self(), record::kOnDemandThread);
  record::SetThreadPaused(true);
  pids_ = Ancestors();
  int64_t next_poll_ns = MonotonicNs();
  while (!is_ending_) {
    const int64_t now_ns = MonotonicNs();
    if (now_ns >= next_poll_ns) {
      AskDaemon();
      EndIfAlone();
      next_poll_ns = now_ns + options_.poll_ns;
    }
    Wait(next_poll_ns);
    for (int i = 0; i < kMostAtOnce; ++i) {
      const std::optional<Datagram> datagram = endpoint_.Receive();
      if (!datagram) break;
      Take(*datagram);
    }
    Advance();
  }
  {
    // What runs is kept; what was to begin is not.
    const std::lock_guard lock(mutex_);
    StopEarly();
  }
  Advance();
  has_ended_.release();
}

void OnDemandClient::AskDaemon() {
  const auto send = [&](const char* type, std::string body) {
    return endpoint_.Send(daemon_, on_demand::Encode({type, std::move(body)}))
        .ok();
  };
  if (!is_registered_) {
    is_registered_ =
        send(on_demand::kContextType,
             on_demand::EncodeContext({.pid = pids_[0], .job = options_.job}));
  }
  // There is no daemon, or there will be another one.
  if (!is_registered_ ||
      !send(on_demand::kRequestType,
            on_demand::EncodeRequest({.job = options_.job, .pids = pids_}))) {
    is_registered_ = false;
  }
}

void OnDemandClient::Wait(int64_t until_ns) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kIdle) until_ns = std::min(until_ns, due_ns_);
    if (state_ == State::kStopped) return;
  }
  const int64_t wait_ns = std::max<int64_t>(until_ns - MonotonicNs(), 0);
  const timespec time = {.tv_sec = wait_ns / kNsPerSecond,
                         .tv_nsec = wait_ns % kNsPerSecond};
  pollfd waits[2] = {{.fd = endpoint_.fd(), .events = POLLIN, .revents = 0},
                     {.fd = woken_.get(), .events = POLLIN, .revents = 0}};
  if (waits[0].fd < 0 || waits[1].fd < 0 || wake_.get() < 0) {
    WarnOnce(
        "the program has closed the socket of recordings on demand: it cannot "
        "be recorded on demand any more");
    is_ending_ = true;
    return;
  }
  if (ppoll(waits, 2, &time, nullptr) <= 0 || waits[1].revents == 0) return;
  char byte;
  (void)recv(woken_.get(), &byte, 1, MSG_DONTWAIT);
}

// The kernel says who sent it. A program that hides its memory from its user is
// root's.
bool OnDemandClient::Trusts(const Datagram& datagram) const {
  return datagram.sender == daemon_ &&
         (datagram.user == 0 || (datagram.user == geteuid() &&
                                 prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1));
}

void OnDemandClient::WarnOnce(const std::string& text) {
  if (warned_.insert(text).second) Warn(text);
}

void OnDemandClient::Take(const Datagram& datagram) {
  if (!Trusts(datagram)) {
    return WarnOnce(
        "ignored a message about recording on demand: it is not from a daemon "
        "of root's or of this program's own user");
  }
  const std::optional<Message> message = on_demand::Decode(datagram.bytes);
  if (!message) {
    return WarnOnce(
        "ignored a message of the dynolog daemon that is not understood");
  }
  if (message->type == on_demand::kRequestType && !message->body.empty()) {
    Accept(datagram.pid, message->body);
  }
}

void OnDemandClient::Answer(std::string_view text) {
  if (!answers_) return;
  // If the command has ended, it needs no answer.
  (void)endpoint_.Send(
      daemon_, on_demand::Encode({on_demand::kKymoType, std::string(text)}));
}

// REQUIRES: the lock.
void OnDemandClient::Refuse(const absl::Status& why) {
  state_ = State::kIdle;
  counts_steps_ = false;
  session_.reset();
  Warn(absl::StrCat("not recorded on demand: ", why.message()));
  Answer(absl::StrCat("refused ", why.message()));
}

// REQUIRES: the lock.
void OnDemandClient::StopEarly() {
  if (state_ == State::kWaitsForTime || state_ == State::kWaitsForStep) {
    Refuse(absl::CancelledError("it was called off"));
  }
  due_ns_ = 0;
}

// A command that is killed fetches nothing, and others wait for their turn.
void OnDemandClient::EndIfAlone() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kIdle || state_ == State::kStopped || command_ == 0 ||
      kill(command_, 0) == 0 || errno != ESRCH) {
    return;
  }
  if (state_ == State::kRecordsUntilTime ||
      state_ == State::kRecordsUntilStep) {
    Warn(absl::StrCat(
        "process ", command_,
        ", which had this program recorded on demand, has ended: so does the "
        "recording; it goes to ",
        path_));
  }
  command_ = 0;
  StopEarly();
}

void OnDemandClient::Accept(pid_t sender, std::string_view text) {
  EndIfAlone();
  const absl::StatusOr<Config> config = on_demand::ParseConfig(text);
  const std::lock_guard lock(mutex_);
  if (config.ok() && config->stop) return StopEarly();
  if (state_ != State::kIdle) {
    const bool answers = std::exchange(answers_, config.ok() && config->answer);
    Warn("not recorded on demand: such a recording is going on already");
    Answer("busy it is recorded on demand already");
    answers_ = answers;
    return;
  }
  answers_ = config.ok() && config->answer;
  command_ = answers_ ? sender : 0;
  if (!config.ok()) return Refuse(config.status());
  if (const absl::Status status = Schedule(*config); !status.ok()) {
    Refuse(status);
  }
}

absl::Status OnDemandClient::Schedule(const Config& config) {
  KYMO_ASSIGN_OR_RETURN(
      path_,
      on_demand::TracePath(config.log_file, options_.trace_folder, getpid()));
  const int64_t now_ns = MonotonicNs();
  const int64_t step = options_.current_step();
  int64_t wait_ns = 0;
  if (config.by_iterations()) {
    if (step == 0) {
      return absl::FailedPreconditionError(
          "the program has counted no step (kymo/step_tracker.h): ask for a "
          "time");
    }
  } else if (config.start_time_ms != 0) {
    wait_ns = std::min(config.start_time_ms, INT64_MAX / kNsPerMs) * kNsPerMs -
              EpochNs();
    if (wait_ns < -kOldestStartNs || wait_ns > kLongestWaitNs) {
      return absl::InvalidArgumentError(
          "PROFILE_START_TIME is more than 10 s ago, or in more than an hour");
    }
  }
  KYMO_ASSIGN_OR_RETURN(session_,
                        OnDemandSession::Prepare(config, options_.distributed));
  if (!std::exchange(has_recorded_, true)) options_.before_first();
  config_ = config;
  if (config.by_iterations()) {
    first_step_ = FirstStep(config, options_.current_step());
    due_ns_ = now_ns + kLongestWaitNs;
    state_ = State::kWaitsForStep;
    counts_steps_ = true;
    Answer(absl::StrCat("waits for step ", first_step_));
  } else {
    due_ns_ = now_ns + wait_ns;
    state_ = State::kWaitsForTime;
    if (wait_ns <= 0) Begin();
  }
  return absl::OkStatus();
}

// REQUIRES: the lock.
void OnDemandClient::Begin() {
  if (const absl::Status status = session_->Start(); !status.ok()) {
    return Refuse(status);
  }
  state_ = State::kRecordsUntilTime;
  due_ns_ = MonotonicNs() + config_.duration_ms * kNsPerMs;
  Answer("records");
}

void OnDemandClient::OnStep(int64_t step) noexcept {
  if (!counts_steps_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (state_ == State::kWaitsForStep && step >= first_step_) {
    trouble_ = session_->Start();
    first_step_ = step;
    due_ns_ = MonotonicNs() + kLongestStepsNs;
    state_ = trouble_.ok() ? State::kRecordsUntilStep : State::kStopped;
  } else if (state_ == State::kRecordsUntilStep &&
             step >= first_step_ + config_.iterations) {
    trouble_ = session_->Stop();
    state_ = State::kStopped;
  } else {
    return;
  }
  if (state_ == State::kStopped) counts_steps_ = false;
  Wake();
}

void OnDemandClient::Advance() {
  {
    const std::lock_guard lock(mutex_);
    const bool is_due = state_ != State::kIdle && MonotonicNs() >= due_ns_;
    switch (state_) {
      case State::kIdle:
        return;
      case State::kWaitsForTime:
        if (is_due) Begin();
        return;
      case State::kWaitsForStep:
        if (is_due) {
          Refuse(absl::DeadlineExceededError(absl::StrCat(
              "step ", first_step_, " did not come within an hour")));
        }
        return;
      case State::kRecordsUntilStep:
      case State::kRecordsUntilTime:
        if (!is_due) return;
        counts_steps_ = false;
        trouble_ = session_->Stop();
        state_ = State::kStopped;
        break;
      case State::kStopped:
        break;
    }
  }
  Finish();
}

// Nobody else has the session of a recording that has stopped.
void OnDemandClient::Finish() {
  absl::Status status = std::exchange(trouble_, absl::OkStatus());
  if (status.ok()) status = session_->Write(path_);
  const std::lock_guard lock(mutex_);
  if (!status.ok()) return Refuse(status);
  state_ = State::kIdle;
  session_.reset();
  Answer(absl::StrCat("wrote ", path_));
}

}  // namespace kymo
