// stack_table.h - call stacks as a prefix tree over symbolised frames.
//
//   FrameId f = stacks.AddFrame({.function = name, .module = module, ...});
//   StackId s = stacks.Push(kEmptyStack, outermost);   // root first
//   s = stacks.Push(s, leaf);
//
// Equal frames share one id, and so do equal pairs of parent and frame. A
// parent's id is smaller than its children's. Names are ids of the StringTable
// that accompanies the stack table.
//
// Memory: programs have millions of stacks, and a new stack adds a chain of
//   nodes that each stand right behind their parent. Such a chain is a run. A
//   node takes 4 to 5 bytes for its frame, and a run 17 to 23 bytes more, apart
//   from the spare room of vectors. FreeIndex gives a third of it back.
// Threads: additions need exclusive access; reads may run concurrently.
#ifndef KYMO_PROFILER_MODEL_STACK_TABLE_H_
#define KYMO_PROFILER_MODEL_STACK_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/model/string_table.h"

namespace kymo::model {

enum class FrameId : uint32_t {};
enum class StackId : uint32_t {};

// The stack without frames, root of the tree.
inline constexpr StackId kEmptyStack{0};

constexpr uint32_t Index(FrameId id) noexcept {
  return static_cast<uint32_t>(id);
}
constexpr uint32_t Index(StackId id) noexcept {
  return static_cast<uint32_t>(id);
}

struct Frame {
  NameId function = kEmptyName;  // demangled, or "module+0x1f" if unresolved
  NameId file = kEmptyName;      // source file, empty if unknown
  NameId module = kEmptyName;    // path of the ELF file, "[kernel]", "[vdso]"
  uint32_t line = 0;             // 1-based; 0 = unknown
  uint64_t address = 0;          // module-relative; 0 = unknown
  bool is_inlined = false;       // inlined into the frame below it
  bool is_kernel = false;
  bool is_resolved = true;  // false: `function` only names an address

  // Whether `function` is of Python. It stands in the place of the
  // interpreter's loop, and its module is its file.
  bool is_of_python() const noexcept {
    return module != kEmptyName && module == file;
  }
  friend bool operator==(const Frame&, const Frame&) = default;
};

class StackTable {
 public:
  StackTable();

  FrameId AddFrame(const Frame& frame);
  StackId Push(StackId parent, FrameId frame);

  const Frame& frame(FrameId id) const { return frames_[Index(id)]; }
  // REQUIRES: id != kEmptyStack.
  StackId parent(StackId id) const {
    const uint32_t node = Index(id);
    return BeginsRun(node) ? RunOf(node).parent : StackId{node - 1};
  }
  FrameId leaf(StackId id) const { return leaves_[Index(id)]; }
  // Number of frames of the stack.
  uint32_t depth(StackId id) const {
    const Run& run = RunOf(Index(id));
    return run.depth + (Index(id) - run.begin);
  }

  // Frames from the root to the leaf.
  std::vector<FrameId> Frames(StackId id) const;

  size_t frame_count() const noexcept { return frames_.size(); }
  // Counts the empty stack too.
  size_t stack_count() const noexcept { return leaves_.size(); }

  // Frees the tables that only additions read. A later addition makes them
  // again.
  void FreeIndex();

 private:
  // Each node but the first is the child of the one before it.
  struct Run {
    uint32_t begin;
    StackId parent;  // of the first node
    uint32_t depth;  // of the first node
  };
  // Which of 64 nodes begin runs, by bit, and how many before them do.
  struct RunBegins {
    uint64_t bits = 0;
    uint32_t before = 0;
  };

  bool BeginsRun(uint32_t node) const {
    return (begins_[node / 64].bits >> (node % 64) & 1) != 0;
  }
  const Run& RunOf(uint32_t node) const {
    const RunBegins& begins = begins_[node / 64];
    const int upto = std::popcount(begins.bits << (63 - node % 64));
    return runs_[begins.before + static_cast<uint32_t>(upto) - 1];
  }
  void AddNode(StackId parent, FrameId frame, bool begins_run);
  // The entry of places_ that has the run of the node, or where it belongs.
  uint32_t& PlaceOf(StackId parent, FrameId frame);
  void MakePlaces(size_t size);

  struct FrameHash {
    size_t operator()(const Frame& frame) const noexcept;
  };

  std::vector<Frame> frames_;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::vector<FrameId> leaves_;  // by stack
  std::vector<Run> runs_;        // by begin; the first is of the empty stack
  std::vector<RunBegins> begins_;
  // Finds a run by the parent and the frame of its first node: open addressing
  // with linear probing; 0 = nothing. A power of two. Other nodes need no
  // place: they are right behind their parent.
  std::vector<uint32_t> places_;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_STACK_TABLE_H_
