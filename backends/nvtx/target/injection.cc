// injection.cc - our functions in the tables of a program's NVTX.
//
// NVTX calls InitializeInjectionNvtx2 once for each copy of NVTX in the
// process, at its first use. A program has one copy, and so has each shared
// library that was built with NVTX. If another tool was configured, each
// function tells it, too.
//
// Long, because it has one entry point for each function of NVTX, beside the
// tables that they go into.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "backends/nvtx/target/capture.h"
#include "backends/nvtx/target/next_tool.h"
#include "backends/nvtx/target/nvtx_abi.h"
#include "backends/nvtx/target/payload.h"

namespace kymo::nvtx {
namespace {

using record::Captured;
using record::ForeignName;
using record::ForeignText;

// The message of an A or W function.
ForeignName MessageOf(const char* text) noexcept {
  return record::NameOf(text);
}

// Calls use(view of UTF-8) with the text of an A or W function.
template <typename Use>
auto WithText(const char* text, Use use) noexcept {
  return use(text == nullptr ? std::string_view(record::kNoForeignName)
                             : std::string_view(text));
}
template <typename Use>
auto WithText(const wchar_t* text, Use use) noexcept {
  const Narrowed narrowed(text);
  return use(narrowed.is_null() ? std::string_view(record::kNoForeignName)
                                : narrowed.view());
}

// --- marks ---

void MarkIn(const Domain* domain, const EventAttributes* event) noexcept {
  if (!IsCapturing()) return;
  WithEvent(domain, event, record::RecordCapturedInstant);
}

void MarkEx(const EventAttributes* event) noexcept {
  MarkIn(&default_domain, event);
  if (has_next_tool) TellNext(next_tool.core[kMarkEx], event);
}

void MarkA(const char* message) noexcept {
  if (IsCapturing()) record::RecordCapturedInstant(Plain(MessageOf(message)));
  if (has_next_tool) TellNext(next_tool.core[kMarkA], message);
}

void MarkW(const wchar_t* message) noexcept {
  if (IsCapturing()) {
    record::RecordCapturedInstant(Plain(NameOfWide(Narrowed(message))));
  }
  if (has_next_tool) TellNext(next_tool.core[kMarkW], message);
}

void DomainMarkEx(Handle handle, const EventAttributes* event) noexcept {
  MarkIn(DomainOf(handle), event);
  if (has_next_tool) TellNext(next_tool.core2[kDomainMarkEx], handle, event);
}

// --- push and pop ---

int PushIn(const Domain* domain, const EventAttributes* event) noexcept {
  return Push(domain, [=](record::OpenRange& range) {
    WithEvent(domain, event, [&range](const Captured& what) {
      record::BeginCaptured(range, what);
    });
  });
}

int RangePushEx(const EventAttributes* event) noexcept {
  const int level = PushIn(&default_domain, event);
  if (!has_next_tool) [[likely]]
    return level;
  return CallNext(next_tool.core[kRangePushEx], level, event);
}

int RangePushA(const char* message) noexcept {
  const int level = Push(&default_domain, [=](record::OpenRange& range) {
    record::BeginCaptured(range, Plain(MessageOf(message)));
  });
  if (!has_next_tool) [[likely]]
    return level;
  return CallNext(next_tool.core[kRangePushA], level, message);
}

int RangePushW(const wchar_t* message) noexcept {
  const int level = Push(&default_domain, [=](record::OpenRange& range) {
    const Narrowed narrowed(message);
    record::BeginCaptured(range, Plain(NameOfWide(narrowed)));
  });
  if (!has_next_tool) [[likely]]
    return level;
  return CallNext(next_tool.core[kRangePushW], level, message);
}

int RangePop() noexcept {
  const int level = Pop(&default_domain);
  if (!has_next_tool) [[likely]]
    return level;
  return CallNext(next_tool.core[kRangePop], level);
}

int DomainRangePushEx(Handle handle, const EventAttributes* event) noexcept {
  const int level = PushIn(DomainOf(handle), event);
  if (!has_next_tool) [[likely]]
    return level;
  return CallNext(next_tool.core2[kDomainRangePushEx], level, handle, event);
}

int DomainRangePop(Handle handle) noexcept {
  const int level = Pop(DomainOf(handle));
  if (!has_next_tool) [[likely]]
    return level;
  return CallNext(next_tool.core2[kDomainRangePop], level, handle);
}

// --- start and end ---

RangeId StartIn(const Domain* domain, const EventAttributes* event) noexcept {
  RangeId id = 0;
  if (!IsCapturing()) return id;
  WithEvent(domain, event, [&id](const Captured& what) {
    id = record::BeginCapturedAsync(what);
  });
  return id;
}

// The id that the program gets for a range. If the tool behind us has an id for
// it, the program gets that one.
RangeId Shared(RangeId ours, RangeId theirs) noexcept {
  if (theirs == 0) return ours;
  others_ranges.Put(theirs, ours);
  return theirs;
}

RangeId RangeStartEx(const EventAttributes* event) noexcept {
  const RangeId id = StartIn(&default_domain, event);
  if (!has_next_tool) return id;
  return Shared(id, CallNext(next_tool.core[kRangeStartEx], RangeId{}, event));
}

RangeId RangeStartA(const char* message) noexcept {
  const RangeId id =
      IsCapturing() ? record::BeginCapturedAsync(Plain(MessageOf(message))) : 0;
  if (!has_next_tool) return id;
  return Shared(id, CallNext(next_tool.core[kRangeStartA], RangeId{}, message));
}

RangeId RangeStartW(const wchar_t* message) noexcept {
  RangeId id = 0;
  if (IsCapturing()) {
    const Narrowed narrowed(message);
    id = record::BeginCapturedAsync(Plain(NameOfWide(narrowed)));
  }
  if (!has_next_tool) return id;
  return Shared(id, CallNext(next_tool.core[kRangeStartW], RangeId{}, message));
}

RangeId DomainRangeStartEx(Handle handle,
                           const EventAttributes* event) noexcept {
  const RangeId id = StartIn(DomainOf(handle), event);
  if (!has_next_tool) return id;
  return Shared(id, CallNext(next_tool.core2[kDomainRangeStartEx], RangeId{},
                             handle, event));
}

void End(RangeId id) noexcept {
  if (has_next_tool) others_ranges.Take(id, &id);
  // 0: the range began while nobody recorded.
  if (id != 0) record::EndCapturedAsync(id);
}

void RangeEnd(RangeId id) noexcept {
  End(id);
  if (has_next_tool) TellNext(next_tool.core[kRangeEnd], id);
}

void DomainRangeEnd(Handle handle, RangeId id) noexcept {
  End(id);
  if (has_next_tool) TellNext(next_tool.core2[kDomainRangeEnd], handle, id);
}

// --- what is registered ---

template <typename Char, unsigned kFunction>
void NameCategory(uint32_t category, const Char* name) noexcept {
  WithText(name, [category](std::string_view text) {
    default_domain.NameCategory(category, record::AddForeignText(text));
  });
  if (has_next_tool) TellNext(next_tool.core[kFunction], category, name);
}

template <typename Char, unsigned kFunction>
void DomainNameCategory(Handle handle, uint32_t category,
                        const Char* name) noexcept {
  WithText(name, [=](std::string_view text) {
    DomainOf(handle)->NameCategory(category, record::AddForeignText(text));
  });
  if (has_next_tool) {
    TellNext(next_tool.core2[kFunction], handle, category, name);
  }
}

template <typename Char, unsigned kFunction>
Handle DomainRegisterString(Handle handle, const Char* text) noexcept {
  ForeignText* const ours = WithText(
      text, [](std::string_view view) { return record::AddForeignText(view); });
  const Handle theirs = has_next_tool ? CallNext(next_tool.core2[kFunction],
                                                 Handle{}, handle, text)
                                      : nullptr;
  if (theirs == nullptr) return ours;
  others_strings.Put(reinterpret_cast<uint64_t>(theirs),
                     reinterpret_cast<uint64_t>(ours));
  return theirs;
}

template <typename Char, unsigned kFunction>
Handle DomainCreate(const Char* name) noexcept {
  Domain* const ours = WithText(name, AddDomain);
  const Handle theirs =
      has_next_tool ? CallNext(next_tool.core2[kFunction], Handle{}, name)
                    : nullptr;
  if (theirs == nullptr) return ours;
  if (ours != nullptr) ours->others.store(theirs, std::memory_order_relaxed);
  return theirs;
}

void DomainDestroy(Handle handle) noexcept {
  if (has_next_tool) TellNext(next_tool.core2[kDomainDestroy], handle);
}

void Initialize(const void* reserved) noexcept {
  if (has_next_tool) TellNext(next_tool.core2[kInitialize], reserved);
}

// --- names of things ---

void NameThread(int32_t tid, std::string_view text) noexcept {
  record::Host().name_thread(tid, text.data(), text.size());
}

template <typename Char, unsigned kFunction>
void NameOsThread(uint32_t tid, const Char* name) noexcept {
  WithText(name, [tid](std::string_view text) {
    NameThread(static_cast<int32_t>(tid), text);
  });
  if (has_next_tool) TellNext(next_tool.core[kFunction], tid, name);
}

void NameResource(record::ResourceKind kind, uint64_t handle,
                  const Domain* domain, std::string_view text) noexcept {
  if (!IsCapturing()) return;
  record::RecordCapturedResource(kind, handle,
                                 PlainIn(domain, NameOfView(text)));
}

// The functions of the CUDA modules differ only in what they name.
template <typename Thing, typename Char, record::ResourceKind kKind,
          auto kTable, unsigned kFunction>
void NameCuda(Thing thing, const Char* name) noexcept {
  WithText(name, [thing](std::string_view text) {
    NameResource(kKind, (uint64_t)thing, &default_domain, text);
  });
  if (has_next_tool) TellNext((next_tool.*kTable)[kFunction], thing, name);
}

record::ResourceKind KindOf(int32_t type) noexcept {
  switch (type) {
    case kNativeThread:
    case kPosixThread:
      return record::ResourceKind::kThread;
    case kCudaDevice:
    case kCudaRtDevice:
      return record::ResourceKind::kDevice;
    case kCudaContext:
      return record::ResourceKind::kContext;
    case kCudaStream:
    case kCudaRtStream:
      return record::ResourceKind::kStream;
    case kCudaEvent:
    case kCudaRtEvent:
      return record::ResourceKind::kEvent;
    default:
      return record::ResourceKind::kOther;
  }
}

void Name(const ResourceAttributes& resource, const Domain* domain,
          std::string_view text) noexcept {
  if (resource.type == kNativeThread) {
    return NameThread(static_cast<int32_t>(resource.identifier), text);
  }
  if (resource.type == kPosixThread && resource.identifier == pthread_self()) {
    return NameThread(static_cast<int32_t>(syscall(SYS_gettid)), text);
  }
  NameResource(KindOf(resource.type), resource.identifier, domain, text);
}

Handle DomainResourceCreate(Handle handle,
                            ResourceAttributes* resource) noexcept {
  // We keep nothing about a resource, so any handle will do.
  Handle ours = &default_domain;
  if (resource != nullptr && resource->size >= sizeof(*resource)) {
    const Domain* const domain = DomainOf(handle);
    const auto name = [=](std::string_view text) {
      Name(*resource, domain, text);
    };
    if (resource->message_type == kAscii) {
      WithText(resource->message.ascii, name);
    } else if (resource->message_type == kUnicode) {
      WithText(resource->message.unicode, name);
    } else if (ForeignText* const text = TextOf(resource->message.registered)) {
      name({text->text, text->size});
    }
  }
  if (!has_next_tool) return ours;
  return CallNext(next_tool.core2[kDomainResourceCreate], ours, handle,
                  resource);
}

void DomainResourceDestroy(Handle resource) noexcept {
  if (has_next_tool && resource != &default_domain) {
    TellNext(next_tool.core2[kDomainResourceDestroy], resource);
  }
}

// --- attaching ---

// The table of one module in the program's copy of NVTX.
class ModuleTable {
 public:
  ModuleTable(const CallbacksTable& callbacks, int module) noexcept {
    if (callbacks.get_module_functions(module, &table_, &size_) != 1) size_ = 0;
  }
  template <typename Function>
  void Set(unsigned id, Function* function) noexcept {
    // A program built with older headers has shorter tables.
    if (id < size_ && table_[id] != nullptr) {
      *table_[id] = reinterpret_cast<FunctionPointer>(function);
    }
  }

