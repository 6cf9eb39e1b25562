// kernel_symbols.h - the kernel's functions, from /proc/kallsyms.
//
// The file is about 5 MB, and the kernel writes it anew for every reader. It is
// in the order of addresses up to the functions of modules. So it is read only
// as far as the addresses in question need, and shared as long as somebody
// holds what was read.
//
// Threads: OfThisMachine is safe to call concurrently, and so are const calls.
#ifndef KYMO_PROFILER_SYMBOLIZE_KERNEL_SYMBOLS_H_
#define KYMO_PROFILER_SYMBOLIZE_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <memory>
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
  // `text` has lines "address type name [module]". If the kernel hides its
  // addresses (kptr_restrict), all of them are 0 and nothing is found.
  explicit KernelSymbols(std::string text);
  // Reads as much of this machine's file as covers addresses up to
  // `last_address`. Of what somebody else holds, that part is not read again,
  // so code that the kernel has loaded below since then may lack its name.
  static std::shared_ptr<const KernelSymbols> OfThisMachine(
      uint64_t last_address);

  // The function around `address`; null if not known.
  const KernelSymbol* Find(uint64_t address) const;

 private:
  bool Reaches(uint64_t address) const;

  std::unique_ptr<const std::string> text_;  // stays in place when moved
  std::vector<KernelSymbol> symbols_;        // by address
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_KERNEL_SYMBOLS_H_
