// call.h - the range of one call, from its arguments.
//
//   constexpr CallInfo kSend("MPI_Send", ".ntdgc");
//   const Word args[] = {buffer, count, type, dest, tag, comm};
//   Call call(kSend, args);           // begins the range, if somebody records
//   result = send(...);
//   call.End(result);                 // adds what was received
//
// The library is asked about a datatype or a communicator for the first time
// only after the call has succeeded with it: a handle that the call does not
// read may be anything, and to ask about it would end the program.
//
// The calls that a library makes inside a call (of a Fortran function to the C
// one, of a collective to messages) are part of it and not recorded.
#ifndef KYMO_BACKENDS_MPI_TARGET_CALL_H_
#define KYMO_BACKENDS_MPI_TARGET_CALL_H_

#include <cstddef>
#include <cstdint>

#include "backends/mpi/target/datatypes.h"
#include "backends/mpi/target/message.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/requests.h"
#include "profiler/record/range.h"

namespace kymo::mpi {

// A function, and where among its arguments each role is. It is made when this
// library is compiled, so that a call looks for nothing.
class CallInfo {
 public:
  consteval CallInfo(record::Literal name, const char* roles,
                     bool is_persistent = false) noexcept
      : name(name), is_persistent(is_persistent) {
    for (int8_t& place : places_) place = -1;
    for (int8_t i = 0; roles[i] != '\0'; ++i) {
      // The first one counts.
      int8_t& place = places_[Index(roles[i])];
      if (roles[i] != '.' && place < 0) place = i;
    }
  }

  // The place of a role (see calls.h) among the arguments; -1: there is none.
  constexpr int Place(char role) const noexcept { return places_[Index(role)]; }

  const record::Literal name;
  const bool is_persistent;

 private:
  // Different for all letters, and 64 places are one line of the cache.
  static constexpr size_t Index(char role) noexcept { return role & 0x3f; }

  int8_t places_[64];
};

// The call that the thread is in, if it is recorded.
struct OpenCall {
  const void* frame = nullptr;   // of our function; null = none
  const void* caller = nullptr;  // the return address there
  record::OpenRange range;
  bool is_known = false;  // what there is to say of the thread has been said
};
extern constinit thread_local OpenCall open_call
    __attribute__((tls_model("initial-exec")));

// Whether open_call is in progress for a function with this frame. An error
// handler of the program may have left it, by an exception or a longjmp: then
// its frame is gone. Its range is ended here.
bool IsInProgress(const void* frame) noexcept;

// Whether the thread is inside a call that is recorded. Here and below, the
// frame is that of the function of MPI that takes this in.
__attribute__((always_inline)) inline bool IsInCall() noexcept {
  return open_call.frame != nullptr && IsInProgress(__builtin_frame_address(0));
}

// Whether a call that begins now is to be recorded.
__attribute__((always_inline)) inline bool IsRecording() noexcept {
  return record::IsOn() && !IsInCall();
}

// What communicators.h knows an argument by, if it has that role: `x y P Q` for
// what exists, `p q` for what the call has made. 0: the call has no such role.
Word SharedKeyOf(const CallInfo& info, const Word* args,
                 const char* roles) noexcept;

class Args;

class Call {
 public:
  // `args` has one Word for each role, and outlives the call. The address of
  // a status that the program does not want is replaced by one of ours.
  // REQUIRES: IsRecording().
  Call(const CallInfo& info, Word* args,
       const void* frame = __builtin_frame_address(0)) noexcept;
  void End(Word result) noexcept;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  // Which arguments say how much is sent; -1: none.
  struct Content {
    int count = -1;
    int counts = -1;  // of each rank
    int type = -1;
    int count_of = 0;  // how many counts
  };

  Word Arg(int place) const noexcept { return args_[place]; }
  int Int(int place) const noexcept { return static_cast<int>(args_[place]); }
  bool IsInPlace(int buffer) const noexcept;
  bool Receives() const noexcept;
  void FindContent() noexcept;
  int64_t Bytes(int type_size) const noexcept;
  void AddSource(int peer, int tag, Args& all) noexcept;
  void AddPeers(Args& all) noexcept;
  void AddType(const Datatype& type, Args& all) noexcept;
  void AddReceived(Args& all) noexcept;
  void AddAfterwards(Args& all) noexcept;

  const CallInfo& info_;
  Word* const args_;
  Request request_;
  Content content_;
  bool has_peers_ = false;
  bool has_type_ = false;
  StatusRoom status_;
};

// The range of a call without arguments that matter.
class PlainCall {
 public:
  explicit PlainCall(record::Literal name,
                     const void* frame = __builtin_frame_address(0)) noexcept;
  ~PlainCall() { End(); }
  // Returns the time of the end, for what ends together with the call.
  uint64_t End() noexcept;
  PlainCall(const PlainCall&) = delete;
  PlainCall& operator=(const PlainCall&) = delete;

 private:
  bool is_outer_;  // and has not ended
};

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_CALL_H_
