#include "backends/sampling/perf_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kymo::sampling {
namespace {

constexpr size_t kRingBytes = 256;
constexpr uint16_t kRecordBytes = 40;  // header, payload, trailer

constexpr uint32_t kPid = 1234;

// A ring into which we write as the kernel does.
class FakeRing {
 public:
  FakeRing() : page_(std::make_unique<perf_event_mmap_page>()) {
    std::memset(page_.get(), 0, sizeof(*page_));
    page_->data_head = page_->data_tail = start_;
  }
  PerfRing Reader() { return PerfRing(page_.get(), data_.data(), kRingBytes); }

  void Write(uint64_t time_ns, uint64_t payload) {
    std::byte bytes[kRecordBytes] = {};
    const RecordHeader header{PERF_RECORD_LOST, 0, kRecordBytes};
    std::memcpy(bytes, &header, sizeof(header));
    std::memcpy(bytes + 8, &payload, sizeof(payload));
    std::memcpy(bytes + 24, &time_ns, sizeof(time_ns));
    WriteBytes(bytes);
  }
  void WriteSample(uint32_t tid, uint64_t time_ns) {
    std::byte bytes[kRecordBytes] = {};
    const RecordHeader header{PERF_RECORD_SAMPLE, 0, kRecordBytes};
    const uint32_t ids[] = {kPid, tid};
    std::memcpy(bytes, &header, sizeof(header));
    std::memcpy(bytes + 16, ids, sizeof(ids));
    std::memcpy(bytes + 24, &time_ns, sizeof(time_ns));
    WriteBytes(bytes);
  }
  void WriteHeader(RecordHeader header) {
    std::byte bytes[sizeof(header)];
    std::memcpy(bytes, &header, sizeof(header));
    WriteBytes(bytes);
  }
  uint64_t tail() const { return page_->data_tail; }
  static constexpr uint64_t start_ = 192;  // records soon cross the end

 private:
  void WriteBytes(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      data_[page_->data_head++ & (kRingBytes - 1)] = byte;
    }
  }

  std::unique_ptr<perf_event_mmap_page> page_;
  std::vector<std::byte> data_ = std::vector<std::byte>(kRingBytes);
};

uint64_t PayloadOf(RecordBytes bytes) {
  uint64_t payload;
  std::memcpy(&payload, bytes.data() + 8, sizeof(payload));
  return payload;
}

TEST(PerfRingTest, ReadsRecordsAcrossTheEnd) {
  FakeRing fake;
  PerfRing ring = fake.Reader();
  for (uint64_t i = 0; i < 4; ++i) fake.Write(i, 100 + i);
  ring.Refresh();
  for (uint64_t i = 0; i < 4; ++i) {
    const auto record = ring.Front();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(PayloadOf(*record), 100 + i);
    EXPECT_EQ(DecodeTime(*record), i);
    ring.Pop();
  }
  EXPECT_FALSE(ring.Front().has_value());
  EXPECT_EQ(fake.tail(), FakeRing::start_);
  ring.Release();
  EXPECT_EQ(fake.tail(), FakeRing::start_ + 4 * kRecordBytes);
}

TEST(PerfRingTest, SkipsWhatIsDamaged) {
  for (const uint16_t size : {0, 4, 12, 4096}) {
    FakeRing fake;
    PerfRing ring = fake.Reader();
    fake.WriteHeader({PERF_RECORD_LOST, 0, size});
    ring.Refresh();
    EXPECT_FALSE(ring.Front().has_value()) << size;
    EXPECT_EQ(ring.corrupt_count(), 1u);
    EXPECT_EQ(ring.pending_bytes(), 0u);
  }
}

TEST(PerfRingTest, MergesByTimeUpToTheLimit) {
  FakeRing fakes[2];
  std::vector<PerfRing> rings;
  for (FakeRing& fake : fakes) rings.push_back(fake.Reader());
  fakes[0].Write(10, 1);
  fakes[0].Write(30, 3);
  fakes[0].Write(50, 5);
  fakes[1].Write(20, 2);
  fakes[1].Write(40, 4);
  for (PerfRing& ring : rings) ring.Refresh();
  std::vector<uint64_t> seen;
  const auto visit = [&](RecordBytes bytes) {
    seen.push_back(PayloadOf(bytes));
  };
  MergeByTime(rings, 30, visit);
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 2, 3}));
  MergeByTime(rings, ~uint64_t{0}, visit);
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

TEST(PerfRingTest, TiesGoToTheFirstRing) {
  FakeRing fakes[2];
  std::vector<PerfRing> rings;
  for (FakeRing& fake : fakes) rings.push_back(fake.Reader());
  fakes[1].Write(10, 2);
  fakes[0].Write(10, 1);
  for (PerfRing& ring : rings) ring.Refresh();
  std::vector<uint64_t> seen;
  MergeByTime(rings, 10,
              [&](RecordBytes bytes) { seen.push_back(PayloadOf(bytes)); });
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 2}));
}

using Seen = std::vector<std::pair<uint32_t, uint64_t>>;

Seen LookAt(RingFollower& follower) {
  Seen seen;
  follower.Look([&](const SampleBegin& sample) {
    EXPECT_EQ(sample.pid, kPid);
    seen.emplace_back(sample.tid, sample.time_ns);
  });
  return seen;
}

TEST(RingFollowerTest, SeesSamplesBesideTheReader) {
  FakeRing fake;
  fake.WriteSample(1, 100);
  const PerfRing ring = fake.Reader();
  RingFollower follower(ring);
  EXPECT_EQ(LookAt(follower), Seen{});  // it came before
  fake.WriteSample(2, 200);
  fake.Write(0, 0);  // something else
  fake.WriteSample(3, 300);
  EXPECT_EQ(LookAt(follower), (Seen{{2, 200}, {3, 300}}));
  EXPECT_EQ(LookAt(follower), Seen{});
  fake.WriteSample(4, 400);
  EXPECT_EQ(LookAt(follower), (Seen{{4, 400}}));
}

TEST(RingFollowerTest, GoesOnBehindWhatWasWrittenOver) {
  FakeRing fake;
  RingFollower follower(fake.Reader());
  for (uint32_t i = 0; i < 7; ++i) fake.WriteSample(i, i);
  EXPECT_EQ(LookAt(follower), Seen{});
  fake.WriteSample(8, 800);
  EXPECT_EQ(LookAt(follower), (Seen{{8, 800}}));
  fake.WriteHeader({PERF_RECORD_SAMPLE, 0, 4096});
  EXPECT_EQ(LookAt(follower), Seen{});
  fake.WriteSample(9, 900);
  EXPECT_EQ(LookAt(follower), (Seen{{9, 900}}));
}

}  // namespace
}  // namespace kymo::sampling
