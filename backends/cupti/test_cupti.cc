#include "backends/cupti/test_cupti.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace {

uint64_t Read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(now.tv_nsec);
}

uint64_t Now() { return Read(CLOCK_MONOTONIC); }

// CLOCK_MONOTONIC to CUPTI's own clock. Computed once: a thread may be held up
// between two readings, and work that has ended must not run again then.
uint64_t OwnClockOffset() {
  static const uint64_t offset = Read(CLOCK_REALTIME) - Now();
  return offset;
}

pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

template <typename T>
T Zero(CUpti_ActivityKind kind) {
  T record;
  memset(static_cast<void*>(&record), 0, sizeof(record));
  record.kind = kind;
  return record;
}

// Sets the fields that differ from client to client.
void Localize(const TestClient& client, CUpti_ActivityAPI& call) {
  const uint64_t offset = client.clock != nullptr ? 0 : OwnClockOffset();
  call.start += offset;
  call.end += offset;
  if (!client.has_system_threads) {
    call.threadId = static_cast<uint32_t>(pthread_self());
  }
}

template <typename T>
void Localize(const TestClient& client, T& activity) {
  if constexpr (requires { activity.start; }) {
    const uint64_t offset = client.clock != nullptr ? 0 : OwnClockOffset();
    activity.start += offset;
    activity.end += offset;
  }
}

// Clears the times of activities that have not ended: a forced flush returns
// these, too.
template <typename T>
void DropTimes(uint8_t* record) {
  T activity;
  memcpy(static_cast<void*>(&activity), record, sizeof(activity));
  activity.start = activity.end = 0;
  memcpy(record, &activity, sizeof(activity));
}

uint64_t EndOf(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return reinterpret_cast<const CUpti_ActivityKernel10*>(record)->end;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return reinterpret_cast<const CUpti_ActivityMemcpy6*>(record)->end;
    default:
      return 0;
  }
}

size_t SizeOf(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    default:
      return sizeof(CUpti_ActivityDevice5);
  }
}

}  // namespace

TestCupti& TestCupti::Get() {
  static TestCupti* const cupti = new TestCupti;
  return *cupti;
}

TestClient& TestCupti::AddClient(const char* name) {
  const std::lock_guard locked(lock_);
  clients_.emplace_back().name = name;
  return clients_.back();
}

void TestCupti::RemoveClient(TestClient* client) {
  const std::lock_guard locked(lock_);
  clients_.remove_if([&](const TestClient& c) { return &c == client; });
}

void TestCupti::HandBack(TestClient& client, TestClient::Buffer buffer) {
  const uint64_t offset = client.clock != nullptr ? 0 : OwnClockOffset();
  for (size_t at = 0; at < buffer.used;) {
    uint8_t* const data = buffer.data + at;
    const auto* const record = reinterpret_cast<const CUpti_Activity*>(data);
    at += SizeOf(record);
    if (EndOf(record) <= Now() + offset) continue;
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      DropTimes<CUpti_ActivityMemcpy6>(data);
    } else {
      DropTimes<CUpti_ActivityKernel10>(data);
    }
  }
  client.complete(buffer.data, buffer.size, buffer.used);
}

void TestCupti::Put(TestClient& client, const void* record, size_t size,
                    uint64_t ends_at) {
  TestClient::Buffer& buffer = client.open[ThreadId()];
  if (buffer.data != nullptr && buffer.used + size > buffer.size) {
    client.full.push_back(std::exchange(buffer, {}));
    std::vector<TestClient::Buffer> running;
    for (const TestClient::Buffer& full : std::exchange(client.full, {})) {
      if (full.ends_at <= Now()) {
        HandBack(client, full);
      } else {
        running.push_back(full);
      }
    }
    client.full = std::move(running);
  }
  if (buffer.data == nullptr) {
    client.request(&buffer.data, &buffer.size);
    buffer.used = 0;
  }
  if (buffer.data == nullptr) {
    ++client.dropped;
    return;
  }
  memcpy(buffer.data + buffer.used, record, size);
  buffer.used += size;
  if (buffer.ends_at < ends_at) buffer.ends_at = ends_at;
}

template <typename T>
void TestCupti::PutForAll(const T& record, uint64_t ends_at) {
  const std::lock_guard locked(lock_);
  for (TestClient& client : clients_) {
    if (!client.kinds.contains(record.kind)) continue;
    T local = record;
    Localize(client, local);
    Put(client, &local, sizeof(local), ends_at);
  }
}

void TestCupti::Flush(bool forced) {
  const std::lock_guard locked(lock_);
  ++flushes_;
  for (TestClient& client : clients_) {
    std::vector<TestClient::Buffer> buffers = std::exchange(client.full, {});
    for (auto& [thread, buffer] : std::exchange(client.open, {})) {
      if (buffer.data != nullptr && (forced || buffer.ends_at <= Now())) {
        buffers.push_back(buffer);
      } else if (buffer.data != nullptr) {
        client.open[thread] = buffer;
      }
    }
    for (const TestClient::Buffer& buffer : buffers) {
      if (forced || buffer.ends_at <= Now()) {
        HandBack(client, buffer);
      } else {
        client.full.push_back(buffer);
      }
    }
  }
}

