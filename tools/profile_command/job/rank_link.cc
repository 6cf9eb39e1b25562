#include "tools/profile_command/job/rank_link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kymo/version.h"
#include "profiler/base/signals_blocked.h"
#include "profiler/base/status_macros.h"
#include "profiler/text/visible_text.h"
#include "tools/profile_command/job/job_secret.h"
#include "tools/profile_command/job/rank_protocol.h"
#include "tools/profile_command/job/rank_tree.h"

namespace kymo::tools {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kConnectLimit = seconds(2);  // for one address
// One after another the ranks measure their clocks, each within a second.
constexpr auto kTurnLimit = seconds(60);
constexpr auto kEndTurnLimit = seconds(5);
constexpr auto kAnswerPatience = seconds(30);
constexpr auto kLifeSign = seconds(5);
constexpr auto kFirstPause = milliseconds(20);
constexpr auto kLongestPause = milliseconds(1000);

absl::Status Gone() {
  return absl::UnavailableError("rank 0 does not answer any more");
}

// Whether the greeting is of another version of Kymo than this one.
bool IsOtherVersion(const Greeting& greeting) {
  return greeting.magic != kRankMagic &&
         std::equal(kRankMagic.begin(), kRankMagic.end() - 1,
                    greeting.magic.begin());
}

absl::Status OtherVersion(const Greeting& greeting) {
  // The first version did not say its release.
  const bool says_release = greeting.magic.back() != '1';
  const std::string release(
      greeting.release.data(),
      strnlen(greeting.release.data(), greeting.release.size()));
  return absl::FailedPreconditionError(
      absl::StrCat("rank 0 is recorded by ",
                   says_release ? absl::StrCat("Kymo ", VisibleText(release))
                                : std::string("an earlier version of Kymo"),
                   ", and this rank by Kymo " KYMO_VERSION
                   "; use the same version for all ranks"));
}

// Rank 0 may be behind one of several addresses. What was heard there says more
// than that nobody was there.
void KeepTelling(const absl::Status& next, absl::Status& status) {
  const auto tells = [](const absl::Status& s) {
    return s.code() == absl::StatusCode::kFailedPrecondition ? 2
           : s.code() == absl::StatusCode::kPermissionDenied ? 1
                                                             : 0;
  };
  if (tells(next) >= tells(status)) status = next;
}

}  // namespace

RankLink::RankLink(Options options) : options_(std::move(options)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { Run(); });
}

