#include "profiler/symbolize/function_extents.h"

#include <gelf.h>

#include <algorithm>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

std::optional<FunctionExtent> FindAround(
    const std::vector<FunctionExtent>& functions, uint64_t address) {
  const auto after = std::upper_bound(
      functions.begin(), functions.end(), address,
      [](uint64_t at, const FunctionExtent& next) { return at < next.begin; });
  if (after == functions.begin()) return std::nullopt;
  const FunctionExtent& found = *std::prev(after);
  if (address >= found.end) return std::nullopt;
  return found;
}

}  // namespace

void FunctionExtents::Read(const char* section, Table& table) {
  table.is_read = true;
  const auto symbols = FindElfSection(elf_, section);
  if (!symbols || symbols->header.sh_entsize == 0) return;
  Elf_Data* const data = elf_getdata(symbols->section, nullptr);
  if (data == nullptr) return;
  const size_t count = data->d_size / symbols->header.sh_entsize;
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) continue;
    const uint64_t end = symbol.st_value + symbol.st_size;
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
        symbol.st_shndx == SHN_UNDEF || end <= symbol.st_value) {
      continue;
    }
    table.functions.push_back({symbol.st_value, end});
  }
  std::sort(table.functions.begin(), table.functions.end(),
            [](const FunctionExtent& a, const FunctionExtent& b) {
              return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
            });
}

std::optional<FunctionExtent> FunctionExtents::Around(uint64_t address) {
  if (!dynamic_.is_read) Read(".dynsym", dynamic_);
  if (const auto found = FindAround(dynamic_.functions, address)) return found;
  if (!all_.is_read) Read(".symtab", all_);
  return FindAround(all_.functions, address);
}

}  // namespace kymo::symbolize
