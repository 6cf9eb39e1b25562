// kernel_symbols.h - the kernel's functions, from /proc/kallsyms.
//
// The file is some 5 MB that the kernel writes anew for every reader, in order
// of address up to the modules' functions; so it is read only as far as the
// addresses that are asked for need.
#ifndef KYMO_PROFILER_SYMBOLIZE_KERNEL_SYMBOLS_H_
#define KYMO_PROFILER_SYMBOLIZE_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo::symbolize {

struct KernelSymbol {
  uint64_t address = 0;
  std::string_view name;  // lives as long as the symbols
};

class KernelSymbols {
 public:
  // Lines "address type name [module]". Where the kernel hides its addresses
  // (kptr_restrict) they are all 0 and nothing is found.
  explicit KernelSymbols(std::string text);
  // Enough of this machine's to find every address up to `last_address`.
  static KernelSymbols OfThisMachine(uint64_t last_address);

  // The function around `address`; null if not known.
  const KernelSymbol* Find(uint64_t address) const;

 private:
  std::vector<char> text_;             // survives a move where it is
  std::vector<KernelSymbol> symbols_;  // by address
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_KERNEL_SYMBOLS_H_