RankLink::~RankLink() {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RankLink::Run() {
  std::unique_lock<std::mutex> held(mutex_);
  milliseconds pause = kFirstPause;
  while (!is_stopped_ && readings_.empty()) {
    held.unlock();
    absl::StatusOr<OwnedDescriptor> socket = Connect();
    absl::StatusOr<ClockReading> reading = Gone();
    if (socket.ok()) reading = Measure(socket->get(), kTurnLimit);
    held.lock();
    if (reading.ok()) {
      readings_.push_back(*reading);
      if (options_.keeps_connection) socket_ = *std::move(socket);
      changed_.notify_all();
    } else {
      changed_.wait_for(held, pause);
      pause = std::min<milliseconds>(2 * pause, kLongestPause);
    }
  }
  while (!is_stopped_ && options_.keeps_connection) {
    // The first one at once: rank 0 knows then that the rank was there.
    SayAlive();
    changed_.wait_for(held, kLifeSign);
  }
}

void RankLink::SayAlive() {
  if (!socket_.is_open()) {
    absl::StatusOr<OwnedDescriptor> socket = Connect();
    if (!socket.ok()) return;
    socket_ = *std::move(socket);
  }
  const Ask ask = {.what = AskFor::kAlive,
                   .number = static_cast<uint64_t>(MonotonicNs())};
  if (!SendAll(socket_.get(), &ask, sizeof(ask), In(kConnectLimit))) {
    socket_ = OwnedDescriptor();
  }
}

absl::StatusOr<OwnedDescriptor> RankLink::Connect() {
  const std::optional<MeetingPlace> place = options_.find();
  if (!place) return absl::NotFoundError("rank 0 has not come");
  absl::Status status = absl::NotFoundError("rank 0 has no address");
  for (const Endpoint& endpoint : place->endpoints) {
    absl::StatusOr<OwnedDescriptor> socket = Meet(*place, endpoint);
    if (socket.ok()) {
      rank_zero_host_ = endpoint.host;
      const uint16_t port = options_.listen ? options_.listen(place->token) : 0;
      const Ask ask = {.what = AskFor::kListens, .number = port};
      if (port != 0 &&
          !SendAll(socket->get(), &ask, sizeof(ask), In(kConnectLimit))) {
        return Gone();
      }
    }
    if (socket.ok() || is_stopped_) return socket;
    KeepTelling(socket.status(), status);
  }
  return status;
}

absl::StatusOr<OwnedDescriptor> RankLink::Meet(const MeetingPlace& place,
                                               const Endpoint& endpoint) const {
  const Deadline end = In(kConnectLimit);
  KYMO_ASSIGN_OR_RETURN(OwnedDescriptor socket, ConnectTo(endpoint, end));
  const absl::Status stranger = absl::PermissionDeniedError(
      absl::StrCat(endpoint.host, ":", endpoint.port,
                   " is no rank 0 of this job, or has another token"));
  const JobSecret secret(place.token);
  Greeting greeting = {};
  // That of another version may have another size.
  if (!ReceiveAll(socket.get(), &greeting.magic, sizeof(greeting.magic), end)) {
    return stranger;
  }
  if (greeting.magic.back() != '1' &&
      !ReceiveAll(socket.get(), &greeting.release, sizeof(greeting.release),
                  end)) {
    return stranger;
  }
  if (IsOtherVersion(greeting)) return OtherVersion(greeting);
  if (greeting.magic != kRankMagic ||
      !ReceiveAll(socket.get(), &greeting.challenge, sizeof(greeting.challenge),
                  end)) {
    return stranger;
  }
  Hello hello = {.magic = kRankMagic,
                 .rank = options_.rank,
                 .challenge = {RandomNumber(), RandomNumber()}};
  hello.proof = Prove(secret, ProofOf::kRank, greeting.challenge,
                      hello.challenge, hello.rank);
  Welcome welcome;
  if (!SendAll(socket.get(), &hello, sizeof(hello), end) ||
      !ReceiveAll(socket.get(), &welcome, sizeof(welcome), end) ||
      welcome.proof != Prove(secret, ProofOf::kRankZero, greeting.challenge,
                             hello.challenge, hello.rank)) {
    return stranger;
  }
  return socket;
}

absl::StatusOr<ClockReading> RankLink::Measure(int socket,
                                               milliseconds turn) const {
  const Ask ask = {.what = AskFor::kClock};
  const Deadline turn_end = In(turn);
  if (!SendAll(socket, &ask, sizeof(ask), turn_end)) return Gone();
  while (!WaitReadable(socket, In(kFirstPause))) {
    if (is_stopped_ || In({}) >= turn_end) return Gone();
  }
  uint64_t is_turn;
  if (!ReceiveAll(socket, &is_turn, sizeof(is_turn), In(kConnectLimit))) {
    return Gone();
  }
  ClockReading reading;
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const Deadline end = In(kConnectLimit);
    const int64_t begin = options_.now();
    int64_t theirs;
    if (!SendAll(socket, &begin, sizeof(begin), end) ||
        !ReceiveAll(socket, &theirs, sizeof(theirs), end)) {
      return Gone();
    }
    const int64_t round_trip = options_.now() - begin;
    if (round_trip >= shortest) continue;
    shortest = round_trip;
    reading = {.mono_ns = begin + round_trip / 2,
               .offset_ns = theirs - (begin + round_trip / 2),
               .bound_ns = round_trip / 2 + 1};
  }
  return reading;
}

absl::Status RankLink::EnsureConnected() {
  const Deadline end = In(options_.patience);
  while (!socket_.is_open()) {
    absl::StatusOr<OwnedDescriptor> socket = Connect();
    if (socket.ok()) {
      socket_ = *std::move(socket);
    } else if (is_stopped_ || In(kFirstPause) >= end) {
      return socket.status();
    } else {
      std::this_thread::sleep_for(kFirstPause);
    }
  }
  return absl::OkStatus();
}

absl::Status RankLink::Checked(absl::Status status) {
  if (!status.ok()) socket_ = OwnedDescriptor();
  return status;
}

std::vector<ClockReading> RankLink::FinishClocks() {
  std::unique_lock<std::mutex> held(mutex_);
  if (!changed_.wait_for(held, options_.patience,
                         [this] { return !readings_.empty(); }) ||
      !EnsureConnected().ok()) {
    return readings_;
  }
  const absl::StatusOr<ClockReading> reading =
      Measure(socket_.get(), kEndTurnLimit);
  if (reading.ok()) readings_.push_back(*reading);
  if (!reading.ok() || !options_.keeps_connection) socket_ = OwnedDescriptor();
  return readings_;
}

absl::Status RankLink::SendTrace(const std::string& path) {
  const std::lock_guard<std::mutex> held(mutex_);
  KYMO_RETURN_IF_ERROR(EnsureConnected());
  return Checked(SendFile(path));
}

