#include "profiler/arrow/stream.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "profiler/arrow/test_read.h"

namespace kymo::arrow {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tells whether it is still there.
class TwoBatches : public BatchSource {
 public:
  explicit TwoBatches(int* alive) : alive_(alive) { ++*alive_; }
  ~TwoBatches() override { --*alive_; }

  const TableSchema& schema() const override { return schema_; }
  absl::StatusOr<std::shared_ptr<const Batch>> Next() override {
    if (made_++ == 2) return std::shared_ptr<const Batch>();
    Batch batch{.rows = 3};
    batch.columns.resize(3);
    batch.columns[0].ints = {1, 2, 3};
    SetValidity(std::vector<uint8_t>{1, 0, 1}, batch.columns[0]);
    batch.columns[1].offsets = {0, 1, 1, 3};
    batch.columns[1].bytes = "abc";
    batch.columns[2].bits = PackBits(std::vector<uint8_t>{0, 1, 1});
    return std::make_shared<const Batch>(std::move(batch));
  }

 private:
  int* const alive_;
  int made_ = 0;
  TableSchema schema_ = {{{"n", Type::kInt64},
                          {"text", Type::kText, false},
                          {"is_so", Type::kBool, false}},
                         {{"key", "value"}}};
};

class Failing : public BatchSource {
 public:
  explicit Failing(std::optional<absl::Status> error)
      : error_(std::move(error)) {}
  const TableSchema& schema() const override { return schema_; }
  absl::StatusOr<std::shared_ptr<const Batch>> Next() override {
    if (!error_) throw std::bad_alloc();
    return *error_;
  }

 private:
  const std::optional<absl::Status> error_;
  const TableSchema schema_;
};

TEST(StreamTest, ReadersSeeColumnsAndRows) {
  int alive = 0;
  Stream stream;
  ExportStream(std::make_unique<TwoBatches>(&alive), &stream);
  const ReadRows read = ReadAll(&stream);
  EXPECT_EQ(read.message, "");
  EXPECT_THAT(read.fields, ElementsAre("n:l?", "text:u", "is_so:b"));
  EXPECT_THAT(read.rows, ElementsAre("1|a|0", "-||1", "3|bc|1", "1|a|0", "-||1",
                                     "3|bc|1"));
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(alive, 0);
}

TEST(StreamTest, SchemaHasMetadataAsTheInterfaceWantsIt) {
  int alive = 0;
  Schema schema;
  ExportSchema(TwoBatches(&alive).schema(), &schema);
  const std::string bytes(schema.metadata, 20);
  schema.release(&schema);
  EXPECT_EQ(bytes, std::string("\1\0\0\0\3\0\0\0key\5\0\0\0value", 20));
}

TEST(StreamTest, BatchesAndColumnsOutliveTheStream) {
  int alive = 0;
  Stream stream;
  ExportStream(std::make_unique<TwoBatches>(&alive), &stream);
  Array batch;
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  stream.release(&stream);
  EXPECT_EQ(alive, 0);
  // A reader may keep one column, and let go of the others.
  Array text = *batch.children[1];
  batch.children[1]->release = nullptr;
  batch.release(&batch);
  EXPECT_EQ(batch.release, nullptr);
  const auto* const offsets = static_cast<const int32_t*>(text.buffers[1]);
  EXPECT_EQ(std::string(static_cast<const char*>(text.buffers[2]),
                        static_cast<size_t>(offsets[3])),
            "abc");
  text.release(&text);
}

TEST(StreamTest, HalfReadStreamIsReleased) {
  int alive = 0;
  Stream stream;
  ExportStream(std::make_unique<TwoBatches>(&alive), &stream);
  Stream moved = stream;
  stream.release = nullptr;
  Array batch;
  ASSERT_EQ(moved.get_next(&moved, &batch), 0);
  batch.release(&batch);
  moved.release(&moved);
  EXPECT_EQ(alive, 0);
}

TEST(StreamTest, ErrorsHaveNumberAndMessage) {
  Stream stream;
  ExportStream(std::make_unique<Failing>(absl::InternalError("it broke")),
               &stream);
  ReadRows read = ReadAll(&stream);
  EXPECT_EQ(read.error, EIO);
  EXPECT_EQ(read.message, "it broke");

  ExportStream(std::make_unique<Failing>(std::nullopt), &stream);
  read = ReadAll(&stream);
  EXPECT_EQ(read.error, ENOMEM);
  EXPECT_THAT(read.rows, IsEmpty());
}

TEST(StreamTest, BitsArePackedWhateverTheirNumber) {
  std::vector<uint8_t> bytes;
  for (size_t size = 0; size < 40; ++size) {
    const Column<uint8_t> bits = PackBits(bytes);
    ASSERT_EQ(bits.size(), (size + 7) / 8);
    for (size_t i = 0; i < bits.size() * 8; ++i) {
      const int expected = i < size ? bytes[i] : 0;
      ASSERT_EQ(bits[i / 8] >> (i % 8) & 1, expected) << size << " " << i;
    }
    bytes.push_back(size % 3 == 0 || size % 7 == 2 ? 1 : 0);
  }
}

}  // namespace
}  // namespace kymo::arrow
