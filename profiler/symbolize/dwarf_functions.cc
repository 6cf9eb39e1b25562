#include "profiler/symbolize/dwarf_functions.h"

#include <dwarf.h>

#include <algorithm>
#include <string_view>

#include "profiler/symbolize/stripped/elf_section.h"
#include "profiler/symbolize/stripped/inflated_image.h"
#include "profiler/symbolize/stripped/listed_units.h"

namespace kymo::symbolize {
namespace {

const char* AttributeText(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

Dwarf_Word AttributeNumber(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &value) != 0) {
    return 0;
  }
  return value;
}

void SetNames(Dwarf_Die* die, SourceFrame& frame) {
  frame.linkage_name = AttributeText(die, DW_AT_linkage_name);
  if (frame.linkage_name == nullptr) {
    frame.linkage_name = AttributeText(die, DW_AT_MIPS_linkage_name);
  }
  frame.name = dwarf_diename(die);
}

// Sets file and line of `caller` to where it calls `inlined`.
void SetCallSite(Dwarf_Die* unit, Dwarf_Die* inlined, SourceFrame& caller) {
  caller.line =
      static_cast<uint32_t>(AttributeNumber(inlined, DW_AT_call_line));
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  const Dwarf_Word file = AttributeNumber(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) return;
  const char* const path = dwarf_filesrc(files, file, nullptr, nullptr);
  if (path != nullptr) caller.file = path;
}

void SetLine(Dwarf_Die* unit, uint64_t address, SourceFrame& frame) {
  Dwarf_Line* const line = dwarf_getsrc_die(unit, address);
  if (line == nullptr) return;
  int number = 0;
  if (dwarf_lineno(line, &number) == 0 && number > 0) {
    frame.line = static_cast<uint32_t>(number);
  }
  const char* const path = dwarf_linesrc(line, nullptr, nullptr);
  if (path != nullptr) frame.file = path;
}

bool HasNames(std::string_view section) {
  return section.ends_with("debug_str") ||
         section.ends_with("debug_line_str") ||
         section.ends_with("debug_str.dwo");
}

// Whether each section of names ends with the end of a name. libdw does not
// look, and returns the last name with whatever follows in memory.
bool NamesEnd(Dwarf* dwarf) {
  for (const ElfSection& section : ListElfSections(dwarf_getelf(dwarf))) {
    if (!HasNames(section.name)) continue;
    const Elf_Data* const data = elf_rawdata(section.section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) {
      continue;
    }
    if (static_cast<const char*>(data->d_buf)[data->d_size - 1] != '\0') {
      return false;
    }
  }
  return true;
}

bool HoldsFunctions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
         tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_module;
}

}  // namespace

DwarfFunctions::DwarfFunctions(Elf* elf) { Begin(elf); }

DwarfFunctions::DwarfFunctions(const ElfImage& image, Map map,
                               uint64_t map_from_bytes) {
  if (map == Map::kYes && image.fd >= 0) {
    mapped_.emplace(image.elf, image.fd, map_from_bytes);
    if (mapped_->elf() == nullptr) mapped_.reset();
  }
  if (mapped_) {
    Begin(mapped_->elf());
    return;
  }
  if (image.elf != nullptr && image.fd >= 0) {
    own_elf_ = elf_begin(image.fd, ELF_C_READ, nullptr);
  }
  Begin(own_elf_ != nullptr ? own_elf_ : image.elf);
}

void DwarfFunctions::Begin(Elf* elf) {
  if (elf == nullptr) return;
  // libelf reads all sections that it shows. Of a mapped file it reads no page
  // that nobody asks for.
  if (!mapped_) HideNeedlessSections(elf);
  dwarf_ = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (dwarf_ == nullptr) return;
  if (!NamesEnd(dwarf_) || !NamesEnd(dwarf_getalt(dwarf_))) {
    dwarf_end(dwarf_);
    dwarf_ = nullptr;
    return;
  }
  ReadList(elf);
  if (listed_.empty()) ReadAllUnits();
}

void DwarfFunctions::ReadList(Elf* elf) {
  Dwarf_Off next = 0;
  size_t header_bytes = 0;
  const bool has_units =
      dwarf_next_unit(dwarf_, 0, &next, &header_bytes, nullptr, nullptr,
                      nullptr, nullptr, nullptr, nullptr) == 0;
  if (!has_units) return;
  for (const ListedUnit& unit : ReadListedUnits(elf)) {
    listed_.push_back({unit.start, unit.end, unit.offset});
  }
  SortByStart(listed_);
}

void DwarfFunctions::ReadAllUnits() {
  has_all_units_ = true;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die unit, split;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf_, cu, &cu, nullptr, &type, &unit, &split) == 0) {
    CountRead();
    const uint64_t offset = dwarf_dieoffset(&unit) - dwarf_cuoffset(&unit);
    if (AddUnit(offset, type, unit, split) == nullptr) continue;
    AddRanges(&unit, offset, ranges_);
  }
  SortByStart(ranges_);
}

// Null if it has no functions of its own.
DwarfFunctions::Unit* DwarfFunctions::AddUnit(uint64_t offset, uint8_t type,
                                              const Dwarf_Die& unit,
                                              const Dwarf_Die& split) {
  if (type != DW_UT_compile && type != DW_UT_skeleton) return nullptr;
  const bool is_split = type == DW_UT_skeleton && split.addr != nullptr &&
                        NamesEnd(dwarf_cu_getdwarf(split.cu));
  const auto [at, is_new] = units_.try_emplace(offset);
  if (is_new) {
    at->second.lines = unit;
    at->second.functions = is_split ? split : unit;
    if (type == DW_UT_skeleton && split.addr == nullptr) ++missing_files_;
  }
  return &at->second;
}

