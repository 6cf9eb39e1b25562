#include "backends/mpi/target/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/mpi/target/communicators.h"
#include "profiler/base/descriptor.h"
#include "profiler/record/captured.h"

namespace kymo::mpi {

constinit thread_local OpenCall open_call;

using record::CapturedArg;

// The arguments of a range, as they are gathered.
class Args {
 public:
  void Add(record::Literal key, int64_t value) noexcept {
    new (&args_[count_++]) CapturedArg{.key = record::LiteralId(key),
                                       .bits = static_cast<uint64_t>(value)};
  }
  void Add(record::Literal key, std::string_view value) noexcept {
    new (&args_[count_++]) CapturedArg{.key = record::LiteralId(key),
                                       .kind = record::PayloadKind::kString,
                                       .text = value};
  }
  const CapturedArg* data() const noexcept {
    return reinterpret_cast<const CapturedArg*>(args_);
  }
  size_t size() const noexcept { return count_; }

 private:
  // A call adds at most who (5), what (2), what came (3), and the error.
  static constexpr size_t kMostArgs = 11;

  struct alignas(CapturedArg) Room {
    char bytes[sizeof(CapturedArg)];
  };
  Room args_[kMostArgs];
  size_t count_ = 0;
};

bool Call::IsInPlace(int buffer) const noexcept {
  return buffer >= 0 && Arg(buffer) == Abi().in_place;
}

bool Call::Receives() const noexcept {
  return request_.direction == Direction::kReceive;
}

// With MPI_IN_PLACE the call does not read the count and the type beside it;
// some calls read those of the other buffer instead. On an intercommunicator,
// a rank that names no root (MPI_ROOT, MPI_PROC_NULL) may pass anything.
void Call::FindContent() noexcept {
  if (const int root = info_.Place('R'); root >= 0 && Int(root) < 0) return;
  const bool is_other = IsInPlace(info_.Place('b'));
  content_ = {.count = info_.Place(is_other ? 'N' : 'n'),
              .counts = info_.Place(is_other ? 'W' : 'V'),
              .type = info_.Place(is_other ? 'T' : 't'),
              .count_of = request_.peers.size};
  if (const int own = info_.Place('v'); own >= 0) {
    content_.counts = own;
    content_.count_of = request_.peers.own_size;
  }
  if (content_.type >= 0 && Handle(Arg(content_.type)) == Abi().type_null) {
    content_ = {};
  }
}

int64_t Call::Bytes(int type_size) const noexcept {
  const int partitions = info_.Place('u');
  const int64_t parts = partitions >= 0 ? Int(partitions) : 1;
  if (content_.count >= 0) return parts * Int(content_.count) * type_size;
  if (content_.counts < 0 || Arg(content_.counts) == 0) return -1;
  int64_t sum = 0;
  for (int i = 0; i < content_.count_of; ++i) {
    sum += reinterpret_cast<const int*>(Arg(content_.counts))[i];
  }
  return sum * type_size;
}

// Of whom a receive is that never gets a message, as far as it says: with
// MPI_ANY_SOURCE or MPI_ANY_TAG, which are below 0, nobody in particular.
void Call::AddSource(int peer, int tag, Args& all) noexcept {
  request_.source = request_.peers.WorldRank(peer);
  request_.source_tag = tag;
  if (request_.source >= 0) all.Add("source", request_.source);
  if (tag >= 0) all.Add("source_tag", tag);
}

void Call::AddPeers(Args& all) noexcept {
  has_peers_ = true;
  all.Add("comm", request_.comm_id);
  if (const int place = info_.Place('d'); place >= 0) {
    request_.peer = request_.peers.WorldRank(Int(place));
    request_.tag = Int(info_.Place('g'));
    all.Add("to", request_.peer);
    all.Add("tag", request_.tag);
  }
  if (const int place = info_.Place('s'); place >= 0) {
    AddSource(Int(place), Int(info_.Place('g')), all);
  }
  if (const int place = info_.Place('e'); place >= 0) {
    AddSource(Int(place), Int(info_.Place('G')), all);
  }
  // What a request of both halves receives from anybody stays unknown: not
  // every library fills its status (MPICH 4.0 does not).
  if (const int place = info_.Place('e');
      place >= 0 && Int(info_.Place('G')) >= 0) {
    request_.from = request_.peers.WorldRank(Int(place));
    request_.from_tag = Int(info_.Place('G'));
  }
  if (const int place = info_.Place('R'); place >= 0) {
    all.Add("root", request_.peers.WorldRank(Int(place)));
  }
}

void Call::AddType(const Datatype& type, Args& all) noexcept {
  has_type_ = true;
  request_.bytes = Bytes(type.size);
  // A receive says afterwards how much came.
  if (!Receives() && request_.bytes >= 0) all.Add("bytes", request_.bytes);
  all.Add("dtype", type.Name());
}

namespace {

// The frame pointer points at the caller's; the return address is behind it.
const void* ReturnAddress(const void* frame) noexcept {
  return static_cast<const void* const*>(frame)[1];
}

// Since when the thread is there at least, in nanoseconds: the kernel counts
// in hundredths of a second. 0: it does not tell.
int64_t AgeOfThread() noexcept {
  const int file = AboveStandardStreams(
      open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC));
  if (file < 0) return 0;
  char text[1024];
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  // Behind the name, which may have any characters, are fields 3, 4, ...
  const char* at = strrchr(text, ')');
  constexpr int kStart = 22;
  for (int field = 2; at != nullptr && field < kStart; ++field) {
    at = strchr(at + 1, ' ');
  }
  if (at == nullptr) return 0;
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  timespec now;
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const int64_t start_ns = (strtoll(at, nullptr, 10) + 1) * tick_ns;
  const int64_t age_ns =
      now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec - start_ns;
  return age_ns > 0 ? age_ns : 0;
}

// A thread may have computed before it first calls MPI. That of the main thread
// is known without this.
void SayThread() noexcept {
  open_call.is_known = true;
  if (gettid() == getpid()) return;
  const int error = errno;
  const record::Arg args[] = {{"age_ns", AgeOfThread()}};
  record::RecordInstant("MPI thread", {}, args, 1);
  errno = error;
}

void Enter(const void* frame) noexcept {
  if (!open_call.is_known) [[unlikely]]
    SayThread();
  open_call.frame = frame;
  open_call.caller = ReturnAddress(frame);
}

}  // namespace