 private:
  FunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void AttachCore(ModuleTable core) noexcept {
  core.Set(kMarkEx, MarkEx);
  core.Set(kMarkA, MarkA);
  core.Set(kMarkW, MarkW);
  core.Set(kRangeStartEx, RangeStartEx);
  core.Set(kRangeStartA, RangeStartA);
  core.Set(kRangeStartW, RangeStartW);
  core.Set(kRangeEnd, RangeEnd);
  core.Set(kRangePushEx, RangePushEx);
  core.Set(kRangePushA, RangePushA);
  core.Set(kRangePushW, RangePushW);
  core.Set(kRangePop, RangePop);
  core.Set(kNameCategoryA, NameCategory<char, kNameCategoryA>);
  core.Set(kNameCategoryW, NameCategory<wchar_t, kNameCategoryW>);
  core.Set(kNameOsThreadA, NameOsThread<char, kNameOsThreadA>);
  core.Set(kNameOsThreadW, NameOsThread<wchar_t, kNameOsThreadW>);
}

void AttachCore2(ModuleTable core2) noexcept {
  core2.Set(kDomainMarkEx, DomainMarkEx);
  core2.Set(kDomainRangeStartEx, DomainRangeStartEx);
  core2.Set(kDomainRangeEnd, DomainRangeEnd);
  core2.Set(kDomainRangePushEx, DomainRangePushEx);
  core2.Set(kDomainRangePop, DomainRangePop);
  core2.Set(kDomainResourceCreate, DomainResourceCreate);
  core2.Set(kDomainResourceDestroy, DomainResourceDestroy);
  core2.Set(kDomainNameCategoryA,
            DomainNameCategory<char, kDomainNameCategoryA>);
  core2.Set(kDomainNameCategoryW,
            DomainNameCategory<wchar_t, kDomainNameCategoryW>);
  core2.Set(kDomainRegisterStringA,
            DomainRegisterString<char, kDomainRegisterStringA>);
  core2.Set(kDomainRegisterStringW,
            DomainRegisterString<wchar_t, kDomainRegisterStringW>);
  core2.Set(kDomainCreateA, DomainCreate<char, kDomainCreateA>);
  core2.Set(kDomainCreateW, DomainCreate<wchar_t, kDomainCreateW>);
  core2.Set(kDomainDestroy, DomainDestroy);
  core2.Set(kInitialize, Initialize);
}

// Sets the A and the W function for one kind of thing.
template <typename Thing, record::ResourceKind kKind, auto kTable, unsigned kA>
void SetPair(ModuleTable& module) noexcept {
  module.Set(kA, NameCuda<Thing, char, kKind, kTable, kA>);
  module.Set(kA + 1, NameCuda<Thing, wchar_t, kKind, kTable, kA + 1>);
}

void AttachCuda(ModuleTable cuda, ModuleTable runtime) noexcept {
  using Kind = record::ResourceKind;
  SetPair<int, Kind::kDevice, &NextTool::cuda, kNameCuDeviceA>(cuda);
  SetPair<void*, Kind::kContext, &NextTool::cuda, kNameCuContextA>(cuda);
  SetPair<void*, Kind::kStream, &NextTool::cuda, kNameCuStreamA>(cuda);
  SetPair<void*, Kind::kEvent, &NextTool::cuda, kNameCuEventA>(cuda);
  constexpr auto kRuntime = &NextTool::cuda_runtime;
  SetPair<int, Kind::kDevice, kRuntime, kNameCudaDeviceA>(runtime);
  SetPair<void*, Kind::kStream, kRuntime, kNameCudaStreamA>(runtime);
  SetPair<void*, Kind::kEvent, kRuntime, kNameCudaEventA>(runtime);
}

// The thread that is attaching. If a tool behind us uses NVTX itself, the same
// thread gets here again.
constinit std::atomic<int64_t> attaching{0};

class Attaching {
 public:
  Attaching() noexcept {
    const int64_t self = syscall(SYS_gettid);
    if (attaching.load(std::memory_order_relaxed) == self) return;
    int64_t nobody = 0;
    while (!attaching.compare_exchange_weak(nobody, self,
                                            std::memory_order_acquire)) {
      nobody = 0;
      sched_yield();
    }
    is_first_ = true;
  }
  ~Attaching() {
    if (is_first_) attaching.store(0, std::memory_order_release);
  }
  Attaching(const Attaching&) = delete;
  Attaching& operator=(const Attaching&) = delete;
  bool is_first() const noexcept { return is_first_; }

