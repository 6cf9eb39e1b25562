#include "backends/sampling/python/test_python_memory.h"

#include <cstdlib>
#include <cstring>

namespace kymo::sampling {

bool ImageMemory::Read(uint64_t address, std::span<std::byte> into) {
  ++read_count_;
  const uint64_t offset = address - kBegin;
  if (offset > kBytes || kBytes - offset < into.size()) return false;
  if (!into.empty()) {
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }
  return true;
}

void ImageMemory::Write(uint64_t address, std::span<const std::byte> from) {
  if (from.empty()) return;
  std::memcpy(bytes_.data() + (address - kBegin), from.data(), from.size());
}

std::vector<uint64_t> TestDebugOffsets(uint64_t version) {
  std::vector<uint64_t> words(96);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = version;
  // size, previous, executable, instr_ptr, localsplus, owner
  const uint64_t frame[] = {96, 16, 8, 40, 80, 70};
  // size, filename, name, qualname, linetable, firstlineno, argcount,
  // localsplusnames, localspluskinds, co_code_adaptive
  const uint64_t code[] = {224, 112, 120, 128, 136, 68, 52, 96, 104, 208};
  const uint64_t object[] = {16, 8};
  const uint64_t tuple[] = {32, 24, 16};
  const uint64_t bytes[] = {40, 16, 32};
  const uint64_t text[] = {64, 32, 16, 40};
  const auto put = [&](size_t at, std::span<const uint64_t> group) {
    std::memcpy(words.data() + at, group.data(), group.size_bytes());
  };
  const bool is_314 = MinorVersion(version) >= 14;
  put(is_314 ? 31 : 28, frame);
  put(is_314 ? 39 : 34, code);
  put(is_314 ? 50 : 44, object);
  put(is_314 ? 56 : 50, tuple);
  put(is_314 ? 74 : 64, bytes);
  put(is_314 ? 77 : 67, text);
  return words;
}

PythonLayout TestLayout(uint64_t version) {
  ImageMemory memory;
  const auto words = TestDebugOffsets(version);
  memory.Write(ImageMemory::kBegin, std::as_bytes(std::span(words)));
  return *FindLayout(version, ImageMemory::kBegin, memory);
}

uint64_t PythonImage::Take(size_t bytes) {
  const uint64_t address = next_;
  next_ += (bytes + 15) / 16 * 16;
  return address;
}

uint64_t PythonImage::AddText(std::string_view ascii) {
  const uint64_t address = Take(layout_.text.ascii_data + ascii.size());
  memory_->Put<uint64_t>(address + layout_.text.length, ascii.size());
  // Characters of 1 byte, compact, ASCII.
  memory_->Put<uint32_t>(address + layout_.text.state,
                         uint32_t{1 | 8 | 16} << kTextKindShift);
  memory_->Write(address + layout_.text.ascii_data,
                 std::as_bytes(std::span(ascii)));
  return address;
}

uint64_t PythonImage::AddBytes(std::span<const std::byte> bytes) {
  const uint64_t address = Take(layout_.bytes.data + bytes.size());
  memory_->Put<uint64_t>(address + layout_.bytes.size, bytes.size());
  memory_->Write(address + layout_.bytes.data, bytes);
  return address;
}

uint64_t PythonImage::AddCode(std::string_view name, std::string_view file,
                              int line, uint64_t units) {
  const uint64_t code = Take(layout_.code.instructions + 2 * units);
  memory_->Put(code + layout_.object.type, kCodeType);
  memory_->Put(code + layout_.object.size, units);
  memory_->Put(code + layout_.code.filename, AddText(file));
  memory_->Put(code + layout_.code.qualified_name, AddText(name));
  memory_->Put<int32_t>(code + layout_.code.first_line, line);
  // Entries of one unit: the first two on the first line, then a line each.
  std::vector<std::byte> lines = {std::byte{0x80 | 10 << 3 | 1}, {}, {}};
  for (uint64_t unit = 2; unit < units; ++unit) {
    lines.insert(lines.end(), {std::byte{0x80 | 11 << 3}, {}, {}});
  }
  memory_->Put(code + layout_.code.line_table, AddBytes(lines));
  return code;
}

uint64_t PythonImage::AddFrame(uint64_t code, uint64_t previous, uint64_t unit,
                               bool is_entry) {
  const uint64_t frame = next_frame_;
  next_frame_ += layout_.frame.size + 16;
  SetFrame(frame, code, previous, unit, is_entry);
  return frame;
}

void PythonImage::SetFrame(uint64_t frame, uint64_t code, uint64_t previous,
                           uint64_t unit, bool is_entry) {
  memory_->Put(frame + layout_.frame.code, Reference(code));
  memory_->Put(frame + layout_.frame.previous, previous);
  memory_->Put(frame + layout_.frame.instruction, Instruction(code, unit));
  memory_->Put<uint8_t>(frame + layout_.frame.owner, 0);
  if (layout_.frame.is_entry != 0) {
    memory_->Put<uint8_t>(frame + layout_.frame.is_entry, is_entry ? 1 : 0);
  }
}

uint64_t PythonImage::Reference(uint64_t object) const {
  return layout_.frame.tag_bits != 0 ? object | 1 : object;
}

uint64_t PythonImage::AddNumber(int64_t number) {
  const uint64_t address = Take(32);
  const uint64_t one_digit = layout_.minor_version == 11 ? 1 : 8;
  memory_->Put(address + 16, number < 0 ? one_digit | 2 : one_digit);
  memory_->Put(address + 24, static_cast<uint32_t>(std::abs(number)));
  return address;
}

PythonImage::Thread PythonImage::AddThread(uint64_t frame,
                                           std::string_view name,
                                           int64_t number) {
  using Attributes = PythonLayout::Attributes;
  constexpr uint64_t kBasicSize = 16;
  constexpr size_t kBefore = 32;
  Thread thread{.object = Take(kBefore + kBasicSize + 64) + kBefore,
                .type = Take(layout_.type.cached_keys + 8),
                .keys = Take(256),
                .values = 0};
  memory_->Put(frame + layout_.frame.locals, Reference(thread.object));
  memory_->Put(thread.object + layout_.object.type, thread.type);
  memory_->Put<uint64_t>(thread.type + layout_.type.flags, 1 << 4 | 1 << 2);
  memory_->Put(thread.type + layout_.type.basic_size, kBasicSize);
  memory_->Put(thread.type + layout_.type.cached_keys, thread.keys);
  memory_->Put<uint8_t>(thread.keys + 9, 6);   // 64 bytes of indices
  memory_->Put<uint8_t>(thread.keys + 10, 2);  // values lie elsewhere
  memory_->Put<uint64_t>(thread.keys + 24, 3);
  memory_->Put(thread.keys + 32 + 64, AddText("_target"));
  memory_->Put(thread.keys + 32 + 64 + 16, AddText("_name"));
  memory_->Put(thread.keys + 32 + 64 + 32, AddText("_native_id"));
  if (layout_.attributes == Attributes::kInline) {
    memory_->Put<uint8_t>(thread.object + kBasicSize + 3, 1);
    thread.values = thread.object + kBasicSize + 8;
  } else {
    thread.values = Take(64);
    const bool is_tagged = layout_.attributes == Attributes::kTaggedPointer;
    memory_->Put(thread.object - (is_tagged ? 24 : 32),
                 thread.values - (is_tagged ? 1 : 0));
  }
  memory_->Put(thread.values + 8, AddText(name));
  memory_->Put(thread.values + 16, AddNumber(number));
  return thread;
}

}  // namespace kymo::sampling
