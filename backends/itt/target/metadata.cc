#include "backends/itt/target/metadata.h"

#include <bit>
#include <string_view>
#include <type_traits>

#include "backends/itt/target/functions.h"
#include "backends/itt/target/names.h"
#include "backends/itt/target/ranges_by_id.h"
#include "backends/itt/target/values.h"
#include "profiler/record/captured.h"
#include "profiler/record/captured_stack.h"

namespace kymo::itt {
namespace {

using record::CapturedArg;
using record::PayloadKind;

void AddArg(const Domain* domain, Id id, const CapturedArg& arg) noexcept {
  const uint64_t range = id.is_null() ? 0 : FindOpen(domain, id);
  if (range != 0) return record::AddCapturedArgs(range, &arg, 1);
  if (const record::OpenCaptured* const open = record::TopCaptured(domain)) {
    record::AddCapturedArgs(open->range, &arg, 1);
  }
}

template <typename T>
CapturedArg ArgOf(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return {.kind = PayloadKind::kDouble,
            .bits = std::bit_cast<uint64_t>(static_cast<double>(value))};
  } else {
    return {.kind = PayloadKind::kInt,
            .bits = static_cast<uint64_t>(static_cast<int64_t>(value))};
  }
}

}  // namespace

void MetadataAdd(const Domain* domain, Id id, StringHandle* key, int type,
                 size_t count, void* data) noexcept {
  if (IsCapturing() && data != nullptr && count != 0 && key != nullptr) {
    CapturedArg arg =
        WithValue(type, data, [](auto value) { return ArgOf(value); });
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

}  // namespace kymo::itt
