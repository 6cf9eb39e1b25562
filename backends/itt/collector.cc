// collector.cc - our functions in the tables of a program's ITT.
//
//   task_begin, task_end           ranges of the thread, a stack per domain
//   *_overlapped, region, frame    asynchronous ranges, found by their id
//   marker                         an instant
//   counter                        a counter; increments are summed here
//   metadata                       arguments of the task with that id, or of
//                                  the thread's innermost one
//   stack_callee_enter, _leave     a range "task": a piece of work (of oneTBB,
//                                  say) on the thread that does it; its
//                                  argument `caller` is the same for all of one
//                                  algorithm
//
// Domains and strings are the program's own objects, whose texts stay: they are
// names by their content (record/foreign_names.h). Where another tool was
// configured, it makes these objects, and is told everything.
#include "backends/itt/itt_abi.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <string_view>

#include "profiler/record/captured.h"
#include "profiler/record/captured_stack.h"
#include "profiler/record/handle_map.h"
#include "profiler/record/host.h"

namespace kymo::itt {
namespace {

using record::Captured;
using record::CapturedArg;
using record::ForeignName;
using record::PayloadKind;

bool IsCapturing() noexcept {
  return (record::GateBits() & record::kGateItt) != 0;
}

// --- the tool behind us ---

// Every function that we know, in the order of kFunctions.
enum FunctionIndex : int {
  kDomainCreate,
  kStringHandleCreate,
  kTaskBegin,
  kTaskBeginFn,
  kTaskEnd,
  kTaskBeginOverlapped,
  kTaskEndOverlapped,
  kRegionBegin,
  kRegionEnd,
  kFrameBegin,
  kFrameEnd,
  kMarker,
  kMetadataAdd,
  kMetadataStrAdd,
  kCounterCreate,
  kCounterCreateTyped,
  kCounterSetValue,
  kCounterInc,
  kCounterIncDelta,
  kCounterDec,
  kCounterDecDelta,
  kCounterIncV3,
  kCounterIncDeltaV3,
  kThreadSetName,
  kStackCallerCreate,
  kStackCalleeEnter,
  kStackCalleeLeave,
  kGetTimestamp,
  kFunctionCount,
};
constinit void* next[kFunctionCount] = {};

template <typename R, typename... A>
R CallNext(FunctionIndex function, R otherwise, A... arguments) noexcept {
  if (next[function] == nullptr) return otherwise;
  return reinterpret_cast<R (*)(A...)>(next[function])(arguments...);
}
template <typename... A>
void TellNext(FunctionIndex function, A... arguments) noexcept {
  if (next[function] != nullptr) {
    reinterpret_cast<void (*)(A...)>(next[function])(arguments...);
  }
}

// --- names ---

uint32_t IdOf(const char* text) noexcept {
  const ForeignName name = record::NameOf(text);
  return name.id != record::kNameInPayload ? name.id : record::kNameLost;
}

ForeignName NameOf(const StringHandle* handle) noexcept {
  return record::NameOf(handle == nullptr ? nullptr : handle->text);
}

Captured In(const Domain* domain, ForeignName name) noexcept {
  const bool has_name = domain != nullptr && domain->name != nullptr;
  return {.name = name,
          .source = record::kSlotItt,
          .domain = has_name ? IdOf(domain->name) : record::kNameLost};
}

Domain* DomainCreate(const char* name) noexcept {
  if (next[kDomainCreate] != nullptr) {
    return CallNext(kDomainCreate, static_cast<Domain*>(nullptr), name);
  }
  static constinit std::atomic<Domain*> domains = nullptr;
  record::ForeignText* const text =
      record::AddForeignText(name == nullptr ? record::kNoForeignName : name);
  if (text == nullptr) return nullptr;
  Domain* first = domains.load(std::memory_order_acquire);
  for (Domain* at = first; at != nullptr; at = at->next) {
    if (at->name == text->text) return at;
  }
  auto* const domain =
      static_cast<Domain*>(record::AllocateForeign(sizeof(Domain)));
  if (domain == nullptr) return nullptr;
  domain->name = text->text;
  domain->flags = 1;
  do {
    domain->next = first;
  } while (
      !domains.compare_exchange_weak(first, domain, std::memory_order_acq_rel));
  return domain;
}

StringHandle* StringHandleCreate(const char* name) noexcept {
  if (next[kStringHandleCreate] != nullptr) {
    return CallNext(kStringHandleCreate, static_cast<StringHandle*>(nullptr),
                    name);
  }
  record::ForeignText* const text =
      record::AddForeignText(name == nullptr ? record::kNoForeignName : name);
  if (text == nullptr) return nullptr;
  // One handle per text.
  void* known = text->others.load(std::memory_order_acquire);
  if (known != nullptr) return static_cast<StringHandle*>(known);
  auto* const handle =
      static_cast<StringHandle*>(record::AllocateForeign(sizeof(StringHandle)));
  if (handle == nullptr) return nullptr;
  handle->text = text->text;
  return text->others.compare_exchange_strong(known, handle,
                                              std::memory_order_acq_rel)
             ? handle
             : static_cast<StringHandle*>(known);
}

// --- ranges of a thread ---

// `name()` is asked for where one captures.
template <typename MakeName>
void Push(const Domain* domain, MakeName name) noexcept {
  record::OpenCaptured* const open = record::PushCaptured(domain);
  if (open != nullptr && IsCapturing()) {
    record::BeginCaptured(open->range, In(domain, name()));
  }
}

void Pop(const void* stack) noexcept {
  record::OpenRange range;
  if (record::PopCaptured(stack, &range) < 0) {
    if (IsCapturing()) record::CountEndWithoutBegin();
    return;
  }
  record::EndRange(range);
}

void TaskBegin(const Domain* domain, Id id, Id parent,
               StringHandle* name) noexcept {
  Push(domain, [name] { return NameOf(name); });
  TellNext(kTaskBegin, domain, id, parent, name);
}

void TaskBeginFn(const Domain* domain, Id id, Id parent,
                 void (*function)()) noexcept {
  Push(domain, [function] {
    Dl_info info = {};
    const int found = dladdr(reinterpret_cast<const void*>(function), &info);
    return record::NameOf(found != 0 ? info.dli_sname : nullptr);
  });
  TellNext(kTaskBeginFn, domain, id, parent, function);
}

void TaskEnd(const Domain* domain) noexcept {
  Pop(domain);
  TellNext(kTaskEnd, domain);
}

// Marks the stack of work that is done for somebody.
constexpr char kCallees = 0;

void StackCalleeEnter(void* caller) noexcept {
  record::OpenCaptured* const open = record::PushCaptured(&kCallees);
  if (open != nullptr && IsCapturing()) {
    const CapturedArg arg = {.key = IdOf("caller"),
                             .kind = PayloadKind::kInt,
                             .bits = reinterpret_cast<uint64_t>(caller)};
    Captured what = In(nullptr, record::NameOf("task"));
    what.args = &arg;
    what.arg_count = 1;
    record::BeginCaptured(open->range, what);
  }
  TellNext(kStackCalleeEnter, caller);
}

void StackCalleeLeave(void* caller) noexcept {
  Pop(&kCallees);
  TellNext(kStackCalleeLeave, caller);
}

void* StackCallerCreate() noexcept {
  static constinit std::atomic<uint64_t> callers{1};
  const uint64_t ours = callers.fetch_add(1, std::memory_order_relaxed);
  return CallNext(kStackCallerCreate, reinterpret_cast<void*>(ours));
}

// --- ranges with ids ---

constinit record::HandleMap open_by_id;

// What an id of a domain is filed under; not 0.
uint64_t Key(const Domain* domain, Id id, uint64_t kind) noexcept {
  uint64_t hash = reinterpret_cast<uint64_t>(domain) ^ kind;
  for (const uint64_t part : {id.d1, id.d2, id.d3}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash | 1;
}
enum IdKind : uint64_t { kTaskId = 0, kRegionId = 1, kFrameId = 2 };

void BeginById(const Domain* domain, Id id, IdKind kind,
               ForeignName name) noexcept {
  const uint64_t range = record::BeginCapturedAsync(In(domain, name));
  if (range == 0) return;
  uint64_t before = 0;
  const uint64_t key = Key(domain, id, kind);
  // One that was begun twice has ended here.
  if (open_by_id.Take(key, &before)) record::EndCapturedAsync(before);
  open_by_id.Put(key, range);
}

void EndById(const Domain* domain, Id id, IdKind kind) noexcept {
  uint64_t range = 0;
  if (open_by_id.Take(Key(domain, id, kind), &range)) {
    record::EndCapturedAsync(range);
  } else if (IsCapturing()) {
    record::CountEndWithoutBegin();
  }
}

void TaskBeginOverlapped(const Domain* domain, Id id, Id parent,
                         StringHandle* name) noexcept {
  if (IsCapturing()) BeginById(domain, id, kTaskId, NameOf(name));
  TellNext(kTaskBeginOverlapped, domain, id, parent, name);
}

void TaskEndOverlapped(const Domain* domain, Id id) noexcept {
  EndById(domain, id, kTaskId);
  TellNext(kTaskEndOverlapped, domain, id);
}

void RegionBegin(const Domain* domain, Id id, Id parent,
                 StringHandle* name) noexcept {
  if (IsCapturing()) BeginById(domain, id, kRegionId, NameOf(name));
  TellNext(kRegionBegin, domain, id, parent, name);
}

void RegionEnd(const Domain* domain, Id id) noexcept {
  EndById(domain, id, kRegionId);
  TellNext(kRegionEnd, domain, id);
}

void FrameBegin(const Domain* domain, const Id* id) noexcept {
  if (IsCapturing()) {
    BeginById(domain, id == nullptr ? Id{} : *id, kFrameId,
              record::NameOf("frame"));
  }
  TellNext(kFrameBegin, domain, id);
}

void FrameEnd(const Domain* domain, const Id* id) noexcept {
  EndById(domain, id == nullptr ? Id{} : *id, kFrameId);
  TellNext(kFrameEnd, domain, id);
}

// --- instants, metadata ---

void Marker(const Domain* domain, Id id, StringHandle* name,
            int scope) noexcept {
  if (IsCapturing()) record::RecordCapturedInstant(In(domain, NameOf(name)));
  TellNext(kMarker, domain, id, name, scope);
}

void AddArg(const Domain* domain, Id id, const CapturedArg& arg) noexcept {
  uint64_t range = 0;
  if (!id.is_null() && open_by_id.Find(Key(domain, id, kTaskId), &range)) {
    return record::AddCapturedArgs(range, &arg, 1);
  }
  if (const record::OpenCaptured* const open = record::TopCaptured(domain)) {
    record::AddCapturedArgs(open->range, &arg, 1);
  }
}

template <typename T>
T First(const void* data) noexcept {
  T value;
  memcpy(&value, data, sizeof(value));
  return value;
}

// The first value of an array of them.
CapturedArg ValueOf(int type, const void* data) noexcept {
  const auto integer = [](int64_t value) {
    return CapturedArg{.kind = PayloadKind::kInt,
                       .bits = static_cast<uint64_t>(value)};
  };
  const auto real = [](double value) {
    return CapturedArg{.kind = PayloadKind::kDouble,
                       .bits = std::bit_cast<uint64_t>(value)};
  };
  switch (type) {
    case kMetadataUint32:
      return integer(First<uint32_t>(data));
    case kMetadataInt32:
      return integer(First<int32_t>(data));
    case kMetadataUint16:
      return integer(First<uint16_t>(data));
    case kMetadataInt16:
      return integer(First<int16_t>(data));
    case kMetadataFloat:
      return real(First<float>(data));
    case kMetadataDouble:
      return real(First<double>(data));
    default:
      return integer(First<int64_t>(data));
  }
}

void MetadataAdd(const Domain* domain, Id id, StringHandle* key, int type,
                 size_t count, void* data) noexcept {
  if (IsCapturing() && data != nullptr && count != 0 && key != nullptr) {
    CapturedArg arg = ValueOf(type, data);
    arg.key = IdOf(key->text);
    AddArg(domain, id, arg);
  }
  TellNext(kMetadataAdd, domain, id, key, type, count, data);
}

void MetadataStrAdd(const Domain* domain, Id id, StringHandle* key,
                    const char* text, size_t size) noexcept {
  if (IsCapturing() && text != nullptr && key != nullptr) {
    AddArg(domain, id,
           {.key = IdOf(key->text),
            .kind = PayloadKind::kString,
            .text = size != 0 ? std::string_view(text, size)
                              : std::string_view(text)});
  }
  TellNext(kMetadataStrAdd, domain, id, key, text, size);
}

// --- counters ---

struct Counter {
  record::ForeignText* name;
  int type;
  std::atomic<int64_t> sum;
};
// Counters by the handle that the program has.
constinit record::HandleMap counters;

void* AddCounter(const char* name, const char* domain, int type,
                 void* theirs) noexcept {
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
  auto* const counter =
      static_cast<Counter*>(record::AllocateForeign(sizeof(Counter)));
  record::ForeignText* const text = record::AddForeignText({full, size});
  if (counter == nullptr || text == nullptr) return theirs;
  counter->name = text;
  counter->type = type;
  void* const handle = theirs != nullptr ? theirs : counter;
  counters.Put(reinterpret_cast<uint64_t>(handle),
               reinterpret_cast<uint64_t>(counter));
  return handle;
}

void* CounterCreate(const char* name, const char* domain) noexcept {
  return AddCounter(
      name, domain, kCounterUint64,
      CallNext(kCounterCreate, static_cast<void*>(nullptr), name, domain));
}

void* CounterCreateTyped(const char* name, const char* domain,
                         int type) noexcept {
  return AddCounter(name, domain, type,
                    CallNext(kCounterCreateTyped, static_cast<void*>(nullptr),
                             name, domain, type));
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

void AddToCounter(void* handle, int64_t delta) noexcept {
  Counter* const counter = CounterOf(handle);
  if (counter == nullptr) return;
  const int64_t sum =
      counter->sum.fetch_add(delta, std::memory_order_relaxed) + delta;
  if (IsCapturing()) Sample(counter->name, static_cast<double>(sum));
}

double CounterValue(int type, const void* value) noexcept {
  switch (type) {
    case kCounterInt64:
      return static_cast<double>(First<int64_t>(value));
    case kCounterUint32:
      return First<uint32_t>(value);
    case kCounterInt32:
      return First<int32_t>(value);
    case kCounterUint16:
      return First<uint16_t>(value);
    case kCounterInt16:
      return First<int16_t>(value);
    case kCounterUint8:
      return First<uint8_t>(value);
    case kCounterInt8:
      return First<int8_t>(value);
    case kCounterFloat:
      return First<float>(value);
    case kCounterDouble:
      return First<double>(value);
    default:
      return static_cast<double>(First<uint64_t>(value));
  }
}

void CounterSetValue(void* handle, void* value) noexcept {
  const Counter* const counter = CounterOf(handle);
  if (counter != nullptr && value != nullptr && IsCapturing()) {
    Sample(counter->name, CounterValue(counter->type, value));
  }
  TellNext(kCounterSetValue, handle, value);
}

void CounterInc(void* handle) noexcept {
  AddToCounter(handle, 1);
  TellNext(kCounterInc, handle);
}
void CounterIncDelta(void* handle, uint64_t delta) noexcept {
  AddToCounter(handle, static_cast<int64_t>(delta));
  TellNext(kCounterIncDelta, handle, delta);
}
void CounterDec(void* handle) noexcept {
  AddToCounter(handle, -1);
  TellNext(kCounterDec, handle);
}
void CounterDecDelta(void* handle, uint64_t delta) noexcept {
  AddToCounter(handle, -static_cast<int64_t>(delta));
  TellNext(kCounterDecDelta, handle, delta);
}

// Version 3: a counter is a domain and a name.
void AddToNamed(const Domain* domain, StringHandle* name,
                int64_t delta) noexcept {
  if (name == nullptr) return;
  const uint64_t key = Key(domain, {reinterpret_cast<uint64_t>(name), 0, 0}, 3);
  uint64_t found = 0;
  if (!counters.Find(key, &found)) {
    AddCounter(name->text, domain == nullptr ? nullptr : domain->name,
               kCounterUint64, reinterpret_cast<void*>(key));
  }
  AddToCounter(reinterpret_cast<void*>(key), delta);
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

// --- the rest ---

void ThreadSetName(const char* name) noexcept {
  if (name != nullptr) {
    record::Host().name_thread(static_cast<int32_t>(syscall(SYS_gettid)), name,
                               strlen(name));
  }
  TellNext(kThreadSetName, name);
}

uint64_t GetTimestamp() noexcept {
  const record::Arena* const arena = record::Host().arena();
  return CallNext(kGetTimestamp,
                  arena == nullptr ? 0 : ReadTicks(arena->clock_source()));
}

// --- attaching ---

struct Function {
  const char* name;  // behind "__itt_"
  void* function;
};

template <typename F>
constexpr Function Entry(const char* name, F* function) noexcept {
  return {name, reinterpret_cast<void*>(function)};
}

// In the order of FunctionIndex; filled in before anything asks.
constinit Function functions[kFunctionCount] = {};

// By hand: a static object whose making takes code would need the C++ library.
void FillFunctions() noexcept {
  const Function all[kFunctionCount] = {
      Entry("domain_create", DomainCreate),
      Entry("string_handle_create", StringHandleCreate),
      Entry("task_begin", TaskBegin),
      Entry("task_begin_fn", TaskBeginFn),
      Entry("task_end", TaskEnd),
      Entry("task_begin_overlapped", TaskBeginOverlapped),
      Entry("task_end_overlapped", TaskEndOverlapped),
      Entry("region_begin", RegionBegin),
      Entry("region_end", RegionEnd),
      Entry("frame_begin_v3", FrameBegin),
      Entry("frame_end_v3", FrameEnd),
      Entry("marker", Marker),
      Entry("metadata_add", MetadataAdd),
      Entry("metadata_str_add", MetadataStrAdd),
      Entry("counter_create", CounterCreate),
      Entry("counter_create_typed", CounterCreateTyped),
      Entry("counter_set_value", CounterSetValue),
      Entry("counter_inc", CounterInc),
      Entry("counter_inc_delta", CounterIncDelta),
      Entry("counter_dec", CounterDec),
      Entry("counter_dec_delta", CounterDecDelta),
      Entry("counter_inc_v3", CounterIncV3),
      Entry("counter_inc_delta_v3", CounterIncDeltaV3),
      Entry("thread_set_name", ThreadSetName),
      Entry("stack_caller_create", StackCallerCreate),
      Entry("stack_callee_enter", StackCalleeEnter),
      Entry("stack_callee_leave", StackCalleeLeave),
      Entry("get_timestamp", GetTimestamp),
  };
  memcpy(functions, all, sizeof(all));
}

FunctionIndex Find(const char* name) noexcept {
  constexpr std::string_view kPrefix = "__itt_";
  if (strncmp(name, kPrefix.data(), kPrefix.size()) == 0) {
    name += kPrefix.size();
  }
  int index = 0;
  while (index < kFunctionCount && strcmp(functions[index].name, name) != 0) {
    ++index;
  }
  return static_cast<FunctionIndex>(index);
}

// Lets the other tool fill in the program's table, and remembers what it put
// where ours go.
void AttachNext(Global* global, int groups) noexcept {
  static constinit ApiInit initialize = nullptr;
  static constinit void* library = nullptr;
  if (library == nullptr) {
    const char* const path = getenv(kNextToolVariable);
    if (path == nullptr || *path == '\0') return;
    library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) return;
    initialize = reinterpret_cast<ApiInit>(dlsym(library, "__itt_api_init"));
  }
  if (initialize == nullptr) return;
  void* const ours = global->library;
  global->library = library;
  initialize(global, groups);
  global->library = ours;
  for (const ApiEntry* entry = global->api_list; entry->name != nullptr;
       ++entry) {
    const FunctionIndex index = Find(entry->name);
    void* const theirs = *entry->function;
    if (index == kFunctionCount || theirs == entry->null_function ||
        theirs == entry->init_function) {
      continue;
    }
    next[index] = theirs;
  }
}

void Attach(Global* global, int groups) noexcept {
  static constinit std::atomic<bool> attaching{false};
  while (attaching.exchange(true, std::memory_order_acquire)) sched_yield();
  record::Host();
  FillFunctions();
  for (const ApiEntry* entry = global->api_list; entry->name != nullptr;
       ++entry) {
    *entry->function = entry->null_function;
  }
  AttachNext(global, groups);
  for (const ApiEntry* entry = global->api_list; entry->name != nullptr;
       ++entry) {
    const FunctionIndex index = Find(entry->name);
    if (index != kFunctionCount) {
      *entry->function = functions[index].function;
    }
  }
  attaching.store(false, std::memory_order_release);
}

}  // namespace
}  // namespace kymo::itt

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

KYMO_EXPORT void __itt_api_init(kymo::itt::Global* global, int groups) {
  if (global != nullptr && global->api_list != nullptr) {
    kymo::itt::Attach(global, groups);
  }
}
