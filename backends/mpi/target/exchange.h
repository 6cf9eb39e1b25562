// exchange.h - messages of Kymo's own between ranks, each with a time limit.
//
//   Exchange exchange;
//   if (exchange.Open()) {                       // collective
//     exchange.Send(1, &value, sizeof(value));
//     exchange.Receive(1, &value, sizeof(value), limit_ns);
//   }
//
// A rank that has died, or that Kymo does not record after all, would keep the
// others waiting. So nothing here blocks: whatever is not complete in time is
// given up, and every later exchange fails at once.
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_MPI_TARGET_EXCHANGE_H_
#define KYMO_BACKENDS_MPI_TARGET_EXCHANGE_H_

#include <cstddef>
#include <cstdint>

#include "backends/mpi/target/mpi_library.h"

namespace kymo::mpi {

class Exchange {
 public:
  static constexpr int64_t kLimitNs = 10'000'000'000;

  // Duplicates MPI_COMM_WORLD. False: it took too long, or failed.
  bool Open() noexcept;
  bool is_open() const noexcept { return comm_ != 0; }

  // At most kMostBytes, which both sides agree on.
  static constexpr size_t kMostBytes = 16;
  bool Send(int peer, const void* data, size_t bytes) noexcept;
  bool Receive(int peer, void* data, size_t bytes,
               int64_t limit_ns = kLimitNs) noexcept;
  // A last message to a rank that waits for one of us, also after something was
  // given up. Nobody waits for it to arrive.
  void SendLast(int peer, int64_t value) noexcept;

 private:
  bool Complete(Word& request, int64_t limit_ns) noexcept;

  Word comm_ = 0;      // 0: something was given up
  Word new_comm_ = 0;  // the library writes it when the duplicate is made
  // A message that is given up may still come.
  alignas(16) char out_[kMostBytes] = {};
  alignas(16) char in_[kMostBytes] = {};
  int64_t last_ = 0;
};

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_EXCHANGE_H_
