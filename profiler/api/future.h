// future.h - end a range when a future is ready.
//
//   kymo::RecordFunction range("rpc");
//   std::future<Reply> reply = Send("request");
//   kymo::EndOnFuture end(range);
//   absl::StatusOr<std::future<Reply>> done = end.On(std::move(reply));
//   if (done.ok()) done->get();   // the reply; the range has ended before
//
// On() takes a future and returns another one with the same value or exception.
// The range ends before the returned future is ready, even if the scope of the
// range has ended long ago. It ends on another thread, so it is asynchronous:
// it has no children and no self time. The same as PyTorch's
// _call_end_callbacks_on_future.
//
// Futures: a future with continuations (folly's, boost's) has a member
//   then(callback), which takes a function of the ready future and returns a
//   future. Such a future gets a continuation. std::future has none and gets a
//   thread that waits. Either runs in the state of the thread that called On()
//   (thread_state.h).
// Threads: the thread that owns the range calls On().
// Errors:  a second On() is kFailedPrecondition with PyTorch's text. A future
//   without a state is kInvalidArgument, and the range goes on as before.
#ifndef KYMO_PROFILER_API_FUTURE_H_
#define KYMO_PROFILER_API_FUTURE_H_

#include <future>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"

namespace kymo {

// A future type with continuations.
template <typename Future>
concept ContinuableFuture = requires(Future future) {
  std::move(future).then([](auto&&) {});
};

// Ends one range when a future is ready.
class EndOnFuture {
 public:
  // Borrows the range until On() has returned.
  explicit EndOnFuture(RecordFunction& range) : range_(&range) {}

  template <typename T>
  absl::StatusOr<std::future<T>> On(std::future<T> future) {
    if (!claimed_ && !future.valid()) {
      return absl::InvalidArgumentError(
          "the future has no state: it was moved from or never set");
    }
    if (absl::Status status = Claim(); !status.ok()) return status;
    return Async([operation = range_->Detach(),
                  future = std::move(future)]() mutable -> T {
      future.wait();
      internal::EndOperation(operation);
      return future.get();
    });
  }

  template <ContinuableFuture Future>
  auto On(Future future) -> absl::StatusOr<
      decltype(std::move(future).then(std::declval<Future (*)(Future&&)>()))> {
    if (absl::Status status = Claim(); !status.ok()) return status;
    return std::move(future).then(
        Propagate([operation = range_->Detach()](auto&& ready) mutable {
          internal::EndOperation(operation);
          return std::forward<decltype(ready)>(ready);
        }));
  }

 private:
  absl::Status Claim() {
    if (claimed_) {
      return absl::FailedPreconditionError(
          "_call_end_callbacks_on_future can only be called once.");
    }
    claimed_ = true;
    return absl::OkStatus();
  }

  RecordFunction* range_;
  bool claimed_ = false;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_FUTURE_H_
