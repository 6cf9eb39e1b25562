#include "backends/sampling/kernel_symbols.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string_view>

namespace kymo::sampling {

KernelSymbols KernelSymbols::Parse(std::istream& lines) {
  KernelSymbols symbols;
  std::string line;
  while (std::getline(lines, line)) {
    uint64_t address = 0;
    char type = 0;
    char name[512];
    if (std::sscanf(line.c_str(), "%" SCNx64 " %c %511s", &address, &type,
                    name) != 3) {
      continue;
    }
    if (address == 0 || std::string_view("tTwW").find(type) ==
                            std::string_view::npos) {
      continue;
    }
    symbols.symbols_.push_back({address, name});
  }
  std::stable_sort(symbols.symbols_.begin(), symbols.symbols_.end(),
                   [](const KernelSymbol& a, const KernelSymbol& b) {
                     return a.address < b.address;
                   });
  return symbols;
}

KernelSymbols KernelSymbols::OfThisMachine() {
  std::ifstream file("/proc/kallsyms");
  return Parse(file);
}

const KernelSymbol* KernelSymbols::Find(uint64_t address) const {
  const auto after = std::partition_point(
      symbols_.begin(), symbols_.end(),
      [&](const KernelSymbol& symbol) { return symbol.address <= address; });
  return after == symbols_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace kymo::sampling
