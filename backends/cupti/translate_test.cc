// With the toolkit's header, and a library of its own that steps from record to
// record as CUPTI does: by lengths that the version decides.
#include "backends/cupti/translate.h"

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "backends/cupti/log_reader.h"

namespace kymo::cupti {
namespace {

// Lengths of records in this buffer, by offset.
std::map<size_t, size_t> lengths;

int NextRecord(uint8_t* buffer, size_t valid_bytes, void** record) {
  size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<size_t>(static_cast<uint8_t*>(*record) - buffer);
    at += lengths.at(at);
  }
  if (at >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = buffer + at;
  return 0;
}

int CallbackName(int domain, uint32_t cbid, const char** name) {
  *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel_v7000"
                                                : "cuLaunchKernel";
  return cbid == 9999 ? 1 : 0;
}

constexpr RecordFunctions kFunctions = {.next_record = NextRecord,
                                        .callback_name = CallbackName};

class TranslateTest : public ::testing::Test {
 protected:
  TranslateTest() {
    lengths.clear();
    writer_->Open({.append =
                       [](void* to, const void* data, size_t size) noexcept {
                         auto& bytes =
                             *static_cast<std::vector<std::byte>*>(to);
                         const auto* from = static_cast<const std::byte*>(data);
                         bytes.insert(bytes.end(), from, from + size);
                       },
                   .to = &log_});
  }

  // The first `size` bytes: what an older library writes.
  template <typename T>
  void Put(const T& record, size_t size = sizeof(T)) {
    lengths[buffer_.size()] = size;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&record);
    buffer_.insert(buffer_.end(), bytes, bytes + size);
  }

  void Translate() {
    TranslateBuffer(kFunctions, buffer_.data(), buffer_.size(), *writer_);
    writer_->Flush();
  }

  // The only record of that kind.
  template <typename R>
  R Get(RecordKind kind) {
    R record = {};
    int found = 0;
    for (LogReader reader(log_); reader.Next();) {
      if (reader.kind() != kind) continue;
      record = reader.Get<R>();
      ++found;
    }
    EXPECT_EQ(found, 1);
    return record;
  }

