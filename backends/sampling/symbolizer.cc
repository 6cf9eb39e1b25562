#include "backends/sampling/symbolizer.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/sampling/debug_file.h"
#include "backends/sampling/dwarf_functions.h"
#include "backends/sampling/elf_symbols.h"
#include "backends/sampling/kernel_symbols.h"
#include "backends/sampling/unwind_functions.h"
#include "profiler/base/strings.h"

namespace kymo::sampling {

std::string Demangle(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result(text);
  std::free(text);
  return result;
}

struct ModuleSymbolizer::Tables {
  explicit Tables(const ElfModule& module)
      : module_functions(module.elf()),
        debug_file(module_functions.empty() ? DebugFile::For(module)
                                            : DebugFile()),
        debug_functions(debug_file.elf()),
        unwind_functions(module.elf()) {
    symbols.Add(module.elf());
    if (debug_file.elf() != nullptr) symbols.Add(debug_file.elf());
    symbols.Seal();
  }

  // Names repeat; their text lives in the file's string section.
  const std::string& Demangled(const char* name) {
    const auto [at, is_new] = demangled.try_emplace(name);
    if (is_new) at->second = Demangle(name);
    return at->second;
  }

  DwarfFunctions module_functions;
  DebugFile debug_file;
  DwarfFunctions debug_functions;
  ElfSymbols symbols;
  UnwindFunctions unwind_functions;
  std::unordered_map<const char*, std::string> demangled;
};

ModuleSymbolizer::ModuleSymbolizer(const ElfModule& module) : module_(module) {
  if (module.elf() != nullptr && module.IsUnchanged()) {
    tables_ = std::make_unique<Tables>(module);
  }
}

ModuleSymbolizer::~ModuleSymbolizer() = default;

namespace {

// A symbol says more than the plain name (namespace and parameters, the public
// name of an alias), unless it names a part that the compiler split off.
bool IsBetter(const char* symbol, const char* plain_name) {
  if (symbol == nullptr || plain_name == nullptr) return symbol != nullptr;
  return std::strncmp(symbol, "_Z", 2) == 0 ||
         std::strchr(symbol, '.') == nullptr;
}

}  // namespace

std::vector<NamedFrame> ModuleSymbolizer::Name(uint64_t address) {
  std::vector<SourceFrame> frames;
  const char* symbol = nullptr;
  if (tables_ != nullptr) {
    frames = tables_->module_functions.Find(address);
    if (frames.empty()) frames = tables_->debug_functions.Find(address);
    symbol = tables_->symbols.Find(address);
  }
  // Without a name the places of one function are still one.
  if (frames.empty() && symbol == nullptr && tables_ != nullptr) {
    address = tables_->unwind_functions.Start(address).value_or(address);
  }
  if (frames.empty()) frames.emplace_back();
  std::vector<NamedFrame> named;
  for (const SourceFrame& frame : frames) {
    const bool is_mangled = frame.linkage_name != nullptr &&
                            std::strncmp(frame.linkage_name, "_Z", 2) == 0;
    const char* name = is_mangled ? frame.linkage_name : nullptr;
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
                                               "+0x", absl::Hex(address));
  }
  return named;
}

namespace {

// Frames of the places of one module, in the shard's tables.
class FrameMaker {
 public:
  FrameMaker(const ModuleTable& modules, model::TraceShard& shard)
      : modules_(modules), shard_(shard) {}

  using Frames = std::vector<model::FrameId>;

  // All of `addresses`, of one module.
  void Make(ModuleId module, const std::vector<uint64_t>& addresses,
            std::map<uint64_t, Frames>& frames) {
    if (module == ModuleTable::kKernel) {
      MakeKernel(addresses, frames);
      return;
    }
    ModuleSymbolizer symbolizer(modules_.module(module));
    const model::NameId path =
        shard_.strings.Intern(modules_.module(module).path());
    for (const uint64_t address : addresses) {
      for (const NamedFrame& frame : symbolizer.Name(address)) {
        frames[address].push_back(
            Add({.function = shard_.strings.Intern(frame.function),
                 .file = shard_.strings.Intern(frame.file),
                 .module = path,
                 .line = frame.line,
                 .address = frame.address,
                 .is_inlined = frame.is_inlined,
                 .is_resolved = frame.is_resolved}));
      }
    }
  }

 private:
  // One frame per kernel function, at its beginning.
  void MakeKernel(const std::vector<uint64_t>& addresses,
                  std::map<uint64_t, Frames>& frames) {
    const KernelSymbols symbols = KernelSymbols::OfThisMachine(
        *std::max_element(addresses.begin(), addresses.end()));
    const model::NameId module = shard_.strings.Intern("[kernel]");
    for (const uint64_t address : addresses) {
      const KernelSymbol* const symbol = symbols.Find(address);
      const bool found = symbol != nullptr;
      frames[address].push_back(
          Add({.function = found ? shard_.strings.Intern(symbol->name) : module,
               .module = module,
               .address = found ? symbol->address : 0,
               .is_kernel = true,
               .is_resolved = found}));
    }
  }

  model::FrameId Add(const model::Frame& frame) {
    const size_t before = shard_.stacks.frame_count();
    const model::FrameId id = shard_.stacks.AddFrame(frame);
    if (!frame.is_resolved && shard_.stacks.frame_count() > before) {
      shard_.ledger.Add(model::Loss::kFramesUnresolved, 1);
    }
    return id;
  }

  const ModuleTable& modules_;
  model::TraceShard& shard_;
};

}  // namespace

std::vector<model::StackId> SymbolizeStacks(const RawStacks& stacks,
                                            const ModuleTable& modules,
                                            model::TraceShard& shard) {
  const auto& nodes = stacks.nodes();
  std::vector<std::vector<uint64_t>> addresses(modules.size());
  for (size_t i = 1; i < nodes.size(); ++i) {
    addresses[nodes[i].place.module].push_back(nodes[i].place.address);
  }
  FrameMaker maker(modules, shard);
  std::vector<std::map<uint64_t, FrameMaker::Frames>> frames(modules.size());
  for (ModuleId module = 0; module < modules.size(); ++module) {
    auto& distinct = addresses[module];
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()),
                   distinct.end());
    if (!distinct.empty()) maker.Make(module, distinct, frames[module]);
  }
  std::vector<model::StackId> ids(nodes.size(), model::kEmptyStack);
  for (size_t i = 1; i < nodes.size(); ++i) {
    model::StackId id = ids[nodes[i].parent];
    const CodePlace& place = nodes[i].place;
    for (const model::FrameId frame :
         frames[place.module].find(place.address)->second) {
      id = shard.stacks.Push(id, frame);
    }
    ids[i] = id;
  }
  return ids;
}

}  // namespace kymo::sampling
