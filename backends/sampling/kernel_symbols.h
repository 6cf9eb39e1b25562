// kernel_symbols.h - the kernel's functions, from /proc/kallsyms.
#ifndef KYMO_BACKENDS_SAMPLING_KERNEL_SYMBOLS_H_
#define KYMO_BACKENDS_SAMPLING_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace kymo::sampling {

struct KernelSymbol {
  uint64_t address = 0;
  std::string name;
};

class KernelSymbols {
 public:
  // Reads lines "address type name [module]". Where the kernel hides its
  // addresses (kptr_restrict) they are all 0 and nothing is found.
  static KernelSymbols Parse(std::istream& lines);
  static KernelSymbols OfThisMachine();

  // The function around `address`; null if not known.
  const KernelSymbol* Find(uint64_t address) const;

 private:
  std::vector<KernelSymbol> symbols_;  // by address
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_KERNEL_SYMBOLS_H_