 private:
  bool is_first_ = false;
};

// Runs once per process.
void Prepare() noexcept {
  static constinit bool prepared = false;
  if (prepared) return;
  prepared = true;
  record::Host();
  LoadNextTool();
}

int Attach(GetExportTable get_export_table) noexcept {
  const Attaching lock;
  if (!lock.is_first()) return 0;
  const auto* const callbacks =
      static_cast<const CallbacksTable*>(get_export_table(kCallbacks));
  if (callbacks == nullptr || callbacks->size < sizeof(*callbacks)) return 0;
  Prepare();
  AttachNextTool(get_export_table);
  AttachCore(ModuleTable(*callbacks, kCore));
  AttachCore2(ModuleTable(*callbacks, kCore2));
  AttachCuda(ModuleTable(*callbacks, kCuda),
             ModuleTable(*callbacks, kCudaRuntime));
  return 1;
}

}  // namespace
}  // namespace kymo::nvtx

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

KYMO_EXPORT int InitializeInjectionNvtx2(
    kymo::nvtx::GetExportTable get_export_table) {
  return get_export_table == nullptr ? 0 : kymo::nvtx::Attach(get_export_table);
}

// For programs that link this statically: if no variable names a library, NVTX
// looks for this symbol.
KYMO_EXPORT kymo::nvtx::InitializeInjection InitializeInjectionNvtx2_fnptr;
kymo::nvtx::InitializeInjection InitializeInjectionNvtx2_fnptr =
    InitializeInjectionNvtx2;
