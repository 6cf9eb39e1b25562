#include "backends/cupti/log/log_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/cupti/log/log_reader.h"

namespace kymo::cupti {
namespace {

class LogWriterTest : public ::testing::Test {
 protected:
  void Open() {
    writer_->Open({.append =
                       [](void* to, const void* data, size_t size) noexcept {
                         auto& bytes =
                             *static_cast<std::vector<std::byte>*>(to);
                         const auto* from = static_cast<const std::byte*>(data);
                         bytes.insert(bytes.end(), from, from + size);
                       },
                   .to = &bytes_});
  }

  std::vector<std::byte> bytes_;
  std::unique_ptr<LogWriter> writer_ = std::make_unique<LogWriter>();
};

TEST_F(LogWriterTest, WritesATextOnceBeforeItsFirstUse) {
  Open();
  for (int i = 0; i < 3; ++i) {
    CallRecord call = {};
    call.correlation = i;
    call.header.name = writer_->TextId("cudaMalloc");
    writer_->Write(RecordKind::kCall, call);
  }
  writer_->Flush();
  LogReader reader(bytes_);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.kind(), RecordKind::kText);
  EXPECT_EQ(reader.text(), "cudaMalloc");
  const uint32_t id = reader.name();
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(reader.Next());
    EXPECT_EQ(reader.kind(), RecordKind::kCall);
    EXPECT_EQ(reader.name(), id);
    EXPECT_EQ(reader.Get<CallRecord>().correlation, i);
  }
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.corrupt(), 0u);
  EXPECT_EQ(writer_->records(), 3u);
}

TEST_F(LogWriterTest, SeesThatAnotherTextIsAtTheSameAddress) {
  Open();
  char text[] = "first";
  const uint32_t first = writer_->TextId(text);
  strcpy(text, "other");
  const uint32_t other = writer_->TextId(text);
  EXPECT_NE(first, other);
  EXPECT_EQ(writer_->TextId("first"), first);
}

TEST_F(LogWriterTest, EachLogHasItsTexts) {
  Open();
  writer_->TextId("a");
  Open();
  writer_->TextId("a");
  writer_->Flush();
  LogReader reader(bytes_);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.text(), "a");
}

TEST_F(LogWriterTest, CutsLongTextsAndKeepsThemApartFromNoOther) {
  Open();
  const std::string text(3 * kMaxTextBytes, 'x');
  const uint32_t id = writer_->TextId(text.c_str());
  EXPECT_EQ(writer_->TextId(text.c_str()), id);
  writer_->Flush();
  LogReader reader(bytes_);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.text().size(), kMaxTextBytes);
}

TEST_F(LogWriterTest, NoTextIsZero) {
  Open();
  EXPECT_EQ(writer_->TextId(nullptr), 0u);
  EXPECT_EQ(writer_->TextId(""), 0u);
}

TEST_F(LogWriterTest, ARecordOfAnOlderCuptiReadsAsZeroBehindItsEnd) {
  Open();
  KernelRecord kernel = {};
  kernel.header.kind = RecordKind::kKernel;
  kernel.start = 5;
  kernel.cluster[2] = 9;
  writer_->WriteBytes(&kernel.header, 40);
  writer_->Flush();
  LogReader reader(bytes_);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.Get<KernelRecord>().start, 5u);
  EXPECT_EQ(reader.Get<KernelRecord>().cluster[2], 0u);
}

TEST_F(LogWriterTest, ALogThatWasCutEndsBeforeTheLastRecord) {
  Open();
  CallRecord call = {};
  writer_->Write(RecordKind::kCall, call);
  writer_->Write(RecordKind::kCall, call);
  writer_->Flush();
  bytes_.resize(bytes_.size() - 8);
  LogReader reader(bytes_);
  EXPECT_TRUE(reader.Next());
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.corrupt(), 0u);
}

}  // namespace
}  // namespace kymo::cupti