  std::vector<uint8_t> buffer_;
  std::vector<std::byte> log_;
  std::unique_ptr<LogWriter> writer_ = std::make_unique<LogWriter>();
};

template <typename T>
T Zero(CUpti_ActivityKind kind) {
  T record;
  memset(static_cast<void*>(&record), 0, sizeof(record));
  record.kind = kind;
  return record;
}

TEST_F(TranslateTest, AKernelAndItsCall) {
  auto call = Zero<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = 211;
  call.start = 10;
  call.end = 20;
  call.threadId = 77;
  call.correlationId = 5;
  Put(call);
  auto kernel =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = "sgemm";
  kernel.start = 30;
  kernel.end = 40;
  kernel.correlationId = 5;
  kernel.gridX = 3;
  kernel.staticSharedMemory = 16;
  kernel.dynamicSharedMemory = 32;
  kernel.registersPerThread = 40;
  kernel.clusterX = 2;
  Put(kernel);
  Translate();
  const auto got = Get<KernelRecord>(RecordKind::kKernel);
  EXPECT_EQ(got.start, 30u);
  EXPECT_EQ(got.grid[0], 3);
  EXPECT_EQ(got.static_shared, 16u);
  EXPECT_EQ(got.dynamic_shared, 32u);
  EXPECT_EQ(got.registers, 40u);
  EXPECT_EQ(got.cluster[0], 2u);
  const auto got_call = Get<CallRecord>(RecordKind::kCall);
  EXPECT_EQ(got_call.thread, 77u);
  EXPECT_EQ(got_call.domain, CallDomain::kRuntime);
  std::map<uint32_t, std::string> texts;
  for (LogReader reader(log_); reader.Next();) {
    if (reader.kind() == RecordKind::kText)
      texts[reader.name()] = reader.text();
  }
  EXPECT_EQ(texts[got.header.name], "sgemm");
  EXPECT_EQ(texts[got_call.header.name], "cudaLaunchKernel_v7000");
}

TEST_F(TranslateTest, RecordsOfCuda12HaveZeroWhereTheyEnd) {
  // Of the record behind, nothing may be read.
  auto sync =
      Zero<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  sync.start = 1;
  sync.streamId = 3;
  Put(sync, sizeof(CUpti_ActivitySynchronization));
  auto event = Zero<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  event.eventId = 9;
  Put(event, sizeof(CUpti_ActivityCudaEvent));
  auto kernel =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = 30;
  kernel.clusterX = 2;
  Put(kernel, sizeof(CUpti_ActivityKernel4));
  auto set = Zero<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  set.bytes = ~uint64_t{0};
  Put(set, sizeof(CUpti_ActivityMemset3));
  Translate();
  EXPECT_EQ(Get<SyncRecord>(RecordKind::kSync).event_sync, 0u);
  EXPECT_EQ(Get<SyncRecord>(RecordKind::kSync).stream, 3u);
  const auto got_event = Get<EventRecord>(RecordKind::kEvent);
  EXPECT_EQ(got_event.event, 9u);
  EXPECT_EQ(got_event.has_device, 0u);
  EXPECT_EQ(got_event.time, 0u);
  EXPECT_EQ(Get<KernelRecord>(RecordKind::kKernel).start, 30u);
  EXPECT_EQ(Get<KernelRecord>(RecordKind::kKernel).cluster[0], 0u);
  EXPECT_EQ(Get<SetRecord>(RecordKind::kSet).bytes, ~uint64_t{0});
}

TEST_F(TranslateTest, ARecordOfANewerCuptiIsReadAsFarAsItIsKnown) {
  struct Newer {
    CUpti_ActivityExternalCorrelation known;
    uint64_t more[3];
  } newer = {};
  newer.known.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  newer.known.externalId = 99;
  newer.more[0] = 1;
  Put(newer);
  auto context = Zero<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  context.contextId = 4;
  context.deviceId = 2;
  Put(context);
  Translate();
  EXPECT_EQ(Get<ExternalRecord>(RecordKind::kExternal).id, 99u);
  EXPECT_EQ(Get<ContextRecord>(RecordKind::kContext).device, 2u);
}

TEST_F(TranslateTest, CountsKindsThatItDoesNotKnow) {
  Put(Zero<CUpti_ActivityPCSampling3>(CUPTI_ACTIVITY_KIND_PC_SAMPLING));
  Put(Zero<CUpti_ActivityPCSampling3>(CUPTI_ACTIVITY_KIND_PC_SAMPLING));
  Translate();
  const auto loss = Get<LossRecord>(RecordKind::kLoss);
  EXPECT_EQ(loss.reason, LossReason::kUnknown);
  EXPECT_EQ(loss.count, 2u);
}

TEST_F(TranslateTest, AContextWaitIsOfNoStream) {
  auto sync =
      Zero<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  sync.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  Put(sync);
  Translate();
  EXPECT_EQ(Get<SyncRecord>(RecordKind::kSync).stream, kNoStream);
}

TEST_F(TranslateTest, CopiesMemoryAndDevices) {
  auto copy = Zero<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.bytes = 12;
  Put(copy);
  auto memory = Zero<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.address = 0x1234;
  memory.bytes = 55;
  memory.memoryPoolConfig.memoryPoolType =
      CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  memory.memoryPoolConfig.utilizedSize = 66;
  Put(memory);
  auto device = Zero<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.name = "NVIDIA H100";
  device.numMultiprocessors = 132;
  Put(device);
  Translate();
  EXPECT_EQ(Get<CopyRecord>(RecordKind::kCopy).copy_kind, 2);
  EXPECT_EQ(Get<CopyRecord>(RecordKind::kCopy).bytes, 12u);
  const auto got = Get<MemoryRecord>(RecordKind::kMemory);
  EXPECT_EQ(got.operation, 1);
  EXPECT_EQ(got.address, 0x1234u);
  EXPECT_EQ(got.pool_used, 66u);
  EXPECT_EQ(Get<DeviceRecord>(RecordKind::kDevice).multiprocessors, 132u);
}

TEST_F(TranslateTest, AnEmptyBufferIsNothing) {
  Translate();
  EXPECT_TRUE(log_.empty());
}

}  // namespace
}  // namespace kymo::cupti
