#include "profiler/parquet/thrift_reader.h"

namespace kymo::parquet {
namespace {

// Parquet's own structs are less deep.
constexpr int kMostDepth = 32;

}  // namespace

bool ThriftReader::Fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

uint8_t ThriftReader::Byte() {
  if (rest_.empty()) {
    Fail();
    return 0;
  }
  const auto byte = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

uint64_t ThriftReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Byte();
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  Fail();
  return 0;
}

bool ThriftReader::NextField() {
  const uint8_t head = Byte();
  if (!ok_) return false;
  if (head == 0) {
    if (outer_.empty()) return false;
    // After an element of a list, the next one is of the same type.
    field_ = outer_.back().field;
    type_ = outer_.back().type;
    outer_.pop_back();
    return false;
  }
  const int step = head >> 4;
  if (step != 0) {
    field_ += step;
  } else {
    const uint64_t coded = Varint();
    field_ = static_cast<int16_t>((coded >> 1) ^ (~(coded & 1) + 1));
  }
  type_ = static_cast<ThriftType>(head & 0xF);
  return ok_;
}

int64_t ThriftReader::Int() {
  if (type_ == ThriftType::kByte) return static_cast<int8_t>(Byte());
  if (type_ < ThriftType::kInt16 || type_ > ThriftType::kInt64) {
    Fail();
    return 0;
  }
  const uint64_t coded = Varint();
  return static_cast<int64_t>((coded >> 1) ^ (~(coded & 1) + 1));
}

bool ThriftReader::Bool() {
  if (type_ != ThriftType::kTrue && type_ != ThriftType::kFalse) return Fail();
  return type_ == ThriftType::kTrue;
}

std::string_view ThriftReader::Binary() {
  if (type_ != ThriftType::kBinary) Fail();
  const uint64_t size = Varint();
  if (size > rest_.size()) Fail();
  if (!ok_) return {};
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

void ThriftReader::BeginStruct() {
  if (type_ != ThriftType::kStruct || outer_.size() >= kMostDepth) Fail();
  outer_.push_back({field_, type_});
  field_ = 0;
}

size_t ThriftReader::BeginList() {
  if (type_ != ThriftType::kList) Fail();
  const uint8_t head = Byte();
  uint64_t size = head >> 4;
  if (size == 15) size = Varint();
  if (size > rest_.size()) Fail();
  type_ = static_cast<ThriftType>(head & 0xF);
  return ok_ ? size : 0;
}

void ThriftReader::Skip() { SkipValue(type_, 0); }

void ThriftReader::SkipElements(size_t count, ThriftType type, int depth) {
  const bool is_bool = type == ThriftType::kTrue || type == ThriftType::kFalse;
  for (size_t i = 0; ok_ && i < count; ++i) {
    // A bool of a list is a byte, that of a field is in its type.
    is_bool ? static_cast<void>(Byte()) : SkipValue(type, depth);
  }
}

void ThriftReader::SkipValue(ThriftType type, int depth) {
  if (depth > kMostDepth) {
    Fail();
    return;
  }
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;
    case ThriftType::kByte:
      Byte();
      return;
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64:
      Varint();
      return;
    case ThriftType::kDouble:
      if (rest_.size() < 8) {
        Fail();
        return;
      }
      rest_.remove_prefix(8);
      return;
    case ThriftType::kBinary:
      type_ = type;
      Binary();
      return;
    case ThriftType::kList:
    case ThriftType::kSet: {
      type_ = ThriftType::kList;
      const size_t count = BeginList();
      SkipElements(count, type_, depth + 1);
      return;
    }
    case ThriftType::kMap:  // Parquet has none.
      Fail();
      return;
    case ThriftType::kStruct:
      for (uint8_t head = Byte(); ok_ && head != 0; head = Byte()) {
        if (head >> 4 == 0) Varint();
        SkipValue(static_cast<ThriftType>(head & 0xF), depth + 1);
      }
      return;
  }
  Fail();
}

}  // namespace kymo::parquet