bool IsInProgress(const void* frame) noexcept {
  // Stacks grow down. What is farther away may be another stack.
  constexpr uint64_t kFarthest = 8 << 20;
  const uint64_t distance = reinterpret_cast<uint64_t>(open_call.frame) -
                            reinterpret_cast<uint64_t>(frame);
  if (distance != 0 && distance < kFarthest &&
      ReturnAddress(open_call.frame) == open_call.caller) {
    return true;
  }
  open_call.frame = nullptr;
  // When it was left is not known. What the program did since is not MPI's.
  const CapturedArg failed = {.key = record::LiteralId("failed"),
                              .bits = ~0ull};
  record::EndCaptured(
      open_call.range, &failed, 1,
      open_call.range.slot == nullptr ? 0 : open_call.range.slot->begin.load());
  return false;
}

Word SharedKeyOf(const CallInfo& info, const Word* args,
                 const char* roles) noexcept {
  for (; *roles != '\0'; ++roles) {
    const int place = info.Place(*roles);
    if (place < 0) continue;
    switch (*roles) {
      case 'x':
        return Handle(args[place]);
      case 'y':  // a pointer in each implementation
        return args[place];
      case 'p':
      case 'P':
        return HandleAt(args[place], 0);
      default:
        return *reinterpret_cast<const Word*>(args[place]);
    }
  }
  return 0;
}