void TestCupti::Enable(TestClient& client, CUpti_ActivityKind kind,
                       bool dumps) {
  const std::lock_guard locked(lock_);
  client.kinds.insert(kind);
  if (dumps && is_up_) Describe(client, kind);
}

void TestCupti::Disable(TestClient& client, CUpti_ActivityKind kind) {
  const std::lock_guard locked(lock_);
  client.kinds.erase(kind);
}

uint64_t TestCupti::Timestamp(const TestClient& client) const {
  return client.clock != nullptr ? client.clock() : Now() + OwnClockOffset();
}

CUptiResult TestCupti::NextRecord(uint8_t* from, size_t valid,
                                  CUpti_Activity** record) {
  uint8_t* const next =
      *record == nullptr
          ? from
          : reinterpret_cast<uint8_t*>(*record) + SizeOf(*record);
  if (next >= from + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

void TestCupti::Describe(TestClient& client, CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
    auto context = Zero<CUpti_ActivityContext3>(kind);
    context.contextId = 1;
    Put(client, &context, sizeof(context), 0);
  } else if (kind == CUPTI_ACTIVITY_KIND_STREAM) {
    auto stream = Zero<CUpti_ActivityStream>(kind);
    stream.contextId = 1;
    stream.streamId = 7;
    Put(client, &stream, sizeof(stream), 0);
  } else if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    auto device = Zero<CUpti_ActivityDevice5>(kind);
    // The library's own text, as in older versions. (From CUDA 13 on the client
    // should free it. Kymo does not: a few bytes for each device and session.)
    device.name = "Scripted GPU";
    device.globalMemorySize = uint64_t{16} << 30;
    device.computeCapabilityMajor = 9;
    device.numMultiprocessors = 4;
    device.numThreadsPerWarp = 32;
    device.maxWarpsPerMultiprocessor = 64;
    device.maxBlocksPerMultiprocessor = 32;
    device.maxThreadsPerBlock = 1024;
    device.maxRegistersPerMultiprocessor = 65536;
    device.maxRegistersPerBlock = 65536;
    device.maxSharedMemoryPerMultiprocessor = 233472;
    device.maxSharedMemoryPerBlock = 49152;
    device.coreClockRate = 1'000'000;
    device.isCudaVisible = 1;
    Put(client, &device, sizeof(device), 0);
  }
}

void TestCupti::InitializeCuda() {
  const std::lock_guard locked(lock_);
  if (is_up_) return;
  is_up_ = true;
  for (TestClient& client : clients_) {
    if (client.wants_init) {
      client.callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE,
                      CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr);
    }
    for (const CUpti_ActivityKind kind : std::set(client.kinds)) {
      Describe(client, kind);
    }
  }
}

CUptiResult TestCupti::ConfigureUnified() {
  const std::lock_guard locked(lock_);
  if (!is_up_) return CUPTI_ERROR_NOT_INITIALIZED;
  counts_unified_ = true;
  return CUPTI_SUCCESS;
}

CUpti_ActivityAPI TestCupti::Call(uint32_t cbid) {
  InitializeCuda();
  auto call = Zero<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = cbid;
  call.start = Now();
  call.end = call.start + 500;
  while (Now() < call.end) {
  }
  call.processId = static_cast<uint32_t>(getpid());
  call.threadId = static_cast<uint32_t>(ThreadId());
  {
    const std::lock_guard locked(lock_);
    call.correlationId = next_correlation_++;
  }
  PutForAll(call, 0);
  return call;
}

template <typename T>
void TestCupti::RunOnStream(T& activity, uint64_t duration) {
  const std::lock_guard locked(lock_);
  activity.start = std::max(activity.start + 1000, stream_free_);
  activity.end = stream_free_ = activity.start + duration + slow_ns_;
  activity.contextId = 1;
  activity.streamId = 7;
  PutForAll(activity, activity.end);
}

void TestCupti::Launch(const char* name) {
  const CUpti_ActivityAPI call = Call(211);
  auto kernel =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = call.start;
  kernel.correlationId = call.correlationId;
  kernel.name = name;
  kernel.gridX = 4;
  kernel.gridY = kernel.gridZ = 1;
  kernel.blockX = 128;
  kernel.blockY = kernel.blockZ = 1;
  kernel.registersPerThread = 32;
  kernel.staticSharedMemory = 2048;
  RunOnStream(kernel, 2000);
}

void TestCupti::Copy(uint64_t bytes) {
  const CUpti_ActivityAPI call = Call(41);
  auto copy = Zero<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.start = call.start;
  copy.correlationId = call.correlationId;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = bytes;
  RunOnStream(copy, 1000);
  // Acts as if its pages had moved.
  if (!counts_unified_) return;
  auto moved = Zero<CUpti_ActivityUnifiedMemoryCounter3>(
      CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  moved.counterKind =
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
  moved.start = copy.start;
  moved.end = copy.end;
  moved.value = bytes;
  PutForAll(moved, copy.end);
}

void TestCupti::Wait() {
  while (Now() < stream_free_ + 1000) {
  }
}
