#include "tools/profile_command/job/rank_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kymo/version.h"
#include "profiler/base/clock.h"
#include "profiler/base/signals_blocked.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/sink.h"
#include "tools/profile_command/job/job_socket.h"
#include "tools/profile_command/job/rank_protocol.h"

namespace kymo::tools {
namespace {

// For who does not prove that he is a rank.
constexpr auto kStrangerLimit = std::chrono::seconds(5);
// Beyond one connection for each rank.
constexpr size_t kStrangers = 256;
// Of one message of a clock's measurement: a busy machine takes its time for
// all of them.
constexpr auto kMeasureLimit = std::chrono::seconds(1);
// An answer is a few bytes, which the kernel takes at once.
constexpr auto kAnswerLimit = std::chrono::milliseconds(100);
constexpr size_t kMostAtOnce = 256 * 1024;
// Of the averages: far more than kMostNames of them take.
constexpr uint64_t kMostSums = 256 << 20;

}  // namespace

// One rank, or a stranger. Its calls return false if it is to be ended.
class RankServer::Connection {
 public:
  Connection(RankServer& server, OwnedDescriptor socket)
      : server_(server), socket_(std::move(socket)) {}

  int socket() const { return socket_.get(); }
  bool is_known() const { return rank_ >= 0; }
  bool IsSilent() const {
    return !is_known() && std::chrono::steady_clock::now() > limit_;
  }

  bool Greet() {
    challenge_ = {RandomNumber(), RandomNumber()};
    const Greeting greeting = {.magic = kRankMagic,
                               .release = ReleaseOf(KYMO_VERSION),
                               .challenge = challenge_};
    return Answer(greeting);
  }

  bool Read() {
    const size_t before = input_.size();
    input_.resize(before + kMostAtOnce);
    const ssize_t got =
        recv(socket(), input_.data() + before, kMostAtOnce, MSG_DONTWAIT);
    input_.resize(before + std::max<ssize_t>(got, 0));
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    while (!input_.empty()) {
      const size_t size = input_.size();
      if (!Use()) return false;
      if (input_.size() == size) break;  // the rest is still to come
    }
    return true;
  }

  // If the rank waits for it, and there is one.
  bool TellVerdict() {
    if (!waits_for_verdict_) return true;
    const std::lock_guard<std::mutex> held(server_.mutex_);
    if (!server_.wanted_) return true;
    waits_for_verdict_ = false;
    return Answer(server_.wanted_->contains(rank_) ? kTaken : kRefused);
  }

 private:
  template <typename T>
  bool Take(T& value) {
    if (input_.size() < sizeof(value)) return false;
    memcpy(&value, input_.data(), sizeof(value));
    input_.erase(0, sizeof(value));
    return true;
  }
  template <typename T>
  bool Answer(const T& value) {
    return SendAll(socket(), &value, sizeof(value), In(kAnswerLimit));
  }
  bool AnswerWell() { return Answer(kTaken); }

  // Uses what has come, as far as it goes.
  bool Use() {
    if (file_ != nullptr) return UseTrace();
    if (sums_size_ > 0) return UseSums();
    if (!is_known()) {
      Hello hello;
      return !Take(hello) || UseHello(hello);
    }
    Ask ask;
    return !Take(ask) || UseAsk(ask);
  }

  bool UseHello(const Hello& hello) {
    if (hello.magic != kRankMagic || hello.rank < 0 ||
        hello.rank >= server_.size_ ||
        hello.proof != Prove(server_.secret_, ProofOf::kRank, challenge_,
                             hello.challenge, hello.rank)) {
      return false;
    }
    rank_ = hello.rank;
    const Welcome welcome = {.proof =
                                 Prove(server_.secret_, ProofOf::kRankZero,
                                       challenge_, hello.challenge, rank_)};
    return Answer(welcome);
  }

  bool UseAsk(const Ask& ask) {
    const Events& events = server_.events_;
    switch (ask.what) {
      case AskFor::kClock:
        return MeasureClock();
      case AskFor::kAlive:
        if (!events.alive) return false;
        events.alive(rank_, static_cast<int64_t>(ask.number));
        return true;
      case AskFor::kTrace:
        return OpenTrace("trace.json", ask.number);
      case AskFor::kTraceGzip:
        return OpenTrace("trace.json.gz", ask.number);
      case AskFor::kDone:
        if (!events.done) return false;
        events.done(rank_, ask.number != 0);
        return AnswerWell();
      case AskFor::kSums:
        sums_size_ = ask.number;
        return events.sums && sums_size_ > 0 && sums_size_ < kMostSums &&
               UseSums();
      case AskFor::kListens:
        AddListening(static_cast<uint16_t>(ask.number));
        return true;
      case AskFor::kWhereIs:
        return Answer(server_.listening_[static_cast<int64_t>(ask.number)]);
      case AskFor::kBrokeOff:
        if (!events.broke_off) return false;
        events.broke_off(rank_, static_cast<int64_t>(ask.number));
        return true;
      case AskFor::kVerdict:
        waits_for_verdict_ = true;
        return TellVerdict();
    }
    return false;
  }

  void AddListening(uint16_t port) {
    const std::string host = PeerAddress(socket());
    WhereIs where = {.host = {}, .port = port};
    if (host.size() >= where.host.size()) return;
    std::ranges::copy(host, where.host.begin());
    server_.listening_[rank_] = where;
  }

  bool UseSums() {
    if (input_.size() < sums_size_) return true;
    const bool is_taken = server_.events_.sums(input_.substr(0, sums_size_));
    input_.erase(0, sums_size_);
    sums_size_ = 0;
    return Answer(is_taken ? kTaken : kRefused);
  }

