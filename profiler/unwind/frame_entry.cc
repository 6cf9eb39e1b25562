#include "profiler/unwind/frame_entry.h"

#include "profiler/unwind/byte_reader.h"
#include "profiler/unwind/frame_program.h"

namespace kymo::unwind {
namespace {

// Encodings of pointers, DW_EH_PE_*.
constexpr uint8_t kUdata4 = 0x03;
constexpr uint8_t kDataRelativeSdata4 = 0x3b;
constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kOmitted = 0xff;

struct TableRow {
  int32_t function;  // both are relative to the header
  int32_t entry;
};

// The part of an entry behind its length; not ok() if the length makes no
// sense.
ByteReader Body(const uint8_t* entry, const uint8_t* module_end) {
  constexpr uint32_t kLongLength = 0xffffffff;
  ByteReader reader(entry, module_end);
  uint64_t size = reader.Fixed<uint32_t>();
  if (size == kLongLength) size = reader.Fixed<uint64_t>();
  const uint8_t* const begin = reader.at();
  reader.Skip(size);
  if (!reader.ok()) return reader;
  return {begin, begin + size};
}

struct CommonEntry {
  bool ok = false;
  bool is_signal_frame = false;
  bool has_augmentation_size = false;
  FrameAlignment alignment;
  ByteReader instructions{nullptr, nullptr};
};

// Reads the data that the letters of the augmentation announce, from the letter
// after 'z' on.
bool ReadAugmentation(const char* letters, ByteReader reader,
                      CommonEntry& common) {
  for (; *letters != '\0'; ++letters) {
    switch (*letters) {
      case 'R':
        common.alignment.pointer_encoding = reader.Fixed<uint8_t>();
        break;
      case 'P': {
        const auto encoding = reader.Fixed<uint8_t>();
        if (encoding != kOmitted) reader.Number(encoding & kFormatMask);
        break;
      }
      case 'L':
        reader.Fixed<uint8_t>();
        break;
      case 'S':
        common.is_signal_frame = true;
        break;
      case 'B':
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

CommonEntry ReadCommon(const uint8_t* entry, const uint8_t* module_end) {
  CommonEntry common;
  ByteReader body = Body(entry, module_end);
  if (body.Fixed<uint32_t>() != 0) return common;  // not a CIE
  const auto version = body.Fixed<uint8_t>();
  if (version != 1 && version != 3) return common;
  const auto* letters = reinterpret_cast<const char*>(body.at());
  while (body.Fixed<uint8_t>() != 0) {
  }
  common.alignment.code_align = body.Uleb();
  common.alignment.data_align = body.Sleb();
  const uint64_t return_register =
      version == 1 ? body.Fixed<uint8_t>() : body.Uleb();
  if (!body.ok() || return_register != kDwarfReturn) return common;
  if (*letters == 'z') {
    common.has_augmentation_size = true;
    const uint64_t size = body.Uleb();
    const ByteReader augmentation(body.at(), body.at() + body.left());
    body.Skip(size);
    if (!body.ok() || !ReadAugmentation(letters + 1, augmentation, common)) {
      return common;
    }
  } else if (*letters != '\0') {
    return common;
  }
  common.ok = true;
  common.instructions = body;
  return common;
}

}  // namespace

const uint8_t* FindEntry(const uint8_t* frame_header, const uint8_t* module_end,
                         uint64_t pc) noexcept {
  const auto base = reinterpret_cast<uint64_t>(frame_header);
  ByteReader reader(frame_header, module_end);
  const auto version = reader.Fixed<uint8_t>();
  const auto frames_encoding = reader.Fixed<uint8_t>();
  const auto count_encoding = reader.Fixed<uint8_t>();
  const auto table_encoding = reader.Fixed<uint8_t>();
  if (version != 1 || count_encoding != kUdata4 ||
      table_encoding != kDataRelativeSdata4) {
    return nullptr;
  }
  reader.Pointer(frames_encoding, base);
  const uint64_t count = reader.Fixed<uint32_t>();
  const uint8_t* const table = reader.at();
  reader.Skip(count * sizeof(TableRow));
  if (!reader.ok()) return nullptr;
  TableRow row;
  uint64_t first = 0, last = count;  // rows before `first` begin at or below pc
  while (first < last) {
    const uint64_t middle = first + (last - first) / 2;
    std::memcpy(&row, table + middle * sizeof(row), sizeof(row));
    if (base + static_cast<uint64_t>(int64_t{row.function}) <= pc) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == 0) return nullptr;
  std::memcpy(&row, table + (first - 1) * sizeof(row), sizeof(row));
  return frame_header + row.entry;
}

UnwindRule RuleOfEntry(const uint8_t* entry, const uint8_t* module_end,
                       uint64_t pc) noexcept {
  constexpr UnwindRule kNone = {.kind = RuleKind::kUnsupported};
  ByteReader body = Body(entry, module_end);
  const uint8_t* const after_length = body.at();
  const auto common_distance = body.Fixed<uint32_t>();
  if (!body.ok() || common_distance == 0) return kNone;
  const CommonEntry common =
      ReadCommon(after_length - common_distance, module_end);
  if (!common.ok) return kNone;
  const uint8_t encoding = common.alignment.pointer_encoding;
  const uint64_t begin = body.Pointer(encoding, 0);
  const uint64_t size = body.Number(encoding & kFormatMask);
  if (body.ok() && pc - begin >= size) return {};
  if (common.has_augmentation_size) body.Skip(body.Uleb());
  if (!body.ok()) return kNone;
  if (common.is_signal_frame) return {.kind = RuleKind::kSignalFrame};
  FrameProgram program(common.alignment, pc);
  program.RunCommon(common.instructions);
  program.Run(body, begin);
  return program.Rule();
}

}  // namespace kymo::unwind