absl::Status RankLink::SendFile(const std::string& path) {
  const OwnedDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts;
  if (!file.is_open() || fstat(file.get(), &facts) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("could not read ", path));
  }
  const Ask ask = {
      .what = absl::EndsWith(path, ".gz") ? AskFor::kTraceGzip : AskFor::kTrace,
      .number = static_cast<uint64_t>(facts.st_size)};
  if (!SendAll(socket_.get(), &ask, sizeof(ask), In(kAnswerPatience))) {
    return Gone();
  }
  constexpr size_t kPart = 1 << 20;
  const auto part = std::make_unique<char[]>(kPart);
  for (int64_t left = facts.st_size; left > 0;) {
    const ssize_t size = TEMP_FAILURE_RETRY(
        read(file.get(), part.get(), std::min<int64_t>(left, kPart)));
    if (size <= 0) {
      return absl::DataLossError(absl::StrCat(path, " has become shorter"));
    }
    if (!SendAll(socket_.get(), part.get(), size, In(kAnswerPatience))) {
      return Gone();
    }
    left -= size;
  }
  uint64_t answer;
  return ReceiveAll(socket_.get(), &answer, sizeof(answer), In(kAnswerPatience))
             ? absl::OkStatus()
             : Gone();
}

absl::Status RankLink::SayDone(bool has_trace) {
  const std::lock_guard<std::mutex> held(mutex_);
  KYMO_RETURN_IF_ERROR(EnsureConnected());
  const Ask ask = {.what = AskFor::kDone, .number = has_trace};
  uint64_t answer;
  const bool is_told =
      SendAll(socket_.get(), &ask, sizeof(ask), In(kAnswerPatience)) &&
      ReceiveAll(socket_.get(), &answer, sizeof(answer), In(kAnswerPatience));
  return Checked(is_told ? absl::OkStatus() : Gone());
}

void RankLink::SayBrokeOff(int64_t time_ns) {
  const std::lock_guard<std::mutex> held(mutex_);
  if (!EnsureConnected().ok()) return;
  const Ask ask = {.what = AskFor::kBrokeOff,
                   .number = static_cast<uint64_t>(time_ns)};
  SendAll(socket_.get(), &ask, sizeof(ask), In(kAnswerPatience));
}

absl::StatusOr<Endpoint> RankLink::Find(int64_t rank) {
  KYMO_RETURN_IF_ERROR(EnsureConnected());
  const Ask ask = {.what = AskFor::kWhereIs,
                   .number = static_cast<uint64_t>(rank)};
  WhereIs where;
  const Deadline end = In(kAnswerPatience);
  if (!SendAll(socket_.get(), &ask, sizeof(ask), end) ||
      !ReceiveAll(socket_.get(), &where, sizeof(where), end)) {
    return Checked(Gone());
  }
  if (where.port == 0) return absl::NotFoundError("it does not listen");
  where.host.back() = '\0';
  const std::string host = where.host.data();
  return Endpoint{.host = host.empty() ? rank_zero_host_ : host,
                  .port = where.port};
}

absl::Status RankLink::SendSumsTo(int64_t rank, const std::string& bytes) {
  OwnedDescriptor other;
  int socket = -1;
  if (rank == 0) {
    KYMO_RETURN_IF_ERROR(EnsureConnected());
    socket = socket_.get();
  } else {
    KYMO_ASSIGN_OR_RETURN(const Endpoint endpoint, Find(rank));
    const std::optional<MeetingPlace> place = options_.find();
    if (!place) return Gone();
    KYMO_ASSIGN_OR_RETURN(other, Meet(*place, endpoint));
    socket = other.get();
  }
  const Ask ask = {.what = AskFor::kSums, .number = bytes.size()};
  uint64_t answer = kRefused;
  const bool is_sent =
      SendAll(socket, &ask, sizeof(ask), In(kAnswerPatience)) &&
      SendAll(socket, bytes.data(), bytes.size(), In(kAnswerPatience)) &&
      ReceiveAll(socket, &answer, sizeof(answer), In(kAnswerPatience));
  if (is_sent && answer == kTaken) return absl::OkStatus();
  return rank == 0 && !is_sent ? Checked(Gone())
                               : absl::FailedPreconditionError("too late");
}

absl::Status RankLink::SendSums(const std::string& bytes) {
  const std::lock_guard<std::mutex> held(mutex_);
  int64_t to = options_.rank;
  for (;;) {
    to = to == 0 ? 0 : ParentInTree(to);
    const absl::Status status = SendSumsTo(to, bytes);
    if (status.ok() || to == 0) return status;
  }
}

absl::StatusOr<bool> RankLink::IsTraceWanted() {
  std::unique_lock<std::mutex> held(mutex_);
  KYMO_RETURN_IF_ERROR(EnsureConnected());
  const Ask ask = {.what = AskFor::kVerdict};
  if (!SendAll(socket_.get(), &ask, sizeof(ask), In(kAnswerPatience))) {
    return Checked(Gone());
  }
  // Signs of life go on meanwhile.
  while (!is_stopped_ && socket_.is_open()) {
    if (WaitReadable(socket_.get(), In({}))) {
      uint64_t answer;
      if (!ReceiveAll(socket_.get(), &answer, sizeof(answer),
                      In(kAnswerPatience))) {
        return Checked(Gone());
      }
      return answer == kTaken;
    }
    changed_.wait_for(held, kFirstPause);
  }
  return Gone();
}

}  // namespace kymo::tools
