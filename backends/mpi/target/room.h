// room.h - memory for the time of one call, however long its arrays are.
//
//   const Room room(bytes);
//   if (room.data() == nullptr) return;   // there is no memory
//
// A small one is on the stack. Larger ones are kept for the next call that
// needs one, so there are as many as calls that go on together. The program's
// own allocator is not used: the program may be inside of it, or record it.
//
// Threads: any.
#ifndef KYMO_BACKENDS_MPI_TARGET_ROOM_H_
#define KYMO_BACKENDS_MPI_TARGET_ROOM_H_

#include <cstddef>

namespace kymo::mpi {

class Room {
 public:
  explicit Room(size_t bytes) noexcept;
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  char* data() noexcept { return data_; }

 private:
  struct Block;
  static constexpr size_t kOnStack = 2048;
  static Block* kept;  // the first one of a list

  Block* block_ = nullptr;
  char* data_;
  alignas(16) char stack_[kOnStack];
};

}  // namespace kymo::mpi

#endif  // KYMO_BACKENDS_MPI_TARGET_ROOM_H_
