// target_memory.h - reads the memory of a process that runs on meanwhile.
//
//   ProcessMemory memory(pid);
//   if (auto frame = memory.ReadValue<uint64_t>(address)) Use(*frame);
//
// The memory is the program's: it may hold anything, and change while it is
// read. Nothing is stopped.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_TARGET_MEMORY_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_TARGET_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kymo::sampling {

class TargetMemory {
 public:
  TargetMemory() = default;
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;
  virtual ~TargetMemory() = default;

  // Fills all of `into`; false if some of it cannot be read.
  [[nodiscard]] virtual bool Read(uint64_t address,
                                  std::span<std::byte> into) = 0;

  template <typename T>
  std::optional<T> ReadValue(uint64_t address) {
    T value;
    if (!Read(address, std::as_writable_bytes(std::span(&value, 1)))) {
      return std::nullopt;
    }
    return value;
  }
};

// By process_vm_readv, as ptrace's rules permit: that of children of this
// user's, unless they changed their user.
class ProcessMemory final : public TargetMemory {
 public:
  explicit ProcessMemory(int64_t pid) : pid_(pid) {}

  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> into) override;
  // Whether the kernel refused it, rather than that nothing is there.
  bool was_refused() const noexcept { return was_refused_; }

 private:
  const int64_t pid_;
  bool was_refused_ = false;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_TARGET_MEMORY_H_
