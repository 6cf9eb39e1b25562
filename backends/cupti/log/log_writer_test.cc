#include "backends/cupti/log/log_writer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/log_file.h"
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
                         EXPECT_LE(size, size_t{32} << 10);
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

// A text takes whole words, and zeros fill the last one.
TEST_F(LogWriterTest, TextsArePaddedWithZeros) {
  Open();
  for (const char* const text : {"1234567", "12345678", "123456789"}) {
    bytes_.clear();
    writer_->TextId(text);
    writer_->Flush();
    const size_t size = strlen(text);
    const size_t padded = size <= 8 ? 8 : 16;
    ASSERT_EQ(bytes_.size(), sizeof(TextRecord) + padded) << text;
    EXPECT_EQ(std::memcmp(bytes_.data() + sizeof(TextRecord), text, size), 0);
    for (size_t i = size; i < padded; ++i) {
      EXPECT_EQ(bytes_[sizeof(TextRecord) + i], std::byte{0});
    }
    LogReader reader(bytes_);
    ASSERT_TRUE(reader.Next());
    EXPECT_EQ(reader.text(), text);
    EXPECT_FALSE(reader.Next());
  }
  bytes_.clear();
  writer_->Flush();
  EXPECT_TRUE(bytes_.empty());
}

// More than the buffer, of which records of each length are handed on whole.
TEST_F(LogWriterTest, RecordsFollowEachOtherBeyondTheBuffer) {
  Open();
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < 3'000; ++i) {
    texts.push_back(std::string(i % 100 + 1, 'x') + std::to_string(i));
    CallRecord call = {};
    call.correlation = i;
    call.header.name = writer_->TextId(texts.back().c_str());
    EXPECT_EQ(call.header.name, i + 1);
    writer_->Write(RecordKind::kCall, call);
  }
  writer_->Flush();
  EXPECT_EQ(writer_->records(), 3'000u);
  LogReader reader(bytes_);
  for (uint32_t i = 0; i < 3'000; ++i) {
    ASSERT_TRUE(reader.Next());
    ASSERT_EQ(reader.kind(), RecordKind::kText);
    ASSERT_EQ(reader.text(), texts[i]);
    ASSERT_EQ(reader.name(), i + 1);
    ASSERT_TRUE(reader.Next());
    ASSERT_EQ(reader.Get<CallRecord>().correlation, i);
    ASSERT_EQ(reader.name(), i + 1);
  }
  EXPECT_FALSE(reader.Next());
  // Equal texts have one id, wherever they are.
  EXPECT_EQ(writer_->TextId(std::string(texts[1'500]).c_str()), 1'501u);
  Open();
  EXPECT_EQ(writer_->records(), 0u);
}

TEST_F(LogWriterTest, TextsBeyondTheTableAreLostAndCounted) {
  constexpr uint32_t kMost = 65'536;
  Open();
  for (uint32_t i = 1; i <= kMost; ++i) {
    ASSERT_EQ(writer_->TextId(std::to_string(i).c_str()), i);
  }
  EXPECT_EQ(writer_->texts_lost(), 0u);
  EXPECT_EQ(writer_->TextId("one more"), 0u);
  EXPECT_EQ(writer_->TextId("and another"), 0u);
  EXPECT_EQ(writer_->texts_lost(), 2u);
  EXPECT_EQ(writer_->TextId(std::to_string(kMost).c_str()), kMost);
  EXPECT_EQ(writer_->TextId("1"), 1u);
  Open();
  EXPECT_EQ(writer_->texts_lost(), 0u);
}

TEST_F(LogWriterTest, ABufferThatIsExactlyFullIsNotHandedOnTwice) {
  Open();
  KernelRecord kernel = {};
  kernel.header.kind = RecordKind::kKernel;
  for (int i = 0; i < 8; ++i) writer_->WriteBytes(&kernel.header, 64);
  EXPECT_TRUE(bytes_.empty());
  for (int i = 8; i < 512; ++i) writer_->WriteBytes(&kernel.header, 64);
  EXPECT_TRUE(bytes_.empty());  // 32 KiB
  writer_->WriteBytes(&kernel.header, 64);
  EXPECT_EQ(bytes_.size(), size_t{32} << 10);
  writer_->Flush();
  EXPECT_EQ(bytes_.size(), (size_t{32} << 10) + 64);
}

// Logs are kept, and read by a later Kymo. Whoever changes a number raises
// kLogVersion.
TEST(GpuRecordTest, NumbersOfTheFormatStayWhatTheyAre) {
  EXPECT_EQ(kLogVersion, 1u);
  EXPECT_EQ(kLogHeaderBytes, 4'096u);
  EXPECT_EQ(kMaxTextBytes, 16'384u);
  EXPECT_EQ(kNoStream, ~uint32_t{0});
  EXPECT_EQ(kNoEventSync, 0u);
  int number = 0;
  for (const LogState state : {LogState::kOpening, LogState::kOpen,
                               LogState::kClosed, LogState::kFailed}) {
    EXPECT_EQ(static_cast<int>(state), number++);
  }
  number = 0;
  for (const LossReason reason :
       {LossReason::kDropped, LossReason::kUnknown, LossReason::kTexts,
        LossReason::kBroken, LossReason::kForeign}) {
    EXPECT_EQ(static_cast<int>(reason), number++);
  }
  number = 1;
  for (const RecordKind kind :
       {RecordKind::kText,     RecordKind::kKernel,     RecordKind::kCopy,
        RecordKind::kSet,      RecordKind::kCall,       RecordKind::kSync,
        RecordKind::kEvent,    RecordKind::kGraph,      RecordKind::kMemory,
        RecordKind::kPool,     RecordKind::kUnified,    RecordKind::kOverhead,
        RecordKind::kDevice,   RecordKind::kContext,    RecordKind::kStream,
        RecordKind::kExternal, RecordKind::kAnchor,     RecordKind::kLoss,
        RecordKind::kMarker,   RecordKind::kMarkerData, RecordKind::kName,
        RecordKind::kRefused,  RecordKind::kEnd}) {
    EXPECT_EQ(static_cast<int>(kind), number++);
  }
  EXPECT_EQ(static_cast<int>(CallDomain::kRuntime), 0);
  EXPECT_EQ(static_cast<int>(CallDomain::kDriver), 1);
  EXPECT_EQ(static_cast<int>(LogClock::kMonotonic), 0);
  EXPECT_EQ(static_cast<int>(LogClock::kCupti), 1);
  // cupti_activity.h: CUpti_ActivityFlag, CUpti_MetricValueKind,
  // CUpti_ActivityObjectKind.
  EXPECT_EQ(kMarkerInstant, 1u);
  EXPECT_EQ(kMarkerStart, 2u);
  EXPECT_EQ(kMarkerEnd, 4u);
  EXPECT_EQ(static_cast<int>(MarkerPayload::kDouble), 0);
  EXPECT_EQ(static_cast<int>(MarkerPayload::kUint64), 1);
  EXPECT_EQ(static_cast<int>(MarkerPayload::kInt64), 4);
  EXPECT_EQ(static_cast<int>(MarkerPayload::kExtended), 6);
  EXPECT_EQ(static_cast<int>(NamedObject::kThread), 2);
  EXPECT_EQ(static_cast<int>(NamedObject::kStream), 5);
}

// --- log_reader.h ---

TEST(LogReaderTest, AHeaderThatMakesNoSenseEndsTheLog) {
  struct Case {
    RecordKind kind;
    uint16_t words;
    bool is_sound;
  };
  const auto last =
      static_cast<RecordKind>(static_cast<int>(RecordKind::kEnd) - 1);
  for (const Case& c : {Case{RecordKind::kText, 1, true},
                        {last, 1, true},
                        {RecordKind{0}, 1, false},
                        {RecordKind::kEnd, 1, false},
                        {RecordKind{9'999}, 1, false},
                        {RecordKind::kCall, 0, false}}) {
    const RecordHeader headers[] = {{RecordKind::kCall, 1, 7},
                                    {c.kind, c.words, 8},
                                    {RecordKind::kCall, 1, 9}};
    LogReader reader(std::as_bytes(std::span(headers)));
    ASSERT_TRUE(reader.Next());
    EXPECT_EQ(reader.name(), 7u);
    EXPECT_EQ(reader.Next(), c.is_sound);
    EXPECT_EQ(reader.Next(), c.is_sound);
    EXPECT_FALSE(reader.Next());
    EXPECT_EQ(reader.corrupt(), c.is_sound ? 0u : 1u);
  }
  EXPECT_FALSE(LogReader({}).Next());
}

TEST(LogReaderTest, ATextIsNoLongerThanItsRecord) {
  struct {
    TextRecord record = {{RecordKind::kText, 3, 1}, 8};
    char text[16] = {'1', '2', '3', '4', '5', '6',
                     '7', '8', 'n', 'e', 'x', 't'};
  } log;
  const auto text = [&] {
    LogReader reader(std::as_bytes(std::span(&log, 1)));
    EXPECT_TRUE(reader.Next());
    return reader.text();
  };
  EXPECT_EQ(text(), "12345678");
  log.record.size_bytes = 9;
  EXPECT_EQ(text(), "12345678");
  log.record.size_bytes = 5;
  EXPECT_EQ(text(), "12345");
  log.record.header.words = 2;
  EXPECT_EQ(text(), "");
  log.record.header.words = 1;  // without its size
  EXPECT_EQ(text(), "");
}

// --- log_file.h ---

class LogFileTest : public ::testing::Test {
 protected:
  LogFileTest() {
    std::string pattern = ::testing::TempDir() + "/log_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~LogFileTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::filesystem::path> Files() const {
    const std::filesystem::directory_iterator files(folder_);
    return {begin(files), end(files)};
  }

  std::string folder_;
  std::unique_ptr<LogFile> file_ = std::make_unique<LogFile>();
};

TEST_F(LogFileTest, BlocksFollowTheHeader) {
  ASSERT_TRUE(file_->Open(folder_.c_str()));
  ASSERT_EQ(Files().size(), 1u);
  const std::filesystem::path path = Files()[0];
  EXPECT_TRUE(path.filename().string().starts_with(
      "cuda-" + std::to_string(getpid()) + "-"))
      << path;
  EXPECT_EQ(path.extension(), ".log");
  EXPECT_EQ(
      std::filesystem::status(path).permissions(),
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(std::filesystem::file_size(path), 4'096u);
  const LogSink sink = file_->sink();
  sink.append(sink.to, "first ", 6);
  sink.append(sink.to, "second", 6);
  std::string bytes(4'096 + 12, '?');
  std::ifstream(path, std::ios::binary).read(bytes.data(), 5'000);
  EXPECT_EQ(bytes.substr(4'096), "first second");
  LogHeader& header = *file_->header();
  EXPECT_EQ(header.magic, kLogMagic);
  EXPECT_EQ(header.version, kLogVersion);
  EXPECT_EQ(header.pid, getpid());
  EXPECT_EQ(header.state, LogState::kOpening);
  EXPECT_EQ(header.bytes_lost, 0u);
  // What is stored there is in the file.
  header.records = 0x0102030405060708;
  std::ifstream(path, std::ios::binary).read(bytes.data(), 4'096);
  EXPECT_NE(bytes.find("\x08\x07\x06\x05\x04\x03\x02\x01"), bytes.npos);
  std::filesystem::remove(path);
  sink.append(sink.to, "lost", 4);
  sink.append(sink.to, "lost", 4);
  EXPECT_EQ(header.bytes_lost, 8u);
}

TEST_F(LogFileTest, AFolderThatTakesNoFileHasNone) {
  EXPECT_FALSE(file_->Open((folder_ + "/none").c_str()));
  // The file's path would have 1,024 bytes or more with its NUL.
  EXPECT_FALSE(file_->Open((folder_ + std::string(1'000, '/')).c_str()));
  EXPECT_TRUE(Files().empty());
  EXPECT_TRUE(file_->Open((folder_ + std::string(500, '/')).c_str()));
  EXPECT_EQ(Files().size(), 1u);
}

}  // namespace
}  // namespace kymo::cupti