Call::Call(const CallInfo& info, Word* args, const void* frame) noexcept
    : info_(info), args_(args) {
  Enter(frame);
  request_.name = info.name;
  request_.is_persistent = info.is_persistent;
  Args all;
  if (info.Place('d') >= 0) {
    request_.direction = Direction::kSend;
  } else if (info.Place('s') >= 0 || info.Place('m') >= 0) {
    request_.direction = Direction::kReceive;
  }
  if (const int place = info.Place('c'); place >= 0) {
    if (FindPeers(Handle(Arg(place)), request_)) AddPeers(all);
  } else if (const Word key = SharedKeyOf(info, args, "xyPQ"); key != 0) {
    has_peers_ = true;
    if (FindPeers(key, request_)) AddPeers(all);
  } else if (const int message = info.Place('m'); message >= 0) {
    // The call overwrites the handle.
    if (TakeMessage(HandleAt(Arg(message), 0), request_)) {
      AddPeers(all);
      all.Add("message", request_.message);
    }
  } else {
    has_peers_ = true;
  }
  FindContent();
  if (content_.type >= 0 && has_peers_) {
    const Datatype* const type = KnownDatatype(Arg(content_.type));
    if (type != nullptr) AddType(*type, all);
  }
  if (const int place = info.Place('S'); place >= 0) {
    if (Arg(place) == Abi().status_ignore) {
      args_[place] = reinterpret_cast<Word>(&status_);
    }
  }
  record::BeginCaptured(open_call.range,
                        {.name = {.id = record::LiteralId(info.name)},
                         .scope = RecordScope::kFunction,
                         .args = all.data(),
                         .arg_count = all.size()});
}

void Call::AddReceived(Args& all) noexcept {
  const auto* const status =
      reinterpret_cast<const void*>(Arg(info_.Place('S')));
  const Received received = ReadStatus(status, request_.peers, false);
  if (!received.is_message) return;
  const bool is_half = info_.Place('e') >= 0;  // of a sendrecv
  all.Add("from", received.from);
  is_half ? all.Add("from_tag", received.tag) : all.Add("tag", received.tag);
  is_half ? all.Add("from_bytes", received.bytes)
          : all.Add("bytes", received.bytes);
}

// What could not be asked before the call.
void Call::AddAfterwards(Args& all) noexcept {
  if (const int place = info_.Place('c'); !has_peers_ && place >= 0) {
    AddCommunicator(Arg(place));
    if (FindPeers(Handle(Arg(place)), request_)) AddPeers(all);
    FindContent();
  }
  if (content_.type >= 0 && !has_type_) {
    AddType(ReadDatatype(Arg(content_.type)), all);
  }
  if (info_.Place('S') >= 0 && (Receives() || info_.Place('e') >= 0)) {
    AddReceived(all);
  }
  if (info_.Place('M') >= 0) {
    request_.message = NewMessageNumber();
    all.Add("message", request_.message);
  }
}

void Call::End(Word result) noexcept {
  const bool is_done = static_cast<int>(result) == kSuccess;
  Args all;
  if (HasMessage(static_cast<int>(result))) AddAfterwards(all);
  if (!is_done) all.Add("failed", static_cast<int>(result));
  const uint64_t ticks =
      record::EndCaptured(open_call.range, all.data(), all.size());
  if (is_done && info_.Place('r') >= 0) {
    BeginRequest(HandleAt(Arg(info_.Place('r')), 0), request_, ticks);
  }
  if (is_done && info_.Place('M') >= 0) {
    AddMessage(HandleAt(Arg(info_.Place('M')), 0), request_);
  }
  open_call.frame = nullptr;
}

PlainCall::PlainCall(record::Literal name, const void* frame) noexcept
    : is_outer_(record::IsOn() &&
                (open_call.frame == nullptr || !IsInProgress(frame))) {
  if (!is_outer_) return;
  Enter(frame);
  record::BeginRange(open_call.range, name, RecordScope::kFunction);
}

uint64_t PlainCall::End() noexcept {
  if (!is_outer_) return 0;
  is_outer_ = false;
  open_call.frame = nullptr;
  return record::EndCaptured(open_call.range, nullptr, 0);
}

}  // namespace kymo::mpi
