// test_python_memory.h - a made-up Python program, for tests.
//
//   PythonImage image(layout);
//   const uint64_t code = image.AddCode("f", "/src/a.py", 3, lines, 20);
//   const uint64_t frame = image.AddFrame(code, previous, unit);
//   FrameChain chain(&layout, &codes, image.memory());
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_TEST_PYTHON_MEMORY_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_TEST_PYTHON_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"

namespace kymo::sampling {

// 1 MiB of memory, and nothing elsewhere.
class ImageMemory final : public TargetMemory {
 public:
  static constexpr uint64_t kBegin = 0x7f0000000000;
  static constexpr size_t kBytes = size_t{1} << 20;

  ImageMemory() : bytes_(kBytes) {}

  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> into) override;
  void Write(uint64_t address, std::span<const std::byte> from);
  template <typename T>
  void Put(uint64_t address, const T& value) {
    Write(address, std::as_bytes(std::span(&value, 1)));
  }
  // How often something was read.
  size_t read_count() const noexcept { return read_count_; }

 private:
  std::vector<std::byte> bytes_;
  size_t read_count_ = 0;
};

// _Py_DebugOffsets as in Python 3.13 or 3.14, with offsets that no version has.
std::vector<uint64_t> TestDebugOffsets(uint64_t version);

// That of a version; from 3.13 on, with these offsets.
PythonLayout TestLayout(uint64_t version);

class PythonImage {
 public:
  static constexpr uint64_t kCodeType = ImageMemory::kBegin + 64;
  static constexpr uint64_t kFirstFrame = ImageMemory::kBegin + 0x80000;

  explicit PythonImage(const PythonLayout& layout)
      : layout_(layout), owned_(std::make_unique<ImageMemory>()) {
    memory_ = owned_.get();
  }

  ImageMemory& memory() noexcept { return *memory_; }
  // Gives it away. The image goes on to change it.
  std::unique_ptr<TargetMemory> Take() { return std::move(owned_); }

  uint64_t AddText(std::string_view ascii);
  uint64_t AddBytes(std::span<const std::byte> bytes);
  // A function with so many units of code, all of them on its first line.
  uint64_t AddCode(std::string_view name, std::string_view file, int line,
                   uint64_t units);
  uint64_t Instruction(uint64_t code, uint64_t unit) const {
    return code + layout_.code.instructions + 2 * unit;
  }
  // A frame above those before it.
  uint64_t AddFrame(uint64_t code, uint64_t previous, uint64_t unit,
                    bool is_entry = false);
  void SetFrame(uint64_t frame, uint64_t code, uint64_t previous, uint64_t unit,
                bool is_entry = false);

  // The object of a thread, as the first variable of the function in `frame`,
  // with the attributes `_target`, `_name` and `_native_id`.
  struct Thread {
    uint64_t object;
    uint64_t type;
    uint64_t keys;
    uint64_t values;
  };
  Thread AddThread(uint64_t frame, std::string_view name, int64_t number);
  // An int.
  uint64_t AddNumber(int64_t number);
  uint64_t Take(size_t bytes);

 private:
  // As it stands in a frame.
  uint64_t Reference(uint64_t object) const;

  const PythonLayout layout_;
  std::unique_ptr<ImageMemory> owned_;
  ImageMemory* memory_;
  uint64_t next_ = ImageMemory::kBegin + 4096;
  uint64_t next_frame_ = kFirstFrame;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_TEST_PYTHON_MEMORY_H_
