#include "importers/sqlite/cuda_names.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::sqlite {
namespace {

template <size_t N>
std::string_view At(const std::array<std::string_view, N>& names,
                    int64_t index) {
  return index >= 0 && index < int64_t{N} ? names[static_cast<size_t>(index)]
                                          : names[0];
}

std::string_view MemoryKindName(int64_t kind) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "Unknown", "Pageable", "Pinned",        "Device",
      "Array",   "Managed",  "Device Static", "Managed Static"};
  return At(kNames, kind);
}

std::string_view CopyKindName(int64_t kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
      "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  return At(kNames, kind);
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

}  // namespace

std::string CopyName(int64_t copy_kind, int64_t source_kind,
                     int64_t destination_kind) {
  return absl::StrCat("Memcpy ", ToAbsl(CopyKindName(copy_kind)), " (",
                      ToAbsl(MemoryKindName(source_kind)), " -> ",
                      ToAbsl(MemoryKindName(destination_kind)), ")");
}

std::string MemsetName(int64_t memory_kind) {
  return absl::StrCat("Memset (", ToAbsl(MemoryKindName(memory_kind)), ")");
}

std::string_view SyncName(int64_t sync_type) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
      "Context Sync"};
  return At(kNames, sync_type);
}

std::string_view StripApiVersion(std::string_view name) {
  const size_t version = name.rfind("_v");
  if (version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) ==
          std::string_view::npos &&
      name.size() - version > 4) {  // cuMemAlloc_v2 is another function
    name = name.substr(0, version);
  }
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (EndsWith(name, suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

bool IsDriverCall(std::string_view name) {
  return name.size() > 2 && name.substr(0, 2) == "cu" && name[2] >= 'A' &&
         name[2] <= 'Z';
}

}  // namespace kymo::sqlite
