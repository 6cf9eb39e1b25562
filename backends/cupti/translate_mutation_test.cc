// Buffers of random records: any kind, any length, any bytes except in
// pointers. Whatever they hold, the result is whole records of ours. Most
// useful under asan.
#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "backends/cupti/decode/decode.h"
#include "backends/cupti/log/log_reader.h"
#include "backends/cupti/log/test_log.h"
#include "backends/cupti/target/translate.h"

namespace kymo::cupti {
namespace {

// The lengths of records in the buffer, by offset. Behind them, the buffer is
// broken.
std::map<size_t, size_t> lengths;

int NextRecord(uint8_t* buffer, size_t valid_bytes, void** record) {
  size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<size_t>(static_cast<uint8_t*>(*record) - buffer);
    at += lengths.at(at);
  }
  if (at >= valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (!lengths.contains(at)) return CUPTI_ERROR_INVALID_KIND;
  *record = buffer + at;
  return 0;
}

int CallbackName(int, uint32_t cbid, const char** name) {
  *name = "cudaLaunchKernel_v7000";
  return cbid % 3 == 0 ? 1 : 0;
}

// Sets the pointers of a struct: to texts, or to memory that is to be freed.
void SetPointers(uint32_t kind, uint8_t* record, size_t size) {
  const auto set = [&](size_t at, const char* text) {
    if (at + sizeof(text) <= size) memcpy(record + at, &text, sizeof(text));
  };
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return set(offsetof(CUpti_ActivityKernel10, name), "_Z4axpyfPf");
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return set(offsetof(CUpti_ActivityMemory4, name), nullptr);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return set(offsetof(CUpti_ActivityDevice5, name), "a device");
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return set(offsetof(CUpti_ActivityOverhead3, overheadData), nullptr);
    case CUPTI_ACTIVITY_KIND_NAME:
      return set(offsetof(CUpti_ActivityName, name), "a name");
    case CUPTI_ACTIVITY_KIND_MARKER:
      set(offsetof(CUpti_ActivityMarker2, name), "a marker");
      return set(offsetof(CUpti_ActivityMarker2, domain), "a domain");
    default:
      return;
  }
}

class TranslateMutationTest : public ::testing::Test {
 protected:
  TranslateMutationTest() { writer_->Open(AppendTo(log_)); }

  // Memory of exactly its size, so that asan sees reads beyond it.
  std::vector<uint8_t> RandomBuffer(std::mt19937_64& random) {
    lengths.clear();
    std::vector<uint8_t> buffer;
    const size_t count = 1 + random() % 12;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = buffer.size();
      const size_t size = 8 * (1 + random() % 40);
      buffer.resize(at + size);
      for (size_t b = at; b < at + size; ++b) {
        buffer[b] = static_cast<uint8_t>(random() % 4 == 0 ? 0xff : random());
      }
      const uint32_t kind = static_cast<uint32_t>(random() % 60);
      memcpy(&buffer[at], &kind, sizeof(kind));
      SetPointers(kind, &buffer[at], size);
      if (i == 0 || random() % 20 != 0) lengths[at] = size;
    }
    return {buffer.begin(), buffer.end()};
  }

  std::vector<std::byte> log_;
  std::unique_ptr<LogWriter> writer_ = std::make_unique<LogWriter>();
};

TEST_F(TranslateMutationTest, AnyBufferMakesALogThatCanBeRead) {
  constexpr RecordFunctions kFunctions = {.next_record = NextRecord,
                                          .callback_name = CallbackName};
  std::mt19937_64 random(1);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<uint8_t> buffer = RandomBuffer(random);
    log_.clear();
    TranslateBuffer(kFunctions, buffer.data(), buffer.size(), *writer_);
    writer_->Flush();
    LogReader reader(log_);
    while (reader.Next()) {
    }
    ASSERT_EQ(reader.corrupt(), 0u) << i;
    model::TraceShard shard;
    DecodeLog({.pid = 42}, log_, {}, shard);
  }
}

}  // namespace
}  // namespace kymo::cupti
