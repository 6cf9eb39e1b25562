// event_args.h - gathers the arguments of one event on the stack.
//
//   EventArgs args;
//   args.AddInt(rows_key.id(), 12);
//   args.AddText(shape_key.id(), "[2, 3]");        // borrowed
//   what.args = args.data();  what.arg_count = args.size();
//
// Bounded: arguments beyond kMax, and texts of more than kTextBytes in all, are
// counted as truncated. Nothing allocates.
#ifndef KYMO_BACKENDS_NVTX_TARGET_EVENT_ARGS_H_
#define KYMO_BACKENDS_NVTX_TARGET_EVENT_ARGS_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "profiler/record/captured.h"
#include "profiler/record/host/host.h"

namespace kymo::nvtx {

// The key of an argument; a constant of the program.
class Key {
 public:
  consteval explicit Key(const char* literal) noexcept : literal_(literal) {}
  // The recorder's id. REQUIRES: this process records.
  uint32_t id() noexcept {
    const uint32_t known = id_.load(std::memory_order_relaxed);
    return known != record::kNameLost ? known : IdSlow();
  }

 private:
  uint32_t IdSlow() noexcept;

  const char* const literal_;
  std::atomic<uint32_t> id_{record::kNameLost};
};

class EventArgs {
 public:
  static constexpr size_t kMax = 32;
  static constexpr size_t kTextBytes = 1024;

  EventArgs() noexcept {}  // NOLINT: the arrays are not to be cleared
  EventArgs(const EventArgs&) = delete;
  EventArgs& operator=(const EventArgs&) = delete;

  const record::CapturedArg* data() const noexcept {
    return reinterpret_cast<const record::CapturedArg*>(args_);
  }
  size_t size() const noexcept { return size_; }

  void AddInt(uint32_t key, int64_t value) noexcept {
    Add(key, record::PayloadKind::kInt, static_cast<uint64_t>(value), {});
  }
  void AddDouble(uint32_t key, double value) noexcept {
    Add(key, record::PayloadKind::kDouble, std::bit_cast<uint64_t>(value), {});
  }
  // A text of ours: by its id or, if it has none, by its bytes.
  void AddNamed(uint32_t key, record::ForeignText* text) noexcept {
    const uint32_t id = record::ForeignId(text);
    if (id != record::kNameInPayload) {
      Add(key, record::PayloadKind::kNamed, id, {});
    } else {
      AddText(key, {text->text, text->size});
    }
  }
  // Borrowed until the event is recorded.
  void AddText(uint32_t key, std::string_view text) noexcept {
    Add(key, record::PayloadKind::kString, 0, text);
  }
  // For unsigned integers, which may not fit into a signed one.
  void AddUint(uint32_t key, uint64_t value) noexcept;

  // Room for texts that are composed here: Begin, Append, then Appended.
  void Begin() noexcept { begin_ = used_; }
  void Append(std::string_view text) noexcept {
    if (text.size() > room()) {
      record::Host().count_truncated();
      text = text.substr(0, room());
    }
    for (const char c : text) text_[used_++] = c;
  }
  size_t room() const noexcept { return kTextBytes - used_; }
  void AppendNumber(int64_t value) noexcept;
  void AppendNumber(uint64_t value) noexcept;
  void AppendNumber(double value) noexcept;
  std::string_view Appended() const noexcept {
    return {text_ + begin_, used_ - begin_};
  }

 private:
  // Constructs the argument in place instead of copying it.
  void Add(uint32_t key, record::PayloadKind kind, uint64_t bits,
           std::string_view text) noexcept {
    if (size_ == kMax) return record::Host().count_truncated();
    new (args_ + size_ * sizeof(record::CapturedArg))
        record::CapturedArg{key, kind, bits, text};
    ++size_;
  }

  size_t size_ = 0;
  size_t used_ = 0;
  size_t begin_ = 0;
  alignas(record::CapturedArg) char args_[kMax * sizeof(record::CapturedArg)];
  char text_[kTextBytes];
};

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_EVENT_ARGS_H_
