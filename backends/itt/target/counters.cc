#include "backends/itt/target/counters.h"

#include <atomic>

#include "backends/itt/target/functions.h"
#include "backends/itt/target/names.h"
#include "backends/itt/target/ranges_by_id.h"
#include "backends/itt/target/values.h"
#include "profiler/record/captured.h"
#include "profiler/record/handle_map.h"

namespace kymo::itt {
namespace {

struct Counter {
  record::ForeignText* name;
  int type;
  std::atomic<int64_t> sum;
};

// Counters by the program's handles.
constinit record::HandleMap counters;

// Must differ from the kinds of ids.
constexpr uint64_t kCounterKey = 3;

record::ForeignText* FullName(const char* name, const char* domain) noexcept {
  char full[512];
  size_t size = 0;
  const auto append = [&](const char* text) {
    for (; text != nullptr && *text != '\0' && size < sizeof(full); ++text) {
      full[size++] = *text;
    }
  };
  append(domain);
  if (size != 0) append("::");
  append(name);
  return record::AddForeignText({full, size});
}

// `theirs`: the counter's handle in the tool behind us, or null.
void* AddCounter(const char* name, const char* domain, int type,
                 void* theirs) noexcept {
  auto* const counter =
      static_cast<Counter*>(record::AllocateForeign(sizeof(Counter)));
  record::ForeignText* const text = FullName(name, domain);
  if (counter == nullptr || text == nullptr) return theirs;
  counter->name = text;
  counter->type = type;
  void* const handle = theirs != nullptr ? theirs : counter;
  counters.Put(reinterpret_cast<uint64_t>(handle),
               reinterpret_cast<uint64_t>(counter));
  return handle;
}

Counter* CounterOf(void* handle) noexcept {
  uint64_t found = 0;
  return handle != nullptr &&
                 counters.Find(reinterpret_cast<uint64_t>(handle), &found)
             ? reinterpret_cast<Counter*>(found)
             : nullptr;
}

void Sample(record::ForeignText* name, double value) noexcept {
  const uint32_t id = record::ForeignId(name);
  if (id == record::kNameInPayload) return record::Host().count_truncated();
  record::RecordCapturedCounter(id, record::kSlotItt, value);
}

void AddTo(void* handle, int64_t delta) noexcept {
  Counter* const counter = CounterOf(handle);
  if (counter == nullptr) return;
  const int64_t sum =
      counter->sum.fetch_add(delta, std::memory_order_relaxed) + delta;
  if (IsCapturing()) Sample(counter->name, static_cast<double>(sum));
}

void AddToNamed(const Domain* domain, const StringHandle* name,
                int64_t delta) noexcept {
  if (name == nullptr) return;
  const uint64_t key =
      KeyOf(domain, {reinterpret_cast<uint64_t>(name), 0, 0}, kCounterKey);
  uint64_t found = 0;
  if (!counters.Find(key, &found)) {
    AddCounter(name->text, domain == nullptr ? nullptr : domain->name,
               kMetadataUint64, reinterpret_cast<void*>(key));
  }
  AddTo(reinterpret_cast<void*>(key), delta);
}

}  // namespace

void* CounterCreate(const char* name, const char* domain) noexcept {
  return AddCounter(
      name, domain, kMetadataUint64,
      CallNext(kCounterCreate, static_cast<void*>(nullptr), name, domain));
}

void* CounterCreateTyped(const char* name, const char* domain,
                         int type) noexcept {
  return AddCounter(name, domain, type,
                    CallNext(kCounterCreateTyped, static_cast<void*>(nullptr),
                             name, domain, type));
}

void CounterSetValue(void* handle, void* value) noexcept {
  const Counter* const counter = CounterOf(handle);
  if (counter != nullptr && value != nullptr && IsCapturing()) {
    Sample(counter->name, WithValue(counter->type, value, [](auto number) {
             return static_cast<double>(number);
           }));
  }
  TellNext(kCounterSetValue, handle, value);
}

void CounterInc(void* handle) noexcept {
  AddTo(handle, 1);
  TellNext(kCounterInc, handle);
}
void CounterIncDelta(void* handle, uint64_t delta) noexcept {
  AddTo(handle, static_cast<int64_t>(delta));
  TellNext(kCounterIncDelta, handle, delta);
}
void CounterDec(void* handle) noexcept {
  AddTo(handle, -1);
  TellNext(kCounterDec, handle);
}
void CounterDecDelta(void* handle, uint64_t delta) noexcept {
  AddTo(handle, static_cast<int64_t>(0 - delta));
  TellNext(kCounterDecDelta, handle, delta);
}

void CounterIncV3(const Domain* domain, StringHandle* name) noexcept {
  AddToNamed(domain, name, 1);
  TellNext(kCounterIncV3, domain, name);
}
void CounterIncDeltaV3(const Domain* domain, StringHandle* name,
                       uint64_t delta) noexcept {
  AddToNamed(domain, name, static_cast<int64_t>(delta));
  TellNext(kCounterIncDeltaV3, domain, name, delta);
}
void CounterDecV3(const Domain* domain, StringHandle* name) noexcept {
  AddToNamed(domain, name, -1);
  TellNext(kCounterDecV3, domain, name);
}
void CounterDecDeltaV3(const Domain* domain, StringHandle* name,
                       uint64_t delta) noexcept {
  AddToNamed(domain, name, static_cast<int64_t>(0 - delta));
  TellNext(kCounterDecDeltaV3, domain, name, delta);
}

}  // namespace kymo::itt
