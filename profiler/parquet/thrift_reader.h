// thrift_reader.h - read structs in Thrift's compact protocol, of any origin.
//
//   ThriftReader in(bytes);
//   while (in.NextField()) {
//     if (in.field() == 1) {
//       version = in.Int();
//     } else {
//       in.Skip();
//     }
//   }
//   if (!in.ok()) return absl::DataLossError("...");
//
// Each field is read or skipped. A read of another type than the field's, or
// beyond the end, makes ok() false for good; reads then give 0 and nothing.
// NextField is false at the end of the struct. For a field or an element that
// is a struct, call BeginStruct(), then NextField() until it is false. Lists
// are read in the same way: BeginList(), then each element, all of a type.
//
// Threads: one at a time. Ownership: views are of the caller's bytes.
#ifndef KYMO_PROFILER_PARQUET_THRIFT_READER_H_
#define KYMO_PROFILER_PARQUET_THRIFT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/parquet/thrift_writer.h"

namespace kymo::parquet {

class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  // The bytes that were not read.
  std::string_view rest() const { return rest_; }

  bool NextField();
  int field() const { return field_; }
  ThriftType type() const { return type_; }

  int64_t Int();  // of 8, 16, 32 or 64 bits
  bool Bool();
  std::string_view Binary();
  void BeginStruct();
  // The number of elements, each of which takes a byte at least. Their type is
  // type(), as if each was a field.
  size_t BeginList();
  void Skip();

 private:
  bool Fail();
  uint8_t Byte();
  uint64_t Varint();
  void SkipElements(size_t count, ThriftType type, int depth);
  void SkipValue(ThriftType type, int depth);

  std::string_view rest_;
  bool ok_ = true;
  int field_ = 0;
  ThriftType type_ = ThriftType::kTrue;
  struct Outer {
    int field;
    ThriftType type;
  };
  std::vector<Outer> outer_;  // the fields that hold the current struct
};

}  // namespace kymo::parquet

#endif  // KYMO_PROFILER_PARQUET_THRIFT_READER_H_
