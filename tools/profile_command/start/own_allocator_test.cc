#include "tools/profile_command/start/own_allocator.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/model/trace.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/layout_note.h"
#include "tests/support/test_trace.h"
#include "tools/profile_command/start/elf_file.h"
#include "tools/profile_command/start/other_kymo.h"

namespace kymo::tools {
namespace {

std::string Path(const char* variable) {
  const char* const path = getenv(variable);
  return path == nullptr ? "" : path;
}

TEST(OwnAllocatorTest, AProgramThatDefinesMallocBringsIt) {
  EXPECT_TRUE(BringsMalloc(Path("KYMO_OWN_MALLOC")));
}

TEST(OwnAllocatorTest, OthersDoNot) {
  EXPECT_FALSE(BringsMalloc("/proc/self/exe"));
  EXPECT_FALSE(BringsMalloc(Path("KYMO_HOOKED")));
}

TEST(OwnAllocatorTest, WhatIsNoProgramBringsNothing) {
  EXPECT_FALSE(BringsMalloc("/nowhere"));
  EXPECT_FALSE(BringsMalloc("/"));
  const std::string path = testing::TempDir() + "/broken";
  for (const std::string& text : {std::string(), std::string("#!/bin/sh\n"),
                                  std::string("\x7f"
                                              "ELF\x02") +
                                      std::string(200, '\xff')}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(BringsMalloc(path));
  }
}

// A small ELF file, by its specification: symbols, and the note of a layout.
struct MadeElf {
  enum Section { kNone, kSymbols, kStrings, kNote, kNames, kCount };
  struct Symbol {
    std::string name;
    bool is_defined = true;
  };

  explicit MadeElf(const std::vector<Symbol>& symbols,
                   uint32_t layout = record::kLayoutVersion) {
    std::vector<Elf64_Sym> table(1);  // the first one is no symbol
    std::string strings(1, '\0');
    for (const Symbol& symbol : symbols) {
      Elf64_Sym& added = table.emplace_back();
      added.st_name = static_cast<Elf64_Word>(strings.size());
      added.st_shndx = symbol.is_defined ? kSymbols : SHN_UNDEF;
      strings += symbol.name + '\0';
    }
    const record::LayoutNote note = {.layout = layout};
    std::string names(1, '\0');
    Add(kSymbols, table.data(), table.size() * sizeof(Elf64_Sym));
    sections[kSymbols].sh_type = SHT_DYNSYM;
    sections[kSymbols].sh_link = kStrings;
    Add(kStrings, strings.data(), strings.size());
    Add(kNote, &note, sizeof(note));
    sections[kNote].sh_name = static_cast<Elf64_Word>(names.size());
    names += record::kLayoutNoteSection;
    names += '\0';
    Add(kNames, names.data(), names.size());
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = kCount;
    header.e_shstrndx = kNames;
    header.e_shoff = sizeof(header) + content.size();
  }

  void Add(Section section, const void* bytes, size_t size) {
    sections[section].sh_offset = sizeof(header) + content.size();
    sections[section].sh_size = size;
    content.append(static_cast<const char*>(bytes), size);
  }

  // The path of the file as it is now.
  std::string Write() const {
    std::string path = testing::TempDir() + "/made";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    file << content;
    file.write(reinterpret_cast<const char*>(sections), sizeof(sections));
    return path;
  }

