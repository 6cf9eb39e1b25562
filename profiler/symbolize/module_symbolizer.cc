#include "profiler/symbolize/module_symbolizer.h"

#include <cxxabi.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
// Otherwise libiberty's header declares basename() once more, and differently.
#define HAVE_DECL_BASENAME 1
#include "libiberty/demangle.h"
#include "profiler/base/strings.h"
#include "profiler/symbolize/debug_file.h"
#include "profiler/symbolize/dwarf_functions.h"
#include "profiler/symbolize/elf_symbols.h"
#include "profiler/symbolize/stripped/go_functions.h"
#include "profiler/symbolize/stripped/mini_debug_info.h"
#include "profiler/symbolize/unwind_functions.h"

namespace kymo::symbolize {
namespace {

// "_Z" begins names of C++ and older names of Rust, "_R" Rust's v0 mangling
// (RFC 2603).
bool IsMangled(const char* name) {
  return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

// Names of Rust may refer back to parts of themselves, so that each of thirty
// letters doubles the text.
constexpr size_t kMostRustBytes = size_t{64} << 10;

struct RustName {
  std::string text;
  std::jmp_buf too_long;
};

void AddRustText(const char* text, size_t bytes, void* name) {
  auto& [all, too_long] = *static_cast<RustName*>(name);
  // There is no other way to end the demangler, which is C and holds nothing.
  if (all.size() + bytes > kMostRustBytes) std::longjmp(too_long, 1);
  all.append(text, bytes);
}

// False if it is no name of Rust, or too long to read.
bool DemangleRust(const char* mangled, RustName& name) {
  if (setjmp(name.too_long) != 0) return false;
  return rust_demangle_callback(mangled, /*options=*/0, AddRustText, &name) !=
         0;
}

}  // namespace

std::string Demangle(const char* name) {
  if (!IsMangled(name)) return name;
  // An older name of Rust is one of C++, too. But there its hash would show,
  // and its escapes.
  RustName rust;
  if (DemangleRust(name, rust)) return std::move(rust.text);
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result(text);
  std::free(text);
  return result;
}

struct ModuleSymbolizer::Tables {
  Tables(const ElfModule& module, std::span<const uint64_t> addresses)
      : module_functions(module.image(), module.is_own()
                                             ? DwarfFunctions::Map::kNo
                                             : DwarfFunctions::Map::kYes),
        debug_file(module_functions.empty() ? DebugFile::For(module)
                                            : DebugFile()),
        mini_debug_info(module.elf()),
        go_functions(module.elf()) {
    debug_functions.emplace(debug_file.ElfForLibdw(addresses));
    symbols.Add(module.image());
    symbols.Add(debug_file.image());
    symbols.Add({mini_debug_info.elf()});
    symbols.Seal();
  }

  std::vector<SourceFrame> FindSource(uint64_t address) {
    std::vector<SourceFrame> frames = module_functions.Find(address);
    if (frames.empty()) frames = debug_functions->Find(address);
    if (!frames.empty() || debug_file.HasAllUnits()) return frames;
    debug_functions.reset();
    debug_functions.emplace(debug_file.ElfForLibdw());
    demangled.clear();  // names that are gone
    return debug_functions->Find(address);
  }

  // The name of a symbol, or one that is known without symbols; null if there
  // is none.
  const char* NameAt(const ElfModule& module, uint64_t address) {
    if (const char* const symbol = symbols.Find(address)) return symbol;
    const std::string_view go = go_functions.Find(address);
    if (!go.empty()) return go.data();
    return module.IsEntryCode(address) ? "_start" : nullptr;
  }

  // The tables of most files are never needed: their functions have names.
  const UnwindFunctions& UnwindFunctionsOf(const ElfModule& module) {
    if (!unwind_functions) unwind_functions.emplace(module.image());
    return *unwind_functions;
  }

