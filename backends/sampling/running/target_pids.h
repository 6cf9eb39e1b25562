// target_pids.h - which processes belong to the target, among all that run.
//
//   TargetPids pids(on_found);
//   pids.Add(target);
//   pids.OnFork(pid, parent);
//   if (pids.Has(pid)) ...
//   pids.OnExit(pid);            // of its last thread
//   pids.ForgetEnded();          // at each poll
//
// If records are lost, the begin of a process may be among them, and all that
// it starts would be missing. So from OnLost on, Has looks up the parents of
// each process that it does not know, once.
//
// Threads: one.
#ifndef KYMO_BACKENDS_SAMPLING_RUNNING_TARGET_PIDS_H_
#define KYMO_BACKENDS_SAMPLING_RUNNING_TARGET_PIDS_H_

#include <cstdint>
#include <functional>
#include <unordered_set>

namespace kymo::sampling {

// From /proc; 0 if the process is gone.
uint32_t ParentOf(uint32_t pid);

class TargetPids {
 public:
  // A process of the target whose begin was lost.
  using OnFound = std::function<void(uint32_t pid, uint32_t parent)>;

  explicit TargetPids(OnFound on_found,
                      std::function<uint32_t(uint32_t)> parent_of = ParentOf);

  void Add(uint32_t pid) { ours_.insert(pid); }
  // From now on, every process is the target's.
  void AddAll() { has_all_ = true; }
  bool Has(uint32_t pid);
  // Returns whether the process belongs to the target.
  bool OnFork(uint32_t pid, uint32_t parent);
  // The kernel still works for the process after its end, so it stays the
  // target's until the second ForgetEnded from now. Then another process may
  // get its number.
  void OnExit(uint32_t pid) { ended_.insert(pid); }
  void ForgetEnded();
  void OnLost();

 private:
  const OnFound on_found_;
  const std::function<uint32_t(uint32_t)> parent_of_;
  std::unordered_set<uint32_t> ours_;
  std::unordered_set<uint32_t> ended_;
  std::unordered_set<uint32_t> ended_before_;  // the previous ForgetEnded
  bool has_all_ = false;
  bool lacks_records_ = false;
  std::unordered_set<uint32_t> looked_up_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_RUNNING_TARGET_PIDS_H_
