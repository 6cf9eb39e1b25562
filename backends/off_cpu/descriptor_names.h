// descriptor_names.h - names for the descriptors that threads wait for.
//
//   DescriptorNames names(&log);
//   WaitCause cause = {.kind = WaitKind::kRead, .object = 7};
//   names.Set(thread, {}, cause);      // kNetwork, "tcp 10.0.0.7:5432"
//   names.Search();                    // every few milliseconds
//
// A number may be another file's as soon as the thread's wait has ended. So
// what was read later than the wait counts only if it is the same as before, or
// if the thread still waits.
//
// Threads: none. Borrows the log.
#ifndef KYMO_BACKENDS_OFF_CPU_DESCRIPTOR_NAMES_H_
#define KYMO_BACKENDS_OFF_CPU_DESCRIPTOR_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/off_cpu/look/blocked_call.h"
#include "backends/off_cpu/look/blocked_look.h"
#include "backends/off_cpu/look/polled.h"
#include "backends/off_cpu/objects/other_ends.h"
#include "backends/off_cpu/objects/socket_name.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/off_cpu/wait_log.h"

namespace kymo::off_cpu {

// How a wait for a descriptor is known.
struct DescriptorUse {
  // By a sample: the call in which the thread was a moment ago. Null, and no
  // inode either: a look has just seen the thread in it.
  const BlockedCall* sampled = nullptr;
  // By a hook: what the descriptor was then; zeros: not known.
  bool is_noted = false;
  uint64_t inode = 0;
  uint32_t mode = 0;

  bool is_look() const { return sampled == nullptr && !is_noted; }
};

class DescriptorNames {
 public:
  explicit DescriptorNames(WaitLog* log) : log_(log) {}

  // Sets kind and name of a cause whose object is a descriptor.
  void Set(const ThreadKey& thread, const DescriptorUse& use, WaitCause& cause);
  // Of a cause that waits for any of some descriptors. One alone is its object.
  void SetPolled(const ThreadKey& thread, const DescriptorUse& use,
                 const Polled& polled, WaitCause& cause);

  // Looks for the other ends of pipes and sockets, for at most 2 % of the time.
  void Search();
  // The same for those that are left, at most 0.2 s.
  void Finish();

 private:
  struct Link {
    uint64_t read_ns = 0;
    DescriptorInfo descriptor;
    // Of an epoll, when it was asked for its descriptors.
    uint64_t described_ns = 0;
    std::string text;
    bool has_only_timers = false;
  };
  struct Socket {
    uint64_t asked_ns = 0;
    SocketName name;
  };

  // The descriptor as it was in the wait, as far as anybody knows.
  struct Known {
    std::string id;  // tells objects apart
    std::string text;
    DescriptorInfo descriptor;
    bool has_only_timers = false;  // it is an epoll
  };
  Known Find(const ThreadKey& thread, uint64_t number,
             const DescriptorUse& use);
  Known FindOther(const DescriptorUse& use, bool was_closed) const;
  Link& Read(const ThreadKey& thread, uint64_t number, const DescriptorUse& use,
             bool& has_changed);
  std::string Describe(const ThreadKey& thread, uint64_t number, Link& link,
                       bool is_part);
  void DescribeEpoll(const ThreadKey& thread, uint64_t number, Link& epoll);
  void NameListener(const ThreadKey& thread, std::vector<uint64_t> descriptors,
                    Link& epoll);
  const SocketName& SocketOf(const ThreadKey& thread, uint64_t number,
                             uint64_t inode);
  void WantOtherEnd(const ThreadKey& thread, const Known& known,
                    model::NameId name);
  void OnFound(uint32_t id, const std::string& text);

  WaitLog* const log_;
  int reads_left_ = 0;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, Link>
      links_;                                      // by process
  absl::flat_hash_map<uint64_t, Socket> sockets_;  // by inode
  OtherEnds ends_;
  absl::flat_hash_map<uint32_t, std::string> searched_;  // what comes before it
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_DESCRIPTOR_NAMES_H_
