#include "backends/sampling/python/interpreter_module.h"

#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kymo::sampling {
namespace {

constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";

void AddLoop(const CodeRange& code, InterpreterModule& found) {
  if (found.loop.size() == kMostFunctions) return;
  const bool is_known =
      std::any_of(found.loop.begin(), found.loop.end(),
                  [&](const auto& known) { return known.begin == code.begin; });
  if (!is_known) found.loop.push_back(code);
}

void AddSymbol(std::string_view name, const GElf_Sym& symbol,
               InterpreterModule& found) {
  if (name == "PyCode_Type") found.code_type = symbol.st_value;
  if (name == "_PyRuntime") found.runtime = symbol.st_value;
  if (name == "Py_Version") found.version = symbol.st_value;
  // What GCC splits off is called `.cold` and the like.
  if (!name.starts_with(kLoop) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
      symbol.st_size == 0 ||
      (name.size() > kLoop.size() && name[kLoop.size()] != '.')) {
    return;
  }
  AddLoop({symbol.st_value, symbol.st_value + symbol.st_size}, found);
}

void AddTable(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
              InterpreterModule& found) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const size_t count = data->d_size / header.sh_entsize;
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr) continue;
    // Libraries have hundreds of thousands of symbols; few begin like this.
    if (name[0] == 'P' || name[0] == '_') AddSymbol(name, symbol, found);
  }
}

}  // namespace

std::optional<InterpreterModule> FindInterpreter(
    const symbolize::ElfImage& image) {
  Elf* const elf = image.elf;
  if (elf == nullptr) return std::nullopt;
  InterpreterModule found;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) continue;
    AddTable(elf, section, header, found);
  }
  if (found.loop.empty() || found.runtime == 0) return std::nullopt;
  const std::vector<CodeRange> parts = FindSplitParts(image, found.loop);
  found.loop.insert(found.loop.end(), parts.begin(), parts.end());
  return found;
}

}  // namespace kymo::sampling