  // A cache by the address of the text: names repeat.
  const std::string& Demangled(const char* name) {
    const auto [at, is_new] = demangled.try_emplace(name);
    if (!is_new) return at->second;
    // A longer one is cut, and stays mangled.
    const size_t bytes = strnlen(name, kMostNameBytes);
    at->second =
        bytes < kMostNameBytes ? Demangle(name) : std::string(name, bytes);
    return at->second;
  }

  DwarfFunctions module_functions;
  DebugFile debug_file;
  std::optional<DwarfFunctions> debug_functions;
  MiniDebugInfo mini_debug_info;
  GoFunctions go_functions;
  ElfSymbols symbols;
  std::optional<UnwindFunctions> unwind_functions;
  std::unordered_map<const char*, std::string> demangled;
};

ModuleSymbolizer::ModuleSymbolizer(const ElfModule& module,
                                   std::span<const uint64_t> addresses)
    : module_(module) {
  if (module.elf() != nullptr && module.IsUnchanged()) {
    tables_ = std::make_unique<Tables>(module, addresses);
  }
}

ModuleSymbolizer::~ModuleSymbolizer() = default;

size_t ModuleSymbolizer::missing_debug_files() const noexcept {
  if (tables_ == nullptr) return 0;
  return tables_->module_functions.missing_files() +
         tables_->debug_functions->missing_files();
}

namespace {

// A symbol says more than the plain name: namespace and parameters, or the
// public name of an alias. The exception is a symbol of a part that the
// compiler split off from a function.
bool IsBetter(const char* symbol, const char* plain_name) {
  if (symbol == nullptr || plain_name == nullptr) return symbol != nullptr;
  return IsMangled(symbol) || std::strchr(symbol, '.') == nullptr;
}

}  // namespace

std::vector<NamedFrame> ModuleSymbolizer::Name(uint64_t address) {
  std::vector<SourceFrame> frames;
  const char* symbol = nullptr;
  // What is read only now would be another file's.
  if (tables_ != nullptr && !module_.IsUnchanged()) tables_.reset();
  if (tables_ != nullptr) {
    frames = tables_->FindSource(address);
    symbol = tables_->NameAt(module_, address);
  }
  // Without a name, all places of one function still become one place.
  std::string end;
  if (frames.empty() && symbol == nullptr && tables_ != nullptr) {
    if (const auto piece = tables_->UnwindFunctionsOf(module_).Find(address)) {
      address = piece->begin;
      // Of many functions, perhaps.
      if (!piece->is_function) end = "..";
      if (!end.empty() && piece->end != 0) {
        absl::StrAppend(&end, "0x", absl::Hex(piece->end));
      }
    }
  }
  // Addresses in memory mean nothing to a reader.
  if (module_.is_memory()) {
    return {{.function = module_.FunctionInMemory(), .is_resolved = false}};
  }
  if (module_.is_other_format()) {
    return {{.function = absl::StrCat("[", ToAbsl(module_.short_name()), "]"),
             .is_resolved = false}};
  }
  if (frames.empty()) frames.emplace_back();
  std::vector<NamedFrame> named;
  for (const SourceFrame& frame : frames) {
    const char* name =
        frame.linkage_name != nullptr && IsMangled(frame.linkage_name)
            ? frame.linkage_name
            : nullptr;
    if (name == nullptr && !frame.is_inlined && IsBetter(symbol, frame.name)) {
      name = symbol;
    }
    if (name == nullptr) name = frame.name;
    if (name == nullptr) name = frame.linkage_name;
    named.push_back({.function = {},
                     .address = address,
                     .file = frame.file,
                     .line = frame.line,
                     .is_inlined = frame.is_inlined,
                     .is_resolved = name != nullptr});
    named.back().function = name != nullptr
                                ? tables_->Demangled(name)
                                : absl::StrCat(ToAbsl(module_.short_name()),
                                               "+0x", absl::Hex(address), end);
  }
  return named;
}

}  // namespace kymo::symbolize
