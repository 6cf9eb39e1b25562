#include "backends/cupti/target/translate.h"

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <map>

#include "backends/cupti/log/log_reader.h"
#include "backends/cupti/target/test_translate.h"

namespace kymo::cupti {
namespace {

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
  EXPECT_EQ(Texts()[got.header.name], "sgemm");
  EXPECT_EQ(Texts()[got_call.header.name], "cudaLaunchKernel_v7000");
}

TEST_F(TranslateTest, RecordsOfCuda12HaveZeroWhereTheyEnd) {
  // Nothing of the next record may be read.
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

TEST_F(TranslateTest, WaitsSayWhatTheyWereToldAndWhichRecordingTheyMean) {
  auto sync =
      Zero<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  sync.cudaEventSyncId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  sync.returnValue = CUDA_ERROR_NOT_READY;
  Put(sync);
  auto event = Zero<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  event.cudaEventSyncId = 77;
  event.deviceTimestamp = 88;
  event.deviceId = 2;
  Put(event);
  Translate();
  const auto got = Get<SyncRecord>(RecordKind::kSync);
  EXPECT_EQ(got.event_sync, kNoEventSync);
  EXPECT_EQ(got.result, CUDA_ERROR_NOT_READY);
  const auto recorded = Get<EventRecord>(RecordKind::kEvent);
  EXPECT_EQ(recorded.event_sync, 77u);
  EXPECT_EQ(recorded.time, 88u);
  EXPECT_EQ(recorded.has_device, 1u);
}

TEST_F(TranslateTest, OwnIdsOfEveryKindAreKept) {
  for (uint32_t kind = CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN;
       kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    auto external = Zero<CUpti_ActivityExternalCorrelation>(
        CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    external.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    external.externalId = 100 + kind;
    external.correlationId = 5;
    Put(external);
  }
  Translate();
  std::map<uint32_t, uint64_t> ids;
  for (LogReader reader(log_); reader.Next();) {
    if (reader.kind() != RecordKind::kExternal) continue;
    const auto external = reader.Get<ExternalRecord>();
    EXPECT_EQ(external.correlation, 5u);
    ids[external.kind] = external.id;
  }
  const std::map<uint32_t, uint64_t> expected = {
      {1, 101}, {2, 102}, {3, 103}, {4, 104}, {5, 105}};
  EXPECT_EQ(ids, expected);
}

TEST_F(TranslateTest, AMarkerWithItsDomainAndData) {
  auto marker = Zero<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  marker.timestamp = 10;
  marker.id = 3;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker.objectId.pt.processId = 42;
  marker.objectId.pt.threadId = 43;
  marker.name = "step";
  marker.domain = "loader";
  Put(marker);
  auto data = Zero<CUpti_ActivityMarkerData>(CUPTI_ACTIVITY_KIND_MARKER_DATA);
  data.flags = CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB;
  data.id = 3;
  data.payloadKind = CUPTI_METRIC_VALUE_KIND_INT64;
  data.payload.metricValueInt64 = -5;
  data.color = 0xff112233;
  data.category = 9;
  Put(data);
  Translate();
  const auto got = Get<MarkerRecord>(RecordKind::kMarker);
  EXPECT_EQ(Texts()[got.header.name], "step");
  EXPECT_EQ(Texts()[got.domain], "loader");
  EXPECT_EQ(got.phase, kMarkerStart);
  EXPECT_EQ(got.time, 10u);
  EXPECT_EQ(got.thread, 43u);
  const auto got_data = Get<MarkerDataRecord>(RecordKind::kMarkerData);
  EXPECT_EQ(got_data.id, 3u);
  EXPECT_EQ(got_data.payload_kind, MarkerPayload::kInt64);
  EXPECT_EQ(static_cast<int64_t>(got_data.payload), -5);
  EXPECT_EQ(got_data.has_color, 1u);
  EXPECT_EQ(got_data.color, 0xff112233u);
  EXPECT_EQ(got_data.category, 9u);
}

TEST_F(TranslateTest, AMarkerOfTheProcessIsOfNoThread) {
  auto marker = Zero<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_PROCESS;
  marker.objectId.pt.processId = 42;
  marker.objectId.pt.threadId = 43;
  Put(marker);
  Translate();
  EXPECT_EQ(Get<MarkerRecord>(RecordKind::kMarker).thread, 0u);
  EXPECT_EQ(Get<MarkerRecord>(RecordKind::kMarker).header.name, 0u);
}

TEST_F(TranslateTest, NamesOfThreadsAndStreams) {
  auto name = Zero<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  name.objectKind = CUPTI_ACTIVITY_OBJECT_STREAM;
  name.objectId.dcs.deviceId = 1;
  name.objectId.dcs.streamId = 13;
  name.name = "copies";
  Put(name);
  Translate();
  const auto got = Get<NameRecord>(RecordKind::kName);
  EXPECT_EQ(got.object, NamedObject::kStream);
  EXPECT_EQ(got.device, 1u);
  EXPECT_EQ(got.stream, 13u);
  EXPECT_EQ(Texts()[got.header.name], "copies");
}

TEST_F(TranslateTest, ABufferThatCannotBeReadToItsEndIsALoss) {
  auto call = Zero<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  Put(call);
  Put(call);
  broken_at = 2 * sizeof(call);
  Put(call);
  Translate();
  const auto loss = Get<LossRecord>(RecordKind::kLoss);
  EXPECT_EQ(loss.reason, LossReason::kBroken);
  EXPECT_EQ(loss.count, 1u);
  // The record before the broken one is lost: nobody knows how long it is.
  Get<CallRecord>(RecordKind::kCall);
}

TEST_F(TranslateTest, AnEmptyBufferIsNothing) {
  Translate();
  EXPECT_TRUE(log_.empty());
}

}  // namespace
}  // namespace kymo::cupti
