// stack_table.h - call stacks as a prefix tree over symbolised frames.
//
//   FrameId f = stacks.AddFrame({.function = name, .module = module, ...});
//   StackId s = stacks.Push(kEmptyStack, outermost);   // root first
//   s = stacks.Push(s, leaf);
//
// Equal frames share one id, and so do equal pairs of parent and frame. A
// parent's id is smaller than its children's. Names are ids of the StringTable
// that accompanies the stack table.
// Threads: additions need exclusive access; reads may run concurrently.
#ifndef KYMO_PROFILER_MODEL_STACK_TABLE_H_
#define KYMO_PROFILER_MODEL_STACK_TABLE_H_

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

  friend bool operator==(const Frame&, const Frame&) = default;
};

class StackTable {
 public:
  StackTable();

  FrameId AddFrame(const Frame& frame);
  StackId Push(StackId parent, FrameId frame);

  const Frame& frame(FrameId id) const { return frames_[Index(id)]; }
  // REQUIRES: id != kEmptyStack.
  StackId parent(StackId id) const { return nodes_[Index(id)].parent; }
  FrameId leaf(StackId id) const { return nodes_[Index(id)].frame; }
  // Number of frames of the stack.
  uint32_t depth(StackId id) const { return nodes_[Index(id)].depth; }

  // Frames from the root to the leaf.
  std::vector<FrameId> Frames(StackId id) const;

  size_t frame_count() const noexcept { return frames_.size(); }
  // Counts the empty stack too.
  size_t stack_count() const noexcept { return nodes_.size(); }

 private:
  struct Node {
    StackId parent;
    FrameId frame;
    uint32_t depth;
  };
  // The entry of places_ that has the node, or where it belongs.
  uint32_t& PlaceOf(StackId parent, FrameId frame);
  void GrowPlaces();

  struct FrameHash {
    size_t operator()(const Frame& frame) const noexcept;
  };

  std::vector<Frame> frames_;
  std::vector<Node> nodes_;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  // Where the node of a parent and a frame is in nodes_: open addressing with
  // linear probing; 0 = nothing. A power of two. Programs have millions of
  // nodes, and a hash map would allocate each of them. A node right behind its
  // parent has no place: it is found without. These are most nodes of a program
  // with many stacks, since each new stack adds a chain of nodes.
  std::vector<uint32_t> places_;
  size_t places_taken_ = 0;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_STACK_TABLE_H_
