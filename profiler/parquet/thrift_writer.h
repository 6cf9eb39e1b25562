// thrift_writer.h - write structs in Thrift's compact protocol.
//
//   std::string bytes;
//   ThriftWriter out(bytes);
//   out.Int32(1, 2);              // field 1 of the outermost struct
//   out.BeginStruct(5);           // field 5, a struct
//   out.Int64(1, 1'000'000);
//   out.EndStruct();
//   out.EndStruct();              // of the outermost one
//
// Parquet's footer and page headers are such structs. The fields of a struct
// come in rising order. The specification is thrift-compact-protocol.md of
// Apache Thrift.
//
// Threads: one at a time. Cost: appends to the caller's string.
#ifndef KYMO_PROFILER_PARQUET_THRIFT_WRITER_H_
#define KYMO_PROFILER_PARQUET_THRIFT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::parquet {

// The types of fields and of lists' elements.
enum class ThriftType : uint8_t {
  kTrue = 1,  // a field of type bool has its value in its type
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

// Seven bits a byte, the lowest first.
inline void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

// Small numbers of either sign become small ones: 0, -1, 1, -2 are 0, 1, 2, 3.
constexpr uint64_t ZigZag(int64_t value) noexcept {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}

class ThriftWriter {
 public:
  explicit ThriftWriter(std::string& out) : out_(out) {}
  ThriftWriter(const ThriftWriter&) = delete;
  ThriftWriter& operator=(const ThriftWriter&) = delete;

  void Bool(int field, bool value) {
    Header(field, value ? ThriftType::kTrue : ThriftType::kFalse);
  }
  void Int32(int field, int32_t value) {
    Header(field, ThriftType::kInt32);
    AppendVarint(ZigZag(value), out_);
  }
  void Int64(int field, int64_t value) {
    Header(field, ThriftType::kInt64);
    AppendVarint(ZigZag(value), out_);
  }
  void Binary(int field, std::string_view bytes) {
    Header(field, ThriftType::kBinary);
    BinaryElement(bytes);
  }

  void BeginStruct(int field) {
    Header(field, ThriftType::kStruct);
    BeginStructElement();
  }
  void EndStruct() {
    out_.push_back('\0');
    last_field_ = outer_.empty() ? 0 : outer_.back();
    if (!outer_.empty()) outer_.pop_back();
  }

  // `size` elements follow; there is no call for the end.
  void BeginList(int field, ThriftType element, size_t size) {
    Header(field, ThriftType::kList);
    const char type = static_cast<char>(element);
    if (size < 15) {
      out_.push_back(static_cast<char>(size << 4 | type));
    } else {
      out_.push_back(static_cast<char>(0xF0 | type));
      AppendVarint(size, out_);
    }
  }
  void Int32Element(int32_t value) { AppendVarint(ZigZag(value), out_); }
  void BinaryElement(std::string_view bytes) {
    AppendVarint(bytes.size(), out_);
    out_.append(bytes);
  }
  // EndStruct() ends it.
  void BeginStructElement() {
    outer_.push_back(last_field_);
    last_field_ = 0;
  }

 private:
  void Header(int field, ThriftType type) {
    const int step = field - last_field_;
    const char low = static_cast<char>(type);
    if (step > 0 && step < 16) {
      out_.push_back(static_cast<char>(step << 4 | low));
    } else {
      out_.push_back(low);
      AppendVarint(ZigZag(field), out_);
    }
    last_field_ = field;
  }

  std::string& out_;
  int last_field_ = 0;
  std::vector<int> outer_;  // the last fields of the structs around this one
};

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_THRIFT_WRITER_H_
