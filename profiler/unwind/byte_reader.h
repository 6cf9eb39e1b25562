// byte_reader.h - reads DWARF's encodings from a piece of memory.
//
// Reads past the end give 0 and make ok() false, so callers check once. Pointer
// encodings are those of the LSB, "DWARF Extensions" (DW_EH_PE_*).
#ifndef KYMO_PROFILER_UNWIND_BYTE_READER_H_
#define KYMO_PROFILER_UNWIND_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kymo::unwind {

class ByteReader {
 public:
  ByteReader(const uint8_t* begin, const uint8_t* end) noexcept
      : at_(begin), end_(end) {}

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return at_ >= end_; }
  const uint8_t* at() const noexcept { return at_; }
  size_t left() const noexcept { return static_cast<size_t>(end_ - at_); }

  template <typename T>
  T Fixed() noexcept {
    T value{};
    if (left() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  uint64_t Uleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = Fixed<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  int64_t Sleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const uint8_t byte = Fixed<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  void Skip(uint64_t bytes) noexcept {
    if (bytes > left()) {
      Fail();
    } else {
      at_ += bytes;
    }
  }

  // Reads a pointer. `data_base` is the base of "datarel" encodings. For an
  // indirect pointer the result is the address at which the pointer is.
  uint64_t Pointer(uint8_t encoding, uint64_t data_base) noexcept {
    const auto place = reinterpret_cast<uint64_t>(at_);
    const uint64_t value = Number(encoding & 0x0f);
    switch (encoding & 0x70) {
      case 0x00:
        return value;
      case 0x10:
        return place + value;
      case 0x30:
        return data_base + value;
      default:
        Fail();
        return 0;
    }
  }
  // Reads the number alone, without adding a base.
  uint64_t Number(uint8_t format) noexcept {
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return Fixed<uint64_t>();
      case 0x01:
        return Uleb();
      case 0x02:
        return Fixed<uint16_t>();
      case 0x03:
        return Fixed<uint32_t>();
      case 0x09:
        return static_cast<uint64_t>(Sleb());
      case 0x0a:
        return static_cast<uint64_t>(int64_t{Fixed<int16_t>()});
      case 0x0b:
        return static_cast<uint64_t>(int64_t{Fixed<int32_t>()});
      default:
        Fail();
        return 0;
    }
  }

 private:
  void Fail() noexcept {
    ok_ = false;
    at_ = end_;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_BYTE_READER_H_