// Null if that is no unit.
DwarfFunctions::Unit* DwarfFunctions::UnitOf(uint64_t offset) {
  if (const auto at = units_.find(offset); at != units_.end()) {
    return &at->second;
  }
  Dwarf_Off next = 0;
  size_t header_bytes = 0;
  Dwarf_Die unit, split;
  uint8_t type = 0;
  if (dwarf_next_unit(dwarf_, offset, &next, &header_bytes, nullptr, nullptr,
                      nullptr, nullptr, nullptr, nullptr) != 0 ||
      dwarf_offdie(dwarf_, offset + header_bytes, &unit) == nullptr ||
      dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr,
                    nullptr) != 0) {
    return nullptr;
  }
  return AddUnit(offset, type, unit, split);
}

// The list may be wrong; what the unit itself says counts.
DwarfFunctions::Unit* DwarfFunctions::UnitAt(uint64_t address) {
  if (!has_all_units_) {
    const Range* const listed = FindRange(listed_, address);
    Unit* const unit = listed == nullptr ? nullptr : UnitOf(listed->index);
    std::vector<Range> its;
    if (unit != nullptr) AddRanges(&unit->lines, 0, its);
    const auto has_address = [address](const Range& range) {
      return range.start <= address && address < range.end;
    };
    if (std::ranges::any_of(its, has_address)) return unit;
    ReadAllUnits();
  }
  const Range* const range = FindRange(ranges_, address);
  return range == nullptr ? nullptr : &units_.find(range->index)->second;
}

DwarfFunctions::~DwarfFunctions() {
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  if (own_elf_ != nullptr) elf_end(own_elf_);
}

void DwarfFunctions::CountRead() {
  if (!mapped_ || ++reads_ < kMostReads) return;
  reads_ = 0;
  mapped_->GiveBack();
}

void DwarfFunctions::SortByStart(std::vector<Range>& ranges) {
  std::ranges::sort(ranges, {}, &Range::start);
}

void DwarfFunctions::AddRanges(Dwarf_Die* die, uint64_t index,
                               std::vector<Range>& ranges) {
  Dwarf_Addr base, start, end;
  ptrdiff_t at = 0;
  while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
    // Functions that the linker discarded are at address 0.
    if (start != 0 && start < end) ranges.push_back({start, end, index});
  }
}

const DwarfFunctions::Range* DwarfFunctions::FindRange(
    const std::vector<Range>& ranges, uint64_t address) {
  const auto after = std::partition_point(
      ranges.begin(), ranges.end(),
      [&](const Range& range) { return range.start <= address; });
  if (after == ranges.begin() || address >= std::prev(after)->end) {
    return nullptr;
  }
  return &*std::prev(after);
}

void DwarfFunctions::IndexFunctions(Unit& unit) {
  unit.is_indexed = true;
  std::vector<Dwarf_Die> open = {unit.functions};
  while (!open.empty()) {
    Dwarf_Die parent = open.back();
    open.pop_back();
    Dwarf_Die die;
    if (dwarf_child(&parent, &die) != 0) continue;
    do {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_subprogram) {
        unit.dies.push_back(die);
        AddRanges(&die, unit.dies.size() - 1, unit.ranges);
      } else if (HoldsFunctions(tag)) {
        open.push_back(die);
      }
    } while (dwarf_siblingof(&die, &die) == 0);
  }
  SortByStart(unit.ranges);
}

std::vector<Dwarf_Die> DwarfFunctions::InlineChain(Dwarf_Die function,
                                                   uint64_t address) {
  std::vector<Dwarf_Die> chain = {function};
  Dwarf_Die scope = function;
  for (bool descended = true; descended;) {
    descended = false;
    Dwarf_Die die;
    if (dwarf_child(&scope, &die) != 0) break;
    do {
      const int tag = dwarf_tag(&die);
      const bool is_inlined = tag == DW_TAG_inlined_subroutine;
      if (!is_inlined && tag != DW_TAG_lexical_block) continue;
      if (dwarf_haspc(&die, address) != 1) continue;
      if (is_inlined) chain.push_back(die);
      scope = die;
      descended = true;
      break;
    } while (dwarf_siblingof(&die, &die) == 0);
  }
  return chain;
}

std::vector<SourceFrame> DwarfFunctions::Find(uint64_t address) {
  CountRead();
  Unit* const found = UnitAt(address);
  if (found == nullptr) return {};
  Unit& unit = *found;
  if (!unit.is_indexed) IndexFunctions(unit);
  std::vector<SourceFrame> frames;
  const Range* const range = FindRange(unit.ranges, address);
  if (range != nullptr) {
    std::vector<Dwarf_Die> chain =
        InlineChain(unit.dies[range->index], address);
    for (Dwarf_Die& die : chain) {
      if (!frames.empty()) SetCallSite(&unit.functions, &die, frames.back());
      SourceFrame& frame = frames.emplace_back();
      SetNames(&die, frame);
      frame.is_inlined = frames.size() > 1;
    }
  } else {
    frames.emplace_back();
  }
  SetLine(&unit.lines, address, frames.back());
  return frames;
}

}  // namespace kymo::symbolize
