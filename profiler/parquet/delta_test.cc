#include "profiler/parquet/delta.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kymo::parquet {
namespace {

// A reader of the specification's words alone: bit after bit, any sizes of
// blocks.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  std::vector<int64_t> Read() {
    const uint64_t block = Varint();
    const uint64_t groups = Varint();
    const uint64_t count = Varint();
    std::vector<int64_t> values;
    int64_t last = Signed();
    if (count > 0) values.push_back(last);
    while (values.size() < count) {
      const int64_t least = Signed();
      const std::string widths = bytes_.substr(at_, groups);
      at_ += groups;
      for (uint64_t g = 0; g < groups && values.size() < count; ++g) {
        const int width = static_cast<unsigned char>(widths[g]);
        for (uint64_t i = 0; i < block / groups; ++i) {
          uint64_t delta = 0;
          for (int bit = 0; bit < width; ++bit) {
            const uint64_t place = i * width + bit;
            const auto byte =
                static_cast<unsigned char>(bytes_.at(at_ + place / 8));
            delta |= uint64_t{byte >> place % 8 & 1u} << bit;
          }
          last = static_cast<int64_t>(static_cast<uint64_t>(last) + delta +
                                      static_cast<uint64_t>(least));
          if (values.size() < count) values.push_back(last);
        }
        at_ += block / groups * width / 8;
      }
    }
    EXPECT_EQ(at_, bytes_.size());
    return values;
  }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  int64_t Signed() {
    const uint64_t coded = Varint();
    return static_cast<int64_t>(coded >> 1) * (coded & 1 ? -1 : 1) -
           static_cast<int64_t>(coded & 1);
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

void ExpectBothReadersAgree(const std::vector<int64_t>& values) {
  std::string bytes;
  AppendDelta(values, bytes);
  EXPECT_EQ(Reader(bytes).Read(), values);
  std::vector<int64_t> again(values.size());
  EXPECT_TRUE(ReadDelta(bytes, again));
  EXPECT_EQ(again, values);
}

TEST(DeltaTest, AnotherReaderGetsTheSameNumbers) {
  std::mt19937_64 random(1);
  for (const size_t size :
       {0u, 1u, 2u, 32u, 33u, 128u, 129u, 130u, 161u, 257u, 1000u}) {
    for (int bits = 0; bits <= 64; bits += bits < 60 ? 7 : 1) {
      std::vector<int64_t> values(size);
      int64_t time = 1'700'000'000'000'000'000;
      for (int64_t& value : values) {
        const uint64_t step = bits == 0 ? 5 : random() >> (64 - bits);
        time = static_cast<int64_t>(static_cast<uint64_t>(time) + step);
        value = time;
      }
      ExpectBothReadersAgree(values);
    }
  }
}

TEST(DeltaTest, ExtremesWrapAround) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t most = std::numeric_limits<int64_t>::max();
  ExpectBothReadersAgree({least, most, least, 0, most, -1, 1, most, least});
}

TEST(DeltaTest, RisingTimesTakeFewBytes) {
  std::vector<int64_t> times(12'800);
  for (size_t i = 0; i < times.size(); ++i) {
    times[i] = static_cast<int64_t>(i * 1000 + i % 16);
  }
  std::string bytes;
  AppendDelta(times, bytes);
  EXPECT_LT(bytes.size(), times.size());
}

TEST(DeltaTest, RefusesWhatIsCutOrOfAnotherCount) {
  std::vector<int64_t> values;
  for (int i = 0; i < 300; ++i) values.push_back(i * i * i);
  std::string bytes;
  AppendDelta(values, bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadDelta(bytes.substr(0, size), values)) << size;
  }
  values.push_back(0);
  EXPECT_FALSE(ReadDelta(bytes, values));
}

}  // namespace
}  // namespace kymo::parquet
