#include "backends/mpi/target/call.h"

#include "backends/mpi/target/communicators.h"
#include "backends/mpi/target/datatypes.h"

namespace kymo::mpi {

constinit thread_local bool is_in_call = false;

namespace {

constexpr size_t kMostArgs = 8;

// The arguments of a range, as they are gathered.
class Args {
 public:
  void Add(record::Literal key, int64_t value) noexcept {
    new (&args_[count_++]) record::Arg(key, value);
  }
  void Add(record::Literal key, std::string_view value) noexcept {
    new (&args_[count_++]) record::Arg(key, value);
  }
  const record::Arg* data() const noexcept {
    return reinterpret_cast<const record::Arg*>(args_);
  }
  size_t size() const noexcept { return count_; }

 private:
  struct alignas(record::Arg) Room {
    char bytes[sizeof(record::Arg)];
  };
  Room args_[kMostArgs];
  size_t count_ = 0;
};

int64_t PeerOf(const Communicator* comm, int rank) noexcept {
  if (rank == Abi().proc_null) return -1;
  return comm == nullptr ? rank : comm->WorldRank(rank);
}

}  // namespace

int64_t Call::Bytes(int type_size, int comm_size) const noexcept {
  const int count = info_.Place('n');
  if (count >= 0) return int64_t{Int(count)} * type_size;
  const int counts = info_.Place('V');
  if (counts < 0 || Arg(counts) == 0) return -1;
  int64_t sum = 0;
  for (int i = 0; i < comm_size; ++i) {
    sum += reinterpret_cast<const int*>(Arg(counts))[i];
  }
  return sum * type_size;
}

Call::Call(const CallInfo& info, Word* args) noexcept
    : info_(info), args_(args) {
  is_in_call = true;
  request_.name = info.name;
  request_.is_persistent = info.is_persistent;
  Args all;
  const Communicator* comm = nullptr;
  if (const int place = info.Place('c'); place >= 0) {
    request_.comm = Arg(place);
    comm = FindCommunicator(request_.comm);
    if (comm != nullptr) request_.comm_id = comm->id;
    all.Add("comm", request_.comm_id);
  }
  if (const int place = info.Place('d'); place >= 0) {
    request_.direction = Direction::kSend;
    request_.peer = PeerOf(comm, Int(place));
    request_.tag = Int(info.Place('g'));
    all.Add("to", request_.peer);
    all.Add("tag", request_.tag);
  } else if (info.Place('s') >= 0) {
    request_.direction = Direction::kReceive;
  }
  if (const int place = info.Place('R'); place >= 0) {
    all.Add("root", PeerOf(comm, Int(place)));
  }
  if (const int place = info.Place('t'); place >= 0) {
    const Datatype& type = DatatypeOf(Arg(place));
    request_.bytes = Bytes(type.size, comm == nullptr ? 0 : comm->size);
    // A receive says afterwards how much came.
    if (request_.direction != Direction::kReceive && request_.bytes >= 0) {
      all.Add("bytes", request_.bytes);
    }
    all.Add("dtype", type.Name());
  }
  if (const int place = info.Place('S'); place >= 0) {
    if (Arg(place) == Abi().status_ignore) {
      args_[place] = reinterpret_cast<Word>(&status_);
    }
  }
  record::BeginRangeWithPayload(range_, info.name, {}, RecordScope::kFunction,
                                all.data(), all.size());
}

void Call::AddReceived() noexcept {
  const auto* const status =
      reinterpret_cast<const void*>(Arg(info_.Place('S')));
  const Received received = ReadStatus(status, request_.comm);
  if (!received.is_message) return;
  const bool is_half = info_.Place('e') >= 0;  // of a sendrecv
  Args all;
  all.Add("from", received.from);
  is_half ? all.Add("from_tag", received.tag) : all.Add("tag", received.tag);
  is_half ? all.Add("from_bytes", received.bytes)
          : all.Add("bytes", received.bytes);
  record::AddArgs(range_, all.data(), all.size());
}

void Call::End(Word result) noexcept {
  const bool is_done = static_cast<int>(result) == kSuccess;
  if (is_done && range_.slot != nullptr && info_.Place('S') >= 0 &&
      (info_.Place('s') >= 0 || info_.Place('e') >= 0)) {
    AddReceived();
  }
  record::EndRange(range_);
  if (is_done && info_.Place('r') >= 0) {
    BeginRequest(HandleAt(Arg(info_.Place('r')), 0), request_);
  }
  is_in_call = false;
}

PlainCall::PlainCall(record::Literal name) noexcept : is_outer_(IsRecording()) {
  if (!is_outer_) return;
  is_in_call = true;
  record::BeginRange(range_, name, RecordScope::kFunction);
}

PlainCall::~PlainCall() {
  if (!is_outer_) return;
  record::EndRange(range_);
  is_in_call = false;
}

}  // namespace kymo::mpi