  Elf64_Ehdr header = {};
  Elf64_Shdr sections[kCount] = {};
  std::string content;
};

TEST(OwnAllocatorTest, OnlyASymbolThatTheProgramDefinesCounts) {
  const auto brings = [](const std::vector<MadeElf::Symbol>& symbols) {
    return BringsMalloc(MadeElf(symbols).Write());
  };
  EXPECT_TRUE(brings({{"malloc"}}));
  EXPECT_TRUE(brings({{"free"}, {"malloc"}, {"main"}}));
  EXPECT_FALSE(brings({}));
  EXPECT_FALSE(brings({{"free"}, {"mallocx"}, {"_malloc"}, {"mallo"}}));
  EXPECT_FALSE(brings({{"malloc", /*is_defined=*/false}}));
  // Kymo's hooks stand before it, wherever the table has them.
  EXPECT_FALSE(brings({{"malloc"}, {"kymo_heap_hooks_v1"}}));
  EXPECT_FALSE(brings({{"kymo_heap_hooks_v1"}, {"malloc"}}));
  EXPECT_TRUE(brings({{"kymo_heap_hooks_v1", false}, {"malloc"}}));
}

TEST(OwnAllocatorTest, BrokenTablesAreNone) {
  const MadeElf whole({{"malloc"}});
  MadeElf broken = whole;
  broken.sections[MadeElf::kSymbols].sh_link = 60'000;
  EXPECT_FALSE(BringsMalloc(broken.Write()));
  broken = whole;
  broken.sections[MadeElf::kSymbols].sh_type = SHT_SYMTAB;
  EXPECT_FALSE(BringsMalloc(broken.Write()));
  // Its name lies behind the table of names.
  broken = whole;
  broken.sections[MadeElf::kStrings].sh_size = 0;
  EXPECT_FALSE(BringsMalloc(broken.Write()));
  broken.sections[MadeElf::kStrings].sh_size = uint64_t{1} << 40;
  EXPECT_FALSE(BringsMalloc(broken.Write()));
  // The last name of a table needs no zero behind it.
  broken = whole;
  --broken.sections[MadeElf::kStrings].sh_size;
  EXPECT_TRUE(BringsMalloc(broken.Write()));
}

TEST(ElfFileTest, OtherFilesHaveNoSections) {
  const MadeElf whole({});
  EXPECT_EQ(ElfFile(whole.Write()).sections().size(), MadeElf::kCount);
  const auto none = [&](const auto& change) {
    MadeElf changed = whole;
    change(changed.header);
    const ElfFile file(changed.Write());
    return file.sections().empty() && file.Find("") == nullptr;
  };
  EXPECT_TRUE(none([](auto& header) { header.e_ident[EI_MAG3] = 'f'; }));
  EXPECT_TRUE(
      none([](auto& header) { header.e_ident[EI_CLASS] = ELFCLASS32; }));
  EXPECT_TRUE(none([](auto& header) { ++header.e_shentsize; }));
  EXPECT_TRUE(none([](auto& header) { ++header.e_shoff; }));
  EXPECT_TRUE(none([](auto& header) { ++header.e_shnum; }));
}

TEST(ElfFileTest, SectionsHaveTheirNamesAndContent) {
  MadeElf made({});
  const ElfFile file(made.Write());
  EXPECT_EQ(file.Find(record::kLayoutNoteSection),
            &file.sections()[MadeElf::kNote]);
  EXPECT_EQ(file.Find("kymo"), nullptr);
  // Whole elements, and nothing of what lies outside of the file.
  Elf64_Shdr section = {};
  section.sh_size = 2 * sizeof(uint32_t) + 3;
  EXPECT_EQ(file.Content<uint32_t>(section).size(), 2u);
  section.sh_offset = uint64_t{1} << 40;
  EXPECT_TRUE(file.Content<uint32_t>(section).empty());
  made.header.e_shstrndx = MadeElf::kCount;
  EXPECT_EQ(ElfFile(made.Write()).Find(record::kLayoutNoteSection), nullptr);
  made.header.e_shstrndx = MadeElf::kNames;
  made.sections[MadeElf::kNote].sh_name = 1 << 30;
  EXPECT_EQ(ElfFile(made.Write()).Find(record::kLayoutNoteSection), nullptr);
}

TEST(ElfFileTest, AContentThatNoProgramHasIsNotRead) {
  const std::string path = MadeElf({}).Write();
  constexpr uint64_t kMost = uint64_t{256} << 20;
  ASSERT_EQ(truncate(path.c_str(), 2 * kMost), 0);  // a hole
  Elf64_Shdr section = {};
  section.sh_size = kMost + 1;
  EXPECT_TRUE(ElfFile(path).Content<char>(section).empty());
  section.sh_size = 100;
  EXPECT_EQ(ElfFile(path).Content<char>(section, 100).size(), 100U);
  EXPECT_TRUE(ElfFile(path).Content<char>(section, 99).empty());
}

// A program can have mapped a file, and then put a FIFO in its place.
TEST(ElfFileTest, AFifoIsNotWaitedFor) {
  const std::string path = testing::TempDir() + "/fifo";
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(ElfFile(path).sections().empty());
}

bool HasOtherKymo(const std::string& path) {
  return FindLinkedKymo(path).has_other;
}

bool HasThisKymo(const std::string& path) {
  return FindLinkedKymo(path).has_this;
}

TEST(OtherKymoTest, TheLayoutIsTheNotes) {
  EXPECT_FALSE(HasOtherKymo(MadeElf({}).Write()));
  const MadeElf newer({}, record::kLayoutVersion + 1);
  EXPECT_TRUE(HasOtherKymo(newer.Write()));
  EXPECT_TRUE(HasOtherKymo(MadeElf({}, record::kLayoutVersion - 1).Write()));
  MadeElf cut = newer;
  --cut.sections[MadeElf::kNote].sh_size;
  EXPECT_FALSE(HasOtherKymo(cut.Write()));
}

TEST(OtherKymoTest, AProgramSaysWhichKymoItHas) {
  EXPECT_TRUE(HasOtherKymo(Path("KYMO_OTHER_LAYOUT")));
  EXPECT_FALSE(HasThisKymo(Path("KYMO_OTHER_LAYOUT")));
  EXPECT_TRUE(HasThisKymo(Path("KYMO_TARGET")));
  EXPECT_FALSE(HasThisKymo("/bin/true"));
  EXPECT_FALSE(HasThisKymo("/nowhere"));
  EXPECT_FALSE(HasOtherKymo("/bin/true"));
  EXPECT_FALSE(HasOtherKymo("/nowhere"));
}

// An ELF file with one section beside that of names, as elf(5) has it.
std::string FileWithSection(const std::string& name, const std::string& content,
                            uint64_t claimed_bytes) {
  const std::string names = std::string(1, '\0') + name + '\0';
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 0;
  header.e_shoff = sizeof(header);
  Elf64_Shdr sections[2] = {};
  sections[0].sh_offset = sizeof(header) + sizeof(sections);
  sections[0].sh_size = names.size();
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_NOTE;
  sections[1].sh_offset = sections[0].sh_offset + names.size();
  sections[1].sh_size = claimed_bytes;
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  return file + names + content;
}

// A note as elf(5) has it: three words, the name, the content.
std::string Note(uint32_t name_bytes, uint32_t content_bytes, uint32_t type,
                 const std::string& name, uint32_t layout) {
  std::string note;
  for (const uint32_t word : {name_bytes, content_bytes, type}) {
    note.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  note += name;
  note.append(reinterpret_cast<const char*>(&layout), sizeof(layout));
  return note;
}

bool HasOtherKymoWith(const std::string& section, const std::string& content,
                      uint64_t claimed_bytes) {
  const std::string path = testing::TempDir() + "/note";
  std::ofstream(path, std::ios::binary)
      << FileWithSection(section, content, claimed_bytes);
  return HasOtherKymo(path);
}

TEST(OtherKymoTest, OnlyAWholeNoteOfKymosCounts) {
  const std::string kName("Kymo\0\0\0\0", 8);
  constexpr uint32_t kOther = record::kLayoutVersion + 1;
  const std::string good = Note(8, 4, 1, kName, kOther);
  EXPECT_TRUE(HasOtherKymoWith(".note.kymo", good, good.size()));
  // Several copies of Kymo leave one note each, one behind the other.
  const std::string ours = Note(8, 4, 1, kName, record::kLayoutVersion);
  EXPECT_FALSE(HasOtherKymoWith(".note.kymo", ours + ours, 2 * ours.size()));
  EXPECT_TRUE(HasOtherKymoWith(".note.kymo", ours + good, 2 * good.size()));
  EXPECT_TRUE(HasOtherKymoWith(".note.kymo", good + ours, 2 * good.size()));
  EXPECT_TRUE(HasThisKymo(testing::TempDir() + "/note"));

  EXPECT_FALSE(HasOtherKymoWith(".note.other", good, good.size()));
  for (const std::string& note :
       {Note(4, 4, 1, kName, kOther), Note(0xffffffff, 4, 1, kName, kOther),
        Note(8, 8, 1, kName, kOther), Note(8, 0, 1, kName, kOther),
        Note(8, 4, 2, kName, kOther),
        Note(8, 4, 1, std::string("Mayo\0\0\0\0", 8), kOther),
        Note(8, 4, 1, "KymoKymo", kOther)}) {
    EXPECT_FALSE(HasOtherKymoWith(".note.kymo", note, note.size()));
  }
  // Cut, by the section's size or by the file's end.
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    EXPECT_FALSE(HasOtherKymoWith(".note.kymo", cut, size)) << size;
    EXPECT_FALSE(HasOtherKymoWith(".note.kymo", cut, good.size())) << size;
  }
  for (const uint64_t claimed :
       {uint64_t{1} << 20, uint64_t{1} << 40, ~uint64_t{0}}) {
    EXPECT_FALSE(HasOtherKymoWith(".note.kymo", good, claimed)) << claimed;
  }
}

TEST(OtherKymoTest, FilesThatWereSampledAreDescribed) {
  const std::string newer = MadeElf({}, record::kLayoutVersion + 1).Write();
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (const std::string& file :
       {newer, std::filesystem::absolute(Path("KYMO_TARGET")).string(),
        std::string("/nowhere"), std::string("[kernel]")}) {
    t.AddSample(main, 0, 1, {"f", "g"}, file);
  }
  const model::Trace trace = std::move(t).Build();
  const std::vector<std::string> sentences = DescribeOtherKymo(trace, "/a");
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_TRUE(sentences[0].starts_with(
      newer +
      " was built with another version of Kymo, so its ranges are not "
      "recorded"))
      << sentences[0];
  // Of the target it was said before it started.
  EXPECT_TRUE(DescribeOtherKymo(trace, newer).empty());
}

TEST(OtherKymoTest, EachAnnotatedProgramHasTheNote) {
  const ElfFile target(Path("KYMO_TARGET"));
  const Elf64_Shdr* const section = target.Find(record::kLayoutNoteSection);
  ASSERT_NE(section, nullptr);
  const auto notes = target.Content<record::LayoutNote>(*section);
  int layouts = 0;
  for (const record::LayoutNote& note : notes) {
    EXPECT_STREQ(note.name, "Kymo");
    if (note.type != record::kLayoutNoteType) continue;
    ++layouts;
    EXPECT_EQ(note.layout, record::kLayoutVersion);
  }
  EXPECT_EQ(layouts, 1);
  EXPECT_FALSE(HasOtherKymo(Path("KYMO_TARGET")));
}

}  // namespace
}  // namespace kymo::tools
