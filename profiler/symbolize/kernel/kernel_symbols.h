// kernel_symbols.h - the kernel's functions, from /proc/kallsyms.
//
// The file is about 5 MB, and the kernel writes it anew for every reader, which
// takes 50 ms. So what was read is shared as long as somebody holds it. And the
// first run of a boot keeps a sorted copy of it for later runs (kept_lines.h),
// in /run for root and in $XDG_RUNTIME_DIR for others. Where no copy can be
// kept, the file is read as far as the addresses in question need: it is in the
// order of addresses up to the functions of modules.
//
// A copy has no functions of modules, which come and go. Addresses behind the
// kernel's own are looked up in the file.
//
// Threads: OfThisMachine is safe to call concurrently, and so are const calls.
#ifndef KYMO_PROFILER_SYMBOLIZE_KERNEL_KERNEL_SYMBOLS_H_
#define KYMO_PROFILER_SYMBOLIZE_KERNEL_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/symbolize/kernel/kept_lines.h"

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
  // Lines of functions that are in the order of their addresses. They are
  // searched where they lie.
  explicit KernelSymbols(KeptLines kept);
  // Where a copy of this machine's list is kept; empty if there is no place.
  static std::string PathOfCopy();
  // This machine's functions at least up to `last_address`, from the copy at
  // `copy` or from the kernel's `list`. An empty `copy` is none. Of what
  // somebody else holds, no part is read again, so code that the kernel has
  // loaded below since then may lack its name.
  static std::shared_ptr<const KernelSymbols> OfThisMachine(
      uint64_t last_address, const std::string& copy = PathOfCopy(),
      const std::string& list = "/proc/kallsyms");

  // The function around `address`, if it is known.
  std::optional<KernelSymbol> Find(uint64_t address) const;
  // Whether something is known of addresses up to this one.
  bool Reaches(uint64_t address) const;
  // The lines of a copy of `text`. Empty if the kernel hides its addresses.
  static std::string LinesToKeep(std::string_view text);

 private:
  std::unique_ptr<const std::string> text_;  // stays in place when moved
  std::vector<KernelSymbol> symbols_;        // by address
  std::optional<KeptLines> kept_;            // instead of both
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_KERNEL_KERNEL_SYMBOLS_H_
