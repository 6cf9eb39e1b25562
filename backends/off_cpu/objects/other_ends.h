// other_ends.h - finds the processes at the other ends of pipes and of
// connected unix sockets.
//
//   OtherEnds ends;
//   ends.Want({.inode = 4711, .own_pid = pid, .side = Side::kWriter, .id = 1});
//   ends.Search(100'000, [](uint32_t id, const std::string& text) { ... });
//
// Only the kernel's lists of descriptors tell: /proc/PID/fd of all processes
// that this user may see. These are read bit by bit, and only as long as
// somebody wants an end. The parent and the children of the process that waits
// come first: they most often have the other end, and may end soon. If one of
// them cannot be read any more, nobody knows whether it had the end.
//
// Threads: none.
#ifndef KYMO_BACKENDS_OFF_CPU_OBJECTS_OTHER_ENDS_H_
#define KYMO_BACKENDS_OFF_CPU_OBJECTS_OTHER_ENDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace kymo::off_cpu {

// Which descriptors are at the other end.
enum class Side : uint8_t {
  kReader,  // of the pipe
  kWriter,
  kSocket,  // `inode` is the other end's own
};

struct OtherEnd {
  uint64_t inode = 0;
  int64_t own_pid = 0;
  Side side = Side::kReader;
  uint32_t id = 0;  // of the caller
};

class OtherEnds {
 public:
  static constexpr size_t kMostWanted = 1000;

  // Of ends that are already wanted, and of too many, nothing comes of it.
  void Want(const OtherEnd& end);

  // Reads on for about `most_ns`. When all processes were read, tells of each
  // end that was found and was wanted before that began:
  //   "gzip (4711)", "make (4711) and 3 others", "itself"
  // It is "itself" if neither the process's parent nor a child has the end.
  using Found = std::function<void(uint32_t id, const std::string& text)>;
  void Search(int64_t most_ns, const Found& found);
  // Until all that was wanted has been searched for, at most so long.
  void Finish(int64_t most_ns, const Found& found);

 private:
  struct Wanted {
    OtherEnd end;
    bool is_searched = false;              // since before this reading began
    std::map<int64_t, std::string> found;  // processes, with their names
    std::vector<int> relatives;            // that are not read yet
  };

  void Begin();
  // Some descriptors of a process. False: there is none left.
  bool ReadNext();
  void EndProcess();
  void LookAt(int64_t pid, int descriptor);
  void Tell(const Found& found);

  absl::flat_hash_map<uint64_t, std::vector<Wanted>> wanted_;  // by inode
  size_t wanted_count_ = 0;
  bool is_reading_ = false;
  std::vector<int> pids_;         // that are left, the next one last
  std::vector<int> relatives_;    // that are read before these
  int64_t pid_ = 0;               // that is being read; 0: none
  bool is_whole_ = false;         // it is read from its first descriptor on
  std::vector<int> descriptors_;  // of it, that are left
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OBJECTS_OTHER_ENDS_H_
