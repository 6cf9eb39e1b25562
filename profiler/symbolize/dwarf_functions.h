// dwarf_functions.h - functions, inlined calls and lines from debug info.
//
// A unit's functions are indexed when they are first needed. Which unit has an
// address is read from the file's list (stripped/listed_units.h). Only where
// that does not tell, all units are indexed by address, once. Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_DWARF_FUNCTIONS_H_
#define KYMO_PROFILER_SYMBOLIZE_DWARF_FUNCTIONS_H_

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/symbolize/stripped/elf_image.h"
#include "profiler/symbolize/stripped/mapped_image.h"

namespace kymo::symbolize {

// A function at a place. One place has several where calls were inlined.
struct SourceFrame {
  const char* linkage_name = nullptr;  // mangled; null = not known
  const char* name = nullptr;          // plain; null = not known
  std::string file;
  uint32_t line = 0;  // 0 = not known
  bool is_inlined = false;
};

class DwarfFunctions {
 public:
  enum class Map : uint8_t { kNo, kYes };

  // `elf` is borrowed. If it has no debug information, or if that is damaged,
  // Find returns nothing.
  explicit DwarfFunctions(Elf* elf);
  // Opens the file once more: libelf keeps what libdw reads, often hundreds of
  // megabytes, until the file is closed, and this closes it with the object.
  // With kYes, debug information of `map_from_bytes` or more is mapped instead,
  // and takes a few megabytes. Mapping handles SIGBUS (mapped_image.h).
  DwarfFunctions(const ElfImage& image, Map map,
                 uint64_t map_from_bytes = MappedImage::kLeastBytes);
  DwarfFunctions(const DwarfFunctions&) = delete;
  DwarfFunctions& operator=(const DwarfFunctions&) = delete;
  ~DwarfFunctions();

  // The function around `address` and the functions inlined there, outermost
  // first. Empty if not known; one frame without names if only the line is
  // known.
  std::vector<SourceFrame> Find(uint64_t address);

  bool empty() const noexcept { return listed_.empty() && ranges_.empty(); }

  // Files of split debug information (.dwo) that units name, but that are not
  // there. Of the units that were read so far: without an index, all.
  size_t missing_files() const noexcept { return missing_files_; }

 private:
  struct Range {
    uint64_t start;
    uint64_t end;
    uint64_t index;  // the unit's offset, or the function's in the unit
  };
  struct Unit {
    Dwarf_Die lines;      // has the line table
    Dwarf_Die functions;  // another DIE in split debug information
    bool is_indexed = false;
    std::vector<Dwarf_Die> dies;
    std::vector<Range> ranges;
  };

  // Most lookups and units after which pages of a mapped file are given back.
  static constexpr uint32_t kMostReads = 64;

  void ReadList(Elf* elf);
  void ReadAllUnits();
  Unit* AddUnit(uint64_t offset, uint8_t type, const Dwarf_Die& unit,
                const Dwarf_Die& split);
  Unit* UnitOf(uint64_t offset);
  Unit* UnitAt(uint64_t address);
  static void SortByStart(std::vector<Range>& ranges);
  static void AddRanges(Dwarf_Die* die, uint64_t index,
                        std::vector<Range>& ranges);
  static const Range* FindRange(const std::vector<Range>& ranges,
                                uint64_t address);
  static void IndexFunctions(Unit& unit);
  static std::vector<Dwarf_Die> InlineChain(Dwarf_Die function,
                                            uint64_t address);

  void Begin(Elf* elf);
  // What was read at one place is rarely needed at another one.
  void CountRead();

  Elf* own_elf_ = nullptr;
  std::optional<MappedImage> mapped_;
  uint32_t reads_ = 0;  // since pages were given back
  Dwarf* dwarf_ = nullptr;
  std::vector<Range> listed_;       // an index is a unit's offset
  std::map<uint64_t, Unit> units_;  // by their offsets
  bool has_all_units_ = false;
  size_t missing_files_ = 0;
  std::vector<Range> ranges_;  // of all units
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_DWARF_FUNCTIONS_H_
