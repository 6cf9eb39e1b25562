#include "profiler/model/move_times.h"

#include <memory>
#include <utility>

#include "profiler/model/folded_memory.h"
#include "profiler/model/thread_states.h"

namespace kymo::model {
namespace {

class Mover {
 public:
  explicit Mover(const TimeMap& map) : map_(map) {}

  void Move(TimeNs& time) const {
    if (time != 0) time = map_(time);
  }
  void Move(EventColumns& events) const {
    for (TimeNs& time : events.start_ns) Move(time);
    for (TimeNs& time : events.end_ns) Move(time);
  }
  void Move(ThreadStates& states) const {
    for (ThreadTimes& thread : states.threads) {
      Move(thread.begin_ns);
      Move(thread.end_ns);
    }
    for (Wait& wait : states.waits) Move(wait.begin_ns);
  }
  void Move(FoldedChanges& changes) const {
    FoldedChanges moved;
    changes.ForEach([&](FoldedChange change) {
      Move(change.time_ns);
      moved.Add(change);
    });
    changes = std::move(moved);
  }
  void Move(FoldedMemory& memory) const {
    for (FoldedHeap& heap : memory.heaps) {
      Move(heap.first_ns);
      Move(heap.peak_ns);
      for (FoldedPoint& point : heap.live) Move(point.time_ns);
      for (FoldedThread& thread : heap.threads) Move(thread.changes);
      for (FoldedBlock& block : heap.peak_blocks) Move(block.time_ns);
    }
    for (FoldedPoint& point : memory.live) Move(point.time_ns);
  }

 private:
  const TimeMap& map_;
};

}  // namespace

void MoveTimes(TraceShard& shard, const TimeMap& map) {
  const Mover mover(map);
  for (Process& process : shard.processes) {
    mover.Move(process.start_ns);
    mover.Move(process.end_ns);
  }
  mover.Move(shard.block);
  for (TrackEvents& events : shard.events) mover.Move(events);
  for (CounterSample& counter : shard.counters) mover.Move(counter.time_ns);
  for (MemoryRecord& record : shard.memory) mover.Move(record.time_ns);
  for (StackSample& sample : shard.samples) mover.Move(sample.time_ns);
  // Both may be shared with other shards.
  if (shard.thread_states != nullptr) {
    shard.thread_states = std::make_shared<ThreadStates>(*shard.thread_states);
    mover.Move(*shard.thread_states);
  }
  if (shard.folded_memory != nullptr) {
    shard.folded_memory = std::make_shared<FoldedMemory>(*shard.folded_memory);
    mover.Move(*shard.folded_memory);
  }
}

}  // namespace kymo::model