  // The rank sends nothing until it is answered.
  bool MeasureClock() {
    if (!AnswerWell()) return false;
    for (int i = 0; i < kRoundTrips; ++i) {
      const Deadline end = In(kMeasureLimit);
      int64_t now;
      if (!ReceiveAll(socket(), &now, sizeof(now), end)) return false;
      now = MonotonicNs();
      if (!SendAll(socket(), &now, sizeof(now), end)) return false;
    }
    return true;
  }

  bool OpenTrace(std::string_view name, uint64_t bytes) {
    if (!server_.events_.folder || !server_.events_.alive) return false;
    const std::string folder = server_.events_.folder(rank_);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    auto file = NewFileSink(absl::StrCat(folder, "/", std::string(name)));
    if (!file.ok()) return false;
    // Of an earlier run, perhaps. The rank has its own one open already.
    for (const char* const other : {"trace.json", "trace.json.gz"}) {
      if (name != other) {
        std::filesystem::remove(absl::StrCat(folder, "/", other), error);
      }
    }
    file_ = *std::move(file);
    file_left_ = bytes;
    return UseTrace();
  }

  bool UseTrace() {
    const size_t size = std::min<uint64_t>(file_left_, input_.size());
    if (!file_->Append(std::string_view(input_).substr(0, size)).ok()) {
      return false;
    }
    input_.erase(0, size);
    file_left_ -= size;
    // As long as something comes, the rank lives.
    if (std::chrono::steady_clock::now() > next_sign_) {
      server_.events_.alive(rank_, static_cast<int64_t>(file_left_));
      next_sign_ = In(kMeasureLimit);
    }
    if (file_left_ > 0) return true;
    const absl::Status written = file_->Commit();
    file_.reset();
    if (!written.ok()) return false;
    if (server_.events_.trace) server_.events_.trace(rank_);
    return AnswerWell();
  }

  RankServer& server_;
  const OwnedDescriptor socket_;
  const Deadline limit_ = In(kStrangerLimit);
  Challenge challenge_ = {};
  int64_t rank_ = -1;  // not proved yet
  std::string input_;
  std::unique_ptr<ByteSink> file_;
  uint64_t file_left_ = 0;
  Deadline next_sign_ = {};
  uint64_t sums_size_ = 0;  // of sums that are coming
  bool waits_for_verdict_ = false;
};

absl::StatusOr<std::unique_ptr<RankServer>> RankServer::Start(
    const Options& options, Events events) {
  uint16_t port = 0;
  KYMO_ASSIGN_OR_RETURN(OwnedDescriptor listener,
                        ListenOn(options.ports, options.is_local, port));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "could not make a pipe");
  }
  std::unique_ptr<RankServer> server(
      new RankServer(options, std::move(events), std::move(listener), port));
  server->orders_read_ = OwnedDescriptor(ends[0]);
  server->orders_write_ = OwnedDescriptor(ends[1]);
  const SignalsBlocked blocked;
  server->thread_ = std::thread([&server = *server] { server.Run(); });
  return server;
}

RankServer::RankServer(const Options& options, Events events,
                       OwnedDescriptor listener, uint16_t port)
    : size_(options.size),
      secret_(options.token),
      events_(std::move(events)),
      listener_(std::move(listener)),
      port_(port) {}

RankServer::~RankServer() {
  orders_write_ = OwnedDescriptor();
  if (thread_.joinable()) thread_.join();
}

void RankServer::Decide(const std::vector<int64_t>& wanted) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    wanted_.emplace(wanted.begin(), wanted.end());
  }
  const char order = 'd';
  if (write(orders_write_.get(), &order, 1) != 1) {
    // The pipe is full of such orders.
  }
}

bool RankServer::TakeOrders() {
  char orders[64];
  if (read(orders_read_.get(), orders, sizeof(orders)) <= 0) return false;
  connections_.remove_if([](Connection& c) { return !c.TellVerdict(); });
  return true;
}

void RankServer::Accept() {
  OwnedDescriptor socket = AcceptFrom(listener_.get());
  if (!socket.is_open()) {
    // Too many files are open, perhaps.
    std::this_thread::sleep_for(kAnswerLimit);
    return;
  }
  if (connections_.size() >= static_cast<size_t>(size_) + kStrangers) return;
  if (!connections_.emplace_back(*this, std::move(socket)).Greet()) {
    connections_.pop_back();
  }
}

void RankServer::EndSilent() {
  connections_.remove_if([](const Connection& c) { return c.IsSilent(); });
}

void RankServer::Run() {
  std::vector<pollfd> sockets;
  for (;;) {
    sockets = {{.fd = orders_read_.get(), .events = POLLIN, .revents = 0},
               {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    bool has_strangers = false;
    for (const Connection& connection : connections_) {
      sockets.push_back(
          {.fd = connection.socket(), .events = POLLIN, .revents = 0});
      has_strangers |= !connection.is_known();
    }
    poll(sockets.data(), sockets.size(), has_strangers ? 1000 : -1);
    auto connection = connections_.begin();
    for (size_t i = 2; i < sockets.size(); ++i) {
      const auto at = connection++;
      if (sockets[i].revents != 0 && !at->Read()) connections_.erase(at);
    }
    EndSilent();
    if (sockets[1].revents != 0) Accept();
    if (sockets[0].revents != 0 && !TakeOrders()) return;
  }
}

}  // namespace kymo::tools
