#include "backends/sampling/python/frame_chain.h"

#include <algorithm>
#include <cstring>

namespace kymo::sampling {
namespace {

// Frames of the interpreter's own have higher numbers.
constexpr uint8_t kLastOwnerOfFunctions = 2;

template <typename T>
T FrameField(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

}  // namespace

// Reads from the beginning of the page on, since callers lie below.
std::span<const std::byte> FrameChain::ReadBytes(uint64_t address,
                                                 size_t size) {
  const auto is_inside = [&] {
    return address >= window_begin_ &&
           address - window_begin_ <= window_size_ &&
           window_size_ - (address - window_begin_) >= size;
  };
  if (!is_inside()) {
    window_begin_ = address / kFramePageBytes * kFramePageBytes;
    window_size_ = address - window_begin_ + size;
    if (!memory_.Read(window_begin_, std::span(window_).first(window_size_))) {
      window_size_ = 0;
      return {};
    }
  }
  return std::span(window_).subspan(address - window_begin_, size);
}

void FrameChain::NotePage(uint64_t address) {
  const uint64_t page = address / kFramePageBytes * kFramePageBytes;
  if (pages_.size() < kMostFramePages &&
      std::find(pages_.begin(), pages_.end(), page) == pages_.end()) {
    pages_.push_back(page);
  }
}

std::optional<FrameChain::Fields> FrameChain::ReadFrame(uint64_t frame) {
  if (frame == 0 || frame % 8 != 0) return std::nullopt;
  copied_.resize(layout_.frame.size);
  std::span<const std::byte> bytes = copied_;
  if (copy_ == nullptr || !copy_->Read(frame, copied_)) {
    was_late_ = true;
    bytes = ReadBytes(frame, layout_.frame.size);
  }
  if (bytes.empty()) return std::nullopt;
  NotePage(frame);
  NotePage(frame + layout_.frame.size - 1);
  const auto& at = layout_.frame;
  return Fields{.code = FrameField<uint64_t>(bytes, at.code) & ~at.tag_bits,
                .previous = FrameField<uint64_t>(bytes, at.previous),
                .instruction = FrameField<uint64_t>(bytes, at.instruction),
                .owner = FrameField<uint8_t>(bytes, at.owner),
                .is_entry = at.is_entry != 0 &&
                            FrameField<uint8_t>(bytes, at.is_entry) != 0};
}

bool FrameChain::AddFrame(uint64_t frame, const Fields& fields, int64_t now_ns,
                          const FindExact& exact) {
  if (fields.owner > kLastOwnerOfFunctions) return false;
  PythonCode* code = codes_.Find(fields.code, memory_, now_ns);
  if (code == nullptr || !code->Has(fields.instruction)) return false;
  if (frame_count_ == 0) {
    first_begin_ = code->begin;
    first_end_ = code->end;
  }
  if (code->begins_thread) thread_frame_ = frame;
  uint64_t instruction = fields.instruction;
  if (exact != nullptr && frame_count_ == 0) {
    if (const auto known = exact(*code)) {
      code = known->code;
      instruction = known->instruction;
    }
  }
  ++frame_count_;
  if (const auto place = codes_.PlaceOf(*code, instruction)) {
    places_.push_back(*place);
  }
  return true;
}

bool FrameChain::IsEndOfLoop(uint64_t address, const WatchedFrame& loop,
                             const StackCopy& copy) {
  const uint64_t size = layout_.frame.size;
  const uint64_t begin = loop.registers[kRsp];
  if (address < begin || address % 8 != 0 ||
      (loop.end != 0 && (loop.end < size || address > loop.end - size))) {
    return false;
  }
  // The copy does not reach frames of the part that is remembered.
  const auto read = [&](uint64_t at) {
    const auto word = copy.Read(at);
    return word || !loop.is_remembered ? word : memory_.ReadValue<uint64_t>(at);
  };
  const auto previous = read(address + layout_.frame.previous);
  const uint64_t owner_at = address + layout_.frame.owner;
  const auto owner = read(owner_at / 8 * 8);
  if (!previous || !owner) return false;
  if ((*owner >> owner_at % 8 * 8 & 0xff) <= kLastOwnerOfFunctions) {
    return false;
  }
  outer_frame_ = *previous;
  return true;
}

FrameChain::End FrameChain::Walk(uint64_t frame, const WatchedFrame& loop,
                                 const StackCopy& copy, int64_t now_ns,
                                 const FindExact& exact) {
  places_.clear();
  frame_count_ = 0;
  first_begin_ = first_end_ = 0;
  outer_frame_ = entry_frame_ = thread_frame_ = 0;
  pages_.clear();
  was_late_ = false;
  const bool marks_entry = layout_.frame.is_entry != 0;
  while (frame_count_ < kMostFrames) {
    if (!marks_entry && IsEndOfLoop(frame, loop, copy)) {
      return frame_count_ > 0 ? End::kWhole : End::kBroken;
    }
    const auto fields = ReadFrame(frame);
    if (!fields || !AddFrame(frame, *fields, now_ns, exact))
      return End::kBroken;
    if (marks_entry && fields->is_entry) {
      outer_frame_ = fields->previous;
      entry_frame_ = frame;
      return End::kWhole;
    }
    frame = fields->previous;
  }
  return End::kTooDeep;
}

}  // namespace kymo::sampling
